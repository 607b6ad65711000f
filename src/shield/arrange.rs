//! Arrange: the order in which places are mounted, so that no later mount takes an earlier hold away.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use super::ShieldError;

/// What may be done at a mounted place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Access {
    /// Read and written.
    Writable,
    /// Read and written, but what is there is another folder, which nobody else sees.
    Private(PathBuf),
    /// Read and written as what holds it; mounted so that it cannot be renamed.
    Way,
    /// Read, never written.
    Held,
    /// Read, and seen although what holds it is not.
    Seen,
    /// A device, as it is outside.
    Device,
    /// An empty file in the place of a socket.
    Covered,
    /// An empty file in the place of one that the judge locks: whoever opens that can hold its lock.
    Emptied,
    /// A file that cannot be opened.
    HiddenFile,
    /// An empty folder that cannot be written.
    HiddenFolder,
}

/// A mounted place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    /// Where it is.
    pub path: PathBuf,
    /// What may be done there.
    pub access: Access,
}

/// Puts places in the order in which they are mounted: what holds others first. On the way from each writable place down
/// to what is held in it, every folder is mounted on itself: a mount point cannot be renamed.
///
/// Held places that lie below nothing writable are left out: there they are read-only like everything else. So is whatever
/// lies in a place that is hidden.
///
/// # Errors
/// Something writable lies in a held place, or a path is relative or has `..`.
pub fn arrange(
    given: impl IntoIterator<Item = Mount>,
    held: &[PathBuf],
) -> Result<Vec<Mount>, ShieldError> {
    let mut mounts: BTreeMap<PathBuf, Access> = BTreeMap::new();
    let given: Vec<Mount> = given.into_iter().collect();
    let is_plain = |path: &&PathBuf| {
        path.is_absolute() && path.components().all(|part| part != Component::ParentDir)
    };
    let mut paths = given.iter().map(|mount| &mount.path).chain(held);
    if let Some(path) = paths.find(|path| !is_plain(path)) {
        return Err(ShieldError::NotPlain(path.clone()));
    }
    // Whoever says what may not be read means it, whatever else lies there.
    let hides = |access: &Access| matches!(access, Access::HiddenFile | Access::HiddenFolder);
    let (hidden, given): (Vec<_>, Vec<_>) =
        given.into_iter().partition(|mount| hides(&mount.access));
    let hidden: Vec<(PathBuf, Access)> = hidden.into_iter().map(|m| (m.path, m.access)).collect();
    let is_hidden = |path: &Path| hidden.iter().any(|(place, _)| path.starts_with(place));
    mounts.extend(hidden.iter().cloned());
    for Mount { path, access } in given {
        if !is_hidden(&path) {
            mounts.entry(path).or_insert(access);
        }
    }
    let open: Vec<PathBuf> = mounts
        .iter()
        .filter(|(_, access)| matches!(access, Access::Writable))
        .map(|(path, _)| path.clone())
        .collect();
    // The outer ones first: what lies in a held folder needs no hold of its own.
    let mut sorted: Vec<&PathBuf> = held.iter().collect();
    sorted.sort();
    let mut taken: Vec<&Path> = Vec::new();
    for path in sorted {
        if is_hidden(path) || taken.iter().any(|outer| path.starts_with(outer)) {
            continue;
        }
        if let Some(open) = open.iter().find(|open| open.starts_with(path)) {
            return Err(ShieldError::WritesHeld(open.clone()));
        }
        let Some(root) = writable_around(&mounts, path) else {
            continue;
        };
        let way = path.ancestors().skip(1).take_while(|dir| *dir != root);
        for dir in way.map(Path::to_path_buf).collect::<Vec<_>>() {
            mounts.entry(dir).or_insert(Access::Way);
        }
        mounts.insert(path.clone(), Access::Held);
        taken.push(path);
    }
    Ok(without_needless(mounts))
}

/// Covers what listens at some paths, too. What is mounted for itself is left as it is.
pub(super) fn covered(
    mounts: impl IntoIterator<Item = Mount>,
    listening: impl IntoIterator<Item = PathBuf>,
) -> Vec<Mount> {
    let given = mounts.into_iter().map(|mount| (mount.path, mount.access));
    let mut mounts: BTreeMap<PathBuf, Access> = given.collect();
    for path in listening {
        mounts.entry(path).or_insert(Access::Covered);
    }
    without_needless(mounts)
}

/// Leaves out what is not there inside: it needs neither cover nor hiding.
fn without_needless(mut mounts: BTreeMap<PathBuf, Access>) -> Vec<Mount> {
    let unseen = |path: &Path| {
        let above = path.ancestors().skip(1).find_map(|dir| mounts.get(dir));
        matches!(above, Some(Access::Private(_) | Access::HiddenFolder))
    };
    let needless: Vec<PathBuf> = mounts
        .iter()
        .filter(|(path, access)| {
            let covers = matches!(
                access,
                Access::Covered | Access::Emptied | Access::HiddenFile | Access::HiddenFolder
            );
            covers && unseen(path)
        })
        .map(|(path, _)| path.clone())
        .collect();
    for path in needless {
        mounts.remove(&path);
    }
    let arranged = mounts.into_iter();
    arranged
        .map(|(path, access)| Mount { path, access })
        .collect()
}

/// Returns what is mounted nearest above a path, or on it.
pub(super) fn nearest<'a>(mounts: &'a [Mount], path: &Path) -> Option<&'a Mount> {
    let around = mounts.iter().filter(|mount| path.starts_with(&mount.path));
    around.max_by_key(|mount| mount.path.components().count())
}

/// Returns the writable place that a path lies in; none where what is mounted nearest above it is another's or read-only.
fn writable_around(mounts: &BTreeMap<PathBuf, Access>, path: &Path) -> Option<PathBuf> {
    for dir in path.ancestors().skip(1) {
        match mounts.get(dir) {
            Some(Access::Writable) => return Some(dir.to_path_buf()),
            Some(Access::Way) | None => {}
            Some(_) => return None,
        }
    }
    None
}
