//! Own file: makes and opens a file of this user's in the state directory, and waits a second at most to have it alone.

use std::fs::{DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::Path;
use std::time::{Duration, SystemTime};

use rustix::fs::{Access, OFlags};
use rustix::io::Errno;

use crate::regular_file;
use crate::regular_file::Opened;

/// How long the lock is waited for.
const PATIENCE: Duration = Duration::from_secs(1);

/// How long a file is kept that nothing touches.
const KEPT: Duration = Duration::from_hours(30 * 24);

/// How many files are removed at a time.
const MOST_REMOVED: usize = 64;

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

/// Makes a file under its name only once it is whole, so that one that is shorter was cut; one that is there meanwhile stays.
/// What nothing has touched for a month goes with it.
pub(super) fn make(
    path: &Path,
    salt: u64,
    begin: impl FnOnce(File) -> io::Result<()>,
) -> io::Result<()> {
    make_folder(path)?;
    let new = path.with_extension(format!("new-{salt:016x}"));
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL;
    let made = open(&new, flags).and_then(|made| {
        let now = made.file.metadata()?.modified()?;
        begin(made.file)?;
        match std::fs::hard_link(&new, path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            linked => linked?,
        }
        if let Some(dir) = path.parent() {
            remove_old(dir, now);
        }
        Ok(())
    });
    std::fs::remove_file(&new).ok();
    made
}

/// Removes files of a folder that nothing has touched for a month, some at a time.
pub(super) fn remove_old(dir: &Path, now: SystemTime) {
    let Ok(listing) = std::fs::read_dir(dir) else {
        return;
    };
    let is_old = |entry: &std::fs::DirEntry| {
        let modified = entry.metadata().and_then(|metadata| metadata.modified());
        let age = modified.ok().and_then(|time| now.duration_since(time).ok());
        age.is_some_and(|age| age > KEPT)
    };
    let old = listing.filter_map(Result::ok).filter(is_old);
    for entry in old.take(MOST_REMOVED) {
        std::fs::remove_file(entry.path()).ok();
    }
}

/// Finds out whether a file can be written, or made where it is not there.
pub(super) fn check_writable(path: &Path) -> io::Result<()> {
    let is_missing = |path: &Path| match rustix::fs::access(path, Access::WRITE_OK) {
        Err(Errno::NOENT) => Ok(true),
        found => found.map(|()| false).map_err(io::Error::from),
    };
    match path.parent() {
        // What a folder says that nobody may make anything in shows when it is made.
        Some(dir) if is_missing(path)? && is_missing(dir)? => make_folder(path),
        _ => Ok(()),
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
