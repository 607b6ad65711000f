//! Trace: which rules were near a command, and which of their conditions kept them from holding; for people who ask why.

use super::digest::Digest;
use super::index::Rule;
use super::judge::{Selection, in_force, subjects};
use super::knowledge::Knowledge;
use super::pattern::Pattern;
use crate::shell::Analysis;
use crate::signal::Severity;

/// A rule that a command meets, or misses by one condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Near {
    /// The command, as one line.
    pub command: String,
    /// The rule's id.
    pub rule: String,
    /// How grave it is.
    pub severity: Severity,
    /// The pattern that is nearest, as the rule has it.
    pub pattern: String,
    /// The condition that does not hold, or what excuses (`unless: …`, `allow_commands: …`); none where the rule is broken.
    pub missing: Option<String>,
}

/// Finds the rules that are near each program that a command line would run, in the order of its text.
pub fn near(analysis: &Analysis, selection: &Selection, knowledge: &dyn Knowledge) -> Vec<Near> {
    let mut found = Vec::new();
    for (at, invocation) in analysis.invocations.iter().enumerate() {
        let allowing = selection.allowing(analysis, invocation);
        for subject in subjects(invocation) {
            for (section, is_strict) in in_force(&subject, analysis, at, invocation, selection) {
                let digest = Digest::new(analysis, at, invocation, &section.values, knowledge);
                let digest = subject.reading(digest);
                for rule in section.rules_for(std::slice::from_ref(&digest), is_strict) {
                    let allowed = |near: Near| match allowing.filter(|_| near.missing.is_none()) {
                        Some(entry) => Near {
                            missing: Some(format!("allow_commands: {}", entry.text)),
                            ..near
                        },
                        None => near,
                    };
                    found.extend(nearest(rule, &digest).map(allowed));
                }
            }
        }
    }
    found
}

/// Returns how near a rule is by the pattern that is nearest.
fn nearest(rule: &Rule, digest: &Digest<'_>) -> Option<Near> {
    let near = rule.patterns.iter().filter_map(|pattern| {
        let missing = missing(pattern, digest)?;
        Some((missing, pattern))
    });
    let (missing, pattern) = near.min_by_key(|(missing, _)| missing.len())?;
    let excuse = || rule.unless.iter().find(|one| one.matches(digest));
    let missing = match missing.first() {
        Some(text) => Some((*text).to_owned()),
        None => excuse().map(|one| format!("unless: {}", one.text)),
    };
    Some(Near {
        command: digest.invocation.display(),
        rule: rule.id.to_string(),
        severity: rule.severity,
        pattern: pattern.text.to_string(),
        missing,
    })
}

/// Returns the conditions of a pattern that do not hold, where they are one at most and another one does.
fn missing<'t>(pattern: &'t Pattern, digest: &Digest<'_>) -> Option<Vec<&'t str>> {
    let missing = pattern.missing(digest)?;
    let is_near = missing.is_empty() || missing.len() == 1 && pattern.len() > 1;
    is_near.then_some(missing)
}
