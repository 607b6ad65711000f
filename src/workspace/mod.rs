//! Workspace: facts about the project, asked lazily, answered once per event.

mod base_side;
mod changes;
mod checklist;
mod commit;
mod contained;
mod disk;
mod evidence;
mod front_matter;
mod git;
mod issue;
mod issue_files;
mod memory;
mod task_items;
mod told_base;

pub use self::changes::{Change, ChangedFile, Changes};
pub use self::checklist::{ChecklistItem, ItemState};
pub(crate) use self::commit::names_id;
pub use self::commit::{Commit, CommitsOf};
pub use self::disk::DiskWorkspace;
pub use self::evidence::{Evidence, EvidenceStore, TestFigures, Tree, TreeDigest};
pub(crate) use self::git::settings as git_settings;
pub(crate) use self::git::{CommitTree, Entry as TreeEntry};
pub use self::git::{GitState, KnownGit, Uncommitted};
pub(crate) use self::git::{git, hunk};
pub(crate) use self::issue::{GIVEN_UP, STAGES, STATUSES};
pub use self::issue::{Issue, IssueError};
pub(crate) use self::issue_files::{custom_commands, ids_in_branch, issue_of_branch};
pub use self::memory::MemoryWorkspace;
pub use self::told_base::ToldBase;

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Which change is meant (spec §4.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChangeScope {
    /// The branch against the merge base with the default branch, committed and not: at issue triggers.
    Branch,
    /// The working tree against HEAD: at tool triggers.
    WorkingTree,
}

/// Why git could not tell something.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GitError {
    /// There is no repository.
    #[error("`{0}` is not in a git repository")]
    NoRepository(String),
    /// There is no git program.
    #[error("the `git` program cannot be started: {0}")]
    NoProgram(String),
    /// The history that is here does not reach back to where the branch began, so that nobody can tell what it changes.
    #[error(
        "{0}; fetch the whole history (`git fetch --unshallow`; in CI: `fetch-depth: 0` of actions/checkout, `GIT_DEPTH: 0` of GitLab)"
    )]
    NoBase(String),
    /// No branch has the name.
    #[error("there is no branch `{0}`")]
    NoBranch(String),
    /// Git failed.
    #[error("`git {command}` failed: {message}")]
    Failed {
        /// The arguments.
        command: String,
        /// The first line that it said.
        message: String,
    },
}

impl dyn Workspace + '_ {
    /// Returns the text of a file of the project; none where it cannot be read.
    pub(crate) fn text(&self, path: &str) -> Option<String> {
        let bytes = self.read(path).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// What the project looks like.
///
/// One value serves one event: whatever it has read once it does not read again. Paths are relative to
/// [`Workspace::root`], with `/` between their parts, unless they are absolute.
pub trait Workspace: fmt::Debug + Send + Sync {
    /// Returns the root of the project.
    fn root(&self) -> &Path;

    /// Reads a file inside the project; a path that leads out of it, also through a link, is refused
    /// with [`io::ErrorKind::PermissionDenied`].
    fn read(&self, path: &str) -> io::Result<Arc<[u8]>>;

    /// Whether a file or directory inside the project exists.
    fn exists(&self, path: &str) -> bool;

    /// Lists the project's files that match a glob, sorted, without those that git ignores.
    fn list(&self, glob: &str) -> Vec<String>;

    /// Finds an issue; none where no file has this id.
    fn issue(&self, id: &str) -> Result<Option<Arc<Issue>>, IssueError>;

    /// Returns what has changed.
    fn changes(&self, scope: ChangeScope) -> Result<Arc<Changes>, GitError>;

    /// Returns the state of the repository.
    fn git(&self) -> Result<Arc<GitState>, GitError>;

    /// Returns commits, newest first, `most` at most.
    fn commits(&self, _of: &CommitsOf, _most: usize) -> Result<Vec<Commit>, GitError> {
        Ok(Vec::new())
    }

    /// Returns what some commits changed.
    fn changed_by(&self, _commits: &[Commit]) -> Result<Arc<Changes>, GitError> {
        Ok(Arc::new(Changes::default()))
    }

    /// Returns what a file held before the change of a scope; none where it was not there.
    fn before(&self, _scope: ChangeScope, _path: &str) -> Result<Option<Arc<[u8]>>, GitError> {
        Ok(None)
    }

    /// Returns the files whose change is staged: those that a plain `git commit` takes, or the commit that git is making.
    fn staged(&self) -> Result<Vec<String>, GitError> {
        Ok(Vec::new())
    }

    /// Whether a commit is known to have another one among those that it builds on: one short question to git.
    fn builds_on(&self, _commit: &str, _earlier: &str) -> bool {
        false
    }

    /// Returns what the working tree of the project holds that no commit does: one short question to git.
    fn uncommitted(&self) -> Result<Arc<Uncommitted>, GitError> {
        Err(GitError::NoRepository(self.root().display().to_string()))
    }

    /// Tells of each of these branches that is there whether branches and tags other than all of them hold its commits: one
    /// short question to git.
    fn held(&self, _branches: &[&str]) -> Result<BTreeMap<String, bool>, GitError> {
        Err(GitError::NoRepository(self.root().display().to_string()))
    }

    /// Returns the addresses of the remotes `origin` and `upstream`.
    fn own_remotes(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns the addresses that git goes to for a remote, or where none is named; none where that cannot be told.
    fn addresses_of(&self, _remote: Option<&str>) -> Option<Vec<String>> {
        None
    }

    /// Returns what is known of tests and coverage, of the last known run of the very tree that is here.
    fn test_figures(&self) -> TestFigures;

    /// Returns the runs of tests that are remembered in a state directory, as far as they are believed.
    fn evidence(&self, state_dir: &Path) -> EvidenceStore {
        EvidenceStore::open(state_dir)
    }

    /// Returns where the issue files live, relative to the root; absolute where that is elsewhere.
    fn issues_dir(&self) -> &Path {
        Path::new("Issues")
    }

    /// Whether the project really lies on the disk below its root, so that programs can be run in it.
    fn is_on_disk(&self) -> bool;
}
