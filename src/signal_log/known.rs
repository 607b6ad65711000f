//! Known logs: which logs a user's processes have written, for whoever carries them to where they are gathered.
//!
//! A note is left when a file of a log begins, never for each record: one small file, named by a hash of the log's path, in
//! `$XDG_STATE_HOME/ahp/logs/`. It holds the path, a NUL byte, and the root of the project that the log is of.

use std::ffi::OsString;
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

/// A log that was noted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KnownLog {
    /// Where it lies.
    pub path: PathBuf,
    /// The root of its project, which need not be where the log lies.
    pub project: Option<PathBuf>,
}

/// Notes that a log of a project is written.
///
/// # Errors
/// The state directory cannot be written; nothing but the carrying of the log depends on it.
pub(crate) fn note_log(state_dir: &Path, path: &Path, project: &Path) -> io::Result<()> {
    let dir = state_dir.join("logs");
    let note = dir.join(log_key(path));
    if note.exists() {
        return Ok(());
    }
    fs::create_dir_all(&dir)?;
    let parts = [path, project].map(|path| path.as_os_str().as_bytes());
    // Half a note would keep the log from being noted ever again.
    let half = dir.join(format!(".{}.{}", log_key(path), std::process::id()));
    fs::write(&half, parts.join(&0))?;
    fs::rename(half, note)
}

/// Returns the logs that were noted and are still there, in the order of their paths. A note that cannot be read stands for
/// its log, so that whoever carries it says so, and carries the others.
///
/// # Errors
/// The folder of the notes cannot be read.
pub fn known_logs(state_dir: &Path) -> io::Result<Vec<KnownLog>> {
    let entries = match fs::read_dir(state_dir.join("logs")) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut logs = Vec::new();
    for entry in entries {
        let entry = entry?;
        // One that is being written is none yet.
        if entry.file_name().as_bytes().starts_with(b".") {
            continue;
        }
        let path = entry.path();
        let Ok(note) = fs::read(&path) else {
            let project = None;
            logs.push(KnownLog { path, project });
            continue;
        };
        let mut parts = note.split(|byte| *byte == 0);
        let mut part = || Some(PathBuf::from(OsString::from_vec(parts.next()?.to_vec())));
        if let Some(path) = part() {
            let project = part();
            logs.push(KnownLog { path, project });
        }
    }
    // A log that was deleted with its project has nothing more to give.
    logs.retain(|log| log.path.exists());
    logs.sort();
    Ok(logs)
}
