//! LogFiles: the files that make up one log, and their names.

use std::ffi::OsString;
use std::fs;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use super::frame::Frame;
use super::{Body, Record};
use crate::machine_key::ProjectKey;
use crate::regular_file;
use crate::regular_file::Opened;

/// What the mark at the head of a file says.
const BEGUN: &str = "ahp log file";
/// What the name of the lock file ends with.
const LOCK: &str = ".lock";
/// How much of a file is read first for its first line; most fit.
const FIRST: usize = 4 << 10;
/// A longer first line is none of ours.
pub(crate) const LONGEST_HEAD: u64 = 1 << 20;
/// A file beside the log is no longer than this.
const MOST_SMALL: u64 = 256 << 20;

/// Where a log lies, and by what its own records are known.
#[derive(Clone, Debug)]
pub struct LogPlace {
    path: PathBuf,
    base: Option<PathBuf>,
    key: Option<ProjectKey>,
}

impl LogPlace {
    /// A log of this machine, below a directory in which no link is followed.
    ///
    /// With a key only files that this machine began count, and answers that it wrote; by [`ProjectKey::none`] that is nothing. Where
    /// none is given everything counts.
    pub const fn new(path: PathBuf, base: Option<PathBuf>, key: Option<ProjectKey>) -> Self {
        Self { path, base, key }
    }

    /// The same place, with its records known as those of another log are.
    #[must_use]
    pub fn known_as(self, other: &Self) -> Self {
        Self {
            key: other.key.clone(),
            ..self
        }
    }

    /// Whether what is written here is believed when it is read again: not where this machine has no key.
    pub fn is_known(&self) -> bool {
        self.key.as_ref().is_none_or(ProjectKey::is_there)
    }

    /// Returns where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the file that its writers lock.
    pub fn lock(&self) -> PathBuf {
        beside(&self.path, LOCK)
    }
}

impl<P: AsRef<Path>> From<P> for LogPlace {
    fn from(path: P) -> Self {
        Self::new(path.as_ref().to_owned(), None, None)
    }
}

/// The files of one log: `signals.jsonl` and what lies beside it.
#[derive(Clone, Debug)]
pub(crate) struct LogFiles {
    /// The file that is appended to.
    pub(crate) current: PathBuf,
    /// Below this no link is followed.
    base: Option<PathBuf>,
    /// What tells the records of this machine from others.
    pub(crate) key: Option<ProjectKey>,
}

/// One rotated part of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    /// The number of its first record.
    pub(crate) first_seq: u64,
    /// Where it lies.
    pub(crate) path: PathBuf,
    /// Whether it is packed with zstd.
    pub(crate) packed: bool,
}

impl LogFiles {
    /// Names the files of the log at a path.
    pub(crate) fn new(place: impl Into<LogPlace>) -> Self {
        let LogPlace { path, base, key } = place.into();
        Self {
            current: path,
            base,
            key,
        }
    }

    /// Returns where the log lies.
    pub(crate) fn place(&self) -> LogPlace {
        LogPlace::new(self.current.clone(), self.base.clone(), self.key.clone())
    }

    /// The same files, of which every record counts.
    pub(crate) fn whole(&self) -> Self {
        Self {
            key: None,
            ..self.clone()
        }
    }

    /// Opens one of the files: a regular file that no link leads to.
    pub(crate) fn open(&self, path: &Path, flags: OFlags) -> io::Result<File> {
        regular_file::open(self.base.as_deref(), path, flags)
    }

    /// Opens one of the files, and others of its folder after it.
    pub(crate) fn open_beside(&self, path: &Path, flags: OFlags) -> io::Result<Opened> {
        regular_file::open_beside(self.base.as_deref(), path, flags)
    }

    /// Reads one of the small files beside the log.
    pub(crate) fn read_small(&self, path: &Path) -> io::Result<Vec<u8>> {
        regular_file::read(self.base.as_deref(), path, MOST_SMALL)
    }

    /// Puts one of the files beside the log anew.
    pub(crate) fn replace(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        regular_file::replace(self.base.as_deref(), path, bytes)
    }

    /// Whether this machine began a file that starts with these bytes.
    pub(crate) fn began(&self, head: &[u8]) -> bool {
        let Some(key) = &self.key else { return true };
        let end = memchr::memchr(b'\n', head).unwrap_or(head.len());
        let frame = head.get(..end).and_then(Frame::read);
        frame.is_some_and(|frame| {
            frame
                .mac
                .is_some_and(|mac| key.verifies(BEGUN, &[frame.hash], mac))
        })
    }

    /// Whether this machine began the file that is written to.
    pub(crate) fn has_begun(&self, file: &File, length: u64) -> io::Result<bool> {
        Ok(self.key.is_none() || length == 0 || self.began(&head(file, length)?))
    }

    /// Returns what the first record of a file carries, given its hash.
    pub(crate) fn mark(&self, hash: &str) -> Option<String> {
        let key = self.key.as_ref()?;
        key.mac(BEGUN, &[hash])
    }

    /// Whether a record may be believed: an answer only if this machine wrote it.
    pub(crate) fn believes<S, E>(&self, record: &Record<S, E>) -> bool {
        match (&record.body, &self.key) {
            (Body::Response(answer), Some(key)) => answer.is_by(key),
            _ => true,
        }
    }

    /// Returns the directory of the log.
    pub(crate) fn directory(&self) -> &Path {
        match self.current.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        }
    }

    /// Returns the lock file, which also holds the anchor.
    pub(crate) fn lock(&self) -> PathBuf {
        self.beside(LOCK)
    }

    /// Returns the file that keeps torn bytes.
    pub(crate) fn torn(&self) -> PathBuf {
        self.beside(".torn")
    }

    /// Returns the derived index.
    pub(crate) fn index(&self) -> PathBuf {
        self.beside(".index")
    }

    /// Returns the name of a rotated part.
    pub(crate) fn segment(&self, first_seq: u64, packed: bool) -> PathBuf {
        let (stem, extension) = self.parts();
        let packed = if packed { ".zst" } else { "" };
        self.directory()
            .join(format!("{stem}-{first_seq}{extension}{packed}"))
    }

    /// Lists the rotated parts, oldest first; a part that is there packed and unpacked is listed unpacked.
    pub(crate) fn segments(&self) -> io::Result<Vec<Segment>> {
        let (stem, extension) = self.parts();
        let entries = match fs::read_dir(self.directory()) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut found = Vec::new();
        for entry in entries {
            let name = entry?.file_name();
            let Some(rest) = name
                .to_str()
                .and_then(|name| name.strip_prefix(&stem))
                .and_then(|rest| rest.strip_prefix('-'))
            else {
                continue;
            };
            let (rest, packed) = match rest.strip_suffix(".zst") {
                Some(rest) => (rest, true),
                None => (rest, false),
            };
            if let Some(first_seq) = rest
                .strip_suffix(extension.as_str())
                .and_then(|digits| digits.parse().ok())
            {
                found.push(Segment {
                    first_seq,
                    path: self.directory().join(&name),
                    packed,
                });
            }
        }
        found.sort_by_key(|s: &Segment| (s.first_seq, s.packed));
        found.dedup_by_key(|s| s.first_seq);
        Ok(found)
    }

    /// Splits `signals.jsonl` into `signals` and `.jsonl`.
    fn parts(&self) -> (String, String) {
        let text = |part: Option<&std::ffi::OsStr>| {
            part.map(|p| p.to_string_lossy().into_owned())
                .unwrap_or_default()
        };
        let extension = match text(self.current.extension()) {
            extension if extension.is_empty() => extension,
            extension => format!(".{extension}"),
        };
        (text(self.current.file_stem()), extension)
    }

    fn beside(&self, suffix: &str) -> PathBuf {
        beside(&self.current, suffix)
    }
}

fn beside(log: &Path, suffix: &str) -> PathBuf {
    let mut name: OsString = log.file_name().unwrap_or_default().to_owned();
    name.push(suffix);
    log.with_file_name(name)
}

/// Reads the first line of a file that is written to.
fn head(file: &File, length: u64) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    let mut step = FIRST;
    while (head.len() as u64) < length.min(LONGEST_HEAD) {
        let start = head.len();
        head.resize(start + step, 0);
        let read = file.read_at(head.get_mut(start..).unwrap_or_default(), start as u64)?;
        head.truncate(start + read);
        if read == 0 || memchr::memchr(b'\n', &head).is_some() {
            break;
        }
        step = step.saturating_mul(4);
    }
    Ok(head)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rotated_parts_are_listed_by_number_and_once() {
        let dir = tempfile::tempdir().unwrap();
        let files = LogFiles::new(dir.path().join("signals.jsonl"));
        for name in [
            "signals-100.jsonl.zst",
            "signals-9.jsonl.zst",
            "signals-200.jsonl",
            "signals-200.jsonl.zst",
            "signals-x.jsonl",
            "signals-300.jsonl.zst.tmp",
            "signals.jsonl",
        ] {
            fs::write(dir.path().join(name), "").unwrap();
        }
        let found = files.segments().unwrap();
        let seen: Vec<_> = found.iter().map(|s| (s.first_seq, s.packed)).collect();
        assert_eq!(seen, [(9, true), (100, true), (200, false)]);
        assert_eq!(files.segment(9, true), found[0].path);
    }
}
