//! Probe: whether a log could be written where it is to lie, without a record or a file that stays.

use std::fs;
use std::io;
use std::io::Write as _;
use std::path::Path;

use rustix::fs::OFlags;

use super::files::LogFiles;
use super::{LogError, LogPlace, lock};

/// How much is written to see whether there is room: more than most records have.
const TRIAL: usize = 64 << 10;

/// Tries to write and lock beside a log; returns how many bytes are free there.
///
/// # Errors
/// What an append would meet: a directory or file that may not be written, a full disk, a file system without locks.
pub fn probe(place: impl Into<LogPlace>) -> Result<u64, LogError> {
    let files = LogFiles::new(place);
    for file in [files.current.clone(), files.lock()] {
        match files.open(&file, OFlags::WRONLY | OFlags::APPEND) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                return Err(LogError::io("open", file, source));
            }
            _ => {}
        }
    }
    // A directory that is missing is made by the first append.
    let directory = files.directory();
    let there = directory.ancestors().find(|dir| dir.exists());
    let there = there.unwrap_or(Path::new("."));
    let trial = there.join(format!(".ahp-probe-{}", std::process::id()));
    let tried = try_out(&files, &trial);
    fs::remove_file(&trial).ok();
    tried?;
    let room =
        rustix::fs::statvfs(there).map_err(|error| LogError::io("look at", there, error.into()))?;
    Ok(room.f_bavail.saturating_mul(room.f_frsize))
}

fn try_out(files: &LogFiles, trial: &Path) -> Result<(), LogError> {
    let mut file = files
        .open(trial, OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL)
        .map_err(|source| LogError::io("create", trial, source))?;
    file.try_lock()
        .map_err(|error| lock::refused(error, trial.to_owned()))?;
    file.write_all(&vec![0; TRIAL])
        .map_err(|source| LogError::io("write", trial, source))
}
