//! Regular file: opens what lies in a project's or the user's own folder as a regular file, and follows no link below it.
//!
//! A clone brings links, pipes and devices along. What is read or written under a name of ours must be a file of that name:
//! else a clone would have us write elsewhere, wait for ever, or speak to a host in our name.

use std::ffi::OsStr;
use std::fs;
use std::fs::{File, Metadata, TryLockError};
use std::io;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path};
use std::time::{Duration, Instant};

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

use crate::random;

/// Nobody but the user may read what we keep.
const PRIVATE: Mode = Mode::RUSR.union(Mode::WUSR);

/// Opens a regular file with these flags; one that is made is the user's alone.
///
/// Below `base` no part of the path may be a link. Without a base, or for a path that does not begin with it, this holds of the
/// last part. With [`OFlags::CREATE`] missing directories below the base are made.
///
/// # Errors
/// What the system says, or that a link or something else than a regular file is there.
pub(crate) fn open(base: Option<&Path>, path: &Path, flags: OFlags) -> io::Result<File> {
    Ok(open_beside(base, path, flags)?.file)
}

/// A file that was opened, what it was then, and the folder in which it lies.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) file: File,
    pub(crate) about: Metadata,
    folder: Option<OwnedFd>,
}

impl Opened {
    /// Opens, as [`open`] does, another file of the folder in which this one lies.
    ///
    /// # Errors
    /// As those of [`open`].
    pub(crate) fn beside(&self, path: &Path, flags: OFlags) -> io::Result<(File, Metadata)> {
        match (&self.folder, path.file_name()) {
            (Some(folder), Some(name)) => {
                regular(rustix::fs::openat(folder, name, kept_from(flags), PRIVATE))
            }
            _ => regular(rustix::fs::open(path, kept_from(flags), PRIVATE)),
        }
    }
}

/// Whether both tell of one file.
pub(crate) fn are_one(one: &Metadata, other: &Metadata) -> bool {
    (one.ino(), one.dev()) == (other.ino(), other.dev())
}

/// Returns what lies at a path now, if that is what was opened there.
pub(crate) fn still_at(path: &Path, opened: &Metadata) -> Option<Metadata> {
    let now = fs::symlink_metadata(path).ok()?;
    are_one(&now, opened).then_some(now)
}

/// Opens a regular file as [`open`] does, to open others of its folder after it.
///
/// # Errors
/// As those of [`open`].
pub(crate) fn open_beside(base: Option<&Path>, path: &Path, flags: OFlags) -> io::Result<Opened> {
    let (folder, opened) = match inside(base, path)? {
        Some((folder, name)) => {
            let folder = folder.open(flags.contains(OFlags::CREATE))?;
            let opened = rustix::fs::openat(&folder, name, kept_from(flags), PRIVATE);
            (Some(folder), opened)
        }
        None => (None, rustix::fs::open(path, kept_from(flags), PRIVATE)),
    };
    let (file, about) = regular(opened)?;
    Ok(Opened {
        file,
        about,
        folder,
    })
}

/// Opens a file, unless it is still open, and locks it, as `try_lock` does, and waits so long for others that hold it; none where
/// they hold it longer.
///
/// # Errors
/// As those of `open`, and what is no waiting.
pub(crate) fn lock<E>(
    path: &Path,
    patience: Duration,
    kept: Option<Opened>,
    open: impl Fn() -> Result<Opened, E>,
    try_lock: impl Fn(&File) -> Result<(), TryLockError>,
    refused: impl Fn(TryLockError) -> E,
) -> Result<Option<Opened>, E> {
    let started = Instant::now();
    let mut pause = Duration::from_micros(20);
    let mut opened = kept.map_or_else(&open, Ok)?;
    loop {
        let is_locked = match try_lock(&opened.file) {
            Ok(()) => true,
            Err(TryLockError::WouldBlock) if started.elapsed() > patience => return Ok(None),
            Err(TryLockError::WouldBlock) => false,
            Err(error) => return Err(refused(error)),
        };
        if !is_locked {
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(2));
        }
        // Where somebody has removed the file between, its lock locks out nobody.
        match still_at(path, &opened.about) {
            None => opened = open()?,
            Some(_) if is_locked => return Ok(Some(opened)),
            Some(_) => {}
        }
    }
}

/// Adds what keeps an opening from links and waits: a pipe without a writer must not keep us.
fn kept_from(flags: OFlags) -> OFlags {
    flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY
}

fn regular(opened: Result<OwnedFd, Errno>) -> io::Result<(File, Metadata)> {
    let file = File::from(opened.map_err(explained)?);
    let about = file.metadata()?;
    if about.is_file() {
        Ok((file, about))
    } else {
        Err(not_regular("is not a regular file"))
    }
}

/// Reads a regular file whole, if it is no longer than `most` bytes.
///
/// # Errors
/// As those of [`open`]; a longer file.
pub(crate) fn read(base: Option<&Path>, path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let opened = open_beside(base, path, OFlags::RDONLY)?;
    whole(opened.file, &opened.about, most)
}

/// Reads what a path leads to, over links too, if that is a regular file no longer than `most` bytes.
///
/// For what a person may well have linked, such as a file of rules that several projects share.
///
/// # Errors
/// What the system says, or that something else than a regular file is there, which might keep us waiting; a longer file.
pub(crate) fn read_linked(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    let (file, about) = regular(rustix::fs::open(path, flags, Mode::empty()))?;
    whole(file, &about, most)
}

/// Reads as [`read_linked`] does what is to be text.
///
/// # Errors
/// As those of [`read_linked`]; what is not UTF-8.
pub(crate) fn text(path: &Path, most: u64) -> io::Result<String> {
    String::from_utf8(read_linked(path, most)?).map_err(io::Error::other)
}

/// Puts a whole file in the place of another: whoever reads sees the old one or the new one.
///
/// # Errors
/// As those of [`open`].
pub(crate) fn replace(base: Option<&Path>, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}.new", random::id().simple()));
    let new = Path::new(&name);
    let created = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
    let written = open(base, new, created)
        .and_then(|mut file| {
            file.write_all(bytes)?;
            file.sync_data()
        })
        .and_then(|()| fs::rename(new, path));
    if written.is_err() {
        fs::remove_file(new).ok();
    }
    written
}

/// Reads an opened file whole, if it is no longer than `most` bytes.
///
/// # Errors
/// As those of reading; a longer file.
pub(crate) fn whole(file: File, about: &Metadata, most: u64) -> io::Result<Vec<u8>> {
    // One more tells the end.
    let length = about.len().min(most).saturating_add(1);
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or(0));
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        let why = format!("the file is longer than {most} bytes");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, why));
    }
    Ok(bytes)
}

/// The folder of a file below a base: its parts, none of which may be a link.
struct Folder<'p> {
    base: &'p Path,
    parts: Vec<&'p OsStr>,
}

impl Folder<'_> {
    fn open(&self, create: bool) -> io::Result<OwnedFd> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let below = flags | OFlags::NOFOLLOW;
        let mut folder = rustix::fs::open(self.base, flags, Mode::empty())?;
        for part in &self.parts {
            folder = match rustix::fs::openat(&folder, *part, below, Mode::empty()) {
                Err(Errno::NOENT) if create => {
                    match rustix::fs::mkdirat(&folder, *part, Mode::from_raw_mode(0o777)) {
                        // Another process may make it at the same time.
                        Ok(()) | Err(Errno::EXIST) => {}
                        Err(error) => return Err(error.into()),
                    }
                    rustix::fs::openat(&folder, *part, below, Mode::empty())
                }
                // With `O_DIRECTORY` a link is told as what it is not.
                Err(Errno::NOTDIR) if is_link(&folder, part) => Err(Errno::LOOP),
                other => other,
            }
            .map_err(explained)?;
        }
        Ok(folder)
    }
}

fn is_link(folder: &OwnedFd, name: &OsStr) -> bool {
    rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).is_ok_and(|stat| {
        rustix::fs::FileType::from_raw_mode(stat.st_mode) == rustix::fs::FileType::Symlink
    })
}

/// Splits a path below a base into its folder and its name; none where it does not lie below it.
fn inside<'p>(
    base: Option<&'p Path>,
    path: &'p Path,
) -> io::Result<Option<(Folder<'p>, &'p OsStr)>> {
    let Some((base, below)) = base.and_then(|b| Some((b, path.strip_prefix(b).ok()?))) else {
        return Ok(None);
    };
    let mut parts = Vec::new();
    for part in below.components() {
        match part {
            Component::Normal(name) => parts.push(name),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                return Err(not_regular("is a path that leads out of its folder"));
            }
        }
    }
    let name = parts.pop();
    let name = name.ok_or_else(|| io::Error::from(io::ErrorKind::IsADirectory))?;
    Ok(Some((Folder { base, parts }, name)))
}

fn explained(error: Errno) -> io::Error {
    match error {
        Errno::LOOP | Errno::MLINK => not_regular("is a link, where only a regular file may be"),
        // What opening a pipe or a socket to write says.
        Errno::NXIO => not_regular("is not a regular file"),
        other => other.into(),
    }
}

fn not_regular(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, format!("it {what}"))
}
