//! Index: the rules of the program's own, as the build has taken them apart (policies/reader/rules.rs), found by the name of a
//! program.

use std::borrow::Cow;
use std::borrow::Cow::Borrowed as B;

use super::digest::Digest;
use super::format;
use super::format::{Asks, Condition, Text};
use super::pattern::Pattern;
use super::predicate;
use crate::signal::Severity;

include!(concat!(env!("OUT_DIR"), "/rules.rs"));

/// One rule: what a command must not do, and what to do instead.
#[derive(Clone, Debug)]
pub struct Rule {
    /// The preset's name and the rule's own: `git:reset-hard`.
    pub id: Text,
    /// The preset it belongs to.
    pub preset: Text,
    /// How grave it is.
    pub severity: Severity,
    /// Whether only its own preset has it, not `standard`.
    pub strict: bool,
    /// Why the command is dangerous.
    pub reason: Text,
    /// What can be done instead.
    pub instead: Text,
    /// Its patterns.
    pub(super) patterns: Cow<'static, [Pattern]>,
    /// The patterns of which none may hold.
    pub(super) unless: Cow<'static, [Pattern]>,
    /// With what the first operand begins that one of its patterns means.
    pub(super) firsts: u64,
}

/// A header such as `[git] -C -c` and what stands below it.
#[derive(Debug)]
pub(super) struct Section {
    pub(super) preset: Text,
    pub(super) programs: Text,
    /// The options that take the next word as their value.
    pub(super) values: Text,
    pub(super) rules: Cow<'static, [Rule]>,
}

impl Section {
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
        matches!(&*self.preset, "cloud" | "database" | "git")
    }

    /// Returns the rules that may mean an invocation by the operands that come first in its readings, strict ones or not.
    pub(super) fn rules_for(
        &self,
        digests: &[Digest<'_>],
        is_strict: bool,
    ) -> impl Iterator<Item = &Rule> {
        let firsts = digests.iter().filter_map(|digest| digest.operands.first());
        let firsts = firsts.filter_map(|operand| operand.text.bytes().next());
        let firsts = firsts.fold(0, |all, byte| all | format::first(byte));
        let rules = self.rules.iter();
        rules.filter(move |rule| (is_strict || !rule.strict) && rule.may_mean(firsts))
    }
}

impl Rule {
    /// Whether one of its patterns may mean an operand that begins with one of these bytes.
    const fn may_mean(&self, firsts: u64) -> bool {
        self.firsts == u64::MAX || self.firsts & firsts != 0
    }
}

/// Returns the sections of the program's own that speak of a program: those that name it first, then those for all that begin
/// alike.
pub(super) fn sections(program: &str) -> impl Iterator<Item = &'static Section> {
    let named = NAMES.binary_search_by(|(name, _)| (*name).cmp(program));
    let named = named.ok().and_then(|at| NAMES.get(at));
    let named = named.into_iter().flat_map(|(_, sections)| *sections);
    let begun = PREFIXES
        .iter()
        .filter(|(begin, _)| program.starts_with(begin));
    named
        .chain(begun.map(|(_, section)| section))
        .filter_map(|at| SECTIONS.get(*at))
}

/// Returns every rule of every preset, for listings and tests.
pub fn all_rules() -> Vec<&'static Rule> {
    SECTIONS
        .iter()
        .flat_map(|section| &*section.rules)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{all_rules, format};

    #[test]
    fn no_rule_is_left_out_that_may_mean_an_operand() {
        let mut are_narrowed = 0;
        for rule in all_rules() {
            are_narrowed += usize::from(rule.firsts != u64::MAX);
            let patterns = rule.patterns.iter();
            let first_words = patterns.filter_map(|pattern| pattern.text.split(' ').next());
            for name in first_words.flat_map(|word| word.split('|')) {
                let operand = name.replace(['*', '?', '$'], "x");
                let first = operand.bytes().next().unwrap_or(b'x');
                assert!(rule.may_mean(format::first(first)), "{} {name}", rule.id);
            }
        }
        assert!(are_narrowed > 100, "{are_narrowed}");
    }
}
