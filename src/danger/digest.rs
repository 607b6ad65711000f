//! Digest: one invocation as the rules see it, its operands told from the values of its options.

use std::cell::Cell;
use std::sync::Arc;

use super::knowledge::Knowledge;
use super::place::{Place, place};
use crate::glob::glob;
use crate::program::{self, Fact};
use crate::shell::{Analysis, Invocation, Redirect, Stdin, Word};

/// An invocation, prepared for matching.
pub(super) struct Digest<'a> {
    pub(super) knowledge: &'a dyn Knowledge,
    /// What the knowledge said against the command, to be told with the reason.
    pub(super) note: Cell<Option<String>>,
    pub(super) analysis: &'a Analysis,
    pub(super) invocation: &'a Invocation,
    pub(super) index: usize,
    /// The options that take the next word, and with a `=` behind them those that take what is attached.
    values: &'a str,
    /// Whether the first operand is taken for the value of an option that is not known.
    pub(super) is_reread: bool,
    /// What is not an option, not the value of one, and not `--`.
    pub(super) operands: Vec<&'a Word>,
}

impl<'a> Digest<'a> {
    /// Prepares an invocation; `values` are the options that take the next word.
    pub(super) fn new(
        analysis: &'a Analysis,
        index: usize,
        invocation: &'a Invocation,
        values: &'a str,
        knowledge: &'a dyn Knowledge,
    ) -> Self {
        let mut operands = Vec::new();
        let mut words = invocation.arguments.iter();
        let mut rest = false;
        while let Some(word) = words.next() {
            if rest || !word.is_option() {
                if word.text == "--" && !rest {
                    rest = true;
                } else {
                    operands.push(word);
                }
            } else if values.split_ascii_whitespace().any(|v| v == word.text) {
                words.next();
            }
        }
        Self {
            knowledge,
            note: Cell::default(),
            analysis,
            invocation,
            index,
            values,
            is_reread: false,
            operands,
        }
    }

    /// Returns the same with another reading of options that stand before the first operand and are not known: that the
    /// operand is the value of the last of them, `tool -p production delete`.
    pub(super) fn past_leading_value(&self) -> Option<Self> {
        let first = self.operands.first()?;
        let before = self
            .invocation
            .arguments
            .iter()
            .position(|w| std::ptr::eq(w, *first))
            .and_then(|at| at.checked_sub(1))?;
        let option = self.invocation.arguments.get(before)?;
        (option.is_option() && !option.text.contains('=')).then(|| Self {
            operands: self.operands.get(1..).unwrap_or_default().to_vec(),
            note: Cell::default(),
            is_reread: true,
            ..*self
        })
    }

    /// Whether an option is given; a short one (`-f`) also inside a cluster. `--dry-run=none` and `--force=false` say that it
    /// is not.
    pub(super) fn has_option(&self, name: &str) -> bool {
        if name == "--" {
            return self.invocation.has_word(&["--"]);
        }
        if name.contains(['*', '=']) {
            return self.invocation.before_dashes().any(|w| glob(name, &w.text));
        }
        if name.starts_with("--") {
            let says_no = |w: &Word| {
                let value = w.text.strip_prefix(name).and_then(|r| r.strip_prefix('='));
                matches!(value, Some("false" | "none"))
            };
            return self.invocation.has_long(name) && !self.invocation.before_dashes().any(says_no);
        }
        let mut letters = name.chars().skip(1);
        match (letters.next(), letters.next()) {
            (Some(letter), None) => self.has_letter(letter),
            // `-auto-approve`: one dash, a long name.
            _ => self.invocation.before_dashes().any(|w| {
                w.text == name
                    || w.text
                        .strip_prefix(name)
                        .is_some_and(|r| r.starts_with('='))
            }),
        }
    }

    /// Whether a letter is given as an option, alone or in a cluster; what is attached to one that takes a value is none:
    /// `-bfeature`.
    fn has_letter(&self, letter: char) -> bool {
        let takes_value = |c: char| {
            let mut values = self.values.split_ascii_whitespace();
            values.any(|value| {
                let letters = value.strip_prefix('-').and_then(|v| v.strip_suffix('='));
                letters.is_some_and(|letters| letters.chars().eq([c]))
            })
        };
        let clusters = self.invocation.before_dashes();
        clusters
            .filter_map(|word| word.text.strip_prefix('-'))
            .filter(|cluster| !cluster.starts_with('-'))
            .any(|cluster| {
                let found = cluster.chars().find(|c| *c == letter || takes_value(*c));
                found == Some(letter)
            })
    }

    /// Returns the invocations whose output this one reads.
    pub(super) fn feeders(&self) -> impl Iterator<Item = &'a Invocation> + use<'a> {
        let feeders = self.analysis.part(self.invocation.fed_by.clone());
        feeders.iter().map(AsRef::as_ref)
    }

    /// Returns the invocations that make the text of a word.
    pub(super) fn makers_of(&self, word: &Word) -> &'a [Arc<Invocation>] {
        self.analysis.part(word.made_by.clone())
    }

    /// Returns the invocations that make the words of this one.
    pub(super) fn makers(&self) -> impl Iterator<Item = &'a Invocation> + use<'a> {
        let (analysis, words) = (self.analysis, self.invocation.arguments.iter());
        let makers = words.flat_map(|word| analysis.part(word.made_by.clone()));
        makers.map(AsRef::as_ref)
    }

    /// Returns the invocations that stand before this one.
    pub(super) fn earlier(&self) -> impl Iterator<Item = &'a Invocation> + use<'a> {
        self.analysis.part(..self.index).iter().map(AsRef::as_ref)
    }

    /// Returns the invocations that stand behind this one.
    pub(super) fn later(&self) -> &'a [Arc<Invocation>] {
        self.analysis.part(self.index + 1..)
    }

    /// Whether it goes down into folders.
    pub(super) fn goes_down(&self) -> bool {
        let options = ["-r", "-R", "--recursive"];
        options.iter().any(|option| self.has_option(option))
    }

    /// Returns the texts of the arguments, and of the input where that is known.
    pub(super) fn texts(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let arguments = self.invocation.arguments.iter();
        arguments
            .map(|w| w.text.as_str())
            .chain(self.invocation.stdin.text())
    }

    /// Tells what kind of place a word means.
    pub(super) fn place(&self, word: &Word) -> Place {
        place(word, self.invocation, &self.analysis.surroundings)
    }

    /// Whether the input is text that is known only when it runs.
    pub(super) fn pipes_text(&self) -> bool {
        !matches!(self.invocation.stdin, Stdin::Text(_)) || self.invocation.program == "eval"
    }

    /// Whether another program, or a file, takes what this one prints, and does not show it in turn.
    pub(super) fn is_consumed(&self) -> bool {
        is_consumed(self.analysis, self.index, self.invocation)
    }
}

/// Every later part of a pipe reads what this one prints, as the parts between pass it on.
fn is_consumed(analysis: &Analysis, index: usize, invocation: &Invocation) -> bool {
    let all = &analysis.invocations;
    let is_of_it = |word: &Word| word.made_by.contains(&index);
    let is_kept = |i: &Invocation| i.redirects.iter().any(Redirect::takes_output);
    let searches = |i: &Invocation| i.program.ends_with("grep") || i.program == "rg";
    let is_quiet = |i: &Invocation| searches(i) && "qclL".chars().any(|letter| i.has_short(letter));
    let shows =
        |i: &Invocation| program::find(&i.program).is(Fact::Shows) && !is_quiet(i) && !is_kept(i);
    let prints = |at: usize, i: &Invocation| {
        let is_read = || all.iter().any(|later| later.fed_by.contains(&at));
        matches!(i.program.as_str(), "echo" | "printf") && !is_kept(i) && !is_read()
    };
    let mut later = all.iter().enumerate().skip(index + 1);
    if is_kept(invocation)
        || later.clone().any(|(at, i)| {
            i.fed_by.contains(&index) && !shows(i)
                || i.arguments.iter().any(is_of_it) && !prints(at, i)
        })
    {
        return true;
    }
    // A variable keeps it, and nothing prints that one.
    let own = all.iter().flat_map(|i| &i.environment);
    let mut variables = analysis.assignments.iter().chain(own);
    variables.any(|(_, value)| is_of_it(value))
        && !later.any(|(at, i)| i.arguments.iter().any(is_of_it) && prints(at, i))
}
