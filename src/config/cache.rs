//! The cache of checked policies: what a hook command needs of one trigger, without reading YAML.
//!
//! An entry is found by the content of every layer, not by times, so that it cannot be stale; packs and files that a
//! layer extends are compared by content too. Where an organisation has a layer, nothing is cached: what the system's
//! owner wrote is never taken from a place that the user, and so the agent, can write to.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::file::{Inputs, digest};
use super::pack::PACKS_HASH;
use super::{
    Approved, BindingSpec, Config, LayerSource, Loaded, Locations, MarkSpec, Provenance, Settings,
    file,
};
use crate::diagnostic::SourceMap;
use crate::event::Trigger;
use crate::signal::hex;
use crate::stamp::Stamp;

/// Raised with every change to what is stored or to what it means.
const FORMAT: u32 = 18;

/// How many entries are kept; a project has one for each state of its layers.
const MAX_ENTRIES: usize = 64;

/// The largest entry that is read.
const MAX_BYTES: u64 = 16 << 20;

/// The head of an entry; the triggers' bindings follow it, one after the other, so that those of one can be read alone.
#[derive(Serialize, Deserialize)]
struct Header {
    extended: Vec<(PathBuf, [u8; 32])>,
    watched: Vec<(PathBuf, Option<Stamp>)>,
    /// The name of each file, and whether it is a part of what was approved.
    sources: Vec<(String, bool)>,
    settings: Settings,
    setting_provenance: Vec<Provenance>,
    oracle_dirs: BTreeMap<LayerSource, Vec<PathBuf>>,
    hook_dirs: BTreeMap<LayerSource, Vec<PathBuf>>,
    held: Vec<String>,
    programs: Vec<PathBuf>,
    marks: BTreeMap<String, MarkSpec>,
    asks_age: bool,
    digest: String,
    asks_origins: bool,
    /// Each trigger with the start and the end of its bindings, counted from the end of the head.
    triggers: Vec<(Trigger, usize, usize)>,
}

/// Reads the bindings of some triggers from the cache; none where there is no entry that is certainly right.
pub(super) fn read(locations: &Locations, triggers: &[Trigger]) -> Option<Loaded> {
    let dir = locations.cache_dir.as_ref()?.join("policies");
    if !is_own_dir(&dir) {
        return None;
    }
    let layers = layers(locations)?;
    let entry = read_own(&dir.join(key(locations, &layers)?)).ok()?;
    let (header, body): (Header, &[u8]) = postcard::take_from_bytes(&entry).ok()?;
    for (path, expected) in &header.extended {
        if digest(&file::read_bytes(path).ok()?) != *expected {
            return None;
        }
    }
    let mut watched = header.watched.iter();
    if !watched.all(|(path, then)| Stamp::at(path) == *then) {
        return None;
    }
    let mut config = Config {
        settings: header.settings,
        setting_provenance: header.setting_provenance,
        oracle_dirs: header.oracle_dirs,
        hook_dirs: header.hook_dirs,
        marks: header.marks,
        asks_age: header.asks_age,
        digest: header.digest,
        asks_origins: header.asks_origins,
        ..Config::default()
    };
    for (trigger, start, end) in header.triggers {
        if triggers.contains(&trigger) {
            let bindings = postcard::from_bytes(body.get(start..end)?).ok()?;
            config.bindings.insert(trigger, bindings);
        }
    }
    let mut sources = SourceMap::default();
    for (name, is_approved) in header.sources {
        let first = sources.files().len();
        sources.add(name, "");
        if is_approved {
            sources.approve_from(first);
        }
    }
    Some(Loaded {
        config,
        layers: Vec::new(),
        held: header.held,
        programs: header.programs,
        sources,
        diagnostics: Vec::new(),
        faulty: Vec::new(),
        is_cached: true,
        added: BTreeSet::new(),
        bundle: None,
        inputs: Inputs {
            layers,
            extended: header.extended,
            ..Inputs::default()
        },
        marks: BTreeMap::new(),
    })
}

/// A configuration in the form in which it is stored.
#[derive(Debug)]
pub struct CacheEntry {
    dir: PathBuf,
    name: String,
    content: Vec<u8>,
}

impl CacheEntry {
    /// Makes the entry of a configuration; none where it is broken, empty, or not to be cached.
    pub(super) fn of(loaded: &Loaded, locations: &Locations) -> Option<Self> {
        let layers = &loaded.inputs.layers;
        let of_machine = loaded
            .layers
            .iter()
            .any(|layer| layer.source.is_of_machine());
        // A warning would be told the first time alone, and a layer that is left out would be forgotten.
        let is_partial = loaded.layers.iter().any(|layer| layer.is_left_out);
        // What a change is held to in its review holds nobody else, and a draft is not what lies there.
        let is_held = locations.reviewed.is_some() || !locations.drafts.is_empty();
        if loaded.is_cached || of_machine || is_partial || is_held || !loaded.diagnostics.is_empty()
        {
            return None;
        }
        Some(Self {
            dir: locations.cache_dir.as_ref()?.join("policies"),
            name: key(locations, layers)?,
            content: encode(loaded).ok()?,
        })
    }

    /// Writes the entry, once everything that can be wrong with the configuration has been checked.
    ///
    /// A cache that cannot be written is none, and no fault.
    pub fn write(self) {
        let made = fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.dir);
        if made.is_ok() && is_own_dir(&self.dir) {
            remove_oldest(&self.dir);
            write_whole(&self.dir, &self.name, &self.content).ok();
        }
    }
}

/// Keeps what the first event of a project finds. Its entry then has another name, and the same in it: what is held to itself
/// is what it was before.
pub(super) fn keep_first(locations: &Locations, faulty: &[String], is_held: bool) {
    let is_first = Approved::mark(locations).is_none();
    let layers = layers(locations).filter(|_| is_first);
    let place = || {
        let dir = locations.cache_dir.as_ref()?.join("policies");
        Some(dir.join(key(locations, layers.as_ref()?)?))
    };
    let before = place();
    Approved::keep_first(locations, faulty, is_held);
    if let (Some(before), Some(now)) = (before, place()) {
        fs::rename(before, now).ok();
    }
}

/// Returns the place and the content of each layer; none where nothing of them is cached.
fn layers(locations: &Locations) -> Option<Vec<(PathBuf, Option<[u8; 32]>)>> {
    let mut layers = Vec::new();
    for (source, path) in locations.layers() {
        let content = match file::read_bytes(&path) {
            Ok(_) if source.is_of_machine() => return None,
            Ok(content) => Some(digest(&content)),
            Err(file::Refused::Absent) => None,
            Err(_) => return None,
        };
        layers.push((path, content));
    }
    Some(layers)
}

/// Returns the name of the entry for layers of this content at these places.
fn key(locations: &Locations, layers: &[(PathBuf, Option<[u8; 32]>)]) -> Option<String> {
    // What somebody else has reviewed holds for one run, and so does a draft.
    if locations.reviewed.is_some() || !locations.drafts.is_empty() {
        return None;
    }
    let mut hash = Sha256::new();
    let mut part = |bytes: &[u8]| {
        hash.update(bytes.len().to_le_bytes());
        hash.update(bytes);
    };
    part(env!("CARGO_PKG_VERSION").as_bytes());
    part(&FORMAT.to_le_bytes());
    part(&PACKS_HASH.to_le_bytes());
    // What paths in the layers stand against, and what their names as shown are made of.
    part(locations.project_root.as_os_str().as_encoded_bytes());
    if let Some(home) = &locations.home {
        part(home.as_os_str().as_encoded_bytes());
    }
    // What the layers are held to.
    let is_held = !locations.trust_all;
    let approved = is_held.then(|| Approved::mark(locations)).flatten();
    part(approved.as_ref().map_or(&[][..], |mark| &mark[..]));
    part(&[u8::from(locations.trust_all)]);
    let mut any = false;
    for (path, content) in layers {
        // One that is not there tells in which place the others stand: the same file may be a user's or a project's.
        part(path.as_os_str().as_encoded_bytes());
        part(content.as_ref().map_or(&[][..], |digest| &digest[..]));
        any |= content.is_some();
    }
    any.then(|| hex(&hash.finalize()))
}

fn encode(loaded: &Loaded) -> postcard::Result<Vec<u8>> {
    let mut body = Vec::new();
    let mut triggers = Vec::new();
    for (trigger, bindings) in &loaded.config.bindings {
        let start = body.len();
        let bindings: Vec<_> = bindings.iter().map(without_places).collect();
        body = postcard::to_extend(&bindings, body)?;
        triggers.push((*trigger, start, body.len()));
    }
    let header = Header {
        extended: loaded.inputs.extended.clone(),
        watched: loaded.inputs.watched.clone(),
        sources: loaded
            .sources
            .files()
            .iter()
            .map(|source| (source.name.to_string(), source.is_approved()))
            .collect(),
        settings: loaded.config.settings.clone(),
        setting_provenance: loaded.config.setting_provenance.clone(),
        oracle_dirs: loaded.config.oracle_dirs.clone(),
        hook_dirs: loaded.config.hook_dirs.clone(),
        held: loaded.held.clone(),
        programs: loaded.programs.clone(),
        marks: loaded.config.marks.clone(),
        asks_age: loaded.config.asks_age,
        digest: loaded.config.digest.clone(),
        asks_origins: loaded.config.asks_origins,
        triggers,
    };
    let mut entry = postcard::to_allocvec(&header)?;
    entry.append(&mut body);
    Ok(entry)
}

/// Returns a binding without the places of its keys, which only the faults of a broken policy show. Where its
/// configuration comes from is kept, because programs that it names may need trust, and which layer names its oracle,
/// because a script of a project does not stand in for a user's; of a HOOK.md hook all, because what a binding does not
/// say the hook says itself.
fn without_places(binding: &BindingSpec) -> BindingSpec {
    let is_hook = binding.target.is_hook();
    let mut binding = binding.clone();
    binding
        .provenance
        .retain(|origin| is_hook || origin.key == "oracle" || origin.key.starts_with("config"));
    binding
}

/// Whether the directory of the entries is there and nobody else can write to it.
fn is_own_dir(dir: &Path) -> bool {
    fs::symlink_metadata(dir).is_ok_and(|metadata| metadata.is_dir() && is_own(&metadata))
}

/// Whether a file or directory is this user's, and nobody else may write to it.
fn is_own(metadata: &fs::Metadata) -> bool {
    metadata.uid() == rustix::process::geteuid().as_raw() && metadata.mode() & 0o022 == 0
}

/// Reads a file that is this user's own and no link.
fn read_own(path: &Path) -> io::Result<Vec<u8>> {
    let file = fs::OpenOptions::new()
        .read(true)
        .custom_flags(no_follow())
        .open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() || !is_own(&metadata) || metadata.len() > MAX_BYTES {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    let mut content = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or(0));
    file.take(MAX_BYTES).read_to_end(&mut content)?;
    Ok(content)
}

fn no_follow() -> i32 {
    rustix::fs::OFlags::NOFOLLOW.bits().cast_signed()
}

/// Writes under a name of its own first, so that no reader ever sees half an entry.
fn write_whole(dir: &Path, name: &str, entry: &[u8]) -> io::Result<()> {
    let draft = dir.join(format!("{name}.{}", std::process::id()));
    let written = fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&draft)
        .and_then(|mut file| file.write_all(entry))
        .and_then(|()| fs::rename(&draft, dir.join(name)));
    if written.is_err() {
        fs::remove_file(&draft).ok();
    }
    written
}

/// Makes room: entries of layers that have changed since are never asked for again.
fn remove_oldest(dir: &Path) {
    let Ok(listing) = fs::read_dir(dir) else {
        return;
    };
    let mut entries: Vec<_> = listing
        .filter_map(|entry| {
            let entry = entry.ok()?;
            Some((entry.metadata().ok()?.modified().ok()?, entry.path()))
        })
        .collect();
    entries.sort();
    let too_many = (entries.len() + 1).saturating_sub(MAX_ENTRIES);
    for (_, path) in entries.into_iter().take(too_many) {
        fs::remove_file(path).ok();
    }
}
