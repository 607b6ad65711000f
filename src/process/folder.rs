//! Folder: a place on the disk that this process and a program which it runs both write.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::enclosure::enclosure;
use crate::random;

/// A folder for one program and this process; it is removed when this is dropped.
///
/// Where programs are enclosed, it is seen by what it is given to with [`super::Program::sharing`], and by nothing else inside.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    seen: PathBuf,
}

impl Folder {
    /// Makes a folder whose name begins as told.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn new(beginning: &str) -> io::Result<Self> {
        let name = format!("{beginning}-{}", random::id());
        let enclosure = enclosure();
        let around = enclosure.map_or_else(std::env::temp_dir, |e| e.folders.clone());
        let path = around.join(&name);
        fs::create_dir_all(&path)?;
        // The program may say where it is by its real path.
        let path = path.canonicalize()?;
        let seen = enclosure.map_or_else(|| path.clone(), |e| e.seen_in.join(&name));
        Ok(Self { path, seen })
    }

    /// Returns where it lies for this process.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns where the program sees it.
    pub fn seen(&self) -> &Path {
        &self.seen
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.path) {
            tracing::debug!(%error, "a folder that was shared with a program could not be removed");
        }
    }
}
