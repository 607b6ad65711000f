//! Bundle: the signed policy in force. `ahp-fleet` verifies it and puts it in its place; here it is read as a layer, and only
//! where nobody but the machine's administrator may write.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::{BundleSettings, Locations};

/// The signed policy in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bundle {
    /// The name of the policy.
    pub id: String,
    /// Its version, which only rises.
    pub version: u64,
    /// Until when it should be in force; from then on its age is told.
    pub expires: DateTime<Utc>,
    /// Whether what has not happened yet is blocked once it has expired.
    pub blocks_when_expired: bool,
    /// When the server was last asked with success.
    pub checked_at: Option<DateTime<Utc>>,
    /// Since when it lies on this machine.
    pub installed_at: DateTime<Utc>,
    /// Where it lies.
    pub dir: PathBuf,
}

/// What `manifest.json` says that counts when an event is judged.
#[derive(Deserialize)]
struct Manifest {
    id: String,
    version: u64,
    expires: DateTime<Utc>,
    #[serde(default)]
    on_expired: String,
}

/// What `state.json` says that counts when an event is judged.
#[derive(Default, Deserialize)]
struct State {
    checked_at: Option<DateTime<Utc>>,
}

/// Locked bindings that only advise: who said so, why, and until when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BreakGlass {
    /// The login name.
    pub by: String,
    /// The reason, in words.
    pub reason: String,
    /// Until when.
    pub until: DateTime<Utc>,
    /// The ids of the bindings; all locked ones where there is none.
    #[serde(default)]
    pub bindings: Vec<String>,
}

impl Bundle {
    /// Finds the one in force; none where there is none.
    ///
    /// # Errors
    /// Somebody else may have written it, or it cannot be read.
    pub(super) fn find(locations: &Locations) -> Result<Option<Self>, String> {
        let Some(dir) = &locations.bundle_dir else {
            return Ok(None);
        };
        let link = dir.join("current");
        let target = match fs::read_link(&link) {
            Ok(target) => dir.join(target),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(format!("`{}`: {error}", link.display())),
        };
        let owner = locations.administrator;
        is_guarded(dir, owner, false)?;
        is_guarded(&target, owner, true)?;
        let manifest: Manifest = read(&target.join("manifest.json"))?
            .ok_or_else(|| format!("`{}` has no `manifest.json`", target.display()))?;
        // It is written when the bundle is put in its place.
        let written = fs::metadata(target.join("manifest.json")).and_then(|about| about.modified());
        let written = written.map_err(|error| format!("`{}`: {error}", target.display()))?;
        let path = dir.join("state.json");
        let state: State = read(&path)?.unwrap_or_default();
        Ok(Some(Self {
            blocks_when_expired: manifest.on_expired == "block",
            id: manifest.id,
            version: manifest.version,
            expires: manifest.expires,
            checked_at: state.checked_at,
            installed_at: written.into(),
            dir: target.canonicalize().unwrap_or(target),
        }))
    }

    /// Returns the files beside a bundle that count when an event is judged, whether they are there or not.
    pub fn files(locations: &Locations) -> impl Iterator<Item = PathBuf> {
        let dir = locations.bundle_dir.iter();
        dir.flat_map(|dir| ["state.json", "break-glass.json"].map(|name| dir.join(name)))
    }

    /// Returns its name as it is shown: `acme@42`.
    pub fn name(&self) -> String {
        format!("{}@{}", self.id, self.version)
    }

    /// Whether its time is over. A clock that was set back makes it no younger.
    pub fn has_expired(&self, now: DateTime<Utc>) -> bool {
        self.checked_at.unwrap_or(now).max(now) >= self.expires
    }

    /// Since when nobody has asked with success whether there is a newer one, where that is longer than was asked for. A
    /// server that was never reached is one that nobody has asked.
    pub fn unchecked_since(
        &self,
        asked: &BundleSettings,
        now: DateTime<Utc>,
    ) -> Option<DateTime<Utc>> {
        let since = self.checked_at.unwrap_or(self.installed_at);
        let age = now.signed_duration_since(since).to_std().ok()?;
        (age > asked.max_age).then_some(since)
    }

    /// Returns what a file is called as it is shown: `acme@42:hooks.yaml`.
    pub(super) fn display(&self, path: &Path) -> Option<String> {
        let within = path.strip_prefix(&self.dir).ok()?;
        Some(format!("{}:{}", self.name(), within.display()))
    }
}

impl BreakGlass {
    /// Reads who has broken the glass; none where nobody has, or where others than the administrator could have written it.
    pub fn find(locations: &Locations) -> Option<Self> {
        let dir = locations.bundle_dir.as_ref()?;
        let path = dir.join("break-glass.json");
        let glass = read(&path).ok()??;
        let owner = locations.administrator;
        let is_guarded =
            is_guarded(dir, owner, false).and_then(|()| is_guarded(&path, owner, false));
        is_guarded.is_ok().then_some(glass)
    }

    /// Whether it is for a binding.
    pub fn covers(&self, id: &str) -> bool {
        self.bindings.is_empty() || self.bindings.iter().any(|named| named == id)
    }
}

fn read<T: for<'a> Deserialize<'a>>(path: &Path) -> Result<Option<T>, String> {
    match fs::read(path) {
        Ok(bytes) => serde_json::from_slice(&bytes)
            .map(Some)
            .map_err(|error| format!("`{}` cannot be read: {error}", path.display())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("`{}`: {error}", path.display())),
    }
}

/// Whether nobody but its owner may change a file or directory, and, where asked, all that is in it; links are refused.
fn is_guarded(path: &Path, owner: u32, all: bool) -> Result<(), String> {
    let fault = |error: io::Error| format!("`{}`: {error}", path.display());
    let about = fs::symlink_metadata(path).map_err(fault)?;
    let is_plain = about.is_file() || about.is_dir();
    if !is_plain || about.uid() != owner || about.mode() & 0o022 != 0 {
        let shown = path.display();
        return Err(format!(
            "`{shown}` may be changed by others than the machine's administrator"
        ));
    }
    if all && about.is_dir() {
        for entry in fs::read_dir(path).map_err(fault)? {
            is_guarded(&entry.map_err(fault)?.path(), owner, true)?;
        }
    }
    Ok(())
}
