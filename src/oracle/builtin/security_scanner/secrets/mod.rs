//! Finds secrets in text: known formats by their keywords, and assignments of random-looking values.

mod assignment;
mod placeholder;
mod rule;

pub(super) use self::rule::Rule;

use std::ops::Range;

use self::rule::Keyword;
use super::keywords::Found;
use crate::signal::Severity;

/// How many bytes around a keyword a match may take.
const REACH: usize = 640;

/// A secret that was found: where, by which rule, but not what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hit {
    /// The number of the rule; none for an assignment of a random-looking value.
    pub(super) rule: Option<usize>,
    /// Where in the text the secret stands.
    pub(super) range: Range<usize>,
}

/// All rules, ready to be searched for at once.
#[derive(Debug)]
pub(super) struct Scanner {
    rules: Vec<Rule>,
    words: Vec<String>,
    /// For each word, the rules that it belongs to; none stands for assignments.
    owners: Vec<Vec<Option<usize>>>,
    /// Rules without any keyword.
    everywhere: Vec<usize>,
}

impl Scanner {
    /// Makes a scanner of the known formats, where they are wanted, and a user's own rules.
    pub(super) fn new(known: bool, own: &[Rule]) -> Self {
        let mut rules: Vec<Rule> = Vec::new();
        if known {
            rules.extend(Rule::all_known());
        }
        rules.extend(own.iter().cloned());
        let mut words: Vec<String> = Vec::new();
        let mut owners: Vec<Vec<Option<usize>>> = Vec::new();
        let mut own = |word: &str, owner: Option<usize>| {
            let word = word.to_ascii_lowercase();
            if let Some(n) = words.iter().position(|w| *w == word) {
                if let Some(owners) = owners.get_mut(n) {
                    owners.push(owner);
                }
            } else {
                words.push(word);
                owners.push(vec![owner]);
            }
        };
        for (n, rule) in rules.iter().enumerate() {
            for word in &rule.keywords {
                own(word, Some(n));
            }
        }
        if known {
            for word in assignment::WORDS {
                own(word, None);
            }
        }
        let everywhere = rules
            .iter()
            .enumerate()
            .filter(|(_, rule)| rule.keywords.is_empty())
            .map(|(n, _)| n)
            .collect();
        Self {
            rules,
            words,
            owners,
            everywhere,
        }
    }

    /// Returns the words for which a text is searched before it is looked into.
    pub(super) fn words(&self) -> &[String] {
        &self.words
    }

    /// Returns a rule by its number.
    pub(super) fn rule(&self, n: usize) -> Option<&Rule> {
        self.rules.get(n)
    }

    /// Finds the secrets in a text; `words` are all places of its words in it. `path` tells what kind of file it is, if it is one.
    pub(super) fn scan(
        &self,
        text: &str,
        path: Option<&str>,
        words: impl Iterator<Item = Found>,
    ) -> Vec<Hit> {
        let mut hits = Vec::new();
        let style = assignment::Style::of(path);
        for word in words {
            let owners = self.owners.get(word.word);
            for owner in owners.into_iter().flatten() {
                match owner {
                    Some(n) => self.try_rule(*n, text, path, word.range.clone(), &mut hits),
                    None => {
                        if let Some(range) = style
                            .and_then(|style| assignment::find(text, word.range.clone(), style))
                        {
                            hits.push(Hit { rule: None, range });
                        }
                    }
                }
            }
        }
        for n in &self.everywhere {
            if self.rule(*n).is_some_and(|rule| rule.applies_to(path)) {
                self.try_on_lines(*n, text, &mut hits);
            }
        }
        without_overlaps(hits, |hit| {
            hit.rule
                .and_then(|n| self.rule(n))
                .map(|rule| rule.severity)
        })
    }

    fn try_rule(
        &self,
        n: usize,
        text: &str,
        path: Option<&str>,
        word: Range<usize>,
        hits: &mut Vec<Hit>,
    ) {
        let Some(rule) = self.rule(n) else { return };
        if !rule.any_case {
            let found = text.get(word.clone()).unwrap_or_default();
            if !rule.keywords.iter().any(|k| k == found) {
                return;
            }
        }
        if !rule.applies_to(path) {
            return;
        }
        let window = match rule.keyword {
            Keyword::Start => {
                let before = text.as_bytes().get(word.start.wrapping_sub(1));
                let bounded = rule.pattern.trim_start_matches("(?i)").starts_with(r"\b");
                if bounded && before.is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_') {
                    return;
                }
                word.start..boundary(text, word.end + REACH)
            }
            Keyword::Around => {
                let line = line_at(text, word.start);
                line.start
                    .max(boundary(text, word.start.saturating_sub(REACH)))
                    ..line.end.min(boundary(text, word.end + REACH))
            }
            Keyword::Before => line_at(text, word.start).start..boundary(text, word.end + REACH),
        };
        let Some(part) = text.get(window.clone()) else {
            return;
        };
        let Some(regex) = rule.regex() else { return };
        for captures in regex.captures_iter(part) {
            let Some(secret) = captures.get(rule.group).or_else(|| captures.get(0)) else {
                continue;
            };
            let range = window.start + secret.start()..window.start + secret.end();
            let line = text.get(line_at(text, range.start)).unwrap_or_default();
            if rule.is_secret(secret.as_str(), line) {
                hits.push(Hit {
                    rule: Some(n),
                    range,
                });
            }
            if rule.keyword == Keyword::Start {
                break;
            }
        }
    }

    fn try_on_lines(&self, n: usize, text: &str, hits: &mut Vec<Hit>) {
        let Some((rule, regex)) = self.rule(n).and_then(|rule| Some((rule, rule.regex()?))) else {
            return;
        };
        for captures in regex.captures_iter(text) {
            let Some(secret) = captures.get(rule.group).or_else(|| captures.get(0)) else {
                continue;
            };
            let line = text.get(line_at(text, secret.start())).unwrap_or_default();
            if rule.is_secret(secret.as_str(), line) {
                hits.push(Hit {
                    rule: Some(n),
                    range: secret.range(),
                });
            }
        }
    }
}

/// Keeps one hit of each place: a known format before an assignment, the graver before the lighter.
fn without_overlaps(mut hits: Vec<Hit>, severity: impl Fn(&Hit) -> Option<Severity>) -> Vec<Hit> {
    hits.sort_by(|a, b| {
        severity(b)
            .cmp(&severity(a))
            .then(a.range.start.cmp(&b.range.start))
            .then(b.range.end.cmp(&a.range.end))
            .then(a.rule.cmp(&b.rule))
    });
    let mut kept: Vec<Hit> = Vec::new();
    for hit in hits {
        let overlaps = |k: &Hit| k.range.start < hit.range.end && hit.range.start < k.range.end;
        if !kept.iter().any(overlaps) {
            kept.push(hit);
        }
    }
    kept.sort_by_key(|hit| hit.range.start);
    kept
}

/// Returns the line that an offset lies in, without its end.
fn line_at(text: &str, at: usize) -> Range<usize> {
    let bytes = text.as_bytes();
    let start = bytes
        .get(..at)
        .and_then(|before| memchr::memrchr(b'\n', before))
        .map_or(0, |n| n + 1);
    let end = bytes
        .get(at..)
        .and_then(|after| memchr::memchr(b'\n', after))
        .map_or(text.len(), |n| at + n);
    start..end
}

/// Returns the nearest offset at or below `at` between two characters.
fn boundary(text: &str, at: usize) -> usize {
    text.floor_char_boundary(at)
}

#[cfg(test)]
mod tests;
