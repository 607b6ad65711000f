//! Held: the places that a mount keeps from being changed, made of what is guarded: whole folders, for a mount follows the
//! inode and a file is replaced by renaming.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use crate::guard;
use crate::guard::{Guards, OfGit};
use crate::host::Host;

use super::homes::{HOMES, Home};

/// Folders of a project that are not one host's own: in these, what is named there is held, and the rest is free.
const SHARED: &[&str] = &[".agents", ".clinerules", ".git", ".github", ".monoco"];

/// What is held in a project beside what is guarded: servers that hosts start, and settings that switch hooks off beside many
/// that do not.
const FURTHER: &[&str] = &[".mcp.json", ".vscode"];

/// The same in a repository: attributes by which git runs programs.
const OF_REPOSITORY: [&str; 1] = ["info"];

/// Returns every place that is to be held, the host's own folder in the home directory among them.
///
/// A place that is not there is named too; the one place that is left out is a repository's where there is none.
pub fn held(guards: &Guards, of_git: &OfGit, host: Option<&Host>) -> BTreeSet<PathBuf> {
    let project = &guards.roots().project;
    let home = host.and_then(home_of);
    let free: Vec<PathBuf> = home
        .and_then(|home| Some((home, guards.roots().path(&home.folder)?)))
        .map(|(home, folder)| home.free.iter().map(|name| folder.join(name)).collect())
        .unwrap_or_default();
    let guarded = guards.places().iter().map(|place| place.path());
    let further = FURTHER.iter().map(|name| project.join(name));
    let mut held: BTreeSet<PathBuf> = guarded
        .chain(further)
        .filter(|path| !free.contains(path))
        .filter_map(|path| match path.strip_prefix(project) {
            Ok(inside) => Some(project.join(widened(inside)?)),
            Err(_) => before_pattern(&path),
        })
        .collect();
    if let Some((home, folder)) =
        home.and_then(|home| Some((home, guards.roots().path(&home.folder)?)))
    {
        held.extend(home.held.iter().map(|name| folder.join(name)));
    }
    let git = project.join(".git");
    held.retain(|path| !path.starts_with(&git));
    held.extend(of_repository(of_git));
    held.extend(of_git.included.iter().cloned());
    for dir in of_git.wired() {
        // A hook is replaced by renaming, so its folder is held, unless that is all that is worked in.
        if project.starts_with(dir) {
            held.extend(guard::HOOKS.map(|name| dir.join(name)));
        } else {
            held.insert(dir.to_owned());
        }
    }
    held
}

/// Returns what is held of a repository, wherever it lies; nothing where there is none.
fn of_repository(of_git: &OfGit) -> impl Iterator<Item = PathBuf> {
    of_git.repository.iter().flat_map(|repository| {
        let names = || guard::names().chain(OF_REPOSITORY);
        let dirs = repository.dirs();
        let dirs = dirs.flat_map(move |dir| names().map(|name| dir.join(name)));
        // Of a submodule with one, git does not know where its files lie: nothing can stand in for it.
        let common = repository.common.join("commondir");
        let dirs = dirs
            .filter(move |path| !path.ends_with("commondir") || *path == common || path.exists());
        let of_worktrees = repository.of_worktrees.iter().cloned();
        let is_file = repository.dot_git != repository.common;
        let dot_git = is_file.then(|| repository.dot_git.clone());
        dirs.chain(of_worktrees).chain(dot_git)
    })
}

/// Returns the folder of a host in the home directory.
pub(super) fn home_of(host: &Host) -> Option<&'static Home> {
    HOMES.iter().find(|home| home.host == host.name)
}

/// Returns what is held for a guarded path of the project: the whole folder of a host, where it is the host's own.
///
/// None for what only a pattern names below the project itself.
fn widened(inside: &Path) -> Option<PathBuf> {
    let mut names = inside.components().filter_map(|part| match part {
        Component::Normal(name) => name.to_str(),
        _ => None,
    });
    let first = names.next()?;
    if SHARED.contains(&first) {
        return Some(Path::new(first).join(names.next()?));
    }
    if first.starts_with('.') {
        return Some(first.into());
    }
    before_pattern(inside)
}

/// Cuts a path before the first name that is a pattern: the folder that is left holds all that the pattern means. None where
/// that is the whole project.
fn before_pattern(path: &Path) -> Option<PathBuf> {
    let is_pattern = |part: &Component<'_>| part.as_os_str().to_string_lossy().contains('*');
    let kept: PathBuf = path
        .components()
        .take_while(|part| !is_pattern(part))
        .collect();
    (!kept.as_os_str().is_empty()).then_some(kept)
}
