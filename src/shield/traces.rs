//! Traces: what a shield puts where a held name is missing, and how the last one that needs it takes it away again.
//!
//! A mount needs something to be mounted on, and whoever takes that away takes the mount away, in every shield. What is made
//! is written down before it is made, in two lists: one of the project, and one of what shields of other projects mount too.
//! Each shield holds a shared lock of both; whoever finds that nobody else holds one takes away what is still as it was made.
//! A lock ends with its process, so what a killed shield left is found by the next one, or by `ahp doctor`.

use std::fs;
use std::fs::{File, OpenOptions, Permissions, TryLockError};
use std::io;
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

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
    /// A file that names the folder in which it lies: git reads no other as nothing.
    Here,
}

impl Nothing {
    /// Returns what git would read as nothing at a name in its repository, where a folder would be a fault.
    pub(super) fn of_git(path: &Path) -> Option<Self> {
        match path.file_name()?.to_str()? {
            "commondir" => Some(Self::Here),
            "config.worktree" => Some(Self::File),
            _ => None,
        }
    }

    /// Returns what the host itself would read as nothing at a name in the home directory.
    pub(super) fn at(path: &Path) -> Self {
        match path.extension().and_then(|suffix| suffix.to_str()) {
            Some("json" | "jsonc") => Self::Json,
            Some("toml" | "md" | "yaml" | "yml") => Self::File,
            _ => Self::Folder,
        }
    }

    /// Returns what a person makes in its place where it is to stay: the host's own program reads it too.
    #[must_use]
    pub fn to_stay(self, path: &Path) -> Self {
        match self {
            Self::Folder => Self::at(path),
            other => other,
        }
    }

    /// Returns what has to be made.
    pub const fn described(self) -> &'static str {
        match self {
            Self::Folder => "an empty folder",
            Self::File => "an empty file",
            Self::Json => "a file with `{}`",
            Self::Here => "a file with `.`",
        }
    }

    const fn content(self) -> &'static str {
        match self {
            Self::Json => "{}\n",
            Self::Here => ".\n",
            Self::File | Self::Folder => "",
        }
    }

    fn make(self, path: &Path) -> io::Result<()> {
        match self {
            Self::Folder => fs::create_dir(path),
            Self::File | Self::Json | Self::Here => OpenOptions::new()
                .write(true)
                .create_new(true)
                .open(path)?
                .write_all(self.content().as_bytes()),
        }
    }

    /// Takes it away if it is still what was made; whatever has come into it stays. An error where it is as it was made, or
    /// nobody can tell.
    fn take_away(self, path: &Path) -> io::Result<()> {
        let taken = match self {
            Self::Folder => fs::remove_dir(path),
            Self::File | Self::Json | Self::Here => self.remove_file(path),
        };
        match taken.as_ref().map_err(io::Error::kind) {
            Err(ErrorKind::DirectoryNotEmpty | ErrorKind::NotADirectory | ErrorKind::NotFound) => {
                Ok(())
            }
            _ => taken,
        }
    }

    fn remove_file(self, path: &Path) -> io::Result<()> {
        let content = self.content().as_bytes();
        let meta = path.symlink_metadata()?;
        let may_be = meta.is_file() && meta.len() == content.len() as u64;
        if may_be && (content.is_empty() || fs::read(path)? == content) {
            fs::remove_file(path)?;
        }
        Ok(())
    }
}

/// Does something in the folder of a path. Where whoever ran inside has taken the rights of its owner away there, or in a folder
/// above, it is done with them, and they are left as they are.
fn with_rights(path: &Path, act: &dyn Fn() -> io::Result<()>) -> io::Result<()> {
    match (act(), path.parent()) {
        (Err(error), Some(dir)) if error.kind() == ErrorKind::PermissionDenied => {
            with_rights(dir, &|| {
                let meta = dir.symlink_metadata()?;
                let mode = meta.mode() & 0o7777;
                if !meta.is_dir() || mode & 0o300 == 0o300 {
                    return act();
                }
                fs::set_permissions(dir, Permissions::from_mode(mode | 0o300))?;
                let done = act();
                // It may be gone by now.
                fs::set_permissions(dir, meta.permissions()).ok();
                done
            })
        }
        (done, _) => done,
    }
}

/// What stands in for missing things, for as long as a shield runs that mounts something on them.
#[derive(Debug)]
pub struct Traces {
    own: Group,
    shared: Group,
}

/// The folder of the lists and locks, in the state directory.
pub(super) const DIR: &str = "shield";

/// How long a lock is waited for, and how long between two tries.
const PATIENCE: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(10);

/// The name of the list of what shields of several projects mount something on. No project has it: its name ends with a digest.
const SHARED: &str = "shared";

/// What one list holds, and all who need it.
#[derive(Debug)]
struct Group {
    files: Files,
    users: File,
}

/// The files of a group in the state directory.
#[derive(Debug)]
struct Files {
    list: PathBuf,
    gate: PathBuf,
    users: PathBuf,
}

impl Files {
    fn of(state_dir: &Path, name: &str) -> Self {
        let dir = state_dir.join(DIR);
        Self {
            list: dir.join(format!("{name}.json")),
            gate: dir.join(format!("{name}.gate")),
            users: dir.join(format!("{name}.users")),
        }
    }

    /// Takes the lock under which everything here happens.
    fn enter(&self, is_stopped: Stopped<'_>) -> io::Result<File> {
        let dir = self.gate.parent().unwrap_or(Path::new("/"));
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(dir)
            .map_err(|error| at(dir, &error))?;
        let gate = open(&self.gate)?;
        wait(&self.gate, || gate.try_lock(), is_stopped)?;
        Ok(gate)
    }

    fn listed(&self) -> Vec<(PathBuf, Nothing)> {
        let text = fs::read(&self.list).unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }

    /// Takes away what is listed; called where nobody uses it. What cannot be taken away stays listed for the next time. Returns
    /// whether all is gone.
    fn clear(&self) -> bool {
        let listed = self.listed();
        // What was made first holds what was made later.
        let left = listed
            .into_iter()
            .rev()
            .filter(|(path, nothing)| with_rights(path, &|| nothing.take_away(path)).is_err());
        let mut left: Vec<_> = left.collect();
        if left.is_empty() {
            fs::remove_file(&self.list).ok();
            return true;
        }
        left.reverse();
        // Where it cannot be written, the longer list stays, which does as well.
        self.list(&left).ok();
        false
    }

    fn list(&self, listed: &[(PathBuf, Nothing)]) -> io::Result<()> {
        let text = serde_json::to_vec(listed).map_err(io::Error::other)?;
        fs::write(&self.list, text).map_err(|error| at(&self.list, &error))
    }
}

/// Says whether whoever waits is to give up.
type Stopped<'a> = &'a dyn Fn() -> bool;

/// Waits for a lock, which others hold for moments.
fn wait(
    path: &Path,
    take: impl Fn() -> Result<(), TryLockError>,
    is_stopped: Stopped<'_>,
) -> io::Result<()> {
    let began = Instant::now();
    loop {
        match take() {
            Err(TryLockError::WouldBlock) if is_stopped() || began.elapsed() > PATIENCE => {
                let why = "another process holds its lock";
                return Err(at(path, &io::Error::new(ErrorKind::TimedOut, why)));
            }
            Err(TryLockError::WouldBlock) => thread::sleep(PAUSE),
            taken => return taken.map_err(Into::into),
        }
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

impl Group {
    /// Joins those who need what is listed. Where nobody did, what killed ones left is taken away; from now on it stays.
    fn join(state_dir: &Path, name: &str, is_stopped: Stopped<'_>) -> io::Result<Self> {
        let files = Files::of(state_dir, name);
        let _gate = files.enter(is_stopped)?;
        let users = open(&files.users)?;
        if users.try_lock().is_ok() {
            files.clear();
            users.unlock()?;
        }
        wait(&files.users, || users.try_lock_shared(), is_stopped)?;
        Ok(Self { files, users })
    }

    fn make(&self, missing: &[(PathBuf, Nothing)], is_stopped: Stopped<'_>) -> io::Result<()> {
        let _gate = self.files.enter(is_stopped)?;
        let mut listed = self.files.listed();
        for one in missing {
            if !listed.contains(one) {
                listed.push(one.clone());
            }
        }
        self.files.list(&listed)?;
        for (path, nothing) in missing {
            match nothing.make(path) {
                Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                    return Err(at(path, &error));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let gate = self.files.enter(&|| false);
        self.users.unlock().ok();
        if self.users.try_lock().is_ok() {
            self.files.clear();
        }
        drop(gate);
    }
}

impl Traces {
    /// Begins a shield of the project of that name, before it is planned: what killed ones left is taken away first, and
    /// what others have made stays from now on, so that a plan can count on what it sees.
    ///
    /// # Errors
    /// The state directory cannot be written, or others hold its locks and it `is_stopped` or has waited for long.
    pub fn begin(state_dir: &Path, project: &str, is_stopped: Stopped<'_>) -> io::Result<Self> {
        Ok(Self {
            own: Group::join(state_dir, project, is_stopped)?,
            shared: Group::join(state_dir, SHARED, is_stopped)?,
        })
    }

    /// Makes what a plan misses; all of it is taken away again once nobody needs it.
    ///
    /// # Errors
    /// Something cannot be made or written down, or as [`Self::begin`].
    pub fn make(&self, missing: &Missing, is_stopped: Stopped<'_>) -> io::Result<()> {
        self.own.make(&missing.own, is_stopped)?;
        self.shared.make(&missing.shared, is_stopped)
    }
}

/// What is made before a shield starts; what holds others stands before them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Missing {
    /// In the project, where only its own shields mount something.
    pub own: Vec<(PathBuf, Nothing)>,
    /// In a host's folder, in a repository of several worktrees, and wherever else a shield of another project may mount
    /// something too.
    pub shared: Vec<(PathBuf, Nothing)>,
}

impl Missing {
    /// Returns everything.
    pub fn all(&self) -> impl Iterator<Item = &(PathBuf, Nothing)> {
        self.own.iter().chain(&self.shared)
    }
}

/// Takes away what killed shields have left, of whichever project; returns whether there was anything, and nobody uses it.
pub fn sweep(state_dir: &Path) -> bool {
    let entries = fs::read_dir(state_dir.join(DIR));
    let names = entries.into_iter().flatten().flatten().filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        Some(name.strip_suffix(".json")?.to_owned())
    });
    let swept = |name: String| {
        let files = Files::of(state_dir, &name);
        let (Ok(_gate), Ok(users)) = (files.enter(&|| true), open(&files.users)) else {
            return false;
        };
        files.list.exists() && users.try_lock().is_ok() && files.clear()
    };
    // Each of them, and not only the first.
    names.filter(|name| swept(name.clone())).count() > 0
}
