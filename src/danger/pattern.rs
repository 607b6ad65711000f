//! Pattern: one line of a rule, the conditions under which an invocation is meant. docs/rules.md tells how it is written.

use std::borrow::Cow;

use super::digest::Digest;
use super::predicate;
use super::predicate::Predicate;
use super::words;
use crate::glob::glob;

/// The conditions of one pattern; all must hold.
#[derive(Debug)]
pub(super) struct Pattern<'t> {
    path: Vec<Globs<'t>>,
    conditions: Vec<Condition<'t>>,
    /// Whether it asks what feeds the invocation.
    asks_feeders: bool,
}

/// Globs of which one must fit.
type Globs<'t> = Vec<Cow<'t, str>>;

#[derive(Debug)]
struct Condition<'t> {
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
    /// Reads a line of a rule; an error tells what is wrong with it.
    pub(super) fn new(line: &'t str) -> Result<Self, String> {
        let mut pattern = Self {
            path: Vec::new(),
            conditions: Vec::new(),
            asks_feeders: line.contains("@fed"),
        };
        for word in line.split_whitespace() {
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
            } else if bare.len() > 1 && bare.starts_with('-') && !bare.starts_with("-|") {
                Test::Option(globs(bare)?)
            } else if negated {
                Test::Operand(globs(bare)?)
            } else {
                pattern.path.push(globs(bare)?);
                continue;
            };
            pattern.conditions.push(Condition { negated, test });
        }
        Ok(pattern)
    }

    /// Whether it asks what feeds the invocation, which then belongs to what is told of it.
    pub(super) fn asks_feeders(&self) -> bool {
        self.asks_feeders
    }

    /// Whether an invocation is meant.
    pub(super) fn matches(&self, digest: &Digest<'_>) -> bool {
        let mut operands = digest.operands.iter();
        for names in &self.path {
            let Some(operand) = operands.next() else {
                return false;
            };
            if !fit(names, &operand.text) {
                return false;
            }
        }
        let later = operands.as_slice();
        self.conditions.iter().all(|condition| {
            let holds = match &condition.test {
                Test::Program(names) => fit(names, &digest.invocation.program),
                Test::Option(names) => names.iter().any(|name| digest.has_option(name)),
                Test::Operand(globs) => later.iter().any(|word| fit(globs, &word.text)),
                Test::Argument(globs) => {
                    let mut arguments = digest.invocation.arguments.iter();
                    arguments.any(|word| fit(globs, &word.text.to_ascii_lowercase()))
                }
                Test::More => !later.is_empty(),
                Test::Predicate(Predicate::Plain(test), _) => test(digest, later),
                Test::Predicate(Predicate::Of(test), given) => {
                    test(digest, &|text| fit(given, text))
                }
            };
            holds != condition.negated
        })
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
