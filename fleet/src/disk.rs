//! Files that are there whole or not at all: written beside, forced to the disk, renamed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use crate::error::FleetError;

/// Who may read a file that is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Whom the mask of the user lets: a lake is shared as its directory is.
    Shared,
    /// Its owner alone.
    Private,
    /// Everybody, whatever the mask is.
    Public,
    /// Everybody, and everybody may execute it.
    Program,
}

/// Puts bytes at a path, of which nobody ever sees a part. Dotted names are passed over by the engines that read a lake.
///
/// # Errors
/// The disk refuses.
pub(crate) fn write_whole(path: &Path, bytes: &[u8], mode: Mode) -> Result<(), FleetError> {
    let beside = beside(path);
    let written = (|| {
        if let Some(dir) = path.parent() {
            fs::create_dir_all(dir)?;
        }
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true);
        let bits = match mode {
            Mode::Shared => 0o666,
            Mode::Private => 0o600,
            Mode::Public => 0o644,
            Mode::Program => 0o755,
        };
        let mut file = options.mode(bits).open(&beside)?;
        // Under its own name it never is what it shall not be, and another's mask does not count.
        if mode != Mode::Shared {
            file.set_permissions(fs::Permissions::from_mode(bits))?;
        }
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&beside, path)?;
        sync_directory(path)
    })();
    written.map_err(|error| {
        // What is left of it is in the way of nobody but of the next one to look.
        let _gone = fs::remove_file(&beside);
        FleetError::io("write", path, error)
    })
}

/// Makes a file that only its owner reads, unless it is there already.
///
/// # Errors
/// The disk refuses.
pub(crate) fn write_new_private(path: &Path, bytes: &[u8]) -> Result<(), FleetError> {
    let beside = beside(path);
    let written = (|| {
        if let Some(dir) = path.parent() {
            fs::create_dir_all(dir)?;
        }
        let mut options = OpenOptions::new();
        let mut file = options
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&beside)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        // A hard link, unlike a renaming, does not take the place of what another process made meanwhile.
        match fs::hard_link(&beside, path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => fs::remove_file(&beside),
        }
    })();
    written.map_err(|error| FleetError::io("write", path, error))
}

fn beside(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}", std::process::id()))
}

fn sync_directory(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(dir) if !dir.as_os_str().is_empty() => File::open(dir)?.sync_all(),
        _ => Ok(()),
    }
}
