//! The rules as data: `policies/rules/*.rules`, one or several files a preset, read program by program when first asked.
//!
//! A file is made of sections. `[git] -C -c` opens the rules of a program (several names and `*` at an
//! end may be given) and names its options that take the next word as value. A rule is a line
//! `id severity [strict]` followed by indented lines: patterns, then `why: reason` and `try: alternative`.

use std::sync::OnceLock;

use super::index;
use super::pattern::Pattern;
use crate::signal::Severity;

/// One preset: a name and its rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preset {
    /// The name as it is written in a policy.
    pub name: &'static str,
    pub(super) text: &'static str,
}

macro_rules! presets {
    ($($name:literal [$($file:literal)*])*) => {
        /// Every preset that is made of files of rules; `standard` is all of their rules that are not strict.
        pub static PRESETS: &[Preset] = &[$(Preset {
            name: $name,
            text: concat!($(include_str!(concat!("../../policies/rules/", $file, ".rules")), "\n"),*),
        }),*];
    };
}

presets! {
    "cloud" ["cloud" "clusters" "platforms"]
    "database" ["database" "migrations"]
    "exfiltration" ["exfiltration"]
    "filesystem" ["filesystem" "devices" "windows"]
    "git" ["git"]
    "secrets" ["secrets"]
    "supply-chain" ["supply-chain"]
    "system" ["system" "rights" "services"]
}

/// What a rule says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleText {
    /// The preset's name and the rule's own: `git:reset-hard`.
    pub id: String,
    /// The preset it belongs to.
    pub preset: &'static str,
    /// How grave it is.
    pub severity: Severity,
    /// Whether only its own preset has it, not `standard`.
    pub strict: bool,
    /// Why the command is dangerous.
    pub reason: &'static str,
    /// What can be done instead.
    pub instead: &'static str,
}

/// A rule, ready to be matched.
#[derive(Debug)]
pub(super) struct Rule {
    pub(super) text: RuleText,
    pub(super) patterns: Vec<Pattern>,
}

/// The rules of one or several programs.
#[derive(Debug)]
pub(super) struct Section {
    preset: &'static str,
    programs: &'static str,
    /// The options that take the next word as their value.
    pub(super) values: Vec<&'static str>,
    body: &'static str,
    rules: OnceLock<Vec<Rule>>,
}

/// Whether rules about losing something know a program by its name.
pub(super) fn know(program: &str) -> bool {
    index::sections(program).any(|section| {
        section.programs != "*"
            && !matches!(section.preset, "exfiltration" | "secrets" | "supply-chain")
    })
}

/// Returns every rule of every preset, for listings and tests.
pub fn all_rules() -> Vec<&'static RuleText> {
    index::all()
        .flat_map(Section::rules)
        .map(|rule| &rule.text)
        .collect()
}

impl Section {
    /// Reads the header of a section that begins behind its bracket.
    pub(super) fn new(preset: &'static str, text: &'static str) -> Self {
        let (header, body) = text.split_once('\n').unwrap_or((text, ""));
        let (programs, values) = header.split_once(']').unwrap_or((header, ""));
        Self {
            preset,
            programs,
            values: values.split_ascii_whitespace().collect(),
            body,
            rules: OnceLock::new(),
        }
    }

    /// Whether its header names a program.
    pub(super) fn names(&self, program: &str) -> bool {
        let mut names = self.programs.split_ascii_whitespace();
        names.any(|name| match name.strip_suffix('*') {
            Some(prefix) => program.starts_with(prefix),
            None => program == name,
        })
    }

    /// Whether its programs are clients of subcommands, each of which has a help of its own.
    pub(super) fn has_subcommands(&self) -> bool {
        matches!(self.preset, "cloud" | "git")
    }

    /// Returns its rules, read when first asked for.
    pub(super) fn rules(&self) -> &[Rule] {
        self.rules.get_or_init(|| self.read())
    }

    fn read(&self) -> Vec<Rule> {
        let mut rules: Vec<Rule> = Vec::new();
        for line in self.body.lines() {
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            let Some(inner) = line.strip_prefix("  ") else {
                let mut words = line.split_whitespace();
                let id = words.next().unwrap_or_default();
                let severity = match words.next() {
                    Some("high") => Severity::High,
                    Some("low") => Severity::Low,
                    _ => Severity::Medium,
                };
                rules.push(Rule {
                    text: RuleText {
                        id: format!("{}:{id}", self.preset),
                        preset: self.preset,
                        severity,
                        strict: words.next() == Some("strict"),
                        reason: "",
                        instead: "",
                    },
                    patterns: Vec::new(),
                });
                continue;
            };
            let Some(rule) = rules.last_mut() else {
                continue;
            };
            if let Some(reason) = inner.strip_prefix("why: ") {
                rule.text.reason = reason;
            } else if let Some(instead) = inner.strip_prefix("try: ") {
                rule.text.instead = instead;
            } else {
                rule.patterns.push(Pattern::new(inner));
            }
        }
        rules
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::all_rules;
    use super::index;

    #[test]
    fn every_rule_is_complete_and_unique() {
        let mut seen = BTreeSet::new();
        for rule in all_rules() {
            assert!(seen.insert(&rule.id), "{} stands twice", rule.id);
            assert!(!rule.reason.is_empty(), "{} has no reason", rule.id);
            assert!(!rule.instead.is_empty(), "{} has no alternative", rule.id);
        }
        assert!(seen.len() > 150, "only {} rules", seen.len());
    }

    #[test]
    fn every_pattern_is_understood() {
        for section in index::all() {
            for rule in section.rules() {
                assert!(!rule.patterns.is_empty(), "{} never matches", rule.text.id);
                for pattern in &rule.patterns {
                    assert!(
                        pattern.unknown_predicate().is_none(),
                        "{}: {:?}",
                        rule.text.id,
                        pattern.unknown_predicate()
                    );
                }
            }
        }
    }
}
