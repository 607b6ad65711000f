//! Change: what an installation does to the disk, computed first, so that it can be shown and tested.

use std::fs;
use std::fs::{OpenOptions, Permissions};
use std::io;
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

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
        /// Whether what it says now is kept beside it: the text of a person, without wires of ours.
        keep: bool,
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
            keep: false,
        })
    }

    /// Returns the change that gives a settings file its text, and keeps what a person wrote; none where it has it.
    pub(super) fn editing(path: &Path, text: String, is_wired: bool) -> Option<Self> {
        let mut change = Self::writing(path, text, false)?;
        if let Self::Write { keep, .. } = &mut change {
            *keep = !is_wired;
        }
        Some(change)
    }

    /// Returns what takes our wires out of a settings file again, and the text that was kept.
    ///
    /// Where nothing but blanks differs from that text, it comes back as it was. A file that was made for our wires, and
    /// holds nothing without them, goes away; but what a link leads to is somebody's.
    pub(super) fn undoing(path: &Path, before: &str, after: String, is_empty: bool) -> Vec<Self> {
        if after == before || before.is_empty() {
            return Vec::new();
        }
        let kept = backup_of(path);
        let bare = |text: &str| -> String { text.split_whitespace().collect() };
        let text = match fs::read_to_string(&kept) {
            Ok(kept) if bare(&kept) == bare(&after) => kept,
            _ => after,
        };
        let has_kept = kept.exists();
        let change = if is_empty && !has_kept && !path.is_symlink() {
            let path = path.to_owned();
            Some(Self::Remove { path })
        } else {
            Self::writing(path, text, false)
        };
        let path = kept;
        change
            .into_iter()
            .chain(has_kept.then_some(Self::Remove { path }))
            .collect()
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
                keep,
            } => {
                if *keep {
                    keep_aside(path)?;
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

fn keep_aside(path: &Path) -> io::Result<()> {
    match fs::read(path) {
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
