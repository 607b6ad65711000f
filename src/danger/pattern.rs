//! Pattern: one line of a rule, the conditions under which an invocation is meant. docs/rules.md tells how it is written.

use std::borrow::Cow;
use std::sync::OnceLock;

use super::digest::Digest;
use super::predicate::Predicate;
use super::section::{is_option, is_path};
use super::{predicate, words};
use crate::glob::glob;
use crate::shell::Word;

/// The conditions of one pattern; all must hold.
#[derive(Debug)]
pub(super) struct Pattern<'t> {
    /// As it is written.
    text: &'t str,
    /// What it says, read when it is first asked: most patterns are about another subcommand, and need not be.
    read: OnceLock<Conditions<'t>>,
}

#[derive(Debug, Default)]
struct Conditions<'t> {
    path: Vec<Globs<'t>>,
    others: Vec<Condition<'t>>,
}

/// Globs of which one must fit.
type Globs<'t> = Vec<Cow<'t, str>>;

#[derive(Debug)]
struct Condition<'t> {
    text: &'t str,
    negated: bool,
    test: Test<'t>,
}

#[derive(Debug)]
enum Test<'t> {
    Program(Globs<'t>),
    Option(Globs<'t>),
    Operand(Globs<'t>),
    Argument(Globs<'t>),
    More,
    Predicate(Predicate, Globs<'t>),
}

impl<'t> Pattern<'t> {
    /// Takes a line of a rule.
    pub(super) const fn new(text: &'t str) -> Self {
        let read = OnceLock::new();
        Self { text, read }
    }

    /// Reads the line; an error tells what is wrong with it.
    pub(super) fn check(&self) -> Result<(), String> {
        Conditions::read(self.text).map(drop)
    }

    /// Whether it asks what feeds the invocation, which then belongs to what is told of it.
    pub(super) fn asks_feeders(&self) -> bool {
        self.text.contains("@fed")
    }

    /// Returns it as it is written.
    pub(super) fn text(&self) -> &'t str {
        self.text
    }

    /// Returns how many conditions it has, each word of its path among them.
    pub(super) fn len(&self) -> usize {
        let Conditions { path, others } = self.conditions();
        path.len() + others.len()
    }

    /// Whether an invocation is meant.
    pub(super) fn matches(&self, digest: &Digest<'_>) -> bool {
        let Some(later) = self.behind_path(digest) else {
            return false;
        };
        let mut others = self.conditions().others.iter();
        others.all(|condition| condition.holds(digest, later))
    }

    /// Returns the conditions that do not hold; none where not even the operands come in its order.
    pub(super) fn missing(&self, digest: &Digest<'_>) -> Option<Vec<&'t str>> {
        let later = self.behind_path(digest)?;
        let others = self.conditions().others.iter();
        let missing = others.filter(|condition| !condition.holds(digest, later));
        Some(missing.map(|condition| condition.text).collect())
    }

    /// A file of rules is checked whole before it is asked; one that could not be read would hold for everything.
    fn conditions(&self) -> &Conditions<'t> {
        let read = || Conditions::read(self.text).unwrap_or_default();
        self.read.get_or_init(read)
    }

    /// Returns the operands behind those that its path names; none where they are others.
    fn behind_path<'d>(&self, digest: &'d Digest<'_>) -> Option<&'d [&'d Word]> {
        if self.read.get().is_none() && !self.may_begin(digest) {
            return None;
        }
        let path = &self.conditions().path;
        let (named, later) = digest.operands.split_at_checked(path.len())?;
        let is_meant = |(names, operand): (&Globs<'_>, &&Word)| fit(names, &operand.text);
        path.iter().zip(named).all(is_meant).then_some(later)
    }

    /// Whether the first operand can be the one that the line begins with.
    fn may_begin(&self, digest: &Digest<'_>) -> bool {
        let first = self.text.split(' ').next().unwrap_or_default();
        !is_path(first.as_bytes())
            || first.contains('$')
            || digest.operands.first().is_some_and(|operand| {
                let mut names = first.split('|');
                names.any(|name| glob(name, &operand.text))
            })
    }
}

impl<'t> Conditions<'t> {
    fn read(line: &'t str) -> Result<Self, String> {
        let mut conditions = Self::default();
        if matches!(line.trim(), "" | "unless:" | "why:" | "try:") {
            return Err(
                "nothing stands behind it: `unless: CONDITIONS`, `why: …`, `try: …`".to_owned(),
            );
        }
        for word in line.split_whitespace() {
            if is_path(word.as_bytes()) {
                conditions.path.push(globs(word)?);
                continue;
            }
            let (negated, bare) = match word.strip_prefix('!') {
                Some(rest) if !rest.is_empty() => (true, rest),
                _ => (false, word),
            };
            let test = if let Some(call) = bare.strip_prefix('@') {
                let (name, given) = call.split_once(':').unwrap_or((call, ""));
                let found = predicate::find(name)
                    .ok_or_else(|| format!("there is no predicate `@{name}`"))?;
                if matches!(found, Predicate::Of(_)) == given.is_empty() {
                    return Err(format!(
                        "`@{name}` takes {}",
                        if given.is_empty() {
                            "a value: `@name:value`"
                        } else {
                            "no value"
                        }
                    ));
                }
                Test::Predicate(found, globs(given)?)
            } else if let Some(names) = bare.strip_prefix('=') {
                Test::Program(globs(names)?)
            } else if let Some(given) = bare.strip_prefix('%') {
                Test::Operand(globs(given)?)
            } else if let Some(given) = bare.strip_prefix('~') {
                Test::Argument(globs(given)?)
            } else if bare == "+" {
                Test::More
            } else if is_option(bare.as_bytes()) {
                Test::Option(globs(bare)?)
            } else {
                Test::Operand(globs(bare)?)
            };
            conditions.others.push(Condition {
                text: word,
                negated,
                test,
            });
        }
        Ok(conditions)
    }
}

impl Condition<'_> {
    fn holds(&self, digest: &Digest<'_>, later: &[&Word]) -> bool {
        let holds = match &self.test {
            Test::Program(names) => fit(names, &digest.invocation.program),
            Test::Option(names) => names.iter().any(|name| digest.has_option(name)),
            Test::Operand(globs) => later.iter().any(|word| fit(globs, &word.text)),
            Test::Argument(globs) => {
                let mut arguments = digest.invocation.arguments.iter();
                arguments.any(|word| fit(globs, &word.text.to_ascii_lowercase()))
            }
            Test::More => !later.is_empty(),
            Test::Predicate(Predicate::Plain(test), _) => test(digest, later),
            Test::Predicate(Predicate::Of(test), given) => test(digest, &|text| fit(given, text)),
        };
        holds != self.negated
    }
}

fn fit(globs: &[Cow<'_, str>], text: &str) -> bool {
    globs.iter().any(|one| glob(one, text))
}

/// Returns the alternatives of `a|b`; `x$list` stands for each word of a list, with what is around it.
fn globs(text: &str) -> Result<Globs<'_>, String> {
    let mut found = Globs::new();
    for one in text.split('|') {
        let Some((before, rest)) = one.split_once('$') else {
            found.push(Cow::Borrowed(one));
            continue;
        };
        let end = rest
            .find(|c: char| !(c.is_ascii_lowercase() || c == '-'))
            .unwrap_or(rest.len());
        let (name, after) = rest.split_at(end);
        let words = words::find(name).ok_or_else(|| format!("there is no list `${name}`"))?;
        found.extend(words.map(|word| Cow::Owned(format!("{before}{word}{after}"))));
    }
    Ok(found)
}
