//! Pattern: one line of a rule, the conditions under which an invocation is meant (docs/rules.md).

use super::digest::Digest;
use super::format;
use super::format::{Asks, Condition, Names};
use super::predicate;
use super::predicate::Predicate;
use crate::glob::glob;
use crate::shell::Word;
use crate::words;

pub(super) type Pattern = format::Pattern<Predicate>;

/// Reads a pattern of a user's own file; those of the program's own are read when it is built.
///
/// # Errors
/// What is wrong with it.
pub(super) fn read(text: &str) -> Result<Pattern, String> {
    format::pattern(text, words::find, |name, has_names| {
        let found = predicate::find(name);
        let found = found.ok_or_else(|| format!("there is no predicate `@{name}`"))?;
        let takes = match found {
            Predicate::Plain(_) if has_names => "no value",
            Predicate::Of(_) if !has_names => "a value: `@name:value`",
            _ => return Ok(found),
        };
        Err(format!("`@{name}` takes {takes}"))
    })
}

impl Pattern {
    /// Returns how many conditions it has, each word of its path among them.
    pub(super) fn len(&self) -> usize {
        self.path.len() + self.conditions.len()
    }

    /// Whether an invocation is meant.
    pub(super) fn matches(&self, digest: &Digest<'_>) -> bool {
        let later = self.behind_path(digest);
        later.is_some_and(|later| self.conditions.iter().all(|one| one.holds(digest, later)))
    }

    /// Returns the conditions that do not hold; none where not even the operands come in its order.
    pub(super) fn missing(&self, digest: &Digest<'_>) -> Option<Vec<&str>> {
        let later = self.behind_path(digest)?;
        let missing = self
            .conditions
            .iter()
            .filter(|one| !one.holds(digest, later));
        Some(missing.map(|one| &*one.text).collect())
    }

    /// Returns the operands behind those that its path names; none where they are others.
    fn behind_path<'d>(&self, digest: &'d Digest<'_>) -> Option<&'d [&'d Word]> {
        let (named, later) = digest.operands.split_at_checked(self.path.len())?;
        let mut named = self.path.iter().zip(named);
        named
            .all(|(names, word)| fits(names, &word.text))
            .then_some(later)
    }
}

impl Condition<Predicate> {
    /// Whether it holds of an invocation, behind the operands of whose path others come.
    fn holds(&self, digest: &Digest<'_>, later: &[&Word]) -> bool {
        let fits = |text: &str| fits(&self.names, text);
        let mut arguments = digest.invocation.arguments.iter();
        let holds = match self.asks {
            Asks::Predicate(Predicate::Plain(test)) => test(digest, later),
            Asks::Predicate(Predicate::Of(test)) => test(digest, &fits),
            Asks::Program => fits(&digest.invocation.program),
            Asks::Operand => later.iter().any(|word| fits(&word.text)),
            Asks::Argument => arguments.any(|word| fits(&word.text.to_ascii_lowercase())),
            Asks::More => !later.is_empty(),
            Asks::Option => self.names.iter().any(|name| digest.has_option(name)),
        };
        holds != self.is_negated
    }
}

fn fits(names: &Names, text: &str) -> bool {
    names.iter().any(|name| glob(name, text))
}
