//! The file of a scope: two slots, of which the newer valid one holds; one writer at a time.
//!
//! A process that dies in the middle of a write leaves the older slot. Nothing is renamed and nothing forced to the disk: a
//! power cut may cost the last events.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::fs::OFlags;
use sha2::{Digest as _, Sha256};

use super::own_file::{self, Against};
use super::{Origins, Scope, State};
use crate::regular_file;
use crate::regular_file::Opened;
use crate::signal::hex;

/// Raised with every change to what is stored.
const VERSION: u8 = 2;

const MAGIC: [u8; 4] = *b"ahpS";

/// The largest slot, with its head.
const SLOT: u64 = 64 << 10;

/// Magic, version, sequence number, length, checksum.
const HEAD: usize = 4 + 1 + 8 + 4 + 16;

/// How much of a slot is read at once: more than most have.
const FIRST_READ: usize = 4 << 10;

/// How long a file is kept that nothing touches.
const KEPT: Duration = Duration::from_hours(30 * 24);

/// How many files are removed at a time.
const MOST_REMOVED: usize = 64;

/// Why what was counted in a scope cannot be told.
#[derive(Debug, thiserror::Error)]
pub enum ScopeFault {
    /// The file or its folder cannot be used.
    #[error("what was counted is kept in `{path}`, which cannot be used: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The file is there and is not what was written.
    #[error("what was counted is kept in `{path}`, which is damaged or not of this version")]
    Damaged {
        /// The file.
        path: PathBuf,
    },
    /// Others held it for too long.
    #[error("what was counted is kept in `{path}`, which others held for more than a second")]
    Busy {
        /// The file.
        path: PathBuf,
    },
}

/// The files of the scopes of one project, in the user's state directory.
#[derive(Clone, Debug)]
pub struct Store {
    dir: PathBuf,
    project: PathBuf,
}

/// What is in a file.
#[derive(Clone, Debug)]
pub struct Stored {
    /// What is known of the scope.
    pub state: State,
    /// Whether there is a file: else nothing has been seen.
    pub is_there: bool,
}

impl Store {
    /// Names the files of a project; nothing is touched yet.
    pub fn new(state_dir: &Path, project: &Path) -> Self {
        Self {
            dir: state_dir.join("sessions"),
            project: project
                .canonicalize()
                .unwrap_or_else(|_| project.to_owned()),
        }
    }

    /// Returns the folder of all files, of all projects.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Names the file of a scope; whatever the id holds, it is a file name like any other.
    pub fn file(&self, scope: Scope, id: &str) -> ScopeFile {
        let mut hash = Sha256::new();
        hash.update(self.project.as_os_str().as_encoded_bytes());
        hash.update([0]);
        hash.update(scope.name());
        hash.update([0]);
        hash.update(id);
        let mut name = hex(&hash.finalize());
        name.truncate(32);
        ScopeFile {
            path: self.dir.join(&name),
            name,
        }
    }

    /// Removes files that nothing has touched for a month, some at a time.
    pub fn remove_old(&self, now: SystemTime) {
        let Ok(listing) = std::fs::read_dir(&self.dir) else {
            return;
        };
        let is_old = |entry: &std::fs::DirEntry| {
            let modified = entry.metadata().and_then(|metadata| metadata.modified());
            let age = modified.ok().and_then(|time| now.duration_since(time).ok());
            age.is_some_and(|age| age > KEPT)
        };
        let old = listing.filter_map(Result::ok).filter(is_old);
        for entry in old.take(MOST_REMOVED) {
            std::fs::remove_file(entry.path()).ok();
        }
    }

    /// Tells of the files that cannot be believed, of all projects.
    pub fn damaged(&self) -> Vec<String> {
        let listing = std::fs::read_dir(&self.dir).into_iter().flatten();
        let damaged = listing.filter_map(|entry| {
            let entry = entry.ok()?;
            let (path, name) = (entry.path(), entry.file_name().into_string().ok()?);
            if path
                .extension()
                .is_some_and(|extension| extension == "origins")
            {
                let fault = Origins::open(&path).err()?;
                return Some(format!("`{}` cannot be used: {fault}", path.display()));
            }
            let scope = ScopeFile { path, name };
            // What lies beside them has a name with a dot.
            let fault = scope.read().err().filter(|_| !scope.name.contains('.'))?;
            Some(fault.to_string())
        });
        damaged.collect()
    }

    /// Forgets all scopes of all projects; returns how many files that were.
    ///
    /// # Errors
    /// A file cannot be removed.
    pub fn forget_all(&self) -> io::Result<usize> {
        let listing = match std::fs::read_dir(&self.dir) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
            listing => listing?,
        };
        let mut removed = 0;
        for entry in listing {
            std::fs::remove_file(entry?.path())?;
            removed += 1;
        }
        Ok(removed)
    }
}

/// The file of one scope.
#[derive(Clone, Debug)]
pub struct ScopeFile {
    path: PathBuf,
    name: String,
}

/// The file while no other process may write it.
#[derive(Debug)]
pub(crate) struct Locked<'a> {
    scope: &'a ScopeFile,
    file: File,
    /// The number of the slot that holds.
    sequence: u64,
    /// Where the other one stands, which is written next.
    next: u64,
}

impl ScopeFile {
    /// Returns the file's path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the path of the filters that say where words of this scope have stood.
    pub fn origins(&self) -> PathBuf {
        self.path.with_extension("origins")
    }

    /// Returns the file whose being there says that words of this scope could not be kept.
    fn origins_lost(&self) -> PathBuf {
        self.path.with_extension("origins-lost")
    }

    /// Takes it that where words have stood is not all known, until the scope is forgotten.
    ///
    /// # Errors
    /// That cannot be noted.
    pub fn lose_origins(&self) -> io::Result<()> {
        let path = self.origins_lost();
        own_file::make_folder(&path)?;
        own_file::open(&path, OFlags::WRONLY | OFlags::CREATE).map(drop)
    }

    /// Whether where words have stood is not all known, or could not have been kept.
    pub fn has_lost_origins(&self) -> bool {
        let dirs = self.path.ancestors().skip(1);
        let mut dirs = dirs.filter(|dir| dir.symlink_metadata().is_ok());
        let is_writable = |dir| rustix::fs::access(dir, rustix::fs::Access::WRITE_OK).is_ok();
        self.origins_lost().symlink_metadata().is_ok() || !dirs.next().is_some_and(is_writable)
    }

    /// Reads it without the lock.
    ///
    /// # Errors
    /// It cannot be read, or is not what was written.
    pub fn read(&self) -> Result<Stored, ScopeFault> {
        if self.lost().symlink_metadata().is_ok() {
            return Err(self.damaged());
        }
        let file = match own_file::open(&self.path, OFlags::RDONLY) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Stored {
                    state: State::new(0),
                    is_there: false,
                });
            }
            opened => opened.map_err(|source| self.io(source))?.file,
        };
        // Another process may write the one slot and then the other while they are read here.
        for _ in 0..3 {
            if let Some((_, _, state)) = self.newest(&file).map_err(|source| self.io(source))? {
                return Ok(Stored {
                    state,
                    is_there: true,
                });
            }
        }
        let length = file.metadata().map_err(|source| self.io(source))?.len();
        if length == 0 {
            return Ok(Stored {
                state: State::new(0),
                is_there: false,
            });
        }
        Err(self.damaged())
    }

    /// Changes it: nobody else reads it to change it meanwhile. What `change` returns with `false` is not written.
    ///
    /// # Errors
    /// It cannot be read or written, or others hold it. What was to be added is then lost, and the next reader knows.
    pub fn change<T>(
        &self,
        salt: impl FnOnce() -> u64,
        change: impl FnOnce(&mut State) -> (T, bool),
    ) -> Result<T, ScopeFault> {
        let changed = self.lock().and_then(|mut locked| {
            let mut state = locked.read(salt)?;
            let (value, is_news) = change(&mut state);
            if is_news {
                locked.write(&mut state)?;
            }
            Ok(value)
        });
        if changed.is_err() {
            self.note_loss();
        }
        changed
    }

    /// Removes it; whether it was there.
    ///
    /// # Errors
    /// It cannot be removed.
    pub fn forget(&self) -> io::Result<bool> {
        for beside in [self.lost(), self.origins(), self.origins_lost()] {
            std::fs::remove_file(beside).ok();
        }
        match std::fs::remove_file(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            removed => removed.map(|()| true),
        }
    }

    fn lock(&self) -> Result<Locked<'_>, ScopeFault> {
        let locked = own_file::lock(&self.path, Against::All, || self.make());
        let file = locked.map_err(|source| self.io(source))?;
        let file = file.ok_or_else(|| ScopeFault::Busy {
            path: self.path.clone(),
        })?;
        Ok(Locked {
            scope: self,
            file,
            sequence: 0,
            next: 0,
        })
    }

    fn make(&self) -> io::Result<Opened> {
        let flags = OFlags::RDWR | OFlags::CREATE;
        match own_file::open(&self.path, flags) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                own_file::make_folder(&self.path)?;
                own_file::open(&self.path, flags)
            }
            file => file,
        }
    }

    /// Returns the newest valid slot: its number, its place, what it holds.
    fn newest(&self, file: &File) -> io::Result<Option<(u64, u64, State)>> {
        let mut newest: Option<(u64, u64, State)> = None;
        for place in [0, SLOT] {
            if let Some((sequence, state)) = self.slot(file, place)?
                && newest.as_ref().is_none_or(|(best, _, _)| *best < sequence)
            {
                newest = Some((sequence, place, state));
            }
        }
        Ok(newest)
    }

    fn slot(&self, file: &File, place: u64) -> io::Result<Option<(u64, State)>> {
        let mut bytes = vec![0; FIRST_READ];
        let read = file.read_at(&mut bytes, place)?;
        bytes.truncate(read);
        let Some(head) = Head::read(&bytes) else {
            return Ok(None);
        };
        let end = HEAD + head.length;
        if end > bytes.len() {
            let before = bytes.len();
            bytes.resize(end, 0);
            let rest = bytes.get_mut(before..).unwrap_or_default();
            match file.read_exact_at(rest, place + before as u64) {
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
                read => read?,
            }
        }
        let body = bytes.get(HEAD..end).unwrap_or_default();
        if self.checksum(head.sequence, body) != head.checksum {
            return Ok(None);
        }
        Ok(postcard::from_bytes(body)
            .ok()
            .map(|state| (head.sequence, state)))
    }

    fn checksum(&self, sequence: u64, body: &[u8]) -> [u8; 16] {
        let mut hash = Sha256::new();
        hash.update([VERSION]);
        hash.update(&self.name);
        hash.update(sequence.to_le_bytes());
        hash.update(body);
        let mut checksum = [0; 16];
        for (to, from) in checksum.iter_mut().zip(hash.finalize()) {
            *to = from;
        }
        checksum
    }

    /// Returns the file whose being there says that something could not be written.
    fn lost(&self) -> PathBuf {
        self.path.with_extension("lost")
    }

    fn note_loss(&self) {
        // Where not even this can be written, nothing can, and every later event finds that out for itself.
        regular_file::open(None, &self.lost(), OFlags::WRONLY | OFlags::CREATE).ok();
    }

    fn damaged(&self) -> ScopeFault {
        ScopeFault::Damaged {
            path: self.path.clone(),
        }
    }

    fn io(&self, source: io::Error) -> ScopeFault {
        ScopeFault::Io {
            path: self.path.clone(),
            source,
        }
    }
}

impl Locked<'_> {
    /// Reads what holds; of what is damaged nothing is known but that there was something.
    fn read(&mut self, salt: impl FnOnce() -> u64) -> Result<State, ScopeFault> {
        let scope = self.scope;
        let newest = scope
            .newest(&self.file)
            .map_err(|source| scope.io(source))?;
        let is_lost = std::fs::remove_file(scope.lost()).is_ok();
        if let Some((sequence, place, state)) = newest {
            self.sequence = sequence;
            self.next = SLOT - place;
            return Ok(if is_lost {
                State::broken(salt())
            } else {
                state
            });
        }
        let length = self
            .file
            .metadata()
            .map_err(|source| scope.io(source))?
            .len();
        Ok(if length == 0 && !is_lost {
            State::new(salt())
        } else {
            // Of a slot that cannot be read the number is not known either.
            self.sequence = u64::from(u32::MAX);
            State::broken(salt())
        })
    }

    fn write(&mut self, state: &mut State) -> Result<(), ScopeFault> {
        let scope = self.scope;
        let encoded = |state: &State| {
            let bytes = postcard::to_allocvec(state).map_err(io::Error::other);
            bytes.map_err(|source| scope.io(source))
        };
        let mut body = encoded(state)?;
        while (HEAD + body.len()) as u64 > SLOT {
            let before = body.len();
            state.shrink();
            body = encoded(state)?;
            if body.len() >= before {
                return Err(scope.io(io::ErrorKind::FileTooLarge.into()));
            }
        }
        let sequence = self.sequence + 1;
        let head = Head {
            sequence,
            length: body.len(),
            checksum: scope.checksum(sequence, &body),
        };
        let mut slot = head.written();
        slot.append(&mut body);
        let written = self.file.write_all_at(&slot, self.next);
        written.map_err(|source| scope.io(source))?;
        self.sequence = sequence;
        self.next = SLOT - self.next;
        Ok(())
    }
}

/// What stands before the body of a slot.
struct Head {
    sequence: u64,
    length: usize,
    checksum: [u8; 16],
}

impl Head {
    fn read(bytes: &[u8]) -> Option<Self> {
        let rest = bytes.strip_prefix(&MAGIC)?.strip_prefix(&[VERSION])?;
        let (sequence, rest) = rest.split_first_chunk()?;
        let (length, rest) = rest.split_first_chunk()?;
        let (checksum, _) = rest.split_first_chunk()?;
        let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
        let fits = (HEAD + length) as u64 <= SLOT;
        fits.then_some(Self {
            sequence: u64::from_le_bytes(*sequence),
            length,
            checksum: *checksum,
        })
    }

    fn written(&self) -> Vec<u8> {
        let length = u32::try_from(self.length).unwrap_or(u32::MAX);
        let mut bytes = Vec::with_capacity(HEAD + self.length);
        bytes.extend(MAGIC);
        bytes.push(VERSION);
        bytes.extend(self.sequence.to_le_bytes());
        bytes.extend(length.to_le_bytes());
        bytes.extend(self.checksum);
        bytes
    }
}
