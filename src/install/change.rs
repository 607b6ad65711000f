//! Change: what an installation does to the disk, computed first, so that it can be shown and tested.

use std::fs;
use std::fs::OpenOptions;
use std::fs::Permissions;
use std::io;
use std::io::ErrorKind;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
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
        /// Whether wires of ours stand in it now: such a text never takes the place of one kept before.
        wired: bool,
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
            wired: false,
        })
    }

    /// Returns the change that gives a settings file its text; none where it has it.
    pub(super) fn editing(path: &Path, text: String, is_wired: bool) -> Option<Self> {
        let mut change = Self::writing(path, text, false)?;
        if let Self::Write { wired, .. } = &mut change {
            *wired = is_wired;
        }
        Some(change)
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
                wired,
            } => {
                if !wired || !backup_of(path).exists() {
                    keep(path)?;
                }
                let mode = match mode_of(path) {
                    Ok(mode) if *executable => mode | 0o111,
                    Ok(mode) => mode,
                    Err(_) if *executable => 0o755,
                    Err(_) => 0o644,
                };
                write(path, text.as_bytes(), mode)
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
    match fs::read(path) {
        // A file of ours has nothing in it that anybody could miss, and its name may hold what was there before it.
        Ok(before) if scripts::is_ours(&String::from_utf8_lossy(&before)) => Ok(()),
        // Who may not read the settings may not read what they were either.
        Ok(before) => write(&backup_of(path), &before, mode_of(path)?),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

fn mode_of(path: &Path) -> io::Result<u32> {
    Ok(fs::metadata(path)?.permissions().mode())
}

/// Writes a whole file or nothing of it; a link is followed, for it may lead into somebody's dotfiles.
fn write(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let target = end_of_links(path)?;
    if let Some(dir) = target.parent() {
        fs::create_dir_all(dir)?;
    }
    let mut name = target.file_name().unwrap_or_default().to_owned();
    name.push(".new-ahp");
    let fresh = target.with_file_name(name);
    // What an earlier attempt has left may be open to others.
    match fs::remove_file(&fresh) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&fresh)?;
    file.write_all(bytes)?;
    file.set_permissions(Permissions::from_mode(mode))?;
    fs::rename(&fresh, &target)
}

/// Returns the file that a path leads to, also where that is not there yet.
fn end_of_links(path: &Path) -> io::Result<PathBuf> {
    let mut at = path.to_owned();
    // So many links the kernel follows.
    for _ in 0..40 {
        match fs::read_link(&at) {
            Ok(link) => at = at.parent().unwrap_or(Path::new("")).join(link),
            Err(_) => return Ok(at),
        }
    }
    Err(io::Error::other("its links lead nowhere"))
}
