//! Repository: where git keeps what it shares between the worktrees of a project, and what belongs to its submodules.

use std::fs;
use std::path::{Path, PathBuf};

use crate::shell::without_dots;

/// What git reads of a worktree beside `config`: which folder is the common one, and settings of one of them.
const OF_WORKTREE: [&str; 3] = ["commondir", "config.worktree", "gitdir"];

/// A repository around a project.
#[derive(Debug, PartialEq, Eq)]
pub struct Repository {
    /// The `.git` of the worktree: a folder, or a file that names one.
    pub dot_git: PathBuf,
    /// The folder with `config` and `hooks`.
    pub common: PathBuf,
    /// The same folders of its submodules.
    pub modules: Vec<PathBuf>,
    /// The folders in which those were looked for.
    pub searched: Vec<PathBuf>,
    /// What git reads of each worktree beside them.
    pub of_worktrees: Vec<PathBuf>,
}

impl Repository {
    /// Finds the repository that a directory lies in.
    pub fn around(dir: &Path) -> Option<Self> {
        let dot_git = dir
            .ancestors()
            .map(|dir| dir.join(".git"))
            .find(|path| path.exists())?;
        let common = if dot_git.is_dir() {
            dot_git.clone()
        } else {
            let own = named(&dot_git, "gitdir:")?;
            named(&own.join("commondir"), "").unwrap_or(own)
        };
        let worktrees = folders(&common.join("worktrees"));
        let (modules, searched) = modules(&common);
        Some(Self {
            modules,
            searched,
            of_worktrees: worktrees
                .flat_map(|dir| OF_WORKTREE.map(|name| dir.join(name)))
                .collect(),
            common,
            dot_git,
        })
    }

    /// Returns every folder with settings and hooks.
    pub fn dirs(&self) -> impl Iterator<Item = &Path> {
        let modules = self.modules.iter().map(PathBuf::as_path);
        std::iter::once(&*self.common).chain(modules)
    }
}

/// Returns what git keeps of submodules, and of theirs, whose names may be paths, and where that was looked for.
fn modules(common: &Path) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let (mut found, mut searched) = (Vec::new(), Vec::new());
    let mut waiting = vec![common.join("modules")];
    while let Some(dir) = waiting.pop() {
        for dir in folders(&dir) {
            // By either: one that lost the other would be filled again.
            if ["HEAD", "config"]
                .iter()
                .any(|name| dir.join(name).exists())
            {
                waiting.push(dir.join("modules"));
                found.push(dir);
            } else {
                waiting.push(dir);
            }
        }
        searched.push(dir);
    }
    found.sort_unstable();
    (found, searched)
}

/// Returns the folders in a folder, and none to which a link leads.
fn folders(dir: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    folders.map(|entry| entry.path())
}

/// Reads the path that a file of git names, relative to where the file lies.
fn named(file: &Path, key: &str) -> Option<PathBuf> {
    // A pipe would be waited for.
    let text = file.is_file().then(|| fs::read_to_string(file).ok())??;
    let path = text.trim().strip_prefix(key)?.trim();
    let path = without_dots(&file.parent()?.join(path));
    path.is_dir().then_some(path)
}
