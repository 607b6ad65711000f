//! The file of a scope: two slots, of which the newer valid one holds; one writer at a time.
//!
//! A process that dies in the middle of a write leaves the older slot. Nothing is renamed and nothing forced to the disk: a
//! power cut may cost the last events.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rustix::fs::OFlags;
use sha2::{Digest as _, Sha256};

use super::SESSIONS;
use super::own_file::{self, Against};
use super::{Origins, Scope, State, digest};
use crate::signal::hex;

/// Raised with every change to what is stored.
const VERSION: u8 = 4;

const MAGIC: [u8; 4] = *b"ahpS";

/// The largest slot, with its head.
const SLOT: u64 = 64 << 10;

/// Magic, version, sequence number, length, checksum.
const HEAD: usize = 4 + 1 + 8 + 4 + 16;

/// How much of a slot is read at once: more than most have.
const FIRST_READ: usize = 4 << 10;

/// What a file is called beside another that says that something of a scope could not be written.
const LOST: &str = "lost";

/// What one is called that says so of the words of a result.
const ORIGINS_LOST: &str = "origins-lost";

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
    /// An event before could not be added to it.
    #[error(
        "what was counted is kept in `{path}`, where an event before this one could not be noted"
    )]
    Lost {
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
            dir: state_dir.join(SESSIONS),
            project: project
                .canonicalize()
                .unwrap_or_else(|_| project.to_owned()),
        }
    }

    /// Returns the folder of all files, of all projects.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Returns the folder of what had to be noted elsewhere, where there is something.
    pub fn aside(&self) -> Option<PathBuf> {
        Some(aside(&self.dir)).filter(|dir| dir.symlink_metadata().is_ok())
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
        self.named(name)
    }

    fn named(&self, name: String) -> ScopeFile {
        ScopeFile {
            path: self.dir.join(&name),
            name,
        }
    }

    /// Removes files that nothing has touched for a month, some at a time.
    pub fn remove_old(&self, now: SystemTime) {
        own_file::remove_old(&self.dir, now);
    }

    /// Tells of the files that cannot be believed, of all projects.
    pub fn damaged(&self) -> Vec<String> {
        // Several files may tell of one scope, and each thing is said once.
        let mut faults = BTreeSet::new();
        for name in [&self.dir, &aside(&self.dir)].into_iter().flat_map(names) {
            let (own, extension) = name.split_once('.').unwrap_or((&name, ""));
            let scope = self.named(own.to_owned());
            let fault = match extension {
                "" | LOST => scope.read().err().map(|fault| fault.to_string()),
                "origins" => Origins::open(&scope.origins()).err().map(|fault| {
                    format!("`{}` cannot be used: {fault}", scope.origins().display())
                }),
                ORIGINS_LOST => Some(format!(
                    "`{}` does not have all results",
                    scope.origins().display()
                )),
                _ => None,
            };
            faults.extend(fault);
        }
        faults.into_iter().collect()
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
        std::fs::remove_dir_all(aside(&self.dir)).ok();
        Ok(removed)
    }
}

/// Returns the folder for what has to be noted while a folder of files cannot be written.
fn aside(dir: &Path) -> PathBuf {
    let user = rustix::process::geteuid().as_raw();
    let of = digest([dir.as_os_str().as_encoded_bytes()]);
    std::env::temp_dir().join(format!("ahp-lost-{user}-{of:016x}"))
}

/// Returns the names of the files of a folder.
fn names(dir: &PathBuf) -> impl Iterator<Item = String> {
    let listing = std::fs::read_dir(dir).into_iter().flatten();
    listing.filter_map(|entry| entry.ok()?.file_name().into_string().ok())
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

    /// Takes it that where words have stood is not all known, until the scope is forgotten.
    ///
    /// # Errors
    /// That cannot be noted.
    pub fn lose_origins(&self) -> io::Result<()> {
        self.note(ORIGINS_LOST)
    }

    /// Whether where words have stood is not all known, or could not have been kept.
    pub fn has_lost_origins(&self) -> bool {
        self.is_noted(ORIGINS_LOST) || own_file::check_writable(&self.origins()).is_err()
    }

    /// Returns the files of which each says by being there that something was lost: beside it, and where one can be made when
    /// nothing can be written there.
    fn notes(&self, what: &str) -> [PathBuf; 2] {
        let dir = self.path.parent().unwrap_or(&self.path);
        [
            self.path.with_extension(what),
            aside(dir).join(format!("{}.{what}", self.name)),
        ]
    }

    fn note(&self, what: &str) -> io::Result<()> {
        let note = |path: PathBuf| {
            own_file::make_folder(&path)?;
            own_file::open(&path, OFlags::WRONLY | OFlags::CREATE).map(drop)
        };
        let [beside, aside] = self.notes(what);
        note(beside).or_else(|_| note(aside))
    }

    fn is_noted(&self, what: &str) -> bool {
        let mut notes = self.notes(what).into_iter();
        notes.any(|note| note.symlink_metadata().is_ok())
    }

    /// Removes what was noted; whether there was something.
    fn take_note(&self, what: &str) -> bool {
        let notes = self.notes(what).into_iter();
        notes
            .filter(|note| std::fs::remove_file(note).is_ok())
            .count()
            > 0
    }

    /// Reads it without the lock.
    ///
    /// # Errors
    /// It cannot be read, is not what was written, or cannot be written: then what came before is not in it.
    pub fn read(&self) -> Result<Stored, ScopeFault> {
        if self.is_noted(LOST) {
            return Err(ScopeFault::Lost {
                path: self.path.clone(),
            });
        }
        own_file::check_writable(&self.path).map_err(|source| self.io(source))?;
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
        Err(ScopeFault::Damaged {
            path: self.path.clone(),
        })
    }

    /// Changes it: nobody else reads it to change it meanwhile. What `change` returns with `false` is not written.
    ///
    /// # Errors
    /// It cannot be read or written, or others hold it. What was to be added is then lost, and the next reader knows.
    pub fn change<T>(
        &self,
        salt: impl Fn() -> u64,
        change: impl FnOnce(&mut State) -> (T, bool),
    ) -> Result<T, ScopeFault> {
        let changed = self.lock(&salt).and_then(|mut locked| {
            let state = locked.read(salt);
            let mut state = state.map_err(|source| self.io(source))?;
            let (value, is_news) = change(&mut state);
            if is_news {
                let written = locked.write(&mut state);
                written.map_err(|source| self.io(source))?;
            }
            Ok(value)
        });
        if changed.is_err() {
            // Where that cannot be noted either, nothing can, and every event meanwhile finds that out for itself.
            self.note(LOST).ok();
        }
        changed
    }

    /// Removes it; whether it was there.
    ///
    /// # Errors
    /// It cannot be removed.
    pub fn forget(&self) -> io::Result<bool> {
        std::fs::remove_file(self.origins()).ok();
        for what in [LOST, ORIGINS_LOST] {
            self.take_note(what);
        }
        match std::fs::remove_file(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            removed => removed.map(|()| true),
        }
    }

    fn lock(&self, salt: &impl Fn() -> u64) -> Result<Locked<'_>, ScopeFault> {
        let open = || match own_file::open(&self.path, OFlags::RDWR) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let salt = salt();
                own_file::make(&self.path, salt, |file| {
                    self.locked(file).write(&mut State::new(salt))
                })?;
                own_file::open(&self.path, OFlags::RDWR)
            }
            file => file,
        };
        let locked = own_file::lock(&self.path, Against::All, open);
        let file = locked.map_err(|source| self.io(source))?;
        let file = file.ok_or_else(|| ScopeFault::Busy {
            path: self.path.clone(),
        })?;
        Ok(self.locked(file))
    }

    const fn locked(&self, file: File) -> Locked<'_> {
        Locked {
            scope: self,
            file,
            sequence: 0,
            next: 0,
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

    fn io(&self, source: io::Error) -> ScopeFault {
        ScopeFault::Io {
            path: self.path.clone(),
            source,
        }
    }
}

impl Locked<'_> {
    /// Reads what holds; of what is damaged nothing is known but that there was something.
    fn read(&mut self, salt: impl Fn() -> u64) -> io::Result<State> {
        let newest = self.scope.newest(&self.file)?;
        let is_lost = self.scope.take_note(LOST);
        let Some((sequence, place, state)) = newest else {
            // Of a slot that cannot be read the number is not known either.
            self.sequence = u64::from(u32::MAX);
            return Ok(State::broken(salt()));
        };
        self.sequence = sequence;
        self.next = SLOT - place;
        Ok(if is_lost {
            State::broken(salt())
        } else {
            state
        })
    }

    fn write(&mut self, state: &mut State) -> io::Result<()> {
        let encoded = |state: &State| postcard::to_allocvec(state).map_err(io::Error::other);
        let mut body = encoded(state)?;
        while (HEAD + body.len()) as u64 > SLOT {
            let before = body.len();
            state.shrink();
            body = encoded(state)?;
            if body.len() >= before {
                return Err(io::ErrorKind::FileTooLarge.into());
            }
        }
        let sequence = self.sequence + 1;
        let head = Head {
            sequence,
            length: body.len(),
            checksum: self.scope.checksum(sequence, &body),
        };
        let mut slot = head.written();
        slot.append(&mut body);
        self.file.write_all_at(&slot, self.next)?;
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
