//! Links: what a link in a held place leads to. A mount holds the link alone, and whoever reads it reads what it leads to.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};

use crate::regular_file::are_one;

use super::ShieldError;
use super::arrange::{Access, Mount, nearest};

/// How many names are looked at in all held places together; what has more cannot be held with certainty.
const MOST_NAMES: usize = 200_000;

/// How many links one path may lead through, as in the kernel.
const MOST_LINKS: usize = 40;

/// What lies in held places.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// What links lead to, would be writable inside, and has to be held too.
    pub(super) led_to: BTreeSet<PathBuf>,
    /// Files with further names, by which they can be written: of each held place how many, and one of them.
    pub(super) of_many_names: Vec<(PathBuf, usize, PathBuf)>,
}

/// Looks through held places for what is mounted around them so far; `fresh` are folders that are empty and writable inside, and
/// in `shields` lies what agents write, which nothing outside reads.
///
/// # Errors
/// A link leads through or to something that is writable and cannot be held, or there is too much to look at.
pub(super) fn look(
    held: &[PathBuf],
    mounts: &[Mount],
    fresh: &[&str],
    shields: &Path,
) -> Result<Found, ShieldError> {
    let shields = shields.metadata().ok();
    let around = Around { mounts, fresh };
    let mut found = Found::default();
    let mut left = MOST_NAMES;
    for place in held {
        let is_mounted = mounts
            .iter()
            .any(|mount| mount.path == *place && mount.access == Access::Held);
        let mut of_many_names = Vec::new();
        let mut waiting = vec![place.clone()];
        found.led_to.extend(around.led_to(place)?);
        while let Some(path) = waiting.pop() {
            left = left
                .checked_sub(1)
                .ok_or_else(|| ShieldError::TooMuch(place.clone()))?;
            let told = |error| ShieldError::Unreadable(path.clone(), error);
            let Some(meta) = there(path.symlink_metadata()).map_err(told)? else {
                continue;
            };
            if meta.is_symlink() {
                found.led_to.extend(around.led_to(&path)?);
            } else if meta.is_dir() {
                if shields.as_ref().is_some_and(|own| are_one(own, &meta)) {
                    continue;
                }
                for entry in there(fs::read_dir(&path))
                    .map_err(told)?
                    .into_iter()
                    .flatten()
                {
                    waiting.push(entry.map_err(told)?.path());
                }
            } else if meta.is_file() && meta.nlink() > 1 && is_mounted {
                of_many_names.push(path);
            }
        }
        let count = of_many_names.len();
        if let Some(path) = of_many_names.pop() {
            found.of_many_names.push((place.clone(), count, path));
        }
    }
    Ok(found)
}

/// What cannot be read by this person says nothing to what she starts.
fn there<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    use io::ErrorKind::{NotADirectory, NotFound, PermissionDenied};
    match result {
        Ok(found) => Ok(Some(found)),
        Err(error) if matches!(error.kind(), NotFound | NotADirectory | PermissionDenied) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// What is mounted.
struct Around<'a> {
    mounts: &'a [Mount],
    fresh: &'a [&'a str],
}

impl Around<'_> {
    /// Returns what has to be held because a path leads there.
    fn led_to(&self, path: &Path) -> Result<Option<PathBuf>, ShieldError> {
        let (links, end) = way(path).ok_or_else(|| ShieldError::Link(path.to_owned()))?;
        // What lies in one of these is seen outside alone, and so is where it leads.
        let fresh = |at: &Path| self.nearest(at).is_none() && self.is_fresh(at);
        let is_open = |at: &Path| self.is_open(at) || (fresh(at) && !fresh(path));
        // A link that can be replaced may lead anywhere tomorrow.
        if let Some(link) = links.iter().find(|link| is_open(link)) {
            return Err(ShieldError::Link(link.clone()));
        }
        if links.is_empty() {
            return Ok(None);
        }
        let out = || ShieldError::LeadsOut(path.to_owned(), end.clone());
        let holds_open = |mount: &Mount| {
            matches!(mount.access, Access::Writable | Access::Private(_))
                && mount.path.starts_with(&end)
        };
        if self.mounts.iter().any(holds_open) {
            return Err(out());
        }
        if !is_open(&end) {
            return Ok(None);
        }
        match self.nearest(&end) {
            Some(Access::Writable | Access::Way) if end.exists() => Ok(Some(end)),
            _ => Err(out()),
        }
    }

    fn nearest(&self, path: &Path) -> Option<&Access> {
        nearest(self.mounts, path).map(|mount| &mount.access)
    }

    /// Whether what lies at a path can be replaced inside, by what is mounted.
    fn is_open(&self, path: &Path) -> bool {
        let nearest = self.nearest(path);
        matches!(
            nearest,
            Some(Access::Writable | Access::Way | Access::Private(_))
        )
    }

    fn is_fresh(&self, path: &Path) -> bool {
        self.fresh.iter().any(|dir| path.starts_with(dir))
    }
}

/// Follows a path: where each link on the way lies, and where it ends, whether or not anything is there. None where it never
/// ends.
fn way(path: &Path) -> Option<(Vec<PathBuf>, PathBuf)> {
    let parts = |path: &Path| -> Vec<OsString> {
        let parts = path.components().rev();
        parts
            .filter(|part| matches!(part, Component::Normal(_) | Component::ParentDir))
            .map(|part| part.as_os_str().to_owned())
            .collect()
    };
    let mut links = Vec::new();
    let mut at = PathBuf::from("/");
    let mut ahead = parts(path);
    while let Some(part) = ahead.pop() {
        if part == ".." {
            at.pop();
            continue;
        }
        let next = at.join(&part);
        let Ok(target) = next.read_link() else {
            at = next;
            continue;
        };
        if links.len() == MOST_LINKS {
            return None;
        }
        links.push(next);
        if target.is_absolute() {
            at = PathBuf::from("/");
        }
        ahead.extend(parts(&target));
    }
    Some((links, at))
}
