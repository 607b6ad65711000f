//! OfGit: what of git decides over its hooks here beside what does everywhere: it is told by git's settings as they are now.

use std::path::{Path, PathBuf};

use super::places::{GuardedDir, known};
use super::repository::Repository;
use crate::host::HOSTS;
use crate::place::{Base, Roots};
use crate::regular_file;
use crate::shell::lexical;
use crate::workspace::git_settings;

/// The hooks that call `ahp`, where a repository has such.
pub const HOOKS: [&str; 4] = ["commit-msg", "pre-commit", "pre-merge-commit", "pre-push"];

/// How long a hook is at most that is looked through, in bytes.
const MOST_BYTES: u64 = 1 << 20;

/// How many files of settings are followed.
const MOST_FILES: usize = 64;

/// What of git decides over its hooks in one project.
#[derive(Debug, Default)]
pub struct OfGit {
    /// The repository around; none where there is none.
    pub repository: Option<Repository>,
    /// The files that its settings include, whether they are there or not.
    pub included: Vec<PathBuf>,
    /// The folders from which settings have git take hooks.
    pub hooks: Vec<PathBuf>,
    /// What all this was read from: it holds as long as each of them is as it was.
    pub read: Vec<PathBuf>,
    /// The folder of git that is guarded in every project.
    known: PathBuf,
}

impl OfGit {
    pub(super) fn of(roots: &Roots) -> Self {
        let repository = Repository::around(&roots.project);
        let top = repository.as_ref().and_then(|of| of.dot_git.parent());
        let top = top.unwrap_or(&roots.project);
        let home = roots.home.as_deref();
        let places = HOSTS.iter().filter(|host| host.name == "git");
        let places = places.flat_map(|host| host.places());
        let known = places.flat_map(|place| roots.all(place));
        let known = known.map(|(dir, name)| dir.join(&*name));
        // Beside settings, other files are guarded.
        let is_settings = |path: &PathBuf| path.to_string_lossy().contains("config");
        let (known, others): (Vec<PathBuf>, Vec<PathBuf>) = known.partition(is_settings);
        // The last one is read first: what holds everywhere goes before what holds in one of many working trees.
        let mut waiting: Vec<PathBuf> = Vec::new();
        if let Some(repository) = &repository {
            let of_worktrees = repository.of_worktrees.iter();
            waiting.extend(
                of_worktrees
                    .filter(|file| file.ends_with("config.worktree"))
                    .cloned(),
            );
            waiting.push(repository.common.join("config"));
        }
        waiting.extend(known);
        let (mut included, mut hooks, mut read) = (Vec::new(), Vec::new(), others);
        while let Some(file) = waiting.pop() {
            if read.contains(&file) || read.len() == MOST_FILES {
                continue;
            }
            let around = file.parent().unwrap_or(top);
            for setting in git_settings(&file) {
                let is_included =
                    setting.section == "include" || setting.section.starts_with("includeif ");
                if is_included && setting.key == "path" {
                    let path = lexical(&setting.value, around, home);
                    included.push(path.clone());
                    waiting.push(path);
                } else if setting.section == "core" && setting.key == "hookspath" {
                    hooks.push(lexical(&setting.value, top, home));
                }
            }
            read.push(file);
        }
        for dir in [&mut included, &mut hooks] {
            dir.sort_unstable();
            dir.dedup();
        }
        read.extend(
            hooks
                .iter()
                .flat_map(|dir| HOOKS.map(|name| dir.join(name))),
        );
        if let Some(repository) = &repository {
            read.push(repository.common.join("worktrees"));
            read.extend(repository.searched.iter().cloned());
        }
        Self {
            repository,
            included,
            hooks,
            read,
            known: roots.project.join(".git"),
        }
    }

    /// Returns the folders of settings that hold a hook which calls `ahp`: whoever has none there may do with them what she
    /// likes.
    pub fn wired(&self) -> impl Iterator<Item = &Path> {
        let hooks = self.hooks.iter().map(PathBuf::as_path);
        hooks.filter(|dir| is_wired(dir))
    }

    /// Whether git asks `ahp` by a hook, wherever that lies.
    pub fn has_wires(&self) -> bool {
        let common = self.repository.iter().map(|of| of.common.join("hooks"));
        self.wired().next().is_some() || common.into_iter().any(|dir| is_wired(&dir))
    }

    /// Returns what is guarded, as it lies there now.
    pub fn guarded(&self) -> Vec<GuardedDir> {
        let mut guarded: Vec<GuardedDir> = self
            .included
            .iter()
            .map(|path| GuardedDir::whole(path))
            .collect();
        guarded.extend(self.wired().map(|dir| {
            let names = HOOKS.into_iter();
            let names = names.flat_map(|name| [name.into(), format!("{name}.before-ahp").into()]);
            GuardedDir {
                dir: dir.to_owned(),
                names: names.collect(),
            }
        }));
        if let Some(repository) = &self.repository {
            // What git keeps of a submodule or of a worktree matters where a hook there, or one for all, calls `ahp`.
            let has_wires = self.has_wires();
            let is_for_all = self.wired().next().is_some();
            let matters =
                |dir: &Path| dir == repository.common || is_for_all || is_wired(&dir.join("hooks"));
            let dirs = repository.dirs();
            let dirs = dirs.filter(|dir| *dir != self.known && matters(dir));
            guarded.extend(dirs.map(|dir| GuardedDir {
                dir: dir.to_owned(),
                names: names().map(Into::into).collect(),
            }));
            let of_worktrees = repository.of_worktrees.iter().filter(|_| has_wires);
            guarded.extend(of_worktrees.map(|path| GuardedDir::whole(path)));
            if repository.dot_git != repository.common {
                guarded.push(GuardedDir::whole(&repository.dot_git));
            }
        }
        guarded
    }
}

/// Returns the names in git's folder that decide over hooks.
pub fn names() -> impl Iterator<Item = &'static str> {
    let of_project = known().filter(|place| place.base == Base::Project);
    of_project.filter_map(|place| place.path.strip_prefix(".git/"))
}

fn is_wired(dir: &Path) -> bool {
    HOOKS.iter().any(|name| {
        let read = regular_file::read_linked(&dir.join(name), MOST_BYTES);
        read.is_ok_and(|text| String::from_utf8_lossy(&text).contains("ahp"))
    })
}
