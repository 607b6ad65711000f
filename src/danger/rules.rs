//! Rules as data: when an invocation breaks one, and files of rules of a user's own. docs/rules.md tells the format.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::digest::Digest;
use super::format;
use super::format::Text;
use super::index::{PRESETS, Rule, Section};
use super::pattern;
use crate::signal::Severity;

impl Rule {
    fn read(preset: &str, rule: &format::Rule<'_>) -> Self {
        // What cannot be read was told by the check.
        let patterns = |lines: &[(usize, &str)]| {
            let lines = lines.iter();
            lines
                .filter_map(|(_, text)| pattern::read(text).ok())
                .collect()
        };
        Self {
            id: Text::Owned(format!("{preset}:{}", rule.name)),
            preset: Text::Owned(preset.to_owned()),
            severity: severity(rule.severity).unwrap_or(Severity::High),
            strict: rule.is_strict,
            reason: Text::Owned(rule.reason.to_owned()),
            instead: Text::Owned(rule.instead.to_owned()),
            patterns: patterns(&rule.patterns),
            unless: patterns(&rule.unless),
            firsts: rule.firsts(),
        }
    }

    /// Whether it asks what feeds the invocation, which then belongs to what is told of it.
    pub(super) fn asks_feeders(&self) -> bool {
        self.patterns.iter().any(|one| one.text.contains("@fed"))
    }

    /// Whether an invocation breaks it. What excuses is asked last, for it may ask git and the disk.
    pub(super) fn is_broken_by(&self, digest: &Digest<'_>) -> bool {
        self.patterns.iter().any(|one| one.matches(digest))
            && !self.unless.iter().any(|one| one.matches(digest))
    }
}

fn severity(name: &str) -> Option<Severity> {
    Severity::ALL.iter().copied().find(|one| one.name() == name)
}

/// What is wrong with a line of a file of rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleFault {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with it, and what was expected.
    pub message: String,
}

/// A file of rules that is not one of the program's own.
#[derive(Clone, Debug)]
pub struct RuleFile(Arc<[Section]>);

impl RuleFile {
    /// Reads a file of rules; its name is that of its preset, and stands before the ids of its rules.
    ///
    /// # Errors
    ///
    /// Every line that is not understood, rules that lack something, and a name that a preset of the program has.
    pub fn new(name: &str, text: &str) -> Result<Self, Vec<RuleFault>> {
        let mut faults = check(name, text);
        if PRESETS.contains(&name) || matches!(name, "standard" | "none") {
            let message = format!("`{name}` is the name of a preset of the program");
            faults.push(RuleFault { line: 1, message });
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        let sections = format::read(name, text, &mut |_, _| {}).into_iter();
        let sections = sections.map(|section| Section {
            preset: Text::Owned(name.to_owned()),
            programs: Text::Owned(section.programs.to_owned()),
            values: Text::Owned(section.values.to_owned()),
            rules: section
                .rules
                .iter()
                .map(|rule| Rule::read(name, rule))
                .collect(),
        });
        Ok(Self(sections.collect()))
    }

    /// Returns the sections that speak of a program.
    pub(super) fn sections(&self, program: &str) -> impl Iterator<Item = &Section> {
        self.0.iter().filter(move |section| section.names(program))
    }
}

/// Returns what is wrong with a file of rules.
pub fn check(name: &str, text: &str) -> Vec<RuleFault> {
    let mut faults = Vec::new();
    let mut fault = |line, message: String| faults.push(RuleFault { line, message });
    let mut ids = BTreeSet::new();
    let sections = format::read(name, text, &mut |line, what| fault(line, what.to_owned()));
    for rule in sections.iter().flat_map(|section| &section.rules) {
        if severity(rule.severity).is_none() {
            let names: Vec<_> = Severity::ALL.iter().map(|known| known.name()).collect();
            let (given, names) = (rule.severity, names.join(", "));
            let message = format!("`{given}` is not a severity; expected one of {names}");
            fault(rule.line, message);
        }
        for (line, conditions) in rule.patterns.iter().chain(&rule.unless) {
            if let Err(message) = pattern::read(conditions) {
                fault(*line, message);
            }
        }
        if !ids.insert(rule.name) {
            fault(
                rule.line,
                format!("the rule `{name}:{}` stands twice", rule.name),
            );
        }
    }
    faults.sort_by_key(|fault| fault.line);
    faults
}
