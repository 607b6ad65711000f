//! File: scripts and patches that lie on the disk, read as far as they are judged.

use std::fs;
use std::io::Read as _;
use std::path::Path;

/// The longest script or patch that is read, in bytes; of a longer one this much is judged.
const MAX_FILE: u64 = 4 * 1024 * 1024;

/// Reads a file; what is not text in it is read as text all the same, as a shell does.
pub(crate) fn read(path: &Path) -> Option<String> {
    // Looked at first, because opening a pipe waits for somebody who writes.
    if !fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let file = fs::File::open(path).ok()?;
    let mut bytes = Vec::new();
    file.take(MAX_FILE).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Reads a file like that, if it is no longer than `most` bytes.
pub(crate) fn read_short(path: &Path, most: u64) -> Option<String> {
    let is_short = fs::metadata(path).is_ok_and(|about| about.len() <= most);
    is_short.then(|| read(path)).flatten()
}
