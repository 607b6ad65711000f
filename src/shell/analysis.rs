//! Analysis: all that a command line would run, and what is not certain about it.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::PathBuf;
use std::slice::SliceIndex;
use std::sync::Arc;

use super::invocation::distinct;
use super::issue_command::{CommitMessage, MessageFrom};
use super::{
    CodeWalk, Effect, Invocation, IssueCommand, PathEffect, Surroundings, Word, effect,
    issue_command,
};

/// What a command line would run.
#[derive(Clone, Debug, Default)]
pub struct Analysis {
    /// Every program that would run, in the order of the text.
    pub invocations: Vec<Arc<Invocation>>,
    /// Why the analysis may be incomplete; none where everything was understood.
    pub doubts: Vec<Doubt>,
    /// Functions that start themselves again without end.
    pub recursions: Vec<String>,
    /// Which invocations run only where an earlier one has ended well, which has needs of its own.
    pub(crate) needs: Vec<(Range<usize>, usize)>,
    /// The folders that inline code goes through to change what it finds, each with the directory where it runs.
    pub(crate) walks: Vec<(CodeWalk, Option<PathBuf>)>,
    /// The files that the line itself writes and then runs, whose commands are among those above.
    pub(crate) followed: Vec<PathBuf>,
    /// What the line itself has written into the file from which a commit takes its message, by the commit's index.
    pub(crate) message_files: Vec<(usize, String)>,
    /// The variables that are set for more than one command, each time with the value.
    pub assignments: Vec<(String, Word)>,
    /// Where the command line would run.
    pub surroundings: Surroundings,
}

/// One reason why the analysis may be incomplete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doubt {
    /// What kind of reason.
    pub kind: DoubtKind,
    /// The part of the command that it is about.
    pub text: String,
}

/// Why something cannot be told before it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DoubtKind {
    /// The text is no shell that is understood.
    Unparseable,
    /// The text is too long or too deeply nested to be parsed in time.
    TooComplex,
    /// Which program would run is known only when it runs.
    DynamicProgram,
    /// A shell would run text that is known only when it runs.
    DynamicCode,
}

impl Analysis {
    /// Returns the invocations of a range; none where it reaches too far.
    pub(crate) fn part(
        &self,
        range: impl SliceIndex<[Arc<Invocation>], Output = [Arc<Invocation>]>,
    ) -> &[Arc<Invocation>] {
        self.invocations.get(range).unwrap_or_default()
    }

    /// Returns the names of all programs, each once, in order.
    pub fn programs(&self) -> Vec<String> {
        distinct(
            self.invocations
                .iter()
                .filter(|i| !i.emulated && !i.program.is_empty())
                .map(|i| i.program.clone()),
        )
    }

    /// Returns all arguments, in order.
    pub fn arguments(&self) -> Vec<String> {
        self.invocations
            .iter()
            .filter(|i| !i.emulated)
            .flat_map(|i| i.arguments.iter().map(|w| w.text.clone()))
            .collect()
    }

    /// Returns each program with its arguments as one line, in order: what the shell makes of quotes, variables and blanks
    /// is made, and an argument with blanks in it stands in quotes.
    pub fn lines(&self) -> Vec<String> {
        let quoted = |word: &Word| {
            if word.text.is_empty() || word.text.contains(char::is_whitespace) {
                format!("'{}'", word.text)
            } else {
                word.text.clone()
            }
        };
        let own = self.invocations.iter().filter(|i| !i.emulated);
        own.map(|i| {
            let arguments = i.arguments.iter().map(quoted);
            let words: Vec<String> = std::iter::once(i.program.clone())
                .chain(arguments)
                .collect();
            words.join(" ")
        })
        .collect()
    }

    /// Returns each program with its subcommand, in order.
    pub fn subcommands(&self) -> Vec<String> {
        let own = self.invocations.iter().filter(|i| !i.emulated);
        let named = own.filter_map(|i| Some(format!("{} {}", i.program, i.subcommand()?.text)));
        distinct(named)
    }

    /// Returns the invocations that have ended well where one runs.
    pub(crate) fn needed_by(&self, index: usize) -> BTreeSet<usize> {
        let mut needed = BTreeSet::from([index]);
        let mut needs: Vec<_> = self.needs.iter().collect();
        // What needs an invocation stands behind it.
        needs.sort_unstable_by_key(|(_, earlier)| std::cmp::Reverse(*earlier));
        for (range, earlier) in needs {
            if needed.range(range.clone()).next().is_some() {
                needed.insert(*earlier);
            }
        }
        needed.remove(&index);
        needed
    }

    /// Returns every text that stands in the command line: arguments, and what programs are given to read.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.invocations.iter().flat_map(|i| {
            let stdin = i.stdin.text();
            i.texts().chain(stdin)
        })
    }

    /// Returns the issue commands (`monoco issue submit …`) that would run.
    pub fn issue_commands(&self) -> Vec<IssueCommand> {
        issue_command::find(&self.invocations)
    }

    /// Returns the messages of the commits that would be made, as far as the command line gives them.
    pub fn git_commit_messages(&self) -> Vec<String> {
        let known = issue_command::commit_messages(self);
        let known = known.filter(|message| message.from == MessageFrom::Line);
        known.map(|message| message.more).collect()
    }

    /// Returns the messages of the commits that would be made.
    pub(crate) fn commit_messages(&self) -> Vec<CommitMessage> {
        issue_command::commit_messages(self).collect()
    }

    /// Returns what would be written, deleted, moved or changed in its rights, resolved against
    /// the work dir and the home directory.
    pub fn writes(&self) -> Vec<PathEffect> {
        let mut effects = Vec::new();
        for invocation in &self.invocations {
            effect::of(invocation, &self.surroundings, &mut effects);
        }
        effects
    }

    /// Returns what would be deleted.
    pub fn deletes(&self) -> Vec<PathEffect> {
        let mut effects = self.writes();
        effects.retain(|e| e.effect == Effect::Delete);
        effects
    }
}
