//! Lock: one writer at a time, and the anchor: what the last writer wrote last.

use std::fs;
use std::fs::{File, Metadata, TryLockError};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::OFlags;

use super::LogError;
use super::files::LogFiles;
use crate::regular_file;
use crate::regular_file::Opened;

/// `%020d <64 digits>\n`.
const ANCHOR_LENGTH: usize = 20 + 1 + 64 + 1;

/// The lock of a log while it is held; dropped, or its process ended in whatever way, it is free again.
#[derive(Debug)]
pub(super) struct Lock {
    opened: Opened,
}

/// The number and hash of the record that was written last, kept in the lock file.
///
/// The log is the truth. But of records cut off from its end it cannot tell; the anchor can.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Anchor {
    pub(crate) seq: u64,
    pub(crate) hash: String,
}

impl Lock {
    /// Waits for the lock so long and takes it; makes the lock file and its directory where they are missing. What was `kept`
    /// of the last time is not opened again.
    pub(super) fn take(
        files: &LogFiles,
        kept: Option<Opened>,
        patience: Duration,
    ) -> Result<Self, LogError> {
        let path = files.lock();
        let opened = regular_file::lock(
            &path,
            patience,
            kept,
            || open(files, &path),
            File::try_lock,
            |error| refused(error, path.clone()),
        )?;
        let opened = opened.ok_or_else(|| LogError::Busy {
            path: path.clone(),
            seconds: patience.as_secs(),
        })?;
        Ok(Self { opened })
    }

    /// Gives the lock free; returns what was opened, for the next time.
    pub(super) fn release(self) -> Option<Opened> {
        self.opened.file.unlock().ok()?;
        Some(self.opened)
    }

    /// Opens a file of the log, which lies beside the lock; returns what it is while the lock is held.
    pub(super) fn open(&self, path: &Path, flags: OFlags) -> io::Result<(File, Metadata)> {
        self.opened.beside(path, flags)
    }

    /// Reads what the last writer wrote last.
    pub(super) fn anchor(&self) -> Option<Anchor> {
        let mut bytes = [0; ANCHOR_LENGTH];
        self.opened.file.read_exact_at(&mut bytes, 0).ok()?;
        parse(&bytes)
    }

    /// Notes what was written last. It is a witness beside the log, so a failure costs nothing but the witness.
    pub(super) fn set_anchor(&self, anchor: &Anchor) {
        let text = format!("{:020} {}\n", anchor.seq, anchor.hash);
        self.opened.file.write_all_at(text.as_bytes(), 0).ok();
    }
}

/// Says why a lock could not be had.
pub(super) fn refused(error: TryLockError, path: PathBuf) -> LogError {
    let source = io::Error::from(error);
    match source.raw_os_error() {
        // ENOSYS, EOPNOTSUPP, ENOLCK
        Some(38 | 95 | 37) => LogError::NoLocks { path, source },
        _ => LogError::io("lock", path, source),
    }
}

/// Reads the anchor of a log without taking its lock.
pub(crate) fn read_anchor(files: &LogFiles) -> Option<Anchor> {
    parse(&files.read_small(&files.lock()).ok()?)
}

fn parse(bytes: &[u8]) -> Option<Anchor> {
    let text = std::str::from_utf8(bytes.get(..ANCHOR_LENGTH)?).ok()?;
    let (seq, hash) = text.strip_suffix('\n')?.split_once(' ')?;
    Some(Anchor {
        seq: seq.parse().ok()?,
        hash: (hash.len() == 64).then(|| hash.to_owned())?,
    })
}

fn open(files: &LogFiles, path: &Path) -> Result<Opened, LogError> {
    let open = || files.open_beside(path, OFlags::RDWR | OFlags::CREATE);
    match open() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            fs::create_dir_all(files.directory())
                .map_err(|source| LogError::io("create", files.directory(), source))?;
            open()
        }
        other => other,
    }
    .map_err(|source| LogError::io("open", path, source))
}
