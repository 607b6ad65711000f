//! Change: what an installation does to the disk, computed first, so that it can be shown and tested.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::path::PathBuf;

use super::scripts;

/// One thing that is done to one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// It gets this text.
    Write {
        /// The file.
        path: PathBuf,
        /// All of its new text.
        text: String,
        /// Whether it can be run.
        executable: bool,
    },
    /// It goes away.
    Remove {
        /// The file.
        path: PathBuf,
    },
    /// It gets another name.
    Move {
        /// Its name before.
        from: PathBuf,
        /// Its name after.
        to: PathBuf,
    },
}

impl Change {
    /// Returns the change that gives a file its text; none where it has it.
    pub(super) fn writing(path: &Path, text: String, executable: bool) -> Option<Self> {
        if fs::read_to_string(path).is_ok_and(|before| before == text)
            || (text.trim().is_empty() && !path.exists())
        {
            return None;
        }
        Some(Self::Write {
            path: path.to_owned(),
            text,
            executable,
        })
    }

    /// Returns the file that is changed.
    pub fn path(&self) -> &Path {
        match self {
            Self::Write { path, .. } | Self::Remove { path } => path,
            Self::Move { from, .. } => from,
        }
    }

    /// Does it; what a file said before is kept beside it as `NAME.before-ahp`.
    pub fn apply(&self) -> io::Result<()> {
        match self {
            Self::Write {
                path,
                text,
                executable,
            } => {
                keep(path)?;
                write(path, text, *executable)
            }
            Self::Remove { path } => fs::remove_file(path),
            Self::Move { from, to } => fs::rename(from, to),
        }
    }
}

/// Returns where the text before a change is kept.
pub fn backup_of(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".before-ahp");
    path.with_file_name(name)
}

fn keep(path: &Path) -> io::Result<()> {
    let backup = backup_of(path);
    match fs::read(path) {
        // A file of ours has nothing in it that anybody could miss, and its name may hold what was there before it.
        Ok(before) if scripts::is_ours(&String::from_utf8_lossy(&before)) => Ok(()),
        Ok(before) => write(&backup, &String::from_utf8_lossy(&before), false),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// Writes a whole file or nothing of it; a link is followed, for it may lead into somebody's dotfiles.
fn write(path: &Path, text: &str, executable: bool) -> io::Result<()> {
    if let Some(dir) = path.parent() {
        fs::create_dir_all(dir)?;
    }
    let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let mode = match fs::metadata(&target) {
        Ok(meta) => Some(meta.permissions().mode()),
        Err(_) => None,
    };
    let mut name = target.file_name().unwrap_or_default().to_owned();
    name.push(".new-ahp");
    let fresh = target.with_file_name(name);
    fs::write(&fresh, text)?;
    let mode = match mode {
        Some(mode) if executable => mode | 0o111,
        Some(mode) => mode,
        None if executable => 0o755,
        None => 0o644,
    };
    fs::set_permissions(&fresh, fs::Permissions::from_mode(mode))?;
    fs::rename(&fresh, &target)
}
