//! Known logs: which logs a user's processes have written, for whoever carries them to where they are gathered.
//!
//! A note is left when a file of a log begins, never for each record: one small file with the log's path, named by a hash of
//! it, in `$XDG_STATE_HOME/ahp/logs/`.

use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::signal::hex;

/// Returns the key of a log: the first 16 hexadecimal digits of the SHA-256 of its path.
pub fn log_key(path: &Path) -> String {
    let mut digits = hex(&Sha256::digest(path.as_os_str().as_bytes()));
    digits.truncate(16);
    digits
}

/// Notes that a log is written.
///
/// # Errors
/// The state directory cannot be written; nothing but the carrying of the log depends on it.
pub(crate) fn note_log(state_dir: &Path, path: &Path) -> io::Result<()> {
    let dir = state_dir.join("logs");
    let note = dir.join(log_key(path));
    if note.exists() {
        return Ok(());
    }
    fs::create_dir_all(&dir)?;
    fs::write(note, path.as_os_str().as_bytes())
}

/// Returns the logs that were noted and are still there, by their paths.
///
/// # Errors
/// The notes cannot be read.
pub fn known_logs(state_dir: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(state_dir.join("logs")) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut logs = Vec::new();
    for entry in entries {
        let path = fs::read(entry?.path())?;
        logs.push(PathBuf::from(std::ffi::OsString::from_vec(path)));
    }
    // A log that was deleted with its project has nothing more to give.
    logs.retain(|log| log.exists());
    logs.sort();
    Ok(logs)
}
