//! Approved: what a person has approved of a project's layers, and what was there when its first event came.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::io::Write as _;
use std::os::unix::fs::DirBuilderExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::path::PathBuf;

use serde::Deserialize;
use serde::Serialize;
use sha2::Digest as _;
use sha2::Sha256;

use super::Locations;
use super::load;
use crate::signal::hex;

/// Raised with every change to what is stored.
const FORMAT: u32 = 1;

/// The largest state that is read.
const MAX_BYTES: u64 = 32 << 20;

/// The texts of a project's layers, and of the files of the project that they extend, as they were approved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approved {
    format: u32,
    root: PathBuf,
    /// Whether a person has approved it; else it is what the first event found.
    pub(super) by_person: bool,
    pub(super) texts: BTreeMap<PathBuf, String>,
}

impl Approved {
    /// Takes the layers of a project as they lie there now.
    pub fn of(locations: &Locations, by_person: bool) -> Self {
        let loaded = load::from_locations(locations, &[]);
        let root = &locations.project_root;
        let is_own = |path: &PathBuf| locations.is_in_project(path);
        let layers = locations.layers().into_iter();
        let own = layers
            .filter(|(source, _)| source.is_of_project())
            .map(|(_, path)| path);
        let extended = loaded.inputs.extended.into_iter().map(|(path, _)| path);
        let paths = own.chain(extended.filter(is_own));
        let read = |path: PathBuf| Some((path.clone(), fs::read_to_string(&path).ok()?));
        Self {
            format: FORMAT,
            root: root.clone(),
            by_person,
            texts: paths.filter_map(read).collect(),
        }
    }

    /// Reads what was approved of a project; none where nothing was.
    pub(super) fn read(locations: &Locations) -> Option<Self> {
        let file = Self::file(locations)?;
        if fs::metadata(&file).ok()?.len() > MAX_BYTES {
            return None;
        }
        let approved: Self = postcard::from_bytes(&fs::read(file).ok()?).ok()?;
        (approved.format == FORMAT && approved.root == locations.project_root).then_some(approved)
    }

    /// Returns the digest of what was approved, by which a cached policy is known.
    pub(super) fn digest(locations: &Locations) -> Option<[u8; 32]> {
        Some(Sha256::digest(fs::read(Self::file(locations)?).ok()?).into())
    }

    /// Whether the layers of a project are what was approved, by whomsoever.
    pub fn is_current(locations: &Locations) -> bool {
        Self::read(locations)
            .is_some_and(|approved| approved.texts == Self::of(locations, false).texts)
    }

    /// Keeps what the first event of a project finds; what is there already stays.
    pub fn keep_first(locations: &Locations) {
        let Some(file) = Self::file(locations).filter(|file| !file.exists()) else {
            return;
        };
        let first = Self::of(locations, false);
        // Where it cannot be kept, nothing can be held by it: there is nobody else to tell.
        if !first.texts.is_empty() {
            first.write_to(&file).ok();
        }
    }

    /// Writes it down.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&self, locations: &Locations) -> io::Result<()> {
        match Self::file(locations) {
            Some(file) => self.write_to(&file),
            None => Ok(()),
        }
    }

    fn write_to(&self, file: &Path) -> io::Result<()> {
        let content = postcard::to_allocvec(self).map_err(io::Error::other)?;
        if let Some(dir) = file.parent() {
            fs::DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(dir)?;
        }
        let draft = file.with_extension(format!("{}.part", std::process::id()));
        let written = fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&draft)
            .and_then(|mut opened| opened.write_all(&content))
            .and_then(|()| fs::rename(&draft, file));
        if written.is_err() {
            fs::remove_file(&draft).ok();
        }
        written
    }

    /// Returns where the approved state of a project lies: in the user's state directory, by the project's path.
    pub fn file(locations: &Locations) -> Option<PathBuf> {
        let root = &locations.project_root;
        let root = root.canonicalize().unwrap_or_else(|_| root.clone());
        let mut name = hex(&Sha256::digest(root.as_os_str().as_encoded_bytes()));
        name.truncate(32);
        Some(locations.state_dir.as_ref()?.join("approved").join(name))
    }
}
