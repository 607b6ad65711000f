//! Cache: what the `HOOK.md` files of a directory said when they were last read.
//!
//! An entry holds for exactly the file that it was made of: size, inode, and the times of change of content and
//! state, the last of which nobody can set. A file that changed while the cache was written is read again.

use std::fs;
use std::iter::Peekable;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::vec;

use serde::{Deserialize, Serialize};
use sha2::Digest as _;

use super::FrontMatter;
use crate::event::Trigger;
use crate::stamp::Stamp;

/// Written into each cache, so that another version's is not read.
const FORMAT: &str = concat!("hook-md 3 ", env!("CARGO_PKG_VERSION"));

/// How long before the cache was written a file must have come to rest, in nanoseconds: the kernel's clock is coarse.
const REST: i64 = 20_000_000;

/// What one `HOOK.md` said.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Reading {
    /// A hook.
    Valid(FrontMatter),
    /// None, for these reasons.
    Broken {
        /// Its trigger, where that could be read.
        trigger: Option<Trigger>,
        /// Whether it is meant as a hook.
        is_meant: bool,
        /// Each fault on a line with its place.
        faults: Arc<[String]>,
    },
}

/// What is known of one folder: its name, the state of its file, and what that said.
type Entry = (String, Stamp, Reading);

/// The entries of one directory, by the names of the hooks' folders.
#[derive(Debug)]
pub(super) struct Cache {
    file: Option<PathBuf>,
    entries: Peekable<vec::IntoIter<Entry>>,
}

/// What stands before the entries.
#[derive(Serialize, Deserialize)]
struct Head<'a> {
    format: &'a str,
    dir: &'a [u8],
}

impl Cache {
    /// Loads what is known of `dir`; nothing where there is no cache or it cannot be read.
    pub(super) fn load(cache_dir: Option<&Path>, dir: &Path) -> Self {
        let Some(cache_dir) = cache_dir else {
            return Self {
                file: None,
                entries: Vec::new().into_iter().peekable(),
            };
        };
        let digest = sha2::Sha256::digest(dir.as_os_str().as_encoded_bytes());
        let mut name = crate::signal::hex(&digest);
        name.truncate(16);
        let file = cache_dir.join(format!("hook-md-{name}"));
        let entries = Self::read(&file, dir).unwrap_or_default();
        Self {
            file: Some(file),
            entries: entries.into_iter().peekable(),
        }
    }

    fn read(file: &Path, dir: &Path) -> Option<Vec<Entry>> {
        let written = Stamp::at(file)?.modified();
        let content = fs::read(file).ok()?;
        let (head, entries): (Head<'_>, _) = postcard::take_from_bytes(&content).ok()?;
        if head.format != FORMAT || head.dir != dir.as_os_str().as_encoded_bytes() {
            return None;
        }
        let mut entries: Vec<Entry> = postcard::from_bytes(entries).ok()?;
        entries.retain(|(_, stamp, _)| stamp.changed() < written - REST);
        Some(entries)
    }

    /// Returns what is known of a folder, if its file is still the same. Folders must be asked for in their order.
    pub(super) fn take(&mut self, folder: &str, stamp: Stamp) -> Option<Reading> {
        while self
            .entries
            .next_if(|(name, ..)| **name < *folder)
            .is_some()
        {}
        let (_, known, reading) = self.entries.next_if(|(name, ..)| *name == folder)?;
        (known == stamp).then_some(reading)
    }

    /// Writes new entries, in the order of their folders; a cache that cannot be written is none, which costs time
    /// alone.
    pub(super) fn store(&self, dir: &Path, entries: &[(&str, Stamp, &Reading)]) {
        let Some(file) = &self.file else { return };
        let head = Head {
            format: FORMAT,
            dir: dir.as_os_str().as_encoded_bytes(),
        };
        let content =
            postcard::to_allocvec(&head).and_then(|content| postcard::to_extend(entries, content));
        let Ok(content) = content else { return };
        if let Some(parent) = file.parent() {
            fs::DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(parent)
                .ok();
        }
        let part = file.with_extension(format!("{}.part", std::process::id()));
        if fs::write(&part, content).is_ok() && fs::rename(&part, file).is_err() {
            fs::remove_file(&part).ok();
        }
    }
}
