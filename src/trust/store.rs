//! Store: the trusted copies and their list, in the user's state directory.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::FileState;
use super::content::{Content, digest};
use crate::random;
use crate::stamp::Stamp;

/// What was trusted, and when.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Manifest {
    /// The root of the project.
    pub root: PathBuf,
    /// When it was trusted.
    pub at: DateTime<Utc>,
    /// The folder of this manifest's copies, beside it.
    copies: String,
    /// Those of the files that are layers of the configuration.
    pub layers: Vec<String>,
    /// The files, relative to the project.
    pub files: BTreeMap<String, FileState>,
}

impl Manifest {
    /// Returns what was trusted of a file or folder.
    pub(super) fn below<'a>(
        &'a self,
        path: &'a str,
    ) -> impl Iterator<Item = (&'a String, &'a FileState)> {
        self.files.iter().filter(move |(file, _)| {
            file.strip_prefix(path)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    }
}

/// Where the trust of one project is kept.
#[derive(Debug)]
pub(super) struct Store {
    dir: PathBuf,
}

impl Store {
    pub(super) fn of(root: &Path, state_dir: &Path) -> Self {
        // Two paths to one project are one project.
        let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
        let mut name = digest(root.as_os_str().as_encoded_bytes());
        name.truncate(32);
        Self {
            dir: state_dir.join("trust").join(name),
        }
    }

    /// Returns the state of the list; none where there is none.
    pub(super) fn stamp(&self) -> Option<Stamp> {
        Stamp::at(&self.dir.join("manifest.json"))
    }

    pub(super) fn load(&self) -> Option<Manifest> {
        let text = fs::read(self.dir.join("manifest.json")).ok()?;
        serde_json::from_slice(&text).ok()
    }

    pub(super) fn copy_of(&self, manifest: &Manifest, path: &str) -> PathBuf {
        self.dir.join(&manifest.copies).join(path)
    }

    /// Writes the copies, then the list; whoever reads meanwhile sees the old state or the new one.
    pub(super) fn write(
        &self,
        root: &Path,
        content: &Content,
        layers: Vec<String>,
        at: DateTime<Utc>,
    ) -> io::Result<()> {
        private_dir(&self.dir)?;
        let copies = format!("copies-{}", random::id());
        for (path, state, bytes) in content.files() {
            let copy = self.dir.join(&copies).join(path);
            if let Some(parent) = copy.parent() {
                private_dir(parent)?;
            }
            fs::write(&copy, bytes)?;
            let mode = if state.executable { 0o700 } else { 0o600 };
            fs::set_permissions(&copy, fs::Permissions::from_mode(mode))?;
        }
        let before = self.load();
        let manifest = Manifest {
            root: root.to_owned(),
            at,
            copies,
            layers,
            files: content
                .states()
                .map(|(path, state)| (path.clone(), state.clone()))
                .collect(),
        };
        let part = self.dir.join("manifest.json.part");
        fs::write(&part, serde_json::to_vec_pretty(&manifest)?)?;
        fs::rename(&part, self.dir.join("manifest.json"))?;
        self.remove_older(&manifest.copies, before.as_ref().map(|m| m.copies.as_str()));
        Ok(())
    }

    /// Removes copies that no process can still be running; the last but one stays for those that have just started.
    fn remove_older(&self, current: &str, last: Option<&str>) {
        for entry in fs::read_dir(&self.dir).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if name.starts_with("copies-") && name != current && Some(&*name) != last {
                // Copies that cannot be removed cost space alone.
                fs::remove_dir_all(entry.path()).ok();
            }
        }
    }

    pub(super) fn remove(&self) -> io::Result<bool> {
        match fs::remove_dir_all(&self.dir) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }
}

fn private_dir(dir: &Path) -> io::Result<()> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(dir)
}
