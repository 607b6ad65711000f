//! Traces: what a shield puts where a held name is missing, and how the last shield of a project takes it away again.
//!
//! A mount needs something to be mounted on. What is made is written down before it is made. Each shield holds a lock that
//! is shared by all of its project; whoever finds that nobody else holds it takes away what is still as it was made. A lock
//! ends with its process, so what a killed shield left is found by the next one, or by `ahp doctor`.

use std::fs;
use std::fs::{File, OpenOptions};
use std::io;
use std::io::Write as _;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// What stands in for a thing that is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Nothing {
    /// An empty folder.
    Folder,
    /// An empty file.
    File,
    /// A file of JSON with an empty object.
    Json,
}

impl Nothing {
    /// Returns what the host itself would read as nothing at a name in the home directory.
    pub(super) fn at(path: &Path) -> Self {
        match path.extension().and_then(|suffix| suffix.to_str()) {
            Some("json" | "jsonc") => Self::Json,
            Some("toml" | "md" | "yaml" | "yml") => Self::File,
            _ => Self::Folder,
        }
    }

    const fn content(self) -> &'static str {
        match self {
            Self::Json => "{}\n",
            Self::File | Self::Folder => "",
        }
    }

    fn make(self, path: &Path) -> io::Result<()> {
        match self {
            Self::Folder => fs::create_dir(path),
            Self::File | Self::Json => OpenOptions::new()
                .write(true)
                .create_new(true)
                .open(path)?
                .write_all(self.content().as_bytes()),
        }
    }

    /// Takes it away if it is still what was made; whatever has come into it stays.
    fn take_away(self, path: &Path) {
        match self {
            Self::Folder => {
                fs::remove_dir(path).ok();
            }
            Self::File | Self::Json => {
                let is_file = path.symlink_metadata().is_ok_and(|meta| meta.is_file());
                if is_file && fs::read(path).is_ok_and(|bytes| bytes == self.content().as_bytes()) {
                    fs::remove_file(path).ok();
                }
            }
        }
    }
}

/// What stands in for missing things in one project, for as long as a shield of it runs.
#[derive(Debug)]
pub struct Traces {
    files: Files,
    users: Option<File>,
}

/// The files of a project's shields in the state directory.
#[derive(Debug)]
struct Files {
    list: PathBuf,
    gate: PathBuf,
    users: PathBuf,
}

impl Files {
    fn of(state_dir: &Path, project: &str) -> Self {
        let dir = state_dir.join("shield");
        Self {
            list: dir.join(format!("{project}.json")),
            gate: dir.join(format!("{project}.gate")),
            users: dir.join(format!("{project}.users")),
        }
    }

    /// Takes the lock under which everything here happens.
    fn enter(&self) -> io::Result<File> {
        let dir = self.gate.parent().unwrap_or(Path::new("/"));
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(dir)
            .map_err(|error| at(dir, &error))?;
        let gate = open(&self.gate)?;
        gate.lock()?;
        Ok(gate)
    }

    fn listed(&self) -> Vec<(PathBuf, Nothing)> {
        let text = fs::read(&self.list).unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }

    /// Takes away what is listed; called where nobody uses it.
    fn clear(&self) {
        let mut listed = self.listed();
        // What was made first holds what was made later.
        listed.reverse();
        for (path, nothing) in &listed {
            nothing.take_away(path);
        }
        fs::remove_file(&self.list).ok();
    }
}

fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
        .map_err(|error| at(path, &error))
}

/// Says where an error happened.
fn at(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("`{}`: {error}", path.display()))
}

impl Traces {
    /// Makes what is missing, for the project of that name in the state directory; what others left is taken away first.
    ///
    /// # Errors
    /// Something cannot be made or written down; what was made before is taken away again.
    pub fn make(
        state_dir: &Path,
        project: &str,
        missing: &[(PathBuf, Nothing)],
    ) -> io::Result<Self> {
        let files = Files::of(state_dir, project);
        let _gate = files.enter()?;
        let users = open(&files.users)?;
        if users.try_lock().is_ok() {
            files.clear();
            users.unlock()?;
        }
        users.lock_shared()?;
        let mut listed = files.listed();
        listed.extend_from_slice(missing);
        listed.dedup();
        let text = serde_json::to_vec(&listed).map_err(io::Error::other)?;
        fs::write(&files.list, text).map_err(|error| at(&files.list, &error))?;
        let mut traces = Self {
            files,
            users: Some(users),
        };
        for (path, nothing) in missing {
            match nothing.make(path) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                    traces.end(false);
                    return Err(at(path, &error));
                }
                _ => {}
            }
        }
        Ok(traces)
    }

    fn end(&mut self, enters: bool) {
        // Once: who has failed to make something holds the gate, and would wait for itself when it is dropped.
        let Some(users) = self.users.take() else {
            return;
        };
        let gate = enters.then(|| self.files.enter());
        users.unlock().ok();
        if users.try_lock().is_ok() {
            self.files.clear();
        }
        drop(gate);
    }
}

impl Drop for Traces {
    fn drop(&mut self) {
        self.end(true);
    }
}

/// Takes away what killed shields of a project have left; returns whether there was anything, and nobody uses it.
pub fn sweep(state_dir: &Path, project: &str) -> bool {
    let files = Files::of(state_dir, project);
    if !files.list.exists() {
        return false;
    }
    let (Ok(_gate), Ok(users)) = (files.enter(), open(&files.users)) else {
        return false;
    };
    let unused = users.try_lock().is_ok();
    if unused {
        files.clear();
    }
    unused
}
