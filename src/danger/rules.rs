//! Rules as data: the sections of `policies/rules/*.rules` and of files of a user's own. docs/rules.md tells the format.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use super::digest::Digest;
use super::index;
use super::index::Firsts;
use super::pattern::Pattern;
use super::presets::PRESETS;
use super::section::{Section, sections};
use crate::signal::Severity;

/// One rule: what a command must not do, and what to do instead.
#[derive(Debug)]
pub struct Rule<'t> {
    /// The preset's name and the rule's own: `git:reset-hard`.
    pub id: String,
    /// The preset it belongs to.
    pub preset: &'t str,
    /// How grave it is.
    pub severity: Severity,
    /// Whether only its own preset has it, not `standard`.
    pub strict: bool,
    /// Why the command is dangerous.
    pub reason: &'t str,
    /// What can be done instead.
    pub instead: &'t str,
    pub(super) patterns: Vec<Pattern<'t>>,
    /// Where one of them holds, the rule does not.
    pub(super) unless: Vec<Pattern<'t>>,
}

impl Rule<'_> {
    /// Whether an invocation breaks it. What excuses is asked last, for it may ask git and the disk.
    pub(super) fn is_broken_by(&self, digest: &Digest<'_>) -> bool {
        let any = |patterns: &[Pattern<'_>]| patterns.iter().any(|p| p.matches(digest));
        any(&self.patterns) && !any(&self.unless)
    }
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
pub struct RuleFile {
    name: Arc<str>,
    text: Arc<str>,
}

impl RuleFile {
    /// Reads a file of rules; its name is that of its preset, and stands before the ids of its rules.
    ///
    /// # Errors
    ///
    /// Every line that is not understood, rules that lack something, and a name that a preset of the program has.
    pub fn new(name: &str, text: &str) -> Result<Self, Vec<RuleFault>> {
        let mut faults = check(name, text);
        if PRESETS.iter().any(|preset| preset.name == name) || matches!(name, "standard" | "none") {
            let message = format!("`{name}` is the name of a preset of the program");
            faults.push(RuleFault { line: 1, message });
        }
        let file = Self {
            name: name.into(),
            text: text.into(),
        };
        if faults.is_empty() {
            Ok(file)
        } else {
            Err(faults)
        }
    }

    /// Returns the sections that speak of a program.
    pub(super) fn sections<'a>(&'a self, program: &'a str) -> impl Iterator<Item = Section<'a>> {
        sections(&self.name, &self.text).filter(move |section| section.names(program))
    }
}

/// Returns every rule of every preset, for listings and tests.
pub fn all_rules() -> Vec<&'static Rule<'static>> {
    (0..index::RULES).filter_map(known).collect()
}

/// Returns a rule of the program's own by its number, read when first asked for: most are about other subcommands.
fn known(rule: usize) -> Option<&'static Rule<'static>> {
    static RULES: [OnceLock<Option<Rule<'static>>>; index::RULES] =
        [const { OnceLock::new() }; index::RULES];
    let read = || read(&index::rule(rule), None).pop();
    RULES.get(rule)?.get_or_init(read).as_ref()
}

/// The rules of a section that are in force.
#[derive(Clone, Copy, Debug)]
pub(super) enum InForce<'r> {
    /// Of the program's own.
    Known {
        /// The section's number.
        section: usize,
        /// Whether those are too that only their own preset has.
        strict: bool,
    },
    /// Of a user's file.
    Own(&'r Section<'r>),
}

impl InForce<'_> {
    /// Shows each rule that may mean a command whose first operand begins like this.
    pub(super) fn each(self, firsts: Firsts, see: &mut dyn FnMut(&Rule<'_>)) {
        match self {
            Self::Known { section, strict } => index::rules(section, firsts)
                .filter_map(known)
                .filter(|rule| strict || !rule.strict)
                .for_each(see),
            Self::Own(section) => read(section, None).iter().for_each(see),
        }
    }
}

/// Returns what is wrong with a file of rules.
pub fn check(name: &str, text: &str) -> Vec<RuleFault> {
    let mut faults = Vec::new();
    let mut ids = BTreeSet::new();
    let mut begun = false;
    for (line, text) in (1..).zip(text.lines()) {
        begun |= text.starts_with('[');
        if !begun && !text.trim().is_empty() && !text.starts_with('#') {
            let message = "a rule belongs below a section: `[program]`".to_owned();
            faults.push(RuleFault { line, message });
        }
    }
    for section in sections(name, text) {
        if section.programs.trim().is_empty() || !section.is_closed {
            let message = "a section names programs: `[git]`, `[cp mv]`, `[aws*]`".to_owned();
            faults.push(RuleFault {
                line: section.line,
                message,
            });
        }
        for rule in read(&section, Some(&mut faults)) {
            if !ids.insert(rule.id.clone()) {
                let message = format!("the rule `{}` stands twice", rule.id);
                faults.push(RuleFault {
                    line: section.line,
                    message,
                });
            }
        }
    }
    faults.sort_by_key(|fault| fault.line);
    faults
}

/// Reads the rules of a section, as far as they are understood; what is not is told where faults are asked for.
pub(super) fn read<'t>(
    section: &Section<'t>,
    mut faults: Option<&mut Vec<RuleFault>>,
) -> Vec<Rule<'t>> {
    let mut rules: Vec<Rule<'t>> = Vec::new();
    let mut began = 0;
    let is_checked = faults.is_some();
    let mut fault = |line, message| {
        if let Some(faults) = &mut faults {
            faults.push(RuleFault { line, message });
        }
    };
    for (line, text) in (section.line + 1..).zip(section.body.lines()) {
        if text.trim().is_empty() || text.starts_with('#') {
            continue;
        }
        let Some(inner) = text.strip_prefix("  ") else {
            if let Some(rule) = rules.last() {
                lacks(rule, |message| fault(began, message));
            }
            began = line;
            rules.push(head(section.preset, text, |message| fault(line, message)));
            continue;
        };
        let Some(rule) = rules.last_mut() else {
            fault(
                line,
                "a pattern belongs below a rule: `name severity`".to_owned(),
            );
            continue;
        };
        if let Some(reason) = inner.strip_prefix("why: ") {
            rule.reason = reason;
            continue;
        }
        if let Some(instead) = inner.strip_prefix("try: ") {
            rule.instead = instead;
            continue;
        }
        let (conditions, kind) = match inner.strip_prefix("unless: ") {
            Some(conditions) => (conditions, &mut rule.unless),
            None => (inner, &mut rule.patterns),
        };
        let pattern = Pattern::new(conditions);
        match is_checked.then(|| pattern.check()) {
            Some(Err(message)) => fault(line, message),
            _ => kind.push(pattern),
        }
    }
    if let Some(rule) = rules.last() {
        lacks(rule, |message| fault(began, message));
    }
    rules
}

/// Reads the first line of a rule.
fn head<'t>(preset: &'t str, line: &str, mut fault: impl FnMut(String)) -> Rule<'t> {
    let mut words = line.split_whitespace();
    let id = words.next().unwrap_or_default();
    let severity = words.next().unwrap_or_default();
    let known = Severity::ALL.iter().find(|known| known.name() == severity);
    if known.is_none() {
        let names: Vec<_> = Severity::ALL.iter().map(|known| known.name()).collect();
        fault(format!(
            "`{severity}` is not a severity; expected one of {}",
            names.join(", ")
        ));
    }
    let strict = words.next();
    if strict.is_some_and(|word| word != "strict") || words.next().is_some() {
        fault("behind the severity only `strict` may stand".to_owned());
    }
    Rule {
        id: format!("{preset}:{id}"),
        preset,
        severity: known.copied().unwrap_or(Severity::High),
        strict: strict.is_some(),
        reason: "",
        instead: "",
        patterns: Vec::new(),
        unless: Vec::new(),
    }
}

/// Tells what a rule lacks.
fn lacks(rule: &Rule<'_>, mut fault: impl FnMut(String)) {
    for (part, is_lacking) in [
        ("pattern", rule.patterns.is_empty()),
        ("reason: `why: …`", rule.reason.is_empty()),
        ("way out: `try: …`", rule.instead.is_empty()),
    ] {
        if is_lacking {
            fault(format!("`{}` has no {part}", rule.id));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All of each preset, read whole, section by section.
    fn read_whole() -> impl Iterator<Item = Vec<Rule<'static>>> {
        PRESETS.iter().flat_map(|preset| {
            let sections = sections(preset.name, preset.text);
            sections.map(|section| read(&section, None))
        })
    }

    #[test]
    fn the_index_has_every_rule_as_it_is_written() {
        let written: Vec<_> = read_whole().flatten().map(|r| format!("{r:?}")).collect();
        let indexed: Vec<_> = all_rules().iter().map(|r| format!("{r:?}")).collect();
        assert_eq!(written, indexed);
    }

    #[test]
    fn the_index_leaves_out_no_rule_that_may_mean_an_operand() {
        let first_words = |rule: &Rule<'static>| {
            let patterns = rule.patterns.iter();
            let words = patterns.map(|pattern| pattern.text().split(' ').next().unwrap());
            words.flat_map(|word| word.split('|')).collect::<Vec<_>>()
        };
        for (number, rules) in read_whole().enumerate() {
            let shown = |firsts: Firsts| {
                let mut shown = Vec::new();
                let section = InForce::Known {
                    section: number,
                    strict: true,
                };
                section.each(firsts, &mut |rule| shown.push(rule.id.clone()));
                shown
            };
            for rule in &rules {
                for word in first_words(rule) {
                    let operand = word.replace(['*', '?', '$'], "x");
                    let first = operand.bytes().next().unwrap_or(b'x');
                    let shown = shown(Firsts::NONE.with(first));
                    assert!(shown.contains(&rule.id), "{} {word}", rule.id);
                }
            }
            // With no operand, rules that name none are still asked.
            for rule in shown(Firsts::NONE) {
                assert!(rules.iter().any(|known| known.id == rule));
            }
        }
    }
}
