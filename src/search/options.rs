//! Options: what a program is told by its words, each option with its value, as the table of programs says which take one.

use std::sync::Arc;

use crate::program::{self, Fact, Program};
use crate::shell::{Analysis, Invocation, Word, is_reader};

/// Options by which the first operand of a search is no pattern.
pub(crate) const INSTEAD_OF_PATTERN: &[&str] =
    &["-e", "--regexp", "-f", "--file", "--files", "--type-list"];

/// Whether a program is `grep`, by one of its names.
pub(crate) fn is_grep(program: &str) -> bool {
    matches!(program, "egrep" | "fgrep" | "grep")
}

/// Whether a program looks for a text in the files that it comes upon.
pub(crate) fn searches(program: &str) -> bool {
    is_grep(program) || matches!(program, "ack" | "ag" | "rg")
}

/// One option with its value, or an operand.
#[derive(Clone, Debug)]
pub(crate) struct Given<'a> {
    /// The name with its dashes, written out; empty where it is an operand.
    pub(crate) name: String,
    /// The value, and whether it is known only when it runs.
    pub(crate) value: Option<(&'a str, bool)>,
}

/// The options and operands of a program, in order.
#[derive(Debug)]
pub(crate) struct Options<'a> {
    invocation: &'a Invocation,
    known: Program,
    pub(crate) given: Vec<Given<'a>>,
}

impl<'a> Options<'a> {
    pub(crate) fn of(invocation: &'a Invocation) -> Self {
        Self::among(invocation, &invocation.arguments)
    }

    /// Reads some of the words of a program.
    pub(crate) fn among(
        invocation: &'a Invocation,
        words: impl IntoIterator<Item = &'a Word>,
    ) -> Self {
        let mut read = Self {
            invocation,
            known: invocation.known(),
            given: Vec::new(),
        };
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            if word.text == "--" {
                words.for_each(|word| read.add("", Some(word)));
                break;
            }
            read.read(word, &mut words);
        }
        read
    }

    fn read(&mut self, word: &'a Word, words: &mut impl Iterator<Item = &'a Word>) {
        let text = word.text.as_str();
        if !word.is_option() {
            self.add("", Some(word));
        } else if text.starts_with("--") {
            let (name, attached) = match text.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (text, None),
            };
            let name = self.whole(name);
            let takes = self.known.lists(Fact::Values, &name);
            let value = attached.map(|value| (value, word.dynamic));
            let value = value.or_else(|| takes.then(|| words.next().map(said)).flatten());
            self.given.push(Given { name, value });
        } else {
            for (at, letter) in text.char_indices().skip(1) {
                let name = format!("-{letter}");
                if !self.known.lists(Fact::Values, &name) {
                    self.given.push(Given { name, value: None });
                    continue;
                }
                let attached = text.get(at + letter.len_utf8()..);
                let attached = attached.filter(|value| !value.is_empty());
                let value = attached.map(|value| (value, word.dynamic));
                let value = value.or_else(|| words.next().map(said));
                self.given.push(Given { name, value });
                break;
            }
        }
    }

    fn add(&mut self, name: &str, word: Option<&'a Word>) {
        self.given.push(Given {
            name: name.to_owned(),
            value: word.map(said),
        });
    }

    /// Returns the long option that an abbreviation means, if it can mean only one.
    fn whole(&self, name: &str) -> String {
        let listed = || {
            let every = [Fact::Values, Fact::Flags].into_iter();
            let programs = [
                self.known,
                program::find(&self.invocation.program),
                program::find("*"),
            ];
            every.flat_map(move |fact| programs.map(|known| known.words(fact)))
        };
        let mut all = listed().flatten();
        if all.any(|word| word == name) {
            return name.to_owned();
        }
        let mut meant: Vec<_> = listed()
            .flatten()
            .filter(|word| word.starts_with(name))
            .collect();
        meant.sort_unstable();
        meant.dedup();
        match meant[..] {
            [one] => one.to_owned(),
            _ => name.to_owned(),
        }
    }

    /// Whether the table knows each of the options, so that no word is taken for what it is not.
    pub(crate) fn are_known(&self) -> bool {
        let mut options = self.given.iter().filter(|given| !given.name.is_empty());
        options.all(|given| self.invocation.knows_option(self.known, &given.name))
    }

    /// Whether there is no other option than these.
    pub(crate) fn are_only(&self, names: &[&str]) -> bool {
        let mut options = self.given.iter().filter(|given| !given.name.is_empty());
        options.all(|given| names.contains(&given.name.as_str()))
    }

    pub(crate) fn has(&self, names: &[&str]) -> bool {
        self.named(names).next().is_some()
    }

    /// Returns every option of some names, in order.
    pub(crate) fn named(&self, names: &[&str]) -> impl Iterator<Item = &Given<'a>> {
        let given = self.given.iter();
        given.filter(move |given| names.contains(&given.name.as_str()))
    }

    /// Returns every value of an option by each of its names, and whether it is known only when it runs.
    pub(crate) fn values(&self, names: &[&str]) -> Vec<(&'a str, bool)> {
        self.named(names).filter_map(|given| given.value).collect()
    }

    /// Returns the words that are neither options nor values of them.
    pub(crate) fn operands(&self) -> Vec<(&'a str, bool)> {
        self.values(&[""])
    }

    /// Returns the patterns that a search is given by options, or else as its first operand.
    pub(crate) fn patterns(&self) -> Vec<(&'a str, bool)> {
        if self.has(INSTEAD_OF_PATTERN) {
            return self.values(&["-e", "--regexp"]);
        }
        self.operands().into_iter().take(1).collect()
    }
}

fn said(word: &Word) -> (&str, bool) {
    (word.text.as_str(), word.dynamic)
}

/// Returns where a program is sent that lists what lies there, as it is written.
pub(crate) fn sent_to(lister: &Invocation) -> Vec<&str> {
    let options = Options::of(lister);
    // The first operand of a search is a pattern, and before it stands the subcommand of git.
    let is_git = lister.program == "git";
    let is_pattern = (is_git || searches(&lister.program)) && !options.has(INSTEAD_OF_PATTERN);
    let own = usize::from(is_git) + usize::from(is_pattern);
    let mut operands = options.operands();
    operands.drain(..operands.len().min(own));
    operands.into_iter().map(|(text, _)| text).collect()
}

/// Whether a variable is set that may make a program do more than its options say.
pub(crate) fn is_steered(analysis: &Analysis, invocation: &Invocation) -> bool {
    let any = program::find("*");
    let runs =
        |name: &str, value: &Word| any.lists(Fact::RunsVariables, name) && !is_reader(&value.text);
    let is_harmless = |name: &str| {
        any.lists(Fact::HarmlessVariables, name) || any.lists(Fact::RunsVariables, name)
    };
    let mut own = invocation.environment.iter();
    let mut lasting = analysis.assignments.iter();
    let hides = |i: &Arc<Invocation>| i.program == "hash" && i.has_short('p');
    analysis.invocations.iter().any(hides)
        || own.any(|(name, value)| !is_harmless(name) || runs(name, value))
        || lasting.any(|(name, value)| any.lists(Fact::Steers, name) || runs(name, value))
}
