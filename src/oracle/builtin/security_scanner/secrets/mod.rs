//! Finds secrets in text: known formats by their keywords, and assignments of random-looking values.

mod assignment;
mod placeholder;

use std::ops::Range;
use std::sync::OnceLock;

use aho_corasick::AhoCorasick;
use aho_corasick::AhoCorasickKind;
use aho_corasick::MatchKind;
use regex::Regex;

use crate::signal::Severity;

/// How many bytes around a keyword a match may take.
const REACH: usize = 640;

/// The known formats.
const FORMATS: &str = include_str!("formats.tsv");

/// Where in a match its keyword stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keyword {
    /// At its start: the pattern is tried there and nowhere else.
    Start,
    /// Anywhere in the same line.
    Around,
    /// In the first line of several.
    Before,
}

/// A rule that finds one kind of secret.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    /// Its id.
    pub(super) id: String,
    /// What it finds: `a GitHub personal access token`.
    pub(super) description: String,
    /// How grave a finding is.
    pub(super) severity: Severity,
    /// The least entropy of the secret, in bits a character.
    pub(super) entropy: f32,
    /// The group of the pattern that is the secret; 0 is the whole match.
    pub(super) group: usize,
    /// Words of which one must be there before the pattern is tried; none: it is tried on every line.
    pub(super) keywords: Vec<String>,
    /// Where the keyword stands.
    pub(super) keyword: Keyword,
    /// Whether the keyword counts in any case.
    pub(super) any_case: bool,
    /// Patterns of secrets, matches or lines that are none.
    pub(super) allowed: Vec<Regex>,
    /// Patterns of paths in which it finds nothing.
    pub(super) allowed_paths: Vec<Regex>,
    /// The only paths in which it finds anything.
    pub(super) path: Option<Regex>,
    /// The pattern.
    pub(super) pattern: String,
    /// Compiled when its keyword first turns up: compiling all of them takes longer than most scans.
    compiled: OnceLock<Option<Regex>>,
}

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
    words: AhoCorasick,
    /// For each word, the rules that it belongs to; none stands for assignments.
    owners: Vec<Vec<Option<usize>>>,
    /// Rules without any keyword.
    everywhere: Vec<usize>,
}

impl Rule {
    /// Makes a rule of a pattern that compiles.
    pub(super) fn new(id: String, pattern: String) -> Self {
        Self {
            id,
            description: String::new(),
            severity: Severity::High,
            entropy: 0.0,
            group: 0,
            keywords: Vec::new(),
            keyword: Keyword::Around,
            any_case: true,
            allowed: Vec::new(),
            allowed_paths: Vec::new(),
            path: None,
            pattern,
            compiled: OnceLock::new(),
        }
    }

    /// Reads a line of the known formats; none where it is no rule.
    fn known(line: &str) -> Option<Self> {
        let mut columns = line.splitn(7, '\t');
        let id = columns.next().filter(|id| !id.starts_with('#'))?.to_owned();
        let severity = match columns.next()? {
            "high" => Severity::High,
            "medium" => Severity::Medium,
            _ => Severity::Low,
        };
        let entropy = columns.next()?.parse().ok()?;
        let keyword = match columns.next()? {
            "start" => Keyword::Start,
            "before" => Keyword::Before,
            _ => Keyword::Around,
        };
        let keywords = columns.next()?.split(' ');
        let keywords = keywords.map(|k| k.replace("_-_", " ")).collect();
        let description = columns.next()?.to_owned();
        let pattern = columns.next()?.to_owned();
        Some(Self {
            description,
            severity,
            entropy,
            group: 1,
            keywords,
            keyword,
            any_case: pattern.starts_with("(?i)"),
            ..Self::new(id, pattern)
        })
    }

    fn regex(&self) -> Option<&Regex> {
        self.compiled
            .get_or_init(|| {
                let pattern = match self.keyword {
                    Keyword::Start => format!(r"\A(?:{})", self.pattern),
                    Keyword::Around | Keyword::Before => self.pattern.clone(),
                };
                regex::RegexBuilder::new(&pattern)
                    .size_limit(32 << 20)
                    .build()
                    .ok()
            })
            .as_ref()
    }

    /// Whether it looks into a file.
    fn applies_to(&self, path: Option<&str>) -> bool {
        let path = path.unwrap_or_default();
        self.path.as_ref().is_none_or(|only| only.is_match(path))
            && !self.allowed_paths.iter().any(|a| a.is_match(path))
    }

    /// Whether what matched is a secret indeed.
    fn is_secret(&self, secret: &str, line: &str) -> bool {
        (self.entropy == 0.0 || placeholder::entropy(secret) >= self.entropy)
            && !placeholder::is_one(secret)
            && !placeholder::is_default_password(secret)
            && !self
                .allowed
                .iter()
                .any(|a| a.is_match(secret) || a.is_match(line))
    }
}

impl Scanner {
    /// Makes a scanner of the known formats, where they are wanted, and a user's own rules.
    ///
    /// # Errors
    /// The rules have more keywords than can be searched for.
    pub(super) fn new(known: bool, own: &[Rule]) -> Result<Self, String> {
        let mut rules: Vec<Rule> = Vec::new();
        if known {
            rules.extend(FORMATS.lines().filter_map(Rule::known));
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
        let words = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::Standard)
            .kind(Some(AhoCorasickKind::DFA))
            .build(&words)
            .map_err(|e| format!("too many keywords: {e}"))?;
        Ok(Self {
            rules,
            words,
            owners,
            everywhere,
        })
    }

    /// Returns a rule by its number.
    pub(super) fn rule(&self, n: usize) -> Option<&Rule> {
        self.rules.get(n)
    }

    /// Finds the secrets in a text. `path` tells what kind of file it is, if it is one.
    pub(super) fn scan(&self, text: &str, path: Option<&str>) -> Vec<Hit> {
        let mut hits = Vec::new();
        let style = assignment::Style::of(path);
        for word in self.words.find_overlapping_iter(text) {
            let owners = self.owners.get(word.pattern().as_usize());
            for owner in owners.into_iter().flatten() {
                match owner {
                    Some(n) => self.try_rule(*n, text, path, word.range(), &mut hits),
                    None => {
                        if let Some(range) =
                            style.and_then(|style| assignment::find(text, word.range(), style))
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
mod tests {
    use super::*;

    #[test]
    fn the_formats_are_sorted_unique_and_usable() {
        let rules: Vec<Rule> = FORMATS.lines().filter_map(Rule::known).collect();
        let lines = FORMATS.lines().filter(|l| !l.starts_with('#')).count();
        assert_eq!(rules.len(), lines);
        assert!(rules.len() >= 60);
        assert!(rules.windows(2).all(|w| w[0].id < w[1].id));
        for rule in &rules {
            assert!(rule.regex().is_some(), "{}", rule.id);
            assert!(
                !rule.keywords.is_empty() && rule.keywords.iter().all(|k| k.len() > 1),
                "{}",
                rule.id
            );
            assert!(
                rule.regex().is_some_and(|r| r.captures_len() >= 2),
                "{}",
                rule.id
            );
        }
    }

    fn ids(scanner: &Scanner, text: &str, path: &str) -> Vec<String> {
        scanner
            .scan(text, Some(path))
            .into_iter()
            .map(|hit| {
                hit.rule
                    .and_then(|n| scanner.rule(n))
                    .map_or("random-value".to_owned(), |rule| rule.id.clone())
            })
            .collect()
    }

    /// Characters that follow no pattern, the same at each run.
    fn noise(alphabet: &[u8], length: usize, seed: u64) -> String {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        (0..length)
            .map(|_| {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                char::from(alphabet[usize::try_from(state % alphabet.len() as u64).unwrap()])
            })
            .collect()
    }

    const ALNUM: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    const HEX: &[u8] = b"0123456789abcdef";
    const UPPER: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

    #[test]
    fn secrets_are_found_where_people_leave_them() {
        let scanner = Scanner::new(true, &[]).unwrap();
        // Made here, so that no other scanner finds them in this file.
        let cases = [
            ("github-token", format!("ghp_{}", noise(ALNUM, 36, 1))),
            ("aws-access-key-id", format!("AKIA{}", noise(UPPER, 16, 2))),
            ("stripe-key", format!("sk_live_{}", noise(ALNUM, 24, 3))),
            ("google-api-key", format!("AIza{}", noise(ALNUM, 35, 4))),
            ("gitlab-token", format!("glpat-{}", noise(ALNUM, 20, 5))),
            ("npm-token", format!("npm_{}", noise(ALNUM, 36, 6))),
            (
                "digitalocean-token",
                format!("dop_v1_{}", noise(HEX, 64, 7)),
            ),
            (
                "sendgrid-key",
                format!("SG.{}.{}", noise(ALNUM, 22, 8), noise(ALNUM, 43, 9)),
            ),
            (
                "slack-bot-token",
                format!("xoxb-123456789012-1234567890123-{}", noise(ALNUM, 24, 10)),
            ),
            (
                "anthropic-api-key",
                format!("sk-ant-api03-{}", noise(ALNUM, 95, 11)),
            ),
            (
                "telegram-bot-token",
                format!("987654321:AA{}", noise(ALNUM, 33, 12)),
            ),
            (
                "database-url",
                format!(
                    "postgres://app:{}@db.internal:5432/app",
                    noise(ALNUM, 12, 13)
                ),
            ),
            (
                "private-key",
                format!(
                    "-----BEGIN RSA PRIVATE KEY-----\n{}\n",
                    noise(ALNUM, 64, 14)
                ),
            ),
        ];
        for (id, secret) in &cases {
            for text in [
                secret.clone(),
                format!("let key = \"{secret}\";\n"),
                format!("KEY={secret}\n"),
                format!("# é\n\n  - value: '{secret}' # here\n"),
            ] {
                assert_eq!(ids(&scanner, &text, "src/a.txt"), [*id], "{id}: {text}");
            }
        }
        let value = noise(ALNUM, 40, 15);
        assert_eq!(
            ids(
                &scanner,
                &format!("aws_secret_access_key = {value}"),
                "a.txt"
            ),
            ["aws-secret-access-key"]
        );
        assert_eq!(
            ids(&scanner, &format!("api_token = \"{value}\""), "a.py"),
            ["random-value"]
        );
    }

    #[test]
    fn what_only_looks_like_a_secret_is_left_alone() {
        let scanner = Scanner::new(true, &[]).unwrap();
        for text in [
            "AKIAIOSFODNN7EXAMPLE",
            "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "postgres://user:password@localhost/db is written postgres://USER:${PASSWORD}@HOST/DB",
            "https://user:<token>@example.org/",
            "if line.startswith('-----BEGIN RSA PRIVATE KEY-----'):",
            "token = os.environ['GITHUB_TOKEN_2']",
            "task-3f2a90c1d4be0a9f8e7d6c5b4a39281706f5e4d3",
            "sha512-3f2a90c1d4be0a9f8e7d6c5b4a39281706f5e4d3c2b1a0998877665544332211==",
        ] {
            let found = ids(&scanner, text, "src/a.py");
            assert!(found.is_empty(), "{text}: {found:?}");
        }
        let lock = format!("\"token\": \"{}\"", noise(ALNUM, 40, 16));
        assert!(ids(&scanner, &lock, "package-lock.json").is_empty());
    }

    #[test]
    #[ignore = "measures the speed over a tree of sources named by AHP_CORPUS; run with --release"]
    fn speed() {
        let Some(root) = std::env::var_os("AHP_CORPUS") else {
            return;
        };
        let texts: Vec<(String, String)> = ignore::WalkBuilder::new(root)
            .standard_filters(false)
            .build()
            .filter_map(Result::ok)
            .filter_map(|e| {
                Some((
                    e.path().to_str()?.to_owned(),
                    std::fs::read_to_string(e.path()).ok()?,
                ))
            })
            .collect();
        let bytes: usize = texts.iter().map(|(_, text)| text.len()).sum();
        let scanner = Scanner::new(true, &[]).unwrap();
        for _ in 0..2 {
            let start = std::time::Instant::now();
            let mut by_rule = std::collections::BTreeMap::<String, usize>::new();
            for (path, text) in &texts {
                for id in ids(&scanner, text, path) {
                    *by_rule.entry(id).or_default() += 1;
                }
            }
            let seconds = start.elapsed().as_secs_f64();
            println!("{} KB in {seconds:.3} s: {by_rule:?}", bytes / 1000);
        }
    }
}
