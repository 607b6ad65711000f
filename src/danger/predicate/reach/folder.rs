//! Folders: the files of secrets that lie below one, found with little work.

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::danger::place::is_artifact;
use crate::search::wild;
use crate::secret::is_secret_file;

/// How many names are looked at below one folder, or for one pattern, the nearest ones first: some milliseconds of work.
const MOST_LOOKED_AT: usize = 1024;

/// How many folders deep is looked.
const DEEPEST: usize = 6;

/// What a command leaves out of what lies in a folder.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Kept {
    /// What begins with a dot.
    pub(super) hidden: bool,
    /// What git ignores.
    pub(super) ignored: bool,
}

/// Returns the files of secrets below a folder, by their way from there, or of a file itself an empty way. What builds and
/// package managers make is not gone through: no secret of this project lies there.
pub(super) fn secrets_below(top: &Path, kept: Kept) -> Vec<PathBuf> {
    if top.is_file() {
        let is_one = is_secret_file(&top.to_string_lossy());
        return if is_one {
            vec![PathBuf::new()]
        } else {
            Vec::new()
        };
    }
    let mut found = Vec::new();
    let mut left = MOST_LOOKED_AT;
    walk(top, kept.hidden, &mut left, &mut |way, is_folder| {
        if !is_folder
            && is_secret_file(&top.join(way).to_string_lossy())
            && !(kept.ignored && is_ignored(top, way))
        {
            found.push(way.to_owned());
        }
    });
    found
}

/// Visits the files and folders below a folder, by their way from there, and whether each is a folder; so many names are left.
fn walk(top: &Path, skips_hidden: bool, left: &mut usize, visit: &mut dyn FnMut(&Path, bool)) {
    let mut folders = VecDeque::from([(PathBuf::new(), 0)]);
    while let Some((folder, depth)) = folders.pop_front() {
        for entry in fs::read_dir(top.join(&folder))
            .into_iter()
            .flatten()
            .flatten()
        {
            if *left == 0 {
                return;
            }
            *left -= 1;
            let (Ok(kind), name) = (entry.file_type(), entry.file_name()) else {
                continue;
            };
            let name = name.to_string_lossy();
            if skips_hidden && name.starts_with('.') {
                continue;
            }
            let way = folder.join(name.as_ref());
            if kind.is_file() {
                visit(&way, false);
            } else if kind.is_dir() && depth < DEEPEST && name != ".git" && !is_artifact(&[&name]) {
                visit(&way, true);
                folders.push_back((way, depth + 1));
            }
        }
    }
}

/// Whether a file below a folder, or a folder on the way to it, is ignored. The folder itself is not asked about: what a
/// command is sent into, it goes through.
fn is_ignored(top: &Path, way: &Path) -> bool {
    let mut place = top.to_owned();
    way.iter().any(|name| {
        place.push(name);
        is_listed(&place)
    })
}

/// Whether the lists of the folders above a place, up to the repository's, say that it is ignored; the nearest one decides.
fn is_listed(place: &Path) -> bool {
    for folder in place.ancestors().skip(1) {
        let mut rules = GitignoreBuilder::new(folder);
        for name in [".gitignore", ".ignore", ".rgignore", ".git/info/exclude"] {
            let list = folder.join(name);
            if list.is_file() {
                // A line that cannot be read leaves the others as they are.
                drop(rules.add(list));
            }
        }
        let rules = rules.build().unwrap_or_else(|_| Gitignore::empty());
        let told = rules.matched(place, place.is_dir());
        if !told.is_none() {
            return told.is_ignore();
        }
        if folder.join(".git").exists() {
            break;
        }
    }
    false
}

/// Returns what a pattern of a shell or a tool names: what begins with a dot only where the pattern does, and with `**` what
/// lies at any depth.
pub(super) fn matched(pattern: &Path) -> Vec<PathBuf> {
    let mut places = vec![PathBuf::from("/")];
    let mut left = MOST_LOOKED_AT;
    let mut parts = pattern.iter().skip(1).peekable();
    while let Some(part) = parts.next() {
        if part == "**" {
            let is_last = parts.peek().is_none();
            let below = |place: PathBuf| {
                let mut all = vec![place.clone()];
                walk(&place, true, &mut left, &mut |way, is_folder| {
                    if is_folder || is_last {
                        all.push(place.join(way));
                    }
                });
                all
            };
            places = places.into_iter().flat_map(below).collect();
            continue;
        }
        let part = part.to_string_lossy();
        if !part.contains(['*', '?', '[']) {
            for place in &mut places {
                place.push(part.as_ref());
            }
            continue;
        }
        let names = |place: &PathBuf| {
            let entries = fs::read_dir(place).into_iter().flatten();
            entries.flatten()
        };
        let is_meant = |entry: &fs::DirEntry| {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            (part.starts_with('.') || !name.starts_with('.'))
                && wild(&part, &name, false) != Some(false)
        };
        let entries = places.iter().flat_map(names).take(left);
        let entries = entries.inspect(|_| left -= 1);
        places = entries.filter(is_meant).map(|entry| entry.path()).collect();
    }
    places
}
