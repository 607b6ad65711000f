//! Judged: one program of a command line as it is judged, with the line that it stands in and what is asked of it more than
//! once.

use std::cell::OnceCell;
use std::ops::{Deref, Range};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::guarded::Guarded;
use super::tree::Tree;
use crate::program::{self, Fact, Program};
use crate::shell::{Analysis, Invocation, code_only_reads, is_pattern, lexical, sed_scripts};

#[derive(Debug)]
pub(super) struct Line<'a> {
    pub(super) guarded: &'a Guarded<'a>,
    pub(super) analysis: &'a Analysis,
    /// As it was given.
    pub(super) text: &'a str,
    pub(super) programs: Vec<Judged<'a>>,
}

impl<'a> Line<'a> {
    pub(super) fn of(guarded: &'a Guarded<'a>, analysis: &'a Analysis, text: &'a str) -> Self {
        let programs = analysis.invocations.iter();
        Self {
            programs: programs
                .map(|one| Judged::new(guarded, analysis, one))
                .collect(),
            guarded,
            analysis,
            text,
        }
    }
}

/// One program of a command line.
#[derive(Debug)]
pub(super) struct Judged<'a> {
    pub(super) guarded: &'a Guarded<'a>,
    pub(super) analysis: &'a Analysis,
    invocation: &'a Invocation,
    known: OnceCell<Program>,
    of_subcommand: OnceCell<Option<Program>>,
    reads: OnceCell<bool>,
    tree: OnceCell<Option<Tree>>,
}

impl Deref for Judged<'_> {
    type Target = Invocation;

    fn deref(&self) -> &Invocation {
        self.invocation
    }
}

impl<'a> Judged<'a> {
    pub(super) const fn new(
        guarded: &'a Guarded<'a>,
        analysis: &'a Analysis,
        invocation: &'a Invocation,
    ) -> Self {
        Self {
            guarded,
            analysis,
            invocation,
            known: OnceCell::new(),
            of_subcommand: OnceCell::new(),
            reads: OnceCell::new(),
            tree: OnceCell::new(),
        }
    }

    /// Returns another program of the same line.
    pub(super) const fn other(&self, invocation: &'a Invocation) -> Self {
        Self::new(self.guarded, self.analysis, invocation)
    }

    /// Returns every program of the line.
    pub(super) fn all(&self) -> impl Iterator<Item = &'a Invocation> {
        self.analysis.invocations.iter().map(AsRef::as_ref)
    }

    /// Returns some of them, by their numbers: those that make a word, or feed a program.
    pub(super) fn makers(&self, range: &Range<usize>) -> &'a [Arc<Invocation>] {
        self.analysis.part(range.clone())
    }

    /// Returns what is known of the program, or of its subcommand where that is known by itself.
    pub(super) fn known(&self) -> Program {
        *self.known.get_or_init(|| self.invocation.known())
    }

    /// Returns what is known of the program itself.
    pub(super) fn own(&self) -> Program {
        if self.program == "git" {
            program::find(&self.program)
        } else {
            self.known()
        }
    }

    /// Returns what is known of its subcommand.
    pub(super) fn of_subcommand(&self) -> Option<Program> {
        *self.of_subcommand.get_or_init(|| {
            let word = self.subcommand()?;
            Some(program::find_subcommand(&self.program, &word.text))
        })
    }

    /// Whether the program leaves the files that it is given as they are, but for what its effects tell.
    pub(super) fn leaves_files(&self) -> bool {
        *self.reads.get_or_init(|| {
            let known = self.known();
            let is_sed = matches!(self.program.as_str(), "sed" | "gsed");
            known.is(Fact::Agent)
                || known.is(Fact::ByEffect)
                || code_only_reads(self)
                || ((self.only_reads() || self.only_reads_inputs())
                    && !known.is(Fact::Language)
                    && !(is_sed && sed_scripts(self).runs_input))
        })
    }

    /// Returns what it puts where, as far as the table of programs tells that.
    pub(super) fn tree(&self) -> Option<&Tree> {
        self.tree.get_or_init(|| Tree::of(self)).as_ref()
    }

    /// Returns its first operand; nothing where it has none.
    pub(super) fn first(&self) -> &'a str {
        let first = self.invocation.operands().next();
        first.map_or("", |word| word.text.as_str())
    }

    /// Returns the path that a word names to it.
    pub(super) fn path_of(&self, text: &str) -> PathBuf {
        let dir = self.work_dir.as_deref();
        lexical(
            text,
            dir.unwrap_or_else(|| Path::new("")),
            self.guarded.home(),
        )
    }

    /// Returns what is guarded and is, or holds, the file that a word names as a whole.
    pub(super) fn covers(&self, text: &str) -> Option<PathBuf> {
        let path = self.path_of(text);
        if text.contains(['*', '?', '[']) || is_pattern(&path, self.guarded.root()) {
            return self.guarded.covers_pattern(&path);
        }
        self.guarded.covers_word(&path)
    }
}
