//! Search: the files of sockets that their names do not lead to.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::os::unix::fs::{DirEntryExt as _, FileTypeExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::diag::Bound;
use super::{number, socket};
use crate::shield::mounts::Mounts;

/// How many names are looked at: who has more must not be told that nothing was found.
const MOST_NAMES: usize = 10_000_000;

/// Folders in which nothing of the outside is seen inside.
const ELSEWHERE: &[&str] = &["/dev", "/proc", "/sys"];

/// What is seen inside.
pub(in crate::shield) struct Around<'a> {
    /// Whether a path is reached by no path inside.
    pub(in crate::shield) away: Box<dyn Fn(&Path) -> bool + Sync + 'a>,
    /// What is opened for writing, wherever it lies.
    pub(in crate::shield) open: Vec<&'a Path>,
}

impl Around<'_> {
    pub(in crate::shield) fn is_away(&self, path: &Path) -> bool {
        ELSEWHERE.iter().any(|dir| path.starts_with(dir)) || (self.away)(path)
    }
}

/// What the last search was for, and has found: a shield asks several times while it starts.
#[derive(Clone, Debug, Default)]
pub(in crate::shield) struct Searched(Arc<Mutex<Option<Last>>>);

#[derive(Debug)]
struct Last {
    lost: Vec<Bound>,
    found: BTreeSet<PathBuf>,
}

impl Last {
    /// Whether a search for the same would find the same: a name that has come or gone shows in how many there are.
    fn holds(&self, lost: &[Bound]) -> bool {
        let mut found = Files::default();
        found.add(self.found.iter().cloned());
        self.lost == lost
            && found.of_any().count() == self.found.len()
            && lost
                .iter()
                .all(|one| found.of(one).next().is_none() || found.has_all(one))
    }
}

impl Searched {
    /// Returns the paths of the files of sockets.
    pub(super) fn files(
        &self,
        bound: &[Bound],
        mounts: &Mounts,
        around: &Around<'_>,
    ) -> io::Result<BTreeSet<PathBuf>> {
        let mut found = Files::default();
        let mut dirs = None;
        for one in bound {
            if one.name.is_absolute() {
                found.take(one, one.name.canonicalize().ok());
            } else {
                let dirs = dirs.get_or_insert_with(work_dirs);
                found.take(one, dirs.iter().map(|dir| dir.join(&one.name)));
            }
        }
        let is_seen = |one: &&Bound| {
            let mut places = mounts.of(one.device);
            places.any(|place| !around.is_away(&place.at) || around.opens_in(&place.at))
        };
        let lost = bound.iter().filter(is_seen);
        let lost: Vec<Bound> = lost.filter(|one| !found.has_all(one)).cloned().collect();
        if lost.is_empty() {
            return Ok(found.paths());
        }
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(last) = last.as_ref().filter(|last| last.holds(&lost)) {
            found.add(last.found.iter().cloned());
            return Ok(found.paths());
        }
        search(&lost, mounts, around, &mut found)?;
        *last = Some(Last {
            found: lost.iter().flat_map(|one| found.of(one)).cloned().collect(),
            lost,
        });
        Ok(found.paths())
    }
}

impl Around<'_> {
    /// Whether something is opened in a folder.
    fn opens_in(&self, dir: &Path) -> bool {
        self.open.iter().any(|open| open.starts_with(dir))
    }
}

/// The files that were found, by their numbers.
#[derive(Debug, Default)]
struct Files(BTreeMap<u32, BTreeSet<PathBuf>>);

impl Files {
    /// Takes those of some paths at which the file of a socket lies.
    fn take(&mut self, one: &Bound, paths: impl IntoIterator<Item = PathBuf>) {
        for path in paths {
            if number(&path).is_some_and(|number| low(number) == one.inode) {
                let real = path.canonicalize().unwrap_or(path);
                self.0.entry(one.inode).or_default().insert(real);
            }
        }
    }

    fn add(&mut self, paths: impl IntoIterator<Item = PathBuf>) {
        for path in paths {
            if let Some(number) = number(&path) {
                self.0.entry(low(number)).or_default().insert(path);
            }
        }
    }

    fn of(&self, one: &Bound) -> impl Iterator<Item = &PathBuf> {
        self.0.get(&one.inode).into_iter().flatten()
    }

    fn of_any(&self) -> impl Iterator<Item = &PathBuf> {
        self.0.values().flatten()
    }

    /// Whether every name of the file is known.
    fn has_all(&self, one: &Bound) -> bool {
        let most = self.of(one).filter_map(|path| socket(path));
        let most = most.map(|(_, names)| names).max();
        most.is_some_and(|most| self.of(one).count() as u64 >= most)
    }

    fn paths(self) -> BTreeSet<PathBuf> {
        self.0.into_values().flatten().collect()
    }
}

/// The kernel tells no more of the number of a file.
const fn low(number: u64) -> u32 {
    (number & 0xffff_ffff) as u32
}

/// Returns the directories in which processes of this person stand, from which a relative name leads to its file.
fn work_dirs() -> BTreeSet<PathBuf> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    processes
        .filter_map(|process| process.path().join("cwd").read_link().ok())
        .collect()
}

/// Looks through what is seen of the file systems on which sockets lie, until all of their names are known. Of one whose file
/// is gone nothing is found, and nobody reaches it.
fn search(
    lost: &[Bound],
    mounts: &Mounts,
    around: &Around<'_>,
    found: &mut Files,
) -> io::Result<()> {
    let numbers: BTreeSet<u32> = lost.iter().map(|one| one.inode).collect();
    let devices: BTreeSet<(u32, u32)> = lost.iter().map(|one| one.device).collect();
    let places = devices.iter().flat_map(|device| mounts.of(*device));
    let whole = places.map(|place| place.at.as_path());
    // Near its name, and where the agent writes, it is the likeliest, and cheapest.
    let near = lost.iter().filter_map(|one| one.name.parent());
    let near = near.filter(|dir| dir.is_absolute());
    let open = around.open.iter().copied();
    let begins: Vec<&Path> = open.chain(near).chain(whole).collect();
    let mut left = MOST_NAMES;
    for (nth, begin) in begins.iter().enumerate() {
        let walked = begins.get(..nth).unwrap_or_default();
        if around.is_away(begin) || walked.contains(begin) {
            continue;
        }
        let mut waiting = vec![begin.to_path_buf()];
        while let Some(dir) = waiting.pop() {
            // What this person cannot read, nobody looks through inside.
            for entry in fs::read_dir(&dir).into_iter().flatten().flatten() {
                let Ok(kind) = entry.file_type() else {
                    continue;
                };
                left = left.checked_sub(1).ok_or_else(|| too_much(lost))?;
                if kind.is_dir() {
                    let path = entry.path();
                    let is_done = walked.contains(&path.as_path()) || mounts.is_at(&path);
                    if !is_done && !around.is_away(&path) {
                        waiting.push(path);
                    }
                } else if kind.is_socket() && numbers.contains(&low(entry.ino())) {
                    found.add([entry.path()]);
                    if lost.iter().all(|one| found.has_all(one)) {
                        return Ok(());
                    }
                }
            }
        }
    }
    Ok(())
}

fn too_much(lost: &[Bound]) -> io::Error {
    let names = lost.iter().map(|one| one.name.display().to_string());
    let names = names.collect::<Vec<_>>().join("`, `");
    io::Error::other(format!(
        "more than {MOST_NAMES} files would have to be looked at to find where `{names}` lies now; end what listens there"
    ))
}
