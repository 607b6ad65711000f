//! Disk: what lies on the ways to guarded places, each file and each folder looked at once.

use std::collections::{HashMap, VecDeque};
use std::fs::{self, FileType};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::glob::shell_glob;
use crate::shell::real;
use crate::stamp::Stamp;

/// How deep a guarded folder is looked into for links: a hook of it has a folder of scripts.
const DEEP: usize = 3;

/// How many folders are listed below one guarded folder. The nearest come first.
const MOST_FOLDERS: usize = 256;

/// The disk as one look at it finds it; what was looked at is watched.
#[derive(Debug)]
pub(super) struct Disk<'w> {
    pub(super) watched: &'w mut Watched,
    kinds: HashMap<PathBuf, Option<FileType>>,
    listed: HashMap<PathBuf, Rc<[(PathBuf, FileType)]>>,
}

impl<'w> Disk<'w> {
    pub(super) fn new(watched: &'w mut Watched) -> Self {
        Self {
            watched,
            kinds: HashMap::new(),
            listed: HashMap::new(),
        }
    }

    /// Returns what a path is, if anything is there; a link is not followed.
    fn kind(&mut self, path: &Path) -> Option<FileType> {
        if let Some(known) = self.kinds.get(path) {
            return *known;
        }
        let found = fs::symlink_metadata(path)
            .ok()
            .map(|about| about.file_type());
        self.kinds.insert(path.to_owned(), found);
        found
    }

    pub(super) fn is_dir(&mut self, path: &Path) -> bool {
        self.kind(path).is_some_and(|kind| kind.is_dir())
    }

    fn list(&mut self, dir: &Path) -> Rc<[(PathBuf, FileType)]> {
        if let Some(known) = self.listed.get(dir) {
            return known.clone();
        }
        self.watched.add(dir);
        let entries = fs::read_dir(dir).into_iter().flatten().flatten();
        let found = entries.filter_map(|entry| Some((entry.path(), entry.file_type().ok()?)));
        let found: Rc<[_]> = found.collect();
        self.listed.insert(dir.to_owned(), found.clone());
        found
    }

    /// Returns what lies in a directory and has a name, which may be a pattern.
    pub(super) fn named(&mut self, dir: &Path, name: &str) -> Vec<(PathBuf, FileType)> {
        if !name.contains('*') {
            self.watched.add(dir);
            let path = dir.join(name);
            let kind = self.kind(&path);
            return kind.map(|kind| (path, kind)).into_iter().collect();
        }
        let listed = self.list(dir);
        let is_named = |path: &Path| {
            let own = path.file_name().unwrap_or_default();
            shell_glob(name, &own.to_string_lossy())
        };
        let named = listed.iter().filter(|(path, _)| is_named(path));
        named.cloned().collect()
    }

    /// Notes where a place leads that is given by a directory and the names below it, if there is a link on the way. With `all`,
    /// each folder that a pattern stands for is looked into, and not the links among them alone. Returns its paths without a
    /// link.
    pub(super) fn follow(&mut self, dir: &Path, names: &[&str], all: bool) -> Vec<PathBuf> {
        let mut path = dir.to_owned();
        let mut is_linked = self.kind(&path).is_some_and(|kind| kind.is_symlink());
        let mut found = Vec::new();
        let mut names = names;
        while let Some((name, rest)) = names.split_first() {
            self.watched.add(&path);
            if name.contains('*') && (all || !rest.is_empty()) {
                for (entry, kind) in self.named(&path, name) {
                    if kind.is_symlink() {
                        self.watched.add_link(entry.join(rest.join("/")));
                    } else if all {
                        found.extend(self.follow(&entry, rest, all));
                    }
                }
            }
            path.push(name);
            names = rest;
            match self.kind(&path) {
                Some(kind) => is_linked |= kind.is_symlink(),
                // A link on the way leads to what may come to be there, too.
                None if is_linked => path.extend(std::mem::take(&mut names)),
                None => return found,
            }
        }
        if is_linked {
            self.watched.add_link(path);
        } else {
            found.push(path);
        }
        found
    }

    /// Notes where the links lead that lie in a guarded folder, and returns the files that lie deepest there. A link to a folder
    /// that holds this one says nothing about the rest of that.
    pub(super) fn enter(&mut self, dir: &Path) -> Vec<PathBuf> {
        let mut files = Vec::new();
        let mut folders = VecDeque::from([(dir.to_owned(), 1)]);
        for _ in 0..MOST_FOLDERS {
            let Some((folder, deep)) = folders.pop_front() else {
                break;
            };
            for (path, kind) in self.list(&folder).iter() {
                if kind.is_symlink() {
                    let target = real(path);
                    if dir.starts_with(&target) || target.starts_with(dir) {
                        continue;
                    }
                    self.watched.add_link(path.clone());
                }
                if deep == DEEP {
                    files.push(path.clone());
                } else if kind.is_dir() || kind.is_symlink() {
                    folders.push_back((path.clone(), deep + 1));
                }
            }
        }
        files
    }
}

/// Directories as they were, and links with where they led.
#[derive(Debug, Default)]
pub(super) struct Watched {
    dirs: Vec<(PathBuf, Option<Stamp>)>,
    pub(super) links: Vec<(PathBuf, PathBuf)>,
}

impl Watched {
    pub(super) fn add(&mut self, dir: &Path) {
        if !self.dirs.iter().any(|(watched, _)| watched == dir) {
            self.dirs.push((dir.to_owned(), Stamp::at(dir)));
        }
    }

    pub(super) fn add_link(&mut self, path: PathBuf) {
        if !self.links.iter().any(|(known, _)| *known == path) {
            let target = real(&path);
            self.links.push((path, target));
        }
    }

    pub(super) fn holds(&self) -> bool {
        self.dirs
            .iter()
            .all(|(dir, stamp)| Stamp::at(dir) == *stamp)
            && (self.links.iter()).all(|(path, target)| real(path) == *target)
    }
}
