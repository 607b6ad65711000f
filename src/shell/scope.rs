//! Scope: what a shell knows at a point of its run: variables, functions, aliases, work dir.

use std::collections::HashMap;
use std::path::PathBuf;
use std::rc::Rc;

use rable::Node;

use super::Word;

/// How many values one variable is followed with, where branches give it several.
const MAX_ALTERNATIVES: usize = 6;

/// The longest text that appending makes, in bytes.
const MAX_TEXT: usize = 32 * 1024;
/// The most elements that appending gives an array.
const MAX_ELEMENTS: usize = 256;

/// A variable: all values that it may have at this point, an array's elements being one value.
#[derive(Clone, Debug)]
pub(super) struct Variable {
    pub(super) values: Vec<Vec<Word>>,
}

/// What the shell knows.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    pub(super) variables: HashMap<String, Variable>,
    pub(super) functions: HashMap<String, Rc<Node>>,
    pub(super) aliases: HashMap<String, String>,
    pub(super) positional: Option<Vec<Word>>,
    /// Names that stand for other variables: `declare -n NAME=OTHER`; the other is empty until one is given.
    pub(super) references: HashMap<String, String>,
    /// Whether patterns match names that begin with a dot.
    pub(super) matches_hidden: bool,
    /// None where a `cd` went somewhere unknown.
    pub(super) work_dir: Option<PathBuf>,
    /// How many branches enclose this point: an assignment in one adds a value and replaces none.
    pub(super) branches: usize,
    /// Whether the shell ends where a command fails: `set -e`.
    pub(super) stops_at_error: bool,
}

/// How a part has ended that ended well.
#[derive(Debug, Default)]
pub(super) struct Ended {
    /// The commands that have ended well then, by their index.
    pub(super) commands: Vec<usize>,
    /// Whether it is several ones, joined by `&&` or `||`: the shell does not mind each failure in it.
    pub(super) is_joined: bool,
}

/// How many references that lead to one another are followed.
const MAX_REFERENCES: usize = 8;

impl Scope {
    /// Returns the variable that a name stands for.
    pub(super) fn target<'a>(&'a self, name: &'a str) -> &'a str {
        let next = |name: &&'a str| {
            let other = self.references.get(*name).map(String::as_str);
            other.filter(|other| !other.is_empty())
        };
        let names = std::iter::successors(Some(name), next);
        names.take(MAX_REFERENCES).last().unwrap_or(name)
    }

    /// Gives a variable a value.
    pub(super) fn assign(&mut self, name: &str, value: Vec<Word>) {
        let name = &self.target(name).to_owned();
        if let (Some(other), [word]) = (self.references.get_mut(name), value.as_slice()) {
            other.clone_from(&word.text);
            return;
        }
        if self.branches > 0
            && let Some(variable) = self.variables.get_mut(name)
        {
            if variable.values.contains(&value) {
                return;
            }
            if variable.values.len() < MAX_ALTERNATIVES {
                variable.values.push(value);
            } else if let Some(last) = variable.values.last_mut() {
                // It may be any of those that are not kept.
                *last = vec![Word {
                    text: format!("${name}"),
                    dynamic: true,
                    ..Word::default()
                }];
            }
            return;
        }
        self.variables.insert(
            name.clone(),
            Variable {
                values: vec![value],
            },
        );
    }

    /// Adds a text to a variable's values, as `NAME+=text` does.
    pub(super) fn append(&mut self, name: &str, addition: &[Word], is_array: bool) {
        let name = &self.target(name).to_owned();
        let Some(variable) = self.variables.get_mut(name) else {
            self.assign(name, addition.to_vec());
            return;
        };
        for value in &mut variable.values {
            if is_array {
                value.extend(addition.iter().take(MAX_ELEMENTS).cloned());
                value.truncate(MAX_ELEMENTS);
            } else if let (Some(last), Some(added)) = (value.first_mut(), addition.first()) {
                let fits = last.text.len() + added.text.len() <= MAX_TEXT;
                if fits {
                    last.text.push_str(&added.text);
                }
                last.dynamic |= added.dynamic || !fits;
                last.glob |= added.glob;
            }
        }
    }

    /// Whether a name can be a variable's.
    pub(super) fn is_name(text: &str) -> bool {
        let mut chars = text.chars();
        chars
            .next()
            .is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
            && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
    }
}

/// Whether options of a shell let patterns match names that begin with a dot.
pub(super) fn says_hidden(arguments: &[Word]) -> bool {
    let mut names = arguments
        .iter()
        .map(|word| word.text.replace('_', "").to_lowercase());
    names.any(|name| matches!(name.as_str(), "dotglob" | "globdots"))
        && !arguments.iter().any(|word| word.text == "-u")
}
