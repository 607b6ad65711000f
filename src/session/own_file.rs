//! Own file: opens a file of this user's in the state directory, and waits a second at most to have it alone.

use std::fs::{DirBuilder, File, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::OFlags;

use crate::regular_file;

/// How long the lock is waited for.
const PATIENCE: Duration = Duration::from_secs(1);

/// Against whom a file is locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Against {
    /// Whoever would write.
    Writers,
    /// Everybody.
    All,
}

/// Opens a file, where it is one of this user's.
pub(super) fn open(path: &Path, flags: OFlags) -> io::Result<File> {
    let file = regular_file::open(None, path, flags)?;
    if file.metadata()?.uid() == rustix::process::geteuid().as_raw() {
        Ok(file)
    } else {
        Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            "it belongs to another user",
        ))
    }
}

/// Makes the folder of a file, for this user alone.
pub(super) fn make_folder(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(dir) => DirBuilder::new().recursive(true).mode(0o700).create(dir),
        None => Ok(()),
    }
}

/// Opens and locks a file; none where others hold it for too long.
pub(super) fn lock(
    path: &Path,
    against: Against,
    open: impl Fn() -> io::Result<File>,
) -> io::Result<Option<File>> {
    let started = Instant::now();
    let mut pause = Duration::from_micros(20);
    loop {
        let file = open()?;
        let locked = match against {
            Against::Writers => file.try_lock_shared(),
            Against::All => file.try_lock(),
        };
        match locked {
            Ok(()) if is_still_there(path, &file) => return Ok(Some(file)),
            // Somebody removed the file between: the lock that was got locks out nobody.
            Ok(()) => {}
            Err(TryLockError::WouldBlock) if started.elapsed() > PATIENCE => return Ok(None),
            Err(TryLockError::WouldBlock) => {
                std::thread::sleep(pause);
                pause = (pause * 2).min(Duration::from_millis(2));
            }
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
}

fn is_still_there(path: &Path, file: &File) -> bool {
    match (file.metadata(), std::fs::symlink_metadata(path)) {
        (Ok(held), Ok(named)) => held.ino() == named.ino() && held.dev() == named.dev(),
        _ => false,
    }
}
