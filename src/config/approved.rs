//! Approved: what a person has approved of a project's layers, and what was there when its first event came.
//!
//! A file in the user's state directory holds the texts, behind an HMAC by the key of this machine; one that does not verify
//! is not believed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::{Loaded, Locations, Reviewed, file, load};
use crate::diagnostic::SourceMap;
use crate::machine_key::ProjectKey;
use crate::regular_file;
use crate::signal::hex;

/// What the HMAC of an approved state is for; another one with every change to what is stored.
const PURPOSE: &str = "ahp approved policy 2";

/// How many bytes the HMAC has, in hexadecimal digits.
const MARK: usize = 64;

/// The largest state that is read.
const MAX_BYTES: u64 = 32 << 20;

/// The largest script that is kept.
const MAX_SCRIPT: u64 = 1 << 20;

/// Who has approved a state. The numbers stand in files: what is new comes last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum By {
    /// Nobody: it is what the first event found.
    FirstEvent,
    /// A person.
    Person,
    /// Nobody: it is what the first event found, but for layers and scripts that had faults. What is in force of those is
    /// kept once they have none.
    SoundPartOfFirst,
}

/// The texts of a project's layers, of the files of the project that they extend, and of its scripts, as they were approved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approved {
    by: By,
    pub(super) texts: BTreeMap<PathBuf, String>,
    scripts: BTreeMap<PathBuf, String>,
    /// Scripts that are bound by their path, as they were reviewed.
    #[serde(skip)]
    bound: BTreeMap<PathBuf, String>,
}

impl Approved {
    /// Takes the layers of a project as they lie there now.
    pub fn of(locations: &Locations, by_person: bool) -> Self {
        let by = if by_person {
            By::Person
        } else {
            By::FirstEvent
        };
        Self::loaded(&load::from_locations(locations, &[]), locations, by)
    }

    /// Takes the layers of a project as its first event finds them, without what has faults: the layers and scripts of
    /// these names, as they are shown, and the layers that do not parse. Nobody could ever work under what is broken, and
    /// who corrects it must not be held to it.
    pub fn first(locations: &Locations, faulty: &[String]) -> Self {
        let loaded = load::from_locations(locations, faulty);
        let mut first = Self::loaded(&loaded, locations, By::FirstEvent);
        let all = first.texts.len() + first.scripts.len();
        let sound = loaded.layers.iter().filter(|layer| !layer.is_left_out);
        let files = sound.filter_map(|layer| loaded.sources.files().get(layer.files.clone()));
        let sound: BTreeSet<&str> = files.flatten().map(|file| &*file.name).collect();
        let shown = |path: &Path| locations.display(path);
        first.texts.retain(|path, _| sound.contains(&*shown(path)));
        first
            .scripts
            .retain(|path, _| !faulty.contains(&shown(path)));
        if first.texts.len() + first.scripts.len() < all {
            first.by = By::SoundPartOfFirst;
        }
        first
    }

    fn loaded(loaded: &Loaded, locations: &Locations, by: By) -> Self {
        let read = |path: PathBuf| Some((path.clone(), regular_file::text(&path, MAX_BYTES).ok()?));
        Self {
            by,
            texts: own(loaded, locations)
                .map(|(path, _)| path.clone())
                .filter_map(read)
                .collect(),
            scripts: scripts(loaded, locations),
            bound: BTreeMap::new(),
        }
    }

    /// Whether a person has approved it.
    pub(super) fn is_by_person(&self) -> bool {
        self.by == By::Person
    }

    /// Returns the places of the scripts.
    pub fn scripts(&self) -> impl Iterator<Item = &Path> {
        self.scripts.keys().map(PathBuf::as_path)
    }

    /// Returns the texts alone.
    pub fn into_reviewed(self) -> Reviewed {
        Reviewed {
            texts: self.texts,
            scripts: self.scripts,
            ..Reviewed::default()
        }
    }

    /// Reads what was approved of a project; none where nothing was, or somebody else wrote it.
    pub fn read(locations: &Locations) -> Option<Self> {
        if let Some(reviewed) = &locations.reviewed {
            return Some(Self {
                by: By::Person,
                texts: reviewed.texts.clone(),
                scripts: reviewed.scripts.clone(),
                bound: reviewed.bound.clone(),
            });
        }
        let bytes = regular_file::read(None, &Self::file(locations)?, MAX_BYTES).ok()?;
        let (mark, content) = bytes.split_at_checked(MARK)?;
        let mark = std::str::from_utf8(mark).ok()?;
        if !key(locations)?.verifies(PURPOSE, &[digest(content).as_str()], mark) {
            return None;
        }
        postcard::from_bytes(content).ok()
    }

    /// Returns the mark of what was approved, by which a cached policy is known: it stands for the content.
    pub(super) fn mark(locations: &Locations) -> Option<[u8; MARK]> {
        let mut mark = [0; MARK];
        let mut file = regular_file::open(None, &Self::file(locations)?, OFlags::RDONLY).ok()?;
        file.read_exact(&mut mark).ok()?;
        mark.iter().all(u8::is_ascii_hexdigit).then_some(mark)
    }

    /// Whether what was loaded has the texts that were approved.
    pub(super) fn is_of(&self, loaded: &Loaded, locations: &Locations) -> bool {
        let now: BTreeMap<&PathBuf, [u8; 32]> = own(loaded, locations).collect();
        let is_same = |(path, text): (&PathBuf, &String)| {
            now.get(path) == Some(&file::digest(text.as_bytes()))
        };
        now.len() == self.texts.len() && self.texts.iter().all(is_same)
    }

    /// Returns the text of a script that was approved, where it is another than the one that lies there.
    pub fn held_script(&self, path: &Path, now: &str) -> Option<&str> {
        let approved = self.scripts.get(path).or_else(|| self.bound.get(path));
        let approved = approved.map(String::as_str);
        approved.filter(|approved| *approved != now)
    }

    /// Whether the project has no layer and no script of its own.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty() && self.scripts.is_empty()
    }

    /// Returns the layers and scripts of a project that are another than what was approved, by whomsoever; all, where nothing was.
    pub fn waiting(locations: &Locations) -> BTreeSet<PathBuf> {
        let approved = Self::read(locations).map(Self::into_reviewed);
        let now = Self::of(locations, false).into_reviewed();
        approved.unwrap_or_default().changed(&now)
    }

    /// Whether nothing is left to be kept of what the first event of a project finds, or can be.
    pub fn is_first_kept(locations: &Locations) -> bool {
        let is_kept = || {
            let mut head = [0; MARK + 1];
            let file = Self::file(locations)?;
            let mut file = regular_file::open(None, &file, OFlags::RDONLY).ok()?;
            file.read_exact(&mut head).ok()?;
            head.last().map(|by| *by != By::SoundPartOfFirst as u8)
        };
        locations.trust_all || locations.state_dir.is_none() || is_kept().unwrap_or(false)
    }

    /// Keeps what the first event of a project finds, but what is faulty; what is kept already stays. What has been
    /// corrected since is added, if nothing `is_held`: else it would take away what is.
    pub(super) fn keep_first(locations: &Locations, faulty: &[String], is_held: bool) {
        let mut first = Self::first(locations, faulty);
        if Self::mark(locations).is_some() {
            let before = Self::read(locations);
            let Some(before) = before.filter(|b| b.by == By::SoundPartOfFirst && !is_held) else {
                return;
            };
            first.texts.extend(before.texts.clone());
            first.scripts.extend(before.scripts.clone());
            if first == before {
                return;
            }
        }
        // Where it cannot be kept, nothing can be held by it: there is nobody else to tell.
        if !first.texts.is_empty() {
            first.write(locations).ok();
        }
    }

    /// Approves some files as they lie there now, but those that `waited` for approval before they were changed: who has changed
    /// them since is a person. All stays as it was where what is approved would then have faults, or name files that are not.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn follow(
        locations: &Locations,
        files: &[PathBuf],
        waited: &BTreeSet<PathBuf>,
    ) -> io::Result<()> {
        let before = Self::read(locations);
        let mut now = Self::of(locations, true);
        // The scripts are what the first event would find.
        let mut approved = before.clone().unwrap_or_else(|| Self {
            texts: BTreeMap::new(),
            ..now.clone()
        });
        for file in files.iter().filter(|file| !waited.contains(*file)) {
            match now.texts.remove_entry(file) {
                Some((file, text)) => approved.texts.insert(file, text),
                None => approved.texts.remove(file),
            };
        }
        // What these files do not extend any more is no part of the policy.
        let texts = approved.texts.clone();
        let loaded = load::from_approved(locations, &[], &texts, SourceMap::default());
        let named: BTreeSet<&PathBuf> = own(&loaded, locations).map(|(path, _)| path).collect();
        approved.texts.retain(|path, _| named.contains(path));
        let is_empty = before.is_none() && approved.texts.is_empty();
        if loaded.is_broken() || is_empty || before.as_ref() == Some(&approved) {
            return Ok(());
        }
        approved.write(locations)
    }

    /// Writes it down.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&self, locations: &Locations) -> io::Result<()> {
        let (Some(file), Some(key)) = (Self::file(locations), key(locations)) else {
            return Ok(());
        };
        if let Some(dir) = file.parent() {
            fs::create_dir_all(dir)?;
        }
        let mut content = postcard::to_allocvec(self).map_err(io::Error::other)?;
        let Some(mark) = key.mac(PURPOSE, &[digest(&content).as_str()]) else {
            return Ok(());
        };
        let mut whole = mark.into_bytes();
        whole.append(&mut content);
        regular_file::replace(None, &file, &whole)
    }

    /// Returns where the approved state of a project lies: in the user's state directory, by the project's path.
    pub fn file(locations: &Locations) -> Option<PathBuf> {
        let state_dir = locations.state_dir.as_ref()?;
        let root = &locations.project_root;
        let root = root.canonicalize().unwrap_or_else(|_| root.clone());
        let mut name = digest(root.as_os_str().as_encoded_bytes());
        name.truncate(32);
        Some(state_dir.join("approved").join(name))
    }
}

fn key(locations: &Locations) -> Option<ProjectKey> {
    ProjectKey::of(locations.state_dir.as_deref()?, &locations.project_root).ok()
}

fn digest(content: &[u8]) -> String {
    hex(&Sha256::digest(content))
}

/// Returns the files of the project that a configuration was read from, each with the digest of its content.
pub(super) fn own<'l>(
    loaded: &'l Loaded,
    locations: &'l Locations,
) -> impl Iterator<Item = (&'l PathBuf, [u8; 32])> {
    let layers = loaded.inputs.layers.iter();
    let layers = layers.filter_map(|(path, content)| Some((path, (*content)?)));
    let extended = loaded.inputs.extended.iter();
    let user = locations.user_layer();
    layers
        .chain(extended.map(|(path, content)| (path, *content)))
        .filter(move |(path, _)| {
            let outside = [locations.system_layer.as_ref(), user.as_ref()];
            !outside.contains(&Some(*path)) && locations.is_in_project(path)
        })
}

/// Returns the texts of the scripts that lie in the project's folders of oracles.
fn scripts(loaded: &Loaded, locations: &Locations) -> BTreeMap<PathBuf, String> {
    let folders = loaded.config.settings.oracles.iter();
    let folders = folders.map(|dir| locations.project_root.join(dir));
    let files = folders.filter_map(|dir| fs::read_dir(dir).ok()).flatten();
    let files = files.filter_map(|entry| Some(entry.ok()?.path()));
    let is_script = |path: &PathBuf| {
        path.extension().is_some_and(|e| e == "rhai") && locations.is_in_project(path)
    };
    let text = |path: PathBuf| {
        let text = regular_file::read(None, &path, MAX_SCRIPT).ok()?;
        Some((path, String::from_utf8(text).ok()?))
    };
    files.filter(is_script).filter_map(text).collect()
}
