//! Stamp: which state of a file something was made of.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// The state of one file: size, inode, and the times of change of content and state, the last of which nobody can set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stamp {
    size: u64,
    inode: u64,
    modified: i64,
    changed: i64,
}

impl Stamp {
    /// Returns the state of a file; none where there is no such file.
    pub(crate) fn at(path: &Path) -> Option<Self> {
        fs::metadata(path).ok().map(|meta| Self::of(&meta))
    }

    pub(crate) fn of(meta: &fs::Metadata) -> Self {
        let nanoseconds = |seconds: i64, rest: i64| seconds.saturating_mul(1_000_000_000) + rest;
        Self {
            size: meta.size(),
            inode: meta.ino(),
            modified: nanoseconds(meta.mtime(), meta.mtime_nsec()),
            changed: nanoseconds(meta.ctime(), meta.ctime_nsec()),
        }
    }

    /// Returns the state that a call of the system told.
    pub(crate) fn of_stat(stat: &rustix::fs::Stat) -> Self {
        let nanoseconds = |seconds: i64, rest| {
            let rest = i64::try_from(rest).unwrap_or(0);
            seconds.saturating_mul(1_000_000_000) + rest
        };
        Self {
            size: u64::try_from(stat.st_size).unwrap_or(0),
            inode: stat.st_ino,
            modified: nanoseconds(stat.st_mtime, stat.st_mtime_nsec),
            changed: nanoseconds(stat.st_ctime, stat.st_ctime_nsec),
        }
    }

    /// Returns how long the content is, in bytes.
    pub(crate) const fn size(self) -> u64 {
        self.size
    }

    /// Returns when the content was last written, in nanoseconds.
    pub(crate) const fn modified(self) -> i64 {
        self.modified
    }

    /// Returns when anything of the file was last changed, in nanoseconds.
    pub(crate) const fn changed(self) -> i64 {
        self.changed
    }
}
