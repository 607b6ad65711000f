//! Held: the places that a mount keeps from being changed, made of what is guarded: whole folders, for a mount follows the
//! inode and a file is replaced by renaming.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use crate::guard::Guards;
use crate::host::Host;

use super::homes::{HOMES, Home};
use super::repository::Repository;

/// Folders of a project that are not one host's own: in these, what is named there is held, and the rest is free.
const SHARED: &[&str] = &[".agents", ".clinerules", ".git", ".github", ".monoco"];

/// What is held in a project beside what is guarded: attributes by which git runs programs, servers that hosts start, and
/// settings that switch hooks off beside many that do not.
const FURTHER: &[&str] = &[".git/info", ".mcp.json", ".vscode"];

/// Returns every place that is to be held, the host's own folder in the home directory among them.
///
/// A place that is not there is named too; the one place that is left out is a repository's where there is none.
pub fn held(guards: &Guards, host: Option<&Host>) -> BTreeSet<PathBuf> {
    let project = &guards.roots().project;
    let home = host.and_then(home_of);
    let free: Vec<PathBuf> = home
        .and_then(|home| Some((home, guards.roots().path(&home.folder)?)))
        .map(|(home, folder)| home.free.iter().map(|name| folder.join(name)).collect())
        .unwrap_or_default();
    let guarded = guards
        .dirs()
        .iter()
        .flat_map(|dir| dir.paths().collect::<Vec<_>>());
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
    let of_git: Vec<PathBuf> = held
        .iter()
        .filter(|path| path.starts_with(&git))
        .cloned()
        .collect();
    for path in &of_git {
        held.remove(path);
    }
    if let Some(repository) = Repository::around(project) {
        for path in of_git {
            let inside = path.strip_prefix(&git).unwrap_or(&path);
            held.insert(repository.common.join(inside));
        }
        held.extend(repository.of_worktrees);
        if repository.dot_git != repository.common {
            held.insert(repository.dot_git);
        }
    }
    held
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
