//! Listing: the `HOOK.md` files of a directory, and the folders that should have one.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

use super::NAMES;
use super::cache::Reading;
use crate::stamp::Stamp;

/// A `HOOK.md` that was found, or a folder that should have one.
pub(super) struct Found {
    pub(super) folder: String,
    pub(super) file: PathBuf,
    pub(super) stamp: Stamp,
    /// Why there is no file to read.
    pub(super) fault: Option<Fault>,
}

/// Why a folder has no `HOOK.md` that can be read.
pub(super) enum Fault {
    /// It says nothing of being a hook.
    Missing,
    /// It is meant as one.
    Unreadable(String),
}

impl Fault {
    pub(super) fn reading(&self, file: &Path) -> Reading {
        let shown = file.display();
        let (fault, is_meant) = match self {
            Self::Missing => (format!("{shown}: the folder has no `HOOK.md`"), false),
            Self::Unreadable(why) => (format!("{shown}: {why}"), true),
        };
        Reading::Broken {
            trigger: None,
            is_meant,
            faults: Arc::new([fault]),
        }
    }
}

/// Returns the `HOOK.md` files of a directory by the names of their folders; none where there is no directory.
pub(super) fn list(dir: &Path) -> io::Result<Vec<Found>> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let opened = match rustix::fs::open(dir, flags, Mode::empty()) {
        Err(Errno::NOENT) => return Ok(Vec::new()),
        opened => opened?,
    };
    let mut found = Vec::new();
    for entry in rustix::fs::Dir::read_from(&opened)?.flatten() {
        let folder = entry.file_name().to_bytes();
        if !matches!(folder, b"." | b"..") {
            found.extend(find(dir, &opened, folder, entry.file_type()));
        }
    }
    found.sort_by(|a, b| a.folder.cmp(&b.folder));
    Ok(found)
}

/// Finds the `HOOK.md` of a folder. The directory is open, so that its own path is not walked for each of them. Whatever is no
/// folder, as a file beside the hooks, is none; so is what is hidden.
fn find(dir: &Path, opened: &OwnedFd, folder: &[u8], kind: FileType) -> Option<Found> {
    let mut fault = Fault::Missing;
    for name in NAMES {
        let inside = [folder, b"/", name.as_bytes()].concat();
        let found = |stat, fault| {
            Some(Found {
                folder: String::from_utf8_lossy(folder).into_owned(),
                file: dir.join(OsStr::from_bytes(&inside)),
                stamp: Stamp::of_stat(&stat),
                fault,
            })
        };
        let unread = |stat, why: &str| found(stat, Some(Fault::Unreadable(why.to_owned())));
        match rustix::fs::statat(opened, &inside[..], AtFlags::empty()) {
            Ok(stat) if FileType::from_raw_mode(stat.st_mode).is_file() => {
                return found(stat, None);
            }
            Ok(stat) => return unread(stat, "it is not a regular file"),
            Err(Errno::NOTDIR) => return None,
            Err(Errno::NOENT) => {
                let own = rustix::fs::statat(opened, &inside[..], AtFlags::SYMLINK_NOFOLLOW);
                if let Ok(stat) = own {
                    return unread(stat, "the link leads nowhere");
                }
            }
            Err(error) => fault = Fault::Unreadable(format!("cannot be read: {error}")),
        }
    }
    let is_hidden = folder.starts_with(b".");
    let folder_itself = |flags| rustix::fs::statat(opened, folder, flags).ok();
    let stat = match folder_itself(AtFlags::empty()) {
        _ if is_hidden || matches!(kind, FileType::RegularFile) => return None,
        Some(stat) if !FileType::from_raw_mode(stat.st_mode).is_dir() => return None,
        Some(stat) => stat,
        None => {
            fault = Fault::Unreadable("the link leads nowhere".to_owned());
            folder_itself(AtFlags::SYMLINK_NOFOLLOW)?
        }
    };
    let path = dir.join(OsStr::from_bytes(folder));
    // Some file systems tell the cases apart.
    if let Some(other) = named_alike(&path) {
        let why = format!("it has to be named `HOOK.md`, and not `{other}`");
        fault = Fault::Unreadable(why);
    }
    Some(Found {
        folder: String::from_utf8_lossy(folder).into_owned(),
        file: path,
        stamp: Stamp::of_stat(&stat),
        fault: Some(fault),
    })
}

/// Returns what in a folder is named as the file of a hook but for the case of its letters.
fn named_alike(dir: &Path) -> Option<String> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let mut names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.find(|name| name.eq_ignore_ascii_case("HOOK.md"))
}
