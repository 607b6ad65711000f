//! Finding: what was found and where; never the secret itself.

use sha2::Digest as _;
use sha2::Sha256;

use crate::signal::Severity;
use crate::signal::hex;

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Finding {
    /// The rule's id.
    pub(super) rule: String,
    /// What was found: `a GitHub personal access token`.
    pub(super) what: String,
    /// How grave it is.
    pub(super) severity: Severity,
    /// The file; none for a command line.
    pub(super) file: Option<String>,
    /// The line, from 1.
    pub(super) line: Option<u32>,
    /// What the finding can be allowed by; it does not tell the secret.
    pub(super) fingerprint: String,
    /// How it can be mended.
    pub(super) remedy: &'static str,
}

/// Returns the fingerprint of something that a rule found; 48 bits of a digest, from which nothing can be read.
pub(super) fn fingerprint(rule: &str, found: &str) -> String {
    let mut hash = Sha256::new();
    hash.update(b"ahp finding\0");
    hash.update(rule.as_bytes());
    hash.update([0]);
    hash.update(found.as_bytes());
    let mut digits = hex(&hash.finalize());
    digits.truncate(12);
    digits
}

impl Finding {
    /// Returns where it is: `src/a.rs:12`, or `the command`.
    pub(super) fn place(&self) -> String {
        match (&self.file, self.line) {
            (Some(file), Some(line)) => format!("{file}:{line}"),
            (Some(file), None) => file.clone(),
            (None, _) => "the tool call".to_owned(),
        }
    }

    /// Whether an entry of an allow-list means it: its fingerprint, or gitleaks' `file:rule:line`.
    pub(super) fn is_named_by(&self, entry: &str) -> bool {
        entry == self.fingerprint
            || self.line.is_some_and(|line| {
                let file = self.file.as_deref().unwrap_or_default();
                entry == format!("{file}:{}:{line}", self.rule)
            })
    }
}
