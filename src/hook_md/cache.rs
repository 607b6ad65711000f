//! Cache: what the `HOOK.md` files of a directory said when they were last read.
//!
//! An entry holds for exactly the file that it was made of: size, inode, and the times of change of content and
//! state, the last of which nobody can set. A file that changed while the cache was written is read again.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;

use serde::Deserialize;
use serde::Serialize;
use sha2::Digest as _;

use super::FrontMatter;
use crate::event::Trigger;
use crate::stamp::Stamp;

/// Written into each cache, so that another version's is not read.
const FORMAT: &str = concat!("hook-md 1 ", env!("CARGO_PKG_VERSION"));

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
        /// Each fault on a line with its place.
        faults: Arc<[String]>,
    },
}

/// The entries of one directory, by the name of the hook's folder.
#[derive(Debug, Default)]
pub(super) struct Cache {
    file: Option<PathBuf>,
    entries: HashMap<String, (Stamp, Reading)>,
}

#[derive(Serialize, Deserialize)]
struct Stored<E> {
    format: String,
    dir: PathBuf,
    entries: E,
}

impl Cache {
    /// Loads what is known of `dir`; nothing where there is no cache or it cannot be read.
    pub(super) fn load(cache_dir: Option<&Path>, dir: &Path) -> Self {
        let Some(cache_dir) = cache_dir else {
            return Self::default();
        };
        let digest = sha2::Sha256::digest(dir.as_os_str().as_encoded_bytes());
        let mut name = crate::signal::hex(&digest);
        name.truncate(16);
        let file = cache_dir.join(format!("hook-md-{name}.json"));
        let entries = Self::read(&file, dir).unwrap_or_default();
        Self {
            file: Some(file),
            entries,
        }
    }

    fn read(file: &Path, dir: &Path) -> Option<HashMap<String, (Stamp, Reading)>> {
        let written = Stamp::at(file)?.modified();
        let stored: Stored<HashMap<String, (Stamp, Reading)>> =
            serde_json::from_slice(&fs::read(file).ok()?).ok()?;
        if stored.format != FORMAT || stored.dir != dir {
            return None;
        }
        let mut entries = stored.entries;
        entries.retain(|_, (stamp, _)| stamp.changed() < written - REST);
        Some(entries)
    }

    /// Returns what is known of a folder, if its file is still the same.
    pub(super) fn take(&mut self, folder: &str, stamp: Stamp) -> Option<Reading> {
        let (known, reading) = self.entries.remove(folder)?;
        (known == stamp).then_some(reading)
    }

    /// Writes new entries; a cache that cannot be written is none, which costs time alone.
    pub(super) fn store<'a>(
        &self,
        dir: &Path,
        entries: impl Iterator<Item = (&'a str, Stamp, &'a Reading)>,
    ) {
        let Some(file) = &self.file else { return };
        let stored = Stored {
            format: FORMAT.to_owned(),
            dir: dir.to_owned(),
            entries: entries
                .map(|(folder, stamp, reading)| (folder, (stamp, reading)))
                .collect::<HashMap<_, _>>(),
        };
        let Ok(text) = serde_json::to_vec(&stored) else {
            return;
        };
        if let Some(parent) = file.parent() {
            fs::DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(parent)
                .ok();
        }
        let part = file.with_extension(format!("{}.part", std::process::id()));
        if fs::write(&part, text).is_ok() && fs::rename(&part, file).is_err() {
            fs::remove_file(&part).ok();
        }
    }
}
