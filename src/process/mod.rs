//! Process: the one place that runs other programs, each with a deadline and a bound on its output.

mod depth;
mod enclosure;
mod error;
mod folder;
mod group;
mod program;
mod pump;
mod running;

pub use self::depth::{DEPTH, depth, too_deep};
pub use self::enclosure::{Enclosed, Enclosure, Starts, enclose};
pub use self::error::ProcessError;
pub use self::folder::Folder;
pub use self::program::Program;
pub use self::running::{before_programs, end_all, kill_all};

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// It ended by itself with this code.
    Code(i32),
    /// A signal ended it.
    Signal(i32),
    /// It had not ended at its deadline and was told to.
    TimedOut,
}

impl Exit {
    /// Whether it ended by itself with code 0.
    pub const fn is_success(self) -> bool {
        matches!(self, Self::Code(0))
    }
}

/// What a program that was run has left.
#[derive(Clone, Debug)]
pub struct Finished {
    /// How it ended.
    pub exit: Exit,
    /// The first bytes of its output.
    pub stdout: Vec<u8>,
    /// The first bytes of its error output.
    pub stderr: Vec<u8>,
    /// How many bytes of its output were read and thrown away, past the bound.
    pub stdout_dropped: u64,
    /// How many bytes of its error output were read and thrown away, past the bound.
    pub stderr_dropped: u64,
    /// From its start to its end, or to the moment when it was given up.
    pub duration: Duration,
}

impl Finished {
    /// Returns the output as text; bytes that are not UTF-8 become replacement characters.
    pub fn stdout_text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// Returns the error output as text; bytes that are not UTF-8 become replacement characters.
    pub fn stderr_text(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }
}

/// Finds a program as a shell does: a name with a slash is a path, any other is looked for in `path_env`.
///
/// Returns nothing where there is no executable file of that name.
pub fn find_program(name: &str, path_env: Option<&OsStr>) -> Option<PathBuf> {
    if name.is_empty() {
        return None;
    }
    if name.contains('/') {
        return Some(PathBuf::from(name)).filter(|path| is_executable(path));
    }
    std::env::split_paths(path_env?)
        .map(|dir| dir.join(name))
        .find(|path| is_executable(path))
}

/// Finds a program in the `PATH` of this process; a relative entry leads into whatever project is judged, and is passed over.
pub fn installed(name: &str) -> Option<PathBuf> {
    find_program(name, path_where(Path::is_absolute).as_deref())
}

/// Whether a path lies in a folder, as it is written or by its real name.
pub fn lies_in(path: &Path, folder: &Path) -> bool {
    path.starts_with(folder)
        || folder
            .canonicalize()
            .is_ok_and(|real| path.starts_with(real))
}

/// Returns the entries of the `PATH` of this process that hold; none where there is no such variable, or no text of them.
fn path_where(holds: impl Fn(&Path) -> bool) -> Option<OsString> {
    let path = std::env::var_os("PATH")?;
    std::env::join_paths(std::env::split_paths(&path).filter(|entry| holds(entry))).ok()
}

/// Whether `path` is a file that somebody may execute.
pub fn is_executable(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}
