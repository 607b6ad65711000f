//! Repository: where git keeps what it shares between the worktrees of a project.

use std::fs;
use std::path::{Path, PathBuf};

use crate::shell::without_dots;

/// A repository around a project.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Repository {
    /// The `.git` of the worktree: a folder, or a file that names one.
    pub(super) dot_git: PathBuf,
    /// The folder with `config` and `hooks`.
    pub(super) common: PathBuf,
    /// What git reads of the worktrees beside `config`: which folder is the common one, and settings of one of them.
    pub(super) of_worktrees: Vec<PathBuf>,
}

impl Repository {
    /// Finds the repository that a directory lies in.
    pub(super) fn around(dir: &Path) -> Option<Self> {
        let dot_git = dir
            .ancestors()
            .map(|dir| dir.join(".git"))
            .find(|path| path.exists())?;
        if dot_git.is_dir() {
            let of_worktrees = of_worktrees(&dot_git);
            return Some(Self {
                common: dot_git.clone(),
                dot_git,
                of_worktrees,
            });
        }
        let own = named(&dot_git, "gitdir:")?;
        let common = named(&own.join("commondir"), "").unwrap_or(own);
        let of_worktrees = of_worktrees(&common);
        Some(Self {
            dot_git,
            common,
            of_worktrees,
        })
    }
}

fn of_worktrees(common: &Path) -> Vec<PathBuf> {
    let dirs = fs::read_dir(common.join("worktrees"));
    let dirs = dirs.into_iter().flatten().flatten();
    dirs.map(|dir| dir.path())
        .filter(|dir| dir.is_dir())
        .flat_map(|dir| ["commondir", "config.worktree", "gitdir"].map(|name| dir.join(name)))
        .collect()
}

/// Reads the path that a file of git names, relative to where the file lies.
fn named(file: &Path, key: &str) -> Option<PathBuf> {
    // A pipe would be waited for.
    let text = file.is_file().then(|| fs::read_to_string(file).ok())??;
    let path = text.trim().strip_prefix(key)?.trim();
    let path = without_dots(&file.parent()?.join(path));
    path.is_dir().then_some(path)
}
