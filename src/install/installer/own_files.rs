//! Own files: executables, plugins and hooks of git that are ours as a whole, and what stood in their place.

use std::path::{Path, PathBuf};

use super::bytes;
use crate::install::{Change, InstallError, backup_of, scripts};

/// Writes a file of ours, but never over one of somebody else's.
pub(super) fn put(
    path: &Path,
    text: String,
    executable: bool,
) -> Result<Option<Change>, InstallError> {
    if is_foreign(path)? {
        return Err(InstallError::InTheWay(path.to_owned()));
    }
    Ok(Change::writing(path, text, executable))
}

/// Writes an executable of ours that runs the one that was there before, which is put aside.
pub(super) fn put_first(path: &Path, text: String) -> Result<Vec<Change>, InstallError> {
    let aside = is_foreign(path)?.then(|| Change::Move {
        from: path.to_owned(),
        to: backup_of(path),
    });
    let write = Change::writing(path, text, true);
    Ok(aside.into_iter().chain(write).collect())
}

/// Takes a file away if it is ours.
pub(super) fn take(path: PathBuf) -> Result<Option<Change>, InstallError> {
    Ok(is_ours(&path)?.then_some(Change::Remove { path }))
}

/// Takes a file away if it is ours, and puts back the one that it had put aside.
pub(super) fn take_and_restore(path: PathBuf) -> Result<Option<Change>, InstallError> {
    let before = backup_of(&path);
    if is_ours(&path)? && before.exists() && !is_ours(&before)? {
        let (from, to) = (before, path);
        return Ok(Some(Change::Move { from, to }));
    }
    take(path)
}

fn is_ours(path: &Path) -> Result<bool, InstallError> {
    Ok(scripts::is_ours(&text(path)?))
}

/// Whether there is something of somebody else's; an empty file is nobody's.
fn is_foreign(path: &Path) -> Result<bool, InstallError> {
    let text = text(path)?;
    Ok(!text.is_empty() && !scripts::is_ours(&text))
}

/// Returns what can be read of a file: somebody else's may be a program that is no text at all.
fn text(path: &Path) -> Result<String, InstallError> {
    Ok(String::from_utf8_lossy(&bytes(path)?).into_owned())
}
