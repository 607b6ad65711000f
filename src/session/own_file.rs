//! Own file: opens a file of this user's in the state directory, and waits a second at most to have it alone.

use std::fs::{DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::Path;
use std::time::Duration;

use rustix::fs::OFlags;

use crate::regular_file;
use crate::regular_file::Opened;

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
pub(super) fn open(path: &Path, flags: OFlags) -> io::Result<Opened> {
    let opened = regular_file::open_beside(None, path, flags)?;
    if opened.about.uid() == rustix::process::geteuid().as_raw() {
        Ok(opened)
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
    open: impl Fn() -> io::Result<Opened>,
) -> io::Result<Option<File>> {
    let try_lock = match against {
        Against::Writers => File::try_lock_shared,
        Against::All => File::try_lock,
    };
    let locked = regular_file::lock(path, PATIENCE, None, open, try_lock, io::Error::from);
    Ok(locked?.map(|opened| opened.file))
}
