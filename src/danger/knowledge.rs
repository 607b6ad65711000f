//! Knowledge: what git and the disk know of what a command would lose. A rule asks only where its words already hold.

use std::collections::BTreeSet;
use std::path::Path;

/// What is known beside the words of a command. Whatever cannot be told is `None`, and the words then decide.
pub trait Knowledge {
    /// Returns how many tracked files at or below a path differ from the last commit.
    fn changed(&self, path: &Path) -> Option<usize>;

    /// Returns how many files and directories at or below a path no commit has; those that git ignores among them where
    /// that is asked for.
    fn uncommitted(&self, path: &Path, with_ignored: bool) -> Option<usize>;

    /// Returns how many files of another working tree of the repository no commit has, ignored ones apart; 0 where there is
    /// no such directory.
    fn uncommitted_in(&self, worktree: &Path) -> Option<usize>;

    /// Tells what holds the commits of a branch, beside it and those that the line takes away as well.
    fn holder(&self, branch: &str, taken: &dyn Fn() -> BTreeSet<String>) -> Option<Holder>;

    /// Returns how many commits of the branch that is checked out the one that it follows elsewhere does not have.
    fn ahead(&self) -> Option<usize>;

    /// Returns the branch that is checked out in the project.
    fn branch(&self) -> Option<String>;

    /// Whether an address of another machine is one that the policy or the project names; `for_packages` where packages are
    /// fetched or published, which goes to the registries that the project names, too.
    fn is_trusted(&self, address: &str, for_packages: bool) -> bool;
}

/// What holds the commits of a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    /// Other branches and tags hold every one of them.
    Others,
    /// Some of them are nowhere else.
    Nobody,
    /// There is no such branch.
    NoBranch,
}

/// Nothing is known: the words alone decide.
#[derive(Clone, Copy, Debug)]
pub struct NothingKnown;

impl Knowledge for NothingKnown {
    fn changed(&self, _: &Path) -> Option<usize> {
        None
    }

    fn uncommitted(&self, _: &Path, _: bool) -> Option<usize> {
        None
    }

    fn uncommitted_in(&self, _: &Path) -> Option<usize> {
        None
    }

    fn holder(&self, _: &str, _: &dyn Fn() -> BTreeSet<String>) -> Option<Holder> {
        None
    }

    fn ahead(&self) -> Option<usize> {
        None
    }

    fn branch(&self) -> Option<String> {
        None
    }

    fn is_trusted(&self, _: &str, _: bool) -> bool {
        false
    }
}
