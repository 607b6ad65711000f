//! First project: where a session began, noted for hosts that do not tell their hooks in which project they work.

use std::ffi::OsString;
use std::io;
use std::io::Write as _;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{OFlags, Timespec, Timestamps, UTIME_NOW};

use super::{digest, own_file};
use crate::random;
use crate::regular_file;

/// The longest path that is taken.
const MOST: u64 = 16 << 10;

/// The file of the user's state directory that says in which project a session began.
#[derive(Clone, Debug)]
pub struct FirstProject {
    path: PathBuf,
}

impl FirstProject {
    /// Names the file of a host's session; nothing is touched yet.
    pub fn new(state_dir: &Path, host: &str, session_id: &str) -> Self {
        let name = digest([host.as_bytes(), session_id.as_bytes()]);
        Self {
            path: state_dir.join("first").join(format!("{name:016x}")),
        }
    }

    /// Returns the file's path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the root of the project, where it has been noted.
    ///
    /// # Errors
    /// There is something that cannot be read, or is not what was written.
    pub fn root(&self) -> io::Result<Option<PathBuf>> {
        let opened = match own_file::open(&self.path, OFlags::RDONLY) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened?,
        };
        let now = Timespec {
            tv_sec: 0,
            tv_nsec: UTIME_NOW,
        };
        let touched = Timestamps {
            last_access: now,
            last_modification: now,
        };
        // What is in use is not old, however long ago the session began.
        rustix::fs::futimens(&opened.file, &touched).ok();
        let root = regular_file::whole(opened.file, &opened.about, MOST)?;
        let root = PathBuf::from(OsString::from_vec(root));
        if root.is_absolute() {
            Ok(Some(root))
        } else {
            Err(io::Error::new(io::ErrorKind::InvalidData, "it is damaged"))
        }
    }

    /// Notes it; what another process has noted meanwhile stays.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn keep(&self, root: &Path) -> io::Result<()> {
        let (salt, _) = random::id().as_u64_pair();
        own_file::make(&self.path, salt, |mut file| {
            file.write_all(root.as_os_str().as_bytes())
        })
    }
}
