//! Folders: the files of secrets that lie below one, found with little work.

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::danger::place::is_artifact;
use crate::search::wild;
use crate::secret::is_secret_file;

/// How many names are looked at below one folder, the nearest ones first: some milliseconds of work.
const MOST_LOOKED_AT: usize = 1024;

/// How many folders deep is looked.
const DEEPEST: usize = 6;

/// How many files and folders one pattern names at most.
const MOST_MATCHED: usize = 256;

/// What a command leaves out of what lies in a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kept {
    Nothing,
    /// What begins with a dot.
    Hidden,
    /// What git ignores.
    Ignored,
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
    let mut looked_at = 0;
    let mut folders = VecDeque::from([(PathBuf::new(), 0)]);
    while let Some((folder, depth)) = folders.pop_front() {
        for entry in fs::read_dir(top.join(&folder))
            .into_iter()
            .flatten()
            .flatten()
        {
            looked_at += 1;
            if looked_at > MOST_LOOKED_AT {
                return found;
            }
            let (Ok(kind), name) = (entry.file_type(), entry.file_name()) else {
                continue;
            };
            let name = name.to_string_lossy();
            if kept == Kept::Hidden && name.starts_with('.') {
                continue;
            }
            let way = folder.join(name.as_ref());
            if kind.is_file() && is_secret_file(&top.join(&way).to_string_lossy()) {
                if kept != Kept::Ignored || !is_ignored(top, &way) {
                    found.push(way);
                }
            } else if kind.is_dir() && depth < DEEPEST && name != ".git" && !is_artifact(&[&name]) {
                folders.push_back((way, depth + 1));
            }
        }
    }
    found
}

/// Whether a file is ignored by what the folders on the way to it say, or the folders above the first up to the repository's.
fn is_ignored(top: &Path, way: &Path) -> bool {
    let file = top.join(way);
    for folder in file.ancestors().skip(1) {
        let mut rules = GitignoreBuilder::new(folder);
        for name in [".gitignore", ".ignore", ".rgignore", ".git/info/exclude"] {
            let list = folder.join(name);
            if list.is_file() {
                // A line that cannot be read leaves the others as they are.
                drop(rules.add(list));
            }
        }
        let rules = rules.build().unwrap_or_else(|_| Gitignore::empty());
        let told = rules.matched_path_or_any_parents(&file, false);
        if !told.is_none() {
            return told.is_ignore();
        }
        if folder.join(".git").exists() {
            break;
        }
    }
    false
}

/// Returns what a pattern of a shell names: what begins with a dot only where the pattern does.
pub(super) fn matched(pattern: &Path) -> Vec<PathBuf> {
    let mut places = vec![PathBuf::from("/")];
    for part in pattern.iter().skip(1) {
        let part = part.to_string_lossy();
        if !part.contains(['*', '?', '[']) {
            for place in &mut places {
                place.push(part.as_ref());
            }
            continue;
        }
        let names = |place: &PathBuf| {
            let entries = fs::read_dir(place).into_iter().flatten().flatten();
            entries.take(MOST_LOOKED_AT).filter_map(|entry| {
                let name = entry.file_name();
                let name = name.to_string_lossy();
                let is_meant = part.starts_with('.') || !name.starts_with('.');
                (is_meant && wild(&part, &name, false) != Some(false)).then(|| entry.path())
            })
        };
        places = places.iter().flat_map(names).take(MOST_MATCHED).collect();
    }
    places
}
