//! Searches texts for secrets and injectable SQL: one pass finds the words of all rules, and only what stands around them is
//! looked into.

use std::ops::Range;

use aho_corasick::AhoCorasick;

use super::finding::{Finding, fingerprint};
use super::rule_file::Rule;
use super::sql::{self, Language};
use crate::oracle::OracleError;
use crate::oracle::added::Added;
use crate::secret::{self, Certain, Format};
use crate::signal::Severity;
use crate::words::words;

/// How many bytes around a keyword of a user's own rule a match may take.
const REACH: usize = 640;

/// All rules, ready.
#[derive(Debug)]
pub(super) struct Search {
    secrets: bool,
    sql: bool,
    own: Vec<Rule>,
    /// The keywords of the user's own rules, and the rule of each.
    words: AhoCorasick,
    owners: Vec<usize>,
}

/// A secret that a rule found.
struct Hit<'s> {
    range: Range<usize>,
    /// None for a random-looking value of a password, token or secret.
    format: Option<&'s Format>,
}

impl Search {
    /// Makes the known formats of secrets and the search for SQL ready, where they are wanted, and a user's own rules.
    ///
    /// # Errors
    /// The rules have more keywords than can be searched for.
    pub(super) fn new(secrets: bool, sql: bool, own: &[Rule]) -> Result<Self, String> {
        let words = own.iter().enumerate().flat_map(|(n, rule)| {
            let keywords = rule.format.keywords.iter();
            keywords.map(move |word| (word.as_str(), n))
        });
        let (words, owners): (Vec<&str>, Vec<usize>) = words.unzip();
        let words = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .build(words)
            .map_err(|e| format!("too many keywords: {e}"))?;
        Ok(Self {
            secrets,
            sql,
            own: own.to_vec(),
            words,
            owners,
        })
    }

    /// Finds what an added text must not hold. `read` gives the whole of its file. The error is what could not be judged.
    pub(super) fn scan(
        &self,
        text: &Added,
        read: impl Fn(&str) -> Option<String>,
    ) -> (Vec<Finding>, Option<OracleError>) {
        let mut findings = self.secrets_in(text);
        if let Some(why) = &text.unread {
            return (findings, Some(OracleError::CannotTell(why.clone())));
        }
        // What a later commit has taken away is no longer a query.
        let has_queries = self.sql && text.commit.is_none();
        let path = text.path.as_deref().filter(|_| has_queries);
        if let Some((path, language)) = path.and_then(|path| Some((path, Language::of(path)?))) {
            // The tree needs the whole file, of which only the added lines count.
            let whole = (!text.lines.is_empty()).then(|| read(path)).flatten();
            let source = whole.as_deref().unwrap_or(&text.text);
            match sql::scan(language, path, source) {
                Ok(found) => findings.extend(Self::injections_in(text, path, source, found)),
                Err(error) => return (findings, Some(error)),
            }
        }
        (findings, None)
    }

    fn secrets_in(&self, text: &Added) -> Vec<Finding> {
        let path = text.path.as_deref();
        let style = Style::of(path);
        let mut hits = self.by_own_rules(&text.text, path.unwrap_or_default());
        if self.secrets {
            let found = secret::find(&text.text);
            let is_meant = |certain: &Certain| {
                certain.format.is_some()
                    || style.is_some_and(|style| style == Style::Bare || certain.is_bounded)
            };
            let certain = found.into_iter().filter_map(|found| found.certain);
            hits.extend(certain.filter(is_meant).map(|certain| Hit {
                range: certain.range,
                format: certain.format,
            }));
        }
        let within = without_overlaps(hits).into_iter();
        let found = |hit: Hit<'_>, whole: &str, line: Option<u32>| {
            let secret = whole.get(hit.range)?;
            let id = hit.format.map_or("random-value", |format| &format.id);
            // Made-up passwords are common in tests.
            let severity = match hit.format {
                Some(format) => format.severity?,
                None if path.is_some_and(is_test) => Severity::Low,
                None => Severity::Medium,
            };
            Some(Finding {
                rule: id.to_owned(),
                what: hit.format.map_or_else(
                    || "a random-looking value of a password, token or secret".to_owned(),
                    |format| format.description.clone(),
                ),
                severity,
                file: text.path.clone(),
                line,
                commit: text.commit.clone(),
                fingerprint: fingerprint(id, secret),
                remedy: "take it out and read it from the environment or a secret store; if it was ever committed or sent, revoke it",
            })
        };
        let named = path.filter(|_| self.secrets).unwrap_or_default();
        let in_name = secret::find(named).into_iter().filter_map(|found| {
            let certain = found.certain?;
            let format = Some(certain.format?);
            Some(Hit {
                range: certain.range,
                format,
            })
        });
        let in_name = in_name.filter_map(|hit| found(hit, named, None));
        let in_text = within.filter_map(|hit| {
            let line = path.map(|_| text.line_at(hit.range.start));
            found(hit, &text.text, line)
        });
        in_text.chain(in_name).collect()
    }

    /// Finds what the user's own rules mean: near their keywords, or anywhere where they have none.
    fn by_own_rules<'s>(&'s self, text: &str, path: &str) -> Vec<Hit<'s>> {
        let mut hits = Vec::new();
        let mut look = |rule: &'s Rule, window: Range<usize>| {
            let part = text.get(window.clone()).unwrap_or_default();
            for range in rule.format.groups(part, text.len() > part.len()) {
                let range = window.start + range.start..window.start + range.end;
                let line = text.get(line_at(text, range.start)).unwrap_or_default();
                let found = text.get(range.clone()).unwrap_or_default();
                if rule.is_secret(found, line) {
                    hits.push(Hit {
                        range,
                        format: Some(&rule.format),
                    });
                }
            }
        };
        let rules = self.own.iter().filter(|rule| rule.applies_to(path));
        for rule in rules.filter(|rule| rule.format.keywords.is_empty()) {
            look(rule, 0..text.len());
        }
        for word in self.words.find_overlapping_iter(text) {
            let rule = self.owners.get(word.pattern().as_usize());
            let rule = rule.and_then(|n| self.own.get(*n));
            if let Some(rule) = rule.filter(|rule| rule.applies_to(path)) {
                let line = line_at(text, word.start());
                let first = text.floor_char_boundary(word.start().saturating_sub(REACH));
                let last = text.floor_char_boundary(word.end() + REACH);
                look(rule, line.start.max(first)..line.end.min(last));
            }
        }
        hits
    }

    fn injections_in(
        text: &Added,
        path: &str,
        source: &str,
        found: Vec<sql::Injection>,
    ) -> Vec<Finding> {
        found
            .into_iter()
            .filter(|found| {
                text.touches(found.line, found.last_line) || text.touches(found.built, found.built)
            })
            .map(|found| {
                let nth = usize::try_from(found.line).unwrap_or(1).saturating_sub(1);
                let code = source.lines().nth(nth).unwrap_or_default().trim();
                Finding {
                    rule: "no-sql-injection".to_owned(),
                    what: "a query that is put together from values".to_owned(),
                    severity: Severity::High,
                    file: Some(path.to_owned()),
                    line: Some(found.line),
                    commit: None,
                    fingerprint: fingerprint("no-sql-injection", &format!("{path}\0{code}")),
                    remedy: "write placeholders in the query and pass the values as parameters",
                }
            })
            .collect()
    }
}

/// Keeps one hit of each place: a known format before a value, the graver before the lighter.
fn without_overlaps(mut hits: Vec<Hit<'_>>) -> Vec<Hit<'_>> {
    let severity = |hit: &Hit<'_>| hit.format.and_then(|format| format.severity);
    hits.sort_by(|a, b| {
        severity(b)
            .cmp(&severity(a))
            .then(a.range.start.cmp(&b.range.start))
            .then(b.range.end.cmp(&a.range.end))
            .then_with(|| a.format.map(|f| &f.id).cmp(&b.format.map(|f| &f.id)))
    });
    let mut kept: Vec<Hit<'_>> = Vec::new();
    for hit in hits {
        let overlaps = |k: &Hit<'_>| k.range.start < hit.range.end && hit.range.start < k.range.end;
        if !kept.iter().any(overlaps) {
            kept.push(hit);
        }
    }
    kept.sort_by_key(|hit| hit.range.start);
    kept
}

/// Returns the line that an offset lies in, without its end.
fn line_at(text: &str, at: usize) -> Range<usize> {
    let (before, behind) = text.as_bytes().split_at_checked(at).unwrap_or_default();
    let start = memchr::memrchr(b'\n', before).map_or(0, |n| n + 1);
    let end = memchr::memchr(b'\n', behind).map_or(text.len(), |n| at + n);
    start..end
}

/// How values are written in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    /// In quotes.
    Quoted,
    /// In quotes or bare to the end of the line.
    Bare,
}

impl Style {
    /// Returns how values are written in the file at `path`; none where random-looking values are the rule.
    fn of(path: Option<&str>) -> Option<Self> {
        let Some(path) = path else {
            return Some(Self::Quoted);
        };
        let name = path.rsplit('/').next().unwrap_or(path);
        let extension = name.rsplit_once('.').map_or("", |(_, e)| e);
        match extension {
            _ if is_lock_file(name) || name.contains(".min.") => None,
            "svg" | "map" | "ipynb" | "csv" => None,
            _ if words!("bare-value-endings").contains(&extension) || name.starts_with(".env") => {
                Some(Self::Bare)
            }
            _ if matches!(name, ".npmrc" | ".netrc") => Some(Self::Bare),
            _ => Some(Self::Quoted),
        }
    }
}

/// Whether a file only lists exact versions and digests.
fn is_lock_file(name: &str) -> bool {
    words!("lock-files").contains(&name)
}

fn is_test(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    lower
        .split(['/', '.', '_', '-'])
        .any(|part| words!("parts-of-tests").contains(&part))
}
