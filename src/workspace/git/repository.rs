//! Repository: the questions that a workspace has for git, each answered once.

use std::path::Path;
use std::sync::Arc;
use std::sync::OnceLock;

use chrono::DateTime;

use super::Git;
use super::diff;
use super::head::GitDirs;
use super::head::Head;
use crate::workspace::ChangeScope;
use crate::workspace::ChangedFile;
use crate::workspace::Commit;
use crate::workspace::CommitsOf;
use crate::workspace::GitError;

/// The repository that a project lies in.
///
/// The project may be a folder of it: paths are relative to the project, and what lies outside is not seen.
#[derive(Debug)]
pub(in crate::workspace) struct Repository {
    dirs: GitDirs,
    git: Git,
    head: OnceLock<Option<String>>,
    branch: OnceLock<Option<String>>,
    default_branch: OnceLock<Option<DefaultBranch>>,
    base: OnceLock<Result<Option<Arc<str>>, GitError>>,
    dirty: OnceLock<Result<bool, GitError>>,
    ahead: OnceLock<Result<u32, GitError>>,
}

/// The default branch, and the refs by which this repository knows it.
#[derive(Clone, Debug)]
struct DefaultBranch {
    name: String,
    refs: Vec<String>,
}

/// What git tells of a change: the lines of untracked files are not counted by it.
#[derive(Clone, Debug, Default)]
pub(in crate::workspace) struct RawChanges {
    /// Tracked files that differ from the base.
    pub(in crate::workspace) tracked: Vec<ChangedFile>,
    /// Files that are neither tracked nor ignored.
    pub(in crate::workspace) untracked: Vec<String>,
    /// The commit that it is measured against.
    pub(in crate::workspace) base: Option<Arc<str>>,
}

impl Repository {
    /// Finds the repository that the project at `root` lies in; no program is run for it.
    pub(in crate::workspace) fn find(root: &Path) -> Result<Self, GitError> {
        let dirs = GitDirs::find(root)
            .ok_or_else(|| GitError::NoRepository(root.display().to_string()))?;
        Ok(Self {
            git: Git::new(root),
            dirs,
            head: OnceLock::new(),
            branch: OnceLock::new(),
            default_branch: OnceLock::new(),
            base: OnceLock::new(),
            dirty: OnceLock::new(),
            ahead: OnceLock::new(),
        })
    }

    pub(super) fn branch(&self) -> Option<&str> {
        let find = || match self.dirs.head() {
            Head::Branch(name) => Some(name),
            Head::Detached(_) => None,
            Head::Unreadable => self.git.ask(&["symbolic-ref", "-q", "--short", "HEAD"]),
        };
        self.branch.get_or_init(find).as_deref()
    }

    pub(super) fn head_commit(&self) -> Option<&str> {
        let find = || match self.dirs.head() {
            Head::Branch(name) => self.commit(&format!("refs/heads/{name}")),
            Head::Detached(commit) => Some(commit),
            Head::Unreadable => self.commit("HEAD"),
        };
        self.head.get_or_init(find).as_deref()
    }

    pub(super) fn default_branch(&self) -> Option<&str> {
        self.default().map(|default| default.name.as_str())
    }

    pub(super) fn dirty(&self) -> Result<bool, GitError> {
        let find = || {
            let output = self.git.run(&[
                "status",
                "--porcelain",
                "-z",
                "--ignore-submodules=dirty",
                "--",
                ".",
                ":(exclude).ahp",
            ])?;
            Ok(!output.is_empty())
        };
        self.dirty.get_or_init(find).clone()
    }

    pub(super) fn ahead(&self) -> Result<u32, GitError> {
        let find = || {
            let (Some(head), Some(base)) = (self.head_commit(), self.branch_base()?) else {
                return Ok(0);
            };
            if head == &*base {
                return Ok(0);
            }
            let range = format!("{base}..HEAD");
            let output = self.git.run(&["rev-list", "--count", &range])?;
            let count = String::from_utf8_lossy(&output).trim().parse();
            Ok(count.unwrap_or_default())
        };
        self.ahead.get_or_init(find).clone()
    }

    /// Returns what differs from the base of a scope.
    pub(in crate::workspace) fn changes(&self, scope: ChangeScope) -> Result<RawChanges, GitError> {
        let base = self.base_of(scope)?;
        let (tracked, untracked) = std::thread::scope(|scope| {
            let untracked = scope.spawn(|| self.untracked());
            (self.differing(base.as_deref()), untracked.join())
        });
        let untracked = untracked.unwrap_or_else(|_| {
            Err(GitError::Failed {
                command: "ls-files".to_owned(),
                message: "its reader panicked".to_owned(),
            })
        });
        Ok(RawChanges {
            tracked: tracked?,
            untracked: untracked?,
            base,
        })
    }

    /// Returns commits, newest first, `most` at most.
    pub(in crate::workspace) fn commits(
        &self,
        of: &CommitsOf,
        most: usize,
    ) -> Result<Vec<Commit>, GitError> {
        if self.head_commit().is_none() {
            return Ok(Vec::new());
        }
        let range;
        let most = format!("--max-count={most}");
        let mut arguments = vec![
            "log",
            "-z",
            "--no-show-signature",
            "--no-color",
            "--format=%H%x1f%an%x1f%ct%x1f%B",
            &most,
        ];
        match of {
            CommitsOf::Branch => {
                let Some(base) = self.branch_base()? else {
                    return Ok(Vec::new());
                };
                range = format!("{base}..HEAD");
                arguments.extend(["--no-merges", &range, "--"]);
            }
            CommitsOf::Paths(paths) => {
                arguments.extend(["HEAD", "--"]);
                arguments.extend(paths.iter().map(String::as_str));
            }
        }
        // A path is a path, whatever characters are in it.
        arguments.insert(0, "--literal-pathspecs");
        Ok(diff::paths(&self.git.run(&arguments)?)
            .filter_map(|record| commit(&record))
            .collect())
    }

    /// Returns what a file held before the change of a scope.
    pub(in crate::workspace) fn before(
        &self,
        scope: ChangeScope,
        path: &str,
    ) -> Result<Option<Vec<u8>>, GitError> {
        let Some(base) = self.base_of(scope)? else {
            return Ok(None);
        };
        let object = format!("{base}:./{path}");
        match self.git.run(&["cat-file", "blob", &object]) {
            Ok(content) => Ok(Some(content)),
            Err(GitError::Failed { message, .. }) if message.starts_with("fatal: ") => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns the files whose change is staged.
    pub(in crate::workspace) fn staged(&self) -> Result<Vec<String>, GitError> {
        let output = self.git.run(&[
            "diff",
            "--cached",
            "--name-only",
            "-z",
            "--no-renames",
            "--no-ext-diff",
            "--ignore-submodules=dirty",
            "--relative",
            "--",
            ".",
        ])?;
        Ok(diff::paths(&output).collect())
    }

    /// Returns the commit that the change of a scope is measured against; none before the first commit.
    fn base_of(&self, scope: ChangeScope) -> Result<Option<Arc<str>>, GitError> {
        match scope {
            ChangeScope::Branch => self.branch_base(),
            ChangeScope::WorkingTree => Ok(self.head_commit().map(Arc::from)),
        }
    }

    fn differing(&self, base: Option<&str>) -> Result<Vec<ChangedFile>, GitError> {
        // Before the first commit all that is staged is new.
        let empty_tree;
        let base = if let Some(base) = base {
            base
        } else {
            let output = self.git.run(&["hash-object", "-t", "tree", "--stdin"])?;
            empty_tree = String::from_utf8_lossy(&output).trim().to_owned();
            &empty_tree
        };
        let output = self.git.run(&[
            "diff",
            "--raw",
            "--numstat",
            "-z",
            "--find-renames",
            "-l400",
            "--no-abbrev",
            "--no-color",
            "--no-ext-diff",
            "--no-textconv",
            "--ignore-submodules=dirty",
            "--relative",
            base,
            "--",
            ".",
        ])?;
        Ok(diff::parse(&output))
    }

    fn untracked(&self) -> Result<Vec<String>, GitError> {
        let output = self
            .git
            .run(&["ls-files", "--others", "--exclude-standard", "-z"])?;
        Ok(diff::paths(&output)
            .map(|path| path.trim_end_matches('/').to_owned())
            .collect())
    }

    /// Returns the commit at which the branch left the default branch; none before the first commit.
    fn branch_base(&self) -> Result<Option<Arc<str>>, GitError> {
        self.base.get_or_init(|| self.find_branch_base()).clone()
    }

    fn find_branch_base(&self) -> Result<Option<Arc<str>>, GitError> {
        let Some(head) = self.head_commit() else {
            return Ok(None);
        };
        let head_alone = |why: &str| {
            if self.is_shallow() {
                return Err(GitError::NoBase(format!(
                    "this is a shallow clone and {why}"
                )));
            }
            Ok(Some(head.into()))
        };
        let Some(default) = self.default() else {
            return head_alone("has no default branch to compare with");
        };
        // On the default branch itself, what its remote does not have yet is the change.
        let own = self
            .branch()
            .map(|branch| format!("refs/heads/{branch}"))
            .unwrap_or_default();
        let others: Vec<&str> = default
            .refs
            .iter()
            .map(String::as_str)
            .filter(|reference| *reference != own)
            .collect();
        if others.is_empty() {
            return head_alone("has nothing to compare its branch with");
        }
        if (others.iter()).any(|reference| self.commit(reference).as_deref() == Some(head)) {
            return head_alone("has nothing older than its head");
        }
        // The nearest ancestor that any of the refs has: a stale local `main` does not make the change larger.
        let mut arguments = vec!["merge-base", "HEAD"];
        arguments.extend(&others);
        match self.git.ask(&arguments) {
            Some(base) => Ok(Some(base.into())),
            None => Err(GitError::NoBase(format!(
                "HEAD has no commit in common with the default branch `{}`",
                default.name
            ))),
        }
    }

    /// Whether older commits were left out when the repository was cloned.
    fn is_shallow(&self) -> bool {
        let told = self.git.ask(&["rev-parse", "--is-shallow-repository"]);
        told.is_some_and(|told| told.trim() == "true")
    }

    fn default(&self) -> Option<&DefaultBranch> {
        self.default_branch
            .get_or_init(|| self.find_default())
            .as_ref()
    }

    fn find_default(&self) -> Option<DefaultBranch> {
        let known = |name: &str| {
            let refs: Vec<String> = [
                "refs/heads/",
                "refs/remotes/origin/",
                "refs/remotes/upstream/",
            ]
            .iter()
            .map(|prefix| format!("{prefix}{name}"))
            .filter(|reference| self.commit(reference).is_some())
            .collect();
            (!refs.is_empty()).then(|| DefaultBranch {
                name: name.to_owned(),
                refs,
            })
        };
        let of_origin = if self.dirs.has_ref_files() {
            self.dirs.origin_default()
        } else {
            self.git
                .ask(&["symbolic-ref", "-q", "--short", "refs/remotes/origin/HEAD"])
                .and_then(|name| Some(name.strip_prefix("origin/")?.to_owned()))
        };
        if let Some(default) = of_origin.as_deref().and_then(known) {
            return Some(default);
        }
        let configured = self.git.ask(&["config", "--get", "init.defaultBranch"]);
        let usual = ["main", "master", "develop", "trunk"];
        let names = configured.as_deref().into_iter().chain(usual);
        let only_other = || known(&self.only_other_branch()?);
        names
            .into_iter()
            .find_map(known)
            .or_else(only_other)
            .or_else(|| {
                // Before the first commit no branch exists, and the one to come is the default.
                let unborn = self.head_commit().is_none();
                Some(DefaultBranch {
                    name: self.branch().filter(|_| unborn)?.to_owned(),
                    refs: Vec::new(),
                })
            })
    }

    /// Returns the branch beside the one that is checked out, where there is one and no more.
    fn only_other_branch(&self) -> Option<String> {
        let all = self
            .git
            .ask(&["for-each-ref", "--format=%(refname:short)", "refs/heads"])?;
        let own = self.branch()?;
        let mut others = all.lines().filter(|name| *name != own);
        let other = others.next()?;
        others.next().is_none().then(|| other.to_owned())
    }

    fn commit(&self, reference: &str) -> Option<String> {
        if self.dirs.has_ref_files() && reference != "HEAD" {
            return self.dirs.commit(reference);
        }
        let commit = format!("{reference}^{{commit}}");
        self.git.ask(&["rev-parse", "-q", "--verify", &commit])
    }
}

/// Reads one record of the log.
fn commit(record: &str) -> Option<Commit> {
    let mut fields = record.splitn(4, '\x1f');
    Some(Commit {
        id: fields.next()?.trim().to_owned(),
        author: fields.next()?.to_owned(),
        time: DateTime::from_timestamp(fields.next()?.parse().ok()?, 0)?,
        message: fields.next()?.trim().to_owned(),
    })
}
