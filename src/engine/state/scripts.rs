//! Scripts: what the scripts that a policy names ask for is kept for them, and locked with their bindings; what they say, and
//! what the hooks and programs of the machine's layers hold, is a part of which policy it is.

use std::collections::BTreeSet;
use std::fs;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::config::Loaded;
use crate::diagnostic::Diagnostic;
use crate::engine::lookup::Finder;

/// How much of a large file counts: that much of its beginning, and of its end.
const PART: u64 = 512 << 10;

/// How many files of hooks are looked at: as many as a bundle may have.
const MOST_FILES: usize = 4096;

/// What was found beside the layers.
#[derive(Default)]
pub(super) struct Beside {
    /// The changes of marks that the script of a locked binding may ask for.
    pub(super) faults: Vec<Diagnostic>,
    /// The files of the machine's hooks and programs.
    pub(super) files: Vec<PathBuf>,
}

/// Takes in what lies beside the layers of a policy that was read anew.
pub(super) fn take_in(finder: &Finder, loaded: &mut Loaded) -> Beside {
    let mut beside = Beside::default();
    let (mut texts, mut seen) = (BTreeSet::new(), BTreeSet::new());
    let mut contents = Vec::new();
    for (spec, path, text) in finder.scripts_bound(&loaded.config) {
        if spec.locked && !spec.layer.is_of_project() {
            beside.faults.extend(loaded.changes_asked_by(&text, spec));
        }
        if seen.insert(path.clone()) {
            contents.push(digest(&name_of(&path), text.as_bytes()));
            texts.insert(text);
        }
    }
    for text in &texts {
        loaded.config.ask_by(text);
    }
    for dir in finder.hook_dirs_of_machine() {
        walk(dir, dir, &mut beside.files, &mut contents);
    }
    for program in loaded.programs_of_machine() {
        contents.push(of_file(&name_of(program), program));
        beside.files.push(program.clone());
    }
    if !contents.is_empty() {
        // A script that is put before another one takes its place.
        let has_scripts = !seen.is_empty();
        let dirs = finder.script_dirs().filter(|_| has_scripts);
        loaded.add_content(contents, dirs.map(Path::to_owned).chain(seen));
    }
    beside
}

/// Takes in all files below a directory, in the order of their names.
fn walk(root: &Path, dir: &Path, files: &mut Vec<PathBuf>, contents: &mut Vec<[u8; 32]>) {
    let listed = fs::read_dir(dir).into_iter().flatten().flatten();
    let mut listed: Vec<_> = listed.map(|entry| entry.path()).collect();
    listed.sort_unstable();
    for path in listed {
        if files.len() >= MOST_FILES {
            return;
        }
        if path.is_dir() && !path.is_symlink() {
            walk(root, &path, files, contents);
        } else {
            let name = path.strip_prefix(root).unwrap_or(&path);
            contents.push(of_file(&name.to_string_lossy(), &path));
            files.push(path);
        }
    }
}

fn name_of(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// Returns the digest of a file with its name; one that cannot be read is like no other.
fn of_file(name: &str, path: &Path) -> [u8; 32] {
    let read = || -> std::io::Result<Vec<u8>> {
        let about = fs::metadata(path)?;
        let mut bytes = about.len().to_le_bytes().to_vec();
        // Opening a named pipe would wait for ever.
        if about.is_file() {
            let mut file = fs::File::open(path)?;
            file.by_ref().take(PART).read_to_end(&mut bytes)?;
            if about.len() > 2 * PART {
                file.seek(SeekFrom::End(-i64::try_from(PART).unwrap_or(0)))?;
            }
            file.take(PART).read_to_end(&mut bytes)?;
        }
        Ok(bytes)
    };
    digest(name, &read().unwrap_or_default())
}

fn digest(name: &str, content: &[u8]) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(name.len().to_le_bytes());
    hash.update(name);
    hash.update(content);
    hash.finalize().into()
}
