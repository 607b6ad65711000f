//! Binary: our own program by its names, and by what it is, whatever it is called: the same file, or one that
//! says the same byte for byte.

use std::fs::{self, File, Metadata};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::process;
use crate::regular_file::are_one;
use crate::words::words;

/// The names under which the program is started, and its launchers.
pub(super) const NAMES: &[&str] = words!("own-programs");

/// Whether a word names the program, in whatever folder.
pub(super) fn is_named(word: &str) -> bool {
    word.rsplit('/')
        .next()
        .is_some_and(|name| NAMES.contains(&name))
}

/// How many bytes of two files are compared at once.
const BLOCK: usize = 64 << 10;

/// Returns where our own program lies: what the search path leads to, and what runs now, each by its real name too. A
/// program that has us as a library is none of ours.
pub(super) fn own_files() -> Vec<PathBuf> {
    let is_ours = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name == "ahp" || name.starts_with("ahp-") || name.starts_with("ahp.")
    };
    let running = std::env::current_exe().ok().filter(is_ours);
    let mut files: Vec<PathBuf> = process::installed("ahp")
        .into_iter()
        .chain(running)
        .collect();
    let real: Vec<PathBuf> = files
        .iter()
        .filter_map(|path| path.canonicalize().ok())
        .collect();
    files.extend(real);
    files.sort();
    files.dedup();
    files
}

/// Whether a file is one of our own program, or leads to what has its name.
pub(super) fn is_one(own: &[PathBuf], path: &Path) -> bool {
    let Ok(found) = fs::metadata(path) else {
        return false;
    };
    let is_same = |own: &PathBuf| {
        let Ok(known) = fs::metadata(own) else {
            return false;
        };
        are_one(&known, &found) || says_the_same((own, &known), (path, &found)).unwrap_or(false)
    };
    let leads_to_one = || {
        let real = path.canonicalize();
        real.is_ok_and(|real| is_named(&real.to_string_lossy()))
    };
    found.is_file() && found.len() > 0 && (own.iter().any(is_same) || leads_to_one())
}

/// Compares two files: by their length first, which tells nearly all apart.
fn says_the_same(
    (one, known): (&Path, &Metadata),
    (other, found): (&Path, &Metadata),
) -> std::io::Result<bool> {
    if known.len() != found.len() {
        return Ok(false);
    }
    let (mut one, mut other) = (File::open(one)?, File::open(other)?);
    let (mut a, mut b) = (vec![0; BLOCK], vec![0; BLOCK]);
    loop {
        let read = one.read(&mut a)?;
        if read == 0 {
            return Ok(true);
        }
        let (Some(a), Some(b)) = (a.get(..read), b.get_mut(..read)) else {
            return Ok(false);
        };
        other.read_exact(b)?;
        if a != &*b {
            return Ok(false);
        }
    }
}
