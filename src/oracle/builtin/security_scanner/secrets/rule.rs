//! One rule: the form of a secret, and what is none although it looks like one.

use std::sync::OnceLock;

use regex::Regex;

use super::placeholder;
use crate::signal::Severity;

/// The known formats.
pub(super) const FORMATS: &str = include_str!("formats.tsv");

/// Where in a match its keyword stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::oracle::builtin::security_scanner) enum Keyword {
    /// At its start: the pattern is tried there and nowhere else.
    Start,
    /// Anywhere in the same line.
    Around,
    /// In the first line of several.
    Before,
}

/// A rule that finds one kind of secret.
#[derive(Clone, Debug)]
pub(in crate::oracle::builtin::security_scanner) struct Rule {
    /// Its id.
    pub(in crate::oracle::builtin::security_scanner) id: String,
    /// What it finds: `a GitHub personal access token`.
    pub(in crate::oracle::builtin::security_scanner) description: String,
    /// How grave a finding is.
    pub(in crate::oracle::builtin::security_scanner) severity: Severity,
    /// The least entropy of the secret, in bits a character.
    pub(in crate::oracle::builtin::security_scanner) entropy: f32,
    /// The group of the pattern that is the secret; 0 is the whole match.
    pub(in crate::oracle::builtin::security_scanner) group: usize,
    /// Words of which one must be there before the pattern is tried; none: it is tried on every line.
    pub(in crate::oracle::builtin::security_scanner) keywords: Vec<String>,
    /// Where the keyword stands.
    pub(in crate::oracle::builtin::security_scanner) keyword: Keyword,
    /// Whether the keyword counts in any case.
    pub(in crate::oracle::builtin::security_scanner) any_case: bool,
    /// Patterns of secrets, matches or lines that are none.
    pub(in crate::oracle::builtin::security_scanner) allowed: Vec<Regex>,
    /// Patterns of paths in which it finds nothing.
    pub(in crate::oracle::builtin::security_scanner) allowed_paths: Vec<Regex>,
    /// The only paths in which it finds anything.
    pub(in crate::oracle::builtin::security_scanner) path: Option<Regex>,
    /// The pattern.
    pub(in crate::oracle::builtin::security_scanner) pattern: String,
    /// Compiled when its keyword first turns up: compiling all of them takes longer than most scans.
    compiled: OnceLock<Option<Regex>>,
}

impl Rule {
    /// Makes a rule of a pattern that compiles.
    pub(in crate::oracle::builtin::security_scanner) fn new(id: String, pattern: String) -> Self {
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

    /// Returns the rules of all known formats.
    pub(super) fn all_known() -> impl Iterator<Item = Self> {
        FORMATS.lines().filter_map(Self::known)
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

    pub(super) fn regex(&self) -> Option<&Regex> {
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
    pub(super) fn applies_to(&self, path: Option<&str>) -> bool {
        let path = path.unwrap_or_default();
        self.path.as_ref().is_none_or(|only| only.is_match(path))
            && !self.allowed_paths.iter().any(|a| a.is_match(path))
    }

    /// Whether what matched is a secret indeed.
    pub(super) fn is_secret(&self, secret: &str, line: &str) -> bool {
        (self.entropy == 0.0 || placeholder::entropy(secret) >= self.entropy)
            && !placeholder::is_one(secret)
            && !placeholder::is_default_password(secret)
            && !self
                .allowed
                .iter()
                .any(|a| a.is_match(secret) || a.is_match(line))
    }
}
