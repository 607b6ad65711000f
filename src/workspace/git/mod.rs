//! What git tells about a repository, asked of its files where they say enough and of the `git` program elsewhere.

mod diff;
mod head;
mod hidden;
mod program;
mod repository;
mod settings;
mod standing;
mod tree;

pub(crate) use self::diff::hunk;
pub(super) use self::program::Git;
pub(crate) use self::program::git;
pub(super) use self::repository::{RawChanges, Repository};
pub(crate) use self::settings::settings;
pub use self::standing::Uncommitted;
pub(crate) use self::tree::{CommitTree, Entry};

use std::path::Path;
use std::sync::Arc;

use super::GitError;
use crate::regular_file;

/// The most that is read of a file of git, in bytes: enough for the refs of about a million branches.
const MAX_FILE: u64 = 64 << 20;

/// Reads what git keeps in a file; none where something else is there, for a pipe would keep us waiting.
fn kept(file: impl AsRef<Path>) -> Option<String> {
    let bytes = regular_file::read(None, file.as_ref(), MAX_FILE).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// The state of a repository; what costs time is asked only when it is wanted.
#[derive(Clone, Debug)]
pub struct GitState(Source);

#[derive(Clone, Debug)]
enum Source {
    Known(KnownGit),
    Repository(Arc<Repository>),
}

/// The state of a repository that is told, not asked for: of a test, or of a host that knows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownGit {
    /// The branch that is checked out; none on a detached HEAD.
    pub branch: Option<String>,
    /// The default branch, where one can be told.
    pub default_branch: Option<String>,
    /// Whether anything is not committed.
    pub dirty: bool,
    /// How many commits HEAD is ahead of the default branch.
    pub ahead: u32,
    /// The commit that is checked out; none before the first.
    pub head: Option<String>,
}

impl From<KnownGit> for GitState {
    fn from(known: KnownGit) -> Self {
        Self(Source::Known(known))
    }
}

impl GitState {
    /// Makes the state of a repository on the disk; nothing is asked yet.
    pub(super) const fn of(repository: Arc<Repository>) -> Self {
        Self(Source::Repository(repository))
    }

    /// Returns the branch that is checked out; none on a detached HEAD.
    pub fn branch(&self) -> Option<&str> {
        match &self.0 {
            Source::Known(known) => known.branch.as_deref(),
            Source::Repository(repository) => repository.branch(),
        }
    }

    /// Returns the default branch; none where none can be told.
    pub fn default_branch(&self) -> Option<&str> {
        match &self.0 {
            Source::Known(known) => known.default_branch.as_deref(),
            Source::Repository(repository) => repository.default_branch(),
        }
    }

    /// Returns the commit that is checked out; none before the first.
    pub fn head(&self) -> Option<&str> {
        match &self.0 {
            Source::Known(known) => known.head.as_deref(),
            Source::Repository(repository) => repository.head_commit(),
        }
    }

    /// Whether anything below the project root is not committed, `.ahp/` apart.
    ///
    /// # Errors
    /// Git cannot tell.
    pub fn dirty(&self) -> Result<bool, GitError> {
        match &self.0 {
            Source::Known(known) => Ok(known.dirty),
            Source::Repository(repository) => repository.dirty(),
        }
    }

    /// Returns how many commits HEAD is ahead of the default branch.
    ///
    /// # Errors
    /// Git cannot tell.
    pub fn ahead(&self) -> Result<u32, GitError> {
        match &self.0 {
            Source::Known(known) => Ok(known.ahead),
            Source::Repository(repository) => repository.ahead(),
        }
    }
}
