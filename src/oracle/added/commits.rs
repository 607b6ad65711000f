//! What the commits of a change add and say, be it taken away by a later one: all of it is pushed.

use std::path::Path;

use super::patch::Told;
use super::{Added, asked, text_of, told_by};
use crate::oracle::{HookContext, OracleError};
use crate::workspace::GitError;

/// How many of the commits are looked at that no remote has, where nothing says which of them belong to the change.
const MOST_UNPUSHED: &str = "--max-count=100";

/// How deep submodules are looked into that lie in submodules.
const MOST_NESTED: usize = 8;

/// What is asked of commits, beside the form of their patches: headers and messages as they are kept, notes, the names of the
/// branches and tags that point at them.
const FORM: [&str; 7] = [
    "--no-show-signature",
    "--format=raw",
    "--encoding=none",
    "--notes=*",
    "--decorate=full",
    "--decorate-refs=refs/*",
    "--no-renames",
];

/// Returns the header and message of each commit since the base and the lines that it adds, those that a later one takes away
/// among them; of what the base itself has and no remote, it is the newest hundred.
///
/// # Errors
/// Git cannot tell.
pub(in crate::oracle) fn by_commits(context: &HookContext) -> Result<Vec<Added>, OracleError> {
    let base = match context.facts.changes() {
        Ok(changes) => changes.base.clone(),
        Err(GitError::NoRepository(_)) => None,
        Err(error) => return Err(OracleError::of_git(error)),
    };
    let Some(base) = base.filter(|_| context.workspace().is_on_disk()) else {
        return Ok(Vec::new());
    };
    let log = Log {
        context,
        folder: context.root(),
        depth: 0,
    };
    let mut added = log.of(&[&format!("{base}..HEAD")])?;
    let git = context.facts.git().map_err(OracleError::of_git)?;
    let is_apart = (git.default_branch()).is_some_and(|name| git.branch() != Some(name));
    // Whoever moves the branch that the change is compared with takes commits out of the change, and they are pushed all the
    // same. Without a remote, nothing tells them from those that are old.
    let is_told = is_apart || !added.is_empty();
    let has_remote = || {
        let refs = ["for-each-ref", "--count=1", "refs/remotes"];
        asked(context, context.root(), &refs, Vec::new()).map(|refs| !refs.is_empty())
    };
    if !is_told || has_remote()? {
        added.extend(log.of(&[MOST_UNPUSHED, &base, "--not", "--remotes"])?);
    }
    Ok(added)
}

/// The commits in a folder: of the project, or of a submodule.
struct Log<'a> {
    context: &'a HookContext,
    folder: &'a Path,
    depth: usize,
}

impl Log<'_> {
    /// Returns what some commits add and say.
    fn of(&self, revisions: &[&str]) -> Result<Vec<Added>, OracleError> {
        // Of a merge, only what it does not have from one of its parents.
        let log = [&["log", "--patch", "--diff-merges=remerge"], &FORM[..]].concat();
        let Told {
            files,
            commits,
            submodules,
        } = self.told(&log, revisions)?;
        let mut added = files;
        for commit in &commits {
            let head = commit
                .text
                .lines()
                .skip(1)
                .take_while(|line| !line.is_empty());
            let count = |word: &str| head.clone().filter(|line| line.starts_with(word)).count();
            let id = commit.commit.as_deref().unwrap_or_default();
            // Git makes no merge of more than two again.
            if count("parent ") > 2 {
                let show = [&["show", "--diff-merges=first-parent"], &FORM[..]].concat();
                added.extend(self.told(&show, &[id])?.files);
            }
            let names = commit.text.lines().next().unwrap_or_default();
            let names = names
                .strip_prefix('(')
                .and_then(|names| names.strip_suffix(')'));
            let names = names.into_iter().flat_map(|names| names.split(", "));
            let tags = names.filter_map(|name| name.strip_prefix("tag: "));
            // Git makes text of what is kept in an encoding of its own.
            for object in tags.chain((count("encoding ") > 0).then_some(id)) {
                let show = [
                    "show",
                    "--no-patch",
                    "--format=raw",
                    "--encoding=UTF-8",
                    object,
                    "--",
                ];
                added.push(Added {
                    text: text_of(&asked(self.context, self.folder, &show, Vec::new())?),
                    commit: commit.commit.clone(),
                    ..Added::default()
                });
            }
        }
        added.extend(commits);
        for [path, before, now] in &submodules {
            added.extend(self.within(path, before, now)?);
        }
        Ok(added)
    }

    fn told(&self, command: &[&str], revisions: &[&str]) -> Result<Told, OracleError> {
        told_by(self.context, self.folder, command, revisions)
    }

    /// Returns what the commits of a submodule add; what is not here is not pushed from here.
    fn within(&self, path: &str, before: &str, now: &str) -> Result<Vec<Added>, OracleError> {
        let folder = self.folder.join(path);
        if !folder.join(".git").exists() {
            return Ok(Vec::new());
        }
        if self.depth == MOST_NESTED {
            return Err(OracleError::CannotTell(format!(
                "the submodules in `{path}` lie too deep"
            )));
        }
        let log = Log {
            folder: &folder,
            depth: self.depth + 1,
            ..*self
        };
        // What the submodule's own remote has is not pushed again, and what is missing here leaves nothing out.
        let before = format!("^{before}");
        let mut added = log.of(&[
            "--ignore-missing",
            MOST_UNPUSHED,
            now,
            &before,
            "--not",
            "--remotes",
        ])?;
        for file in &mut added {
            file.path = file.path.take().map(|inner| format!("{path}/{inner}"));
        }
        Ok(added)
    }
}
