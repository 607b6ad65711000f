//! Pattern: one line of a rule, the conditions under which an invocation is meant (docs/rules.md).
//!
//! It is read as it is asked, word by word, and no further than the first one that does not hold: most lines are about another
//! subcommand. A file of rules is checked whole before it is asked.

use super::digest::Digest;
use super::format::{is_option, is_path};
use super::predicate;
use super::predicate::Predicate;
use crate::glob::glob;
use crate::shell::Word;
use crate::words;

/// The conditions of one pattern; all must hold.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pattern<'t>(pub(super) &'t str);

impl<'t> Pattern<'t> {
    fn words(self) -> impl Iterator<Item = &'t str> {
        self.0.split_ascii_whitespace()
    }

    /// Returns the words that name the operands in their order.
    fn path(self) -> impl Iterator<Item = &'t str> {
        self.words().filter(|word| is_path(word))
    }

    fn conditions(self) -> impl Iterator<Item = &'t str> {
        self.words().filter(|word| !is_path(word))
    }

    /// Tells what is wrong with it.
    pub(super) fn check(self) -> Result<(), String> {
        if matches!(self.0.trim(), "" | "unless:" | "why:" | "try:") {
            return Err(
                "nothing stands behind it: `unless: CONDITIONS`, `why: …`, `try: …`".to_owned(),
            );
        }
        for word in self.words() {
            let unknown = word.split('|').find_map(|name| {
                let (_, list, _) = listed(name)?;
                words::find(list).is_none().then_some(list)
            });
            if let Some(list) = unknown {
                return Err(format!("there is no list `${list}`"));
            }
            let bare = word.strip_prefix('!').unwrap_or(word);
            let Some(call) = bare.strip_prefix('@').filter(|_| !is_path(word)) else {
                continue;
            };
            let (name, given) = call.split_once(':').unwrap_or((call, ""));
            let takes_value = match predicate::find(name) {
                None => return Err(format!("there is no predicate `@{name}`")),
                Some(found) => matches!(found, Predicate::Of(_)),
            };
            if takes_value == given.is_empty() {
                let takes = if takes_value {
                    "a value: `@name:value`"
                } else {
                    "no value"
                };
                return Err(format!("`@{name}` takes {takes}"));
            }
        }
        Ok(())
    }

    /// Returns how many conditions it has, each word of its path among them.
    pub(super) fn len(self) -> usize {
        self.words().count()
    }

    /// Whether an invocation is meant.
    pub(super) fn matches(self, digest: &Digest<'_>) -> bool {
        let later = self.behind_path(digest);
        later.is_some_and(|later| self.conditions().all(|one| holds(one, digest, later)))
    }

    /// Returns the conditions that do not hold; none where not even the operands come in its order.
    pub(super) fn missing(self, digest: &Digest<'_>) -> Option<Vec<&'t str>> {
        let later = self.behind_path(digest)?;
        let missing = self.conditions().filter(|one| !holds(one, digest, later));
        Some(missing.collect())
    }

    /// Returns the operands behind those that its path names; none where they are others.
    fn behind_path<'d>(self, digest: &'d Digest<'_>) -> Option<&'d [&'d Word]> {
        let mut later = digest.operands.as_slice();
        for names in self.path() {
            let (operand, rest) = later.split_first()?;
            if !fits(names, &operand.text) {
                return None;
            }
            later = rest;
        }
        Some(later)
    }
}

/// Whether a condition holds of an invocation, behind the operands of whose path others come.
fn holds(condition: &str, digest: &Digest<'_>, later: &[&Word]) -> bool {
    let negated = condition.len() > 1 && condition.starts_with('!');
    let bare = condition.get(usize::from(negated)..).unwrap_or_default();
    let given = bare.get(1..).unwrap_or_default();
    let invocation = digest.invocation;
    let holds = match bare.as_bytes() {
        [b'@', ..] => {
            let (name, given) = given.split_once(':').unwrap_or((given, ""));
            match predicate::find(name) {
                Some(Predicate::Plain(test)) => test(digest, later),
                Some(Predicate::Of(test)) => test(digest, &|text| fits(given, text)),
                None => false,
            }
        }
        [b'=', ..] => fits(given, &invocation.program),
        [b'%', ..] => later.iter().any(|word| fits(given, &word.text)),
        [b'~', ..] => {
            let mut arguments = invocation.arguments.iter();
            arguments.any(|word| fits(given, &word.text.to_ascii_lowercase()))
        }
        b"+" => !later.is_empty(),
        _ if is_option(bare) => any_name(bare, |name| digest.has_option(name)),
        _ => later.iter().any(|word| fits(bare, &word.text)),
    };
    holds != negated
}

fn fits(names: &str, text: &str) -> bool {
    any_name(names, |name| glob(name, text))
}

/// Whether one of `a|b` is meant; `x$list` stands for each word of a list, with what is around it.
fn any_name(names: &str, is_meant: impl Fn(&str) -> bool) -> bool {
    names.split('|').any(|name| match listed(name) {
        None => is_meant(name),
        Some((before, list, after)) => words::find(list)
            .unwrap_or_default()
            .iter()
            .any(|word| is_meant(&format!("{before}{word}{after}"))),
    })
}

/// Returns the name of the list in `x$list`, and what stands around it.
fn listed(name: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = name.split_once('$')?;
    let is_part = |c: char| c.is_ascii_lowercase() || c == '-';
    let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
    let (list, after) = rest.split_at(end);
    Some((before, list, after))
}
