//! Repository: the questions that a workspace has for git, each answered once.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use chrono::DateTime;

use super::head::{GitDirs, Head};
use super::{Git, diff};
use crate::workspace::{Change, ChangeScope, ChangedFile, Commit, CommitsOf, GitError, ToldBase};

/// The repository that a project lies in.
///
/// The project may be a folder of it: paths are relative to the project, and what lies outside is not seen.
#[derive(Debug)]
pub(in crate::workspace) struct Repository {
    pub(super) dirs: GitDirs,
    git: Git,
    told: Arc<ToldBase>,
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
    /// Tracked files of which git was told not to look whether they differ, and which do.
    pub(in crate::workspace) unseen: Vec<String>,
    /// The commit that it is measured against.
    pub(in crate::workspace) base: Option<Arc<str>>,
}

impl Repository {
    /// Finds the repository that the project at `root` lies in; no program is run for it.
    pub(in crate::workspace) fn find(root: &Path, told: Arc<ToldBase>) -> Result<Self, GitError> {
        let dirs = GitDirs::find(root)
            .ok_or_else(|| GitError::NoRepository(root.display().to_string()))?;
        Ok(Self {
            git: Git::new(root),
            told,
            dirs,
            head: OnceLock::new(),
            branch: OnceLock::new(),
            default_branch: OnceLock::new(),
            base: OnceLock::new(),
            dirty: OnceLock::new(),
            ahead: OnceLock::new(),
        })
    }

    /// Returns the addresses of `origin` and `upstream`.
    pub(in crate::workspace) fn own_remotes(&self) -> Vec<String> {
        self.dirs.own_remotes()
    }

    /// Returns the addresses that git goes to for a remote, or where none is named; none where that cannot be told.
    pub(in crate::workspace) fn addresses_of(&self, remote: Option<&str>) -> Option<Vec<String>> {
        self.dirs.addresses_of(remote)
    }

    pub(super) const fn git(&self) -> &Git {
        &self.git
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
        let (tracked, listed) = std::thread::scope(|scope| {
            let listed = scope.spawn(|| self.listed());
            (self.differing(base.as_deref()), listed.join())
        });
        let listed = listed.unwrap_or_else(|_| {
            Err(GitError::Failed {
                command: "ls-files".to_owned(),
                message: "its reader panicked".to_owned(),
            })
        });
        let (untracked, unseen) = listed?;
        let mut tracked = tracked?;
        for path in &unseen {
            let known = tracked.iter().position(|file| file.path == *path);
            let known = known.map(|at| tracked.swap_remove(at));
            // The lines that git has counted are those of the index.
            tracked.push(ChangedFile {
                path: path.clone(),
                old_path: known.as_ref().and_then(|file| file.old_path.clone()),
                change: known.map_or(Change::Modified, |file| file.change),
                added_lines: None,
                removed_lines: None,
            });
        }
        Ok(RawChanges {
            tracked,
            untracked,
            unseen,
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

    /// Returns the files that some commits changed; of a merge, those that differ from its first parent.
    pub(in crate::workspace) fn changed_by(
        &self,
        commits: &[Commit],
    ) -> Result<Vec<ChangedFile>, GitError> {
        if commits.is_empty() {
            return Ok(Vec::new());
        }
        let commits: Vec<&str> = commits.iter().map(|commit| commit.id.as_str()).collect();
        let changed = self.raw(
            &["show", "--format=", "--diff-merges=first-parent"],
            &commits,
        )?;
        Ok(changed.into_iter().map(|entry| entry.file).collect())
    }

    /// Returns the files that a command of git tells of.
    fn raw(&self, command: &[&str], revisions: &[&str]) -> Result<Vec<diff::Entry>, GitError> {
        let form = [
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
        ];
        let arguments = [command, &form, revisions, &["--", "."]].concat();
        Ok(diff::parse(&self.git.run(&arguments)?))
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

    /// Returns the files whose change is staged, in the repository's own index or in another one.
    pub(in crate::workspace) fn staged(
        &self,
        index: Option<&Path>,
    ) -> Result<Vec<String>, GitError> {
        let output = self.git.run_on_index(
            &[
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
            ],
            index,
        )?;
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
        let mut entries = self.raw(&["diff"], &[base])?;
        self.count_hidden(base, &mut entries);
        Ok(entries.into_iter().map(|entry| entry.file).collect())
    }

    /// Returns the files that are not tracked, and those of which git was told not to look whether they differ
    /// (`update-index --assume-unchanged`, `--skip-worktree`), and which do.
    fn listed(&self) -> Result<(Vec<String>, Vec<String>), GitError> {
        let output = self.git.run(&[
            "ls-files",
            "-v",
            "--cached",
            "--others",
            "--exclude-standard",
            "-z",
        ])?;
        let (mut untracked, mut flagged) = (Vec::new(), Vec::new());
        // Those with a name that git is not asked by count as different.
        let mut unasked = Vec::new();
        for entry in diff::paths(&output) {
            match entry.split_once(' ') {
                Some(("?", path)) => untracked.push(path.trim_end_matches('/').to_owned()),
                // What a sparse checkout leaves out is flagged too, and is not there.
                Some((tag, path)) if tag == "S" || tag.chars().all(|c| c.is_ascii_lowercase()) => {
                    if path.contains(['\n', '\u{fffd}']) {
                        unasked.push(path.to_owned());
                    } else if self.git.has_file(path) {
                        flagged.push(path.to_owned());
                    }
                }
                _ => {}
            }
        }
        if !flagged.is_empty() {
            let asked = flagged.join("\n");
            let now = self
                .git
                .run_with_input(&["hash-object", "--stdin-paths"], asked.into_bytes())?;
            let now = String::from_utf8_lossy(&now).into_owned();
            let mut arguments = vec!["--literal-pathspecs", "ls-files", "--stage", "-z", "--"];
            arguments.extend(flagged.iter().map(String::as_str));
            let staged: Vec<String> = diff::paths(&self.git.run(&arguments)?).collect();
            let differing = flagged.iter().zip(now.lines()).filter(|(path, now)| {
                let is_same = |entry: &String| {
                    entry.split_once('\t').is_some_and(|(stage, of)| {
                        of == path.as_str() && stage.split(' ').nth(1) == Some(*now)
                    })
                };
                !staged.iter().any(is_same)
            });
            flagged = differing.map(|(path, _)| path.clone()).collect();
        }
        flagged.extend(unasked);
        Ok((untracked, flagged))
    }

    /// Returns the commit at which the branch left the default branch; none before the first commit.
    pub(in crate::workspace) fn branch_base(&self) -> Result<Option<Arc<str>>, GitError> {
        self.base.get_or_init(|| self.find_branch_base()).clone()
    }

    /// Returns the newest commit of what the change goes to, as far as it is here; none before the first commit.
    pub(in crate::workspace) fn target(&self) -> Result<Option<Arc<str>>, GitError> {
        let Some(base) = self.branch_base()? else {
            return Ok(None);
        };
        // The base of a commit that git itself made of both is the target's own.
        let is_merge =
            self.told.merge.is_some() && self.told.merge.as_deref() == self.head_commit();
        let own = self.branch().map(|branch| format!("refs/heads/{branch}"));
        let of_default = || {
            let mut refs = self.default()?.refs.iter();
            refs.find(|name| Some(*name) != own.as_ref())
        };
        let target = match &self.told.commit {
            Some(told) => Some(told).filter(|_| !is_merge),
            None => of_default(),
        };
        let tip = target.and_then(|target| self.resolved(target));
        Ok(Some(tip.map_or(base, Into::into)))
    }

    /// Returns the commit that a name or the beginning of a hash stands for.
    fn resolved(&self, reference: &str) -> Option<String> {
        let commit = format!("{reference}^{{commit}}");
        let verify = ["rev-parse", "-q", "--verify", "--end-of-options", &commit];
        self.git.ask(&verify)
    }

    fn find_branch_base(&self) -> Result<Option<Arc<str>>, GitError> {
        let Some(head) = self.head_commit() else {
            // Whoever names a base, or runs in CI, has commits: without one nobody can tell what the change is.
            if self.told.is_ci || self.told.commit.is_some() {
                return Err(GitError::NoBase(
                    "HEAD is no commit; check out the branch of the change".to_owned(),
                ));
            }
            return Ok(None);
        };
        let head_alone = |why: &str| {
            if self.is_shallow() {
                return Err(GitError::NoBase(format!(
                    "this is a shallow clone and {why}"
                )));
            }
            if self.told.is_ci {
                return Err(GitError::NoBase(format!(
                    "neither `--base` nor the CI system names what the change is compared with, and the repository {why}"
                )));
            }
            Ok(Some(head.into()))
        };
        if let Some(told) = &self.told.commit {
            return self.base_told(head, told).map(Some);
        }
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

    /// Returns the commit at which HEAD left a base that a person or a CI system names.
    fn base_told(&self, head: &str, told: &str) -> Result<Arc<str>, GitError> {
        let ask = |reference: &str| self.resolved(reference);
        // Git itself made this commit of the base and the branch: its first parent is what it merges into.
        if self.told.merge.as_deref() == Some(head)
            && ask("HEAD^2").is_some()
            && let Some(parent) = ask("HEAD^1")
        {
            return Ok(parent.into());
        }
        let Some(commit) = ask(told) else {
            return Err(GitError::NoBase(format!("the base `{told}` is not here")));
        };
        let base = self.git.ask(&["merge-base", "HEAD", &commit]);
        base.map(Into::into).ok_or_else(|| {
            GitError::NoBase(format!(
                "HEAD has no commit in common with the base `{told}`"
            ))
        })
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
