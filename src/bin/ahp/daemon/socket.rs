//! Socket: where a judge listens: in a directory of its own person, once.

use std::fs;
use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::io::{Read as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::path::{Path, PathBuf};

/// The most bytes of a path that the address of a socket takes.
pub(crate) const LONGEST: usize = if cfg!(target_os = "linux") { 107 } else { 103 };

/// A socket that is listened on; taken away in the end.
#[derive(Debug)]
pub(crate) struct Socket {
    pub(super) listener: UnixListener,
    /// None where whoever made the socket takes it away.
    _own: Option<Taken>,
    /// Held for as long as this process listens; what a killed one left has none.
    _lock: Option<File>,
}

/// A socket that was made here, and is taken away in the end.
#[derive(Debug)]
struct Taken(PathBuf);

impl Socket {
    /// Listens at a path; `variable` is what leads to another one. Its directory is made where it is missing; a socket that a
    /// killed process left is replaced.
    ///
    /// # Errors
    /// The path is too long, the directory is open to others, another process listens there, or nothing can be made.
    pub(crate) fn listen(path: &Path, variable: &str) -> Result<Self, String> {
        let told = |error: io::Error| format!("cannot listen at `{}`: {error}", path.display());
        let length = path.as_os_str().as_bytes().len();
        if length > LONGEST {
            return Err(format!(
                "cannot listen at `{}`: the path has {length} bytes, and the address of a socket takes {LONGEST}; set \
                 {variable} to a shorter directory",
                path.display()
            ));
        }
        let dir = path.parent().unwrap_or(Path::new("/"));
        own_directory(dir)?;
        let lock = lock(path)?;
        // Who has started the one that listens may hold the socket alone, and start another on demand.
        if UnixStream::connect(path).is_ok() {
            return Err(format!("somebody listens at `{}` already", path.display()));
        }
        if let Err(error) = fs::remove_file(path)
            && error.kind() != io::ErrorKind::NotFound
        {
            return Err(told(error));
        }
        let listener = UnixListener::bind(path).map_err(told)?;
        fs::set_permissions(path, Permissions::from_mode(0o600)).map_err(told)?;
        Ok(Self {
            listener,
            _own: Some(Taken(path.to_owned())),
            _lock: Some(lock),
        })
    }

    /// Listens on a socket that was made by what started this process.
    ///
    /// # Errors
    /// Another process listens there.
    pub(crate) fn inherited(listener: UnixListener) -> Result<Self, String> {
        let address = listener.local_addr().ok();
        let path = address.as_ref().and_then(SocketAddr::as_pathname);
        Ok(Self {
            _lock: path.map(lock).transpose()?,
            listener,
            _own: None,
        })
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        fs::remove_file(&self.0).ok();
    }
}

/// Takes the lock beside a socket, which only one process has.
fn lock(path: &Path) -> Result<File, String> {
    let told = |error: io::Error| format!("cannot listen at `{}`: {error}", path.display());
    let lock_path = path.with_extension("lock");
    let mut lock = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(&lock_path)
        .map_err(told)?;
    if lock.try_lock().is_err() {
        let mut pid = String::new();
        lock.read_to_string(&mut pid).ok();
        return Err(format!(
            "process {} listens at `{}` already",
            pid.trim(),
            path.display()
        ));
    }
    lock.set_len(0).map_err(told)?;
    write!(lock, "{}", std::process::id()).map_err(told)?;
    Ok(lock)
}

/// Makes a directory that nobody else can enter, or finds that it is one.
///
/// # Errors
/// It cannot be made, is another user's, or others can enter it.
pub(crate) fn own_directory(dir: &Path) -> Result<(), String> {
    let told = |error: io::Error| format!("`{}`: {error}", dir.display());
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(dir)
        .map_err(told)?;
    let meta = dir.symlink_metadata().map_err(told)?;
    if !meta.is_dir() || meta.uid() != rustix::process::getuid().as_raw() {
        return Err(format!("`{}` is not a directory of yours", dir.display()));
    }
    if meta.mode() & 0o077 != 0 {
        return Err(format!(
            "others can enter `{}`: `chmod 700` closes it",
            dir.display()
        ));
    }
    Ok(())
}
