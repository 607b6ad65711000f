//! Finding: what was found and where; never the secret itself.

use sha2::{Digest as _, Sha256};

use crate::signal::{Intensity, Severity, Signal, hex};

/// How many findings are named one by one.
const NAMED: usize = 20;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Finding {
    /// The rule's id.
    pub(super) rule: String,
    /// What was found: `a GitHub personal access token`.
    pub(super) what: String,
    /// How grave it is.
    pub(super) severity: Severity,
    /// The file; none for a command line and the message of a commit.
    pub(super) file: Option<String>,
    /// The line, from 1.
    pub(super) line: Option<u32>,
    /// The commit that added it, where it is gone from the change as a whole.
    pub(super) commit: Option<String>,
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
        let commit = self.commit.as_deref();
        let commit = commit.map(|id| format!("commit {}", id.get(..10).unwrap_or(id)));
        match (&self.file, self.line, commit) {
            (Some(file), Some(line), Some(commit)) => format!("{file}:{line} of {commit}"),
            (Some(file), Some(line), None) => format!("{file}:{line}"),
            (Some(file), None, _) => file.clone(),
            (None, _, Some(commit)) => format!("the message of {commit}"),
            (None, _, None) => "the tool call".to_owned(),
        }
    }

    /// Returns what it is, at whichever line it stands.
    fn object(&self) -> String {
        let file = self.file.as_deref().unwrap_or("-");
        format!("{file}: {} {}", self.rule, self.fingerprint)
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

/// Says what was found.
pub(super) fn signal(findings: &[Finding], intensity: Intensity) -> Signal {
    let named: Vec<String> = findings
        .iter()
        .take(NAMED)
        .map(|f| {
            format!(
                "{} in {} ({}, {})",
                f.what,
                f.place(),
                f.rule,
                f.fingerprint
            )
        })
        .collect();
    let mut reason = match findings.len() {
        1 => "1 security finding: ".to_owned(),
        n => format!("{n} security findings: "),
    };
    reason.push_str(&named.join("; "));
    if findings.len() > NAMED {
        reason.push_str(&format!("; and {} more", findings.len() - NAMED));
    }
    let mut steps: Vec<String> = findings
        .iter()
        .take(NAMED)
        .map(|f| format!("{}: {}", f.place(), f.remedy))
        .collect();
    steps.dedup();
    steps.push(
        "a person can allow what is not a finding, by its fingerprint under `allow`".to_owned(),
    );
    let mut files: Vec<String> = findings.iter().filter_map(|f| f.file.clone()).collect();
    files.sort_unstable();
    files.dedup();
    // What a commit held may be gone from the file, and its line another's.
    let places = findings.iter().filter(|f| f.commit.is_none());
    let places = places.filter_map(|f| Some((f.file.clone()?, f.line?)));
    let severity = findings
        .iter()
        .map(|f| f.severity)
        .max()
        .unwrap_or_default();
    Signal::with(intensity, "security-finding", reason)
        .severity(severity)
        .steps(steps)
        .files(files)
        .locations(places)
        .about_each("security-finding", findings.iter().map(Finding::object))
}
