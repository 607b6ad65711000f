//! Store: where bundles lie on a machine, and which one is in force. It belongs to the machine's owner: `ahp hook` reads it
//! only where nobody else may write.
//!
//! A bundle is in force as soon as the link `current` names it, which is renamed over: a reader sees the old one or the new
//! one. `state.json` says what else is known. Two bundles are kept.

use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use ahp::config::Locations;
use ahp::engine::Engine;
use ahp::hook_md::{Places, discover};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::archive::Files;
use super::manifest::{Manifest, NAME};
use crate::disk::{self, Mode};
use crate::error::FleetError;

/// What is known beside which bundle is in force.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct State {
    pub(super) id: Option<String>,
    pub(super) version: u64,
    /// The digest of the bundle's file.
    pub(super) digest: Option<String>,
    pub(super) expires: Option<DateTime<Utc>>,
    /// The highest version that was ever seen, in force or not for this machine yet: nothing below it is taken.
    pub(super) highest: u64,
    /// The digest of its file: a version has one content. Not known of what an older program noted.
    pub(super) highest_digest: Option<String>,
    /// When the server was last asked with success.
    pub(super) checked_at: Option<DateTime<Utc>>,
    /// What the server calls the file.
    pub(super) etag: Option<String>,
    /// The version that was in force before, which is kept.
    pub(super) previous: Option<u64>,
    /// The version that a person took back, which is not fetched again.
    pub(super) rolled_back: Option<u64>,
}

impl State {
    /// Notes which bundle is in force.
    pub(super) fn describe(&mut self, manifest: &Manifest, digest: Option<String>) {
        self.id = Some(manifest.id.clone());
        self.version = manifest.version;
        self.expires = Some(manifest.expires);
        self.see(manifest, digest.as_deref());
        self.digest = digest;
    }

    /// Notes that a bundle was seen, whether it is in force or not.
    pub(super) fn see(&mut self, manifest: &Manifest, digest: Option<&str>) {
        if manifest.version >= self.highest
            && let Some(digest) = digest
        {
            self.highest_digest = Some(digest.to_owned());
        }
        self.highest = self.highest.max(manifest.version);
    }

    /// Whether another content than this was seen under the highest version.
    pub(super) fn has_seen_other_than(&self, digest: &str) -> bool {
        let of_older_program = self
            .digest
            .as_ref()
            .filter(|_| self.version == self.highest);
        let known = self.highest_digest.as_ref().or(of_older_program);
        known.is_some_and(|known| known != digest)
    }

    /// Notes what a process that was killed had no time to note: a bundle is in force as soon as the link names it.
    pub(super) fn catch_up(&mut self, in_force: Option<&Manifest>) {
        let Some(in_force) =
            in_force.filter(|now| self.version != 0 && now.version != self.version)
        else {
            return;
        };
        if in_force.version > self.version {
            self.previous = Some(self.version);
            self.rolled_back = None;
        } else {
            self.previous = None;
            self.rolled_back = Some(self.version);
        }
        self.describe(in_force, None);
    }
}

/// The directory of the bundles.
#[derive(Clone, Debug)]
pub(super) struct Store(pub(super) PathBuf);

impl Store {
    /// Keeps others from changing it at the same time; until what is returned is dropped.
    ///
    /// # Errors
    /// The disk refuses.
    pub(super) fn lock(&self) -> Result<fs::File, FleetError> {
        let path = self.0.join(".lock");
        let locked = fs::create_dir_all(&self.0)
            .and_then(|()| {
                fs::set_permissions(&self.0, fs::Permissions::from_mode(0o755))?;
                fs::File::create(&path)
            })
            .and_then(|file| file.lock().map(|()| file));
        locked.map_err(|error| FleetError::io("lock", &path, error))
    }

    /// Reads what is known; nothing where there has never been a bundle.
    ///
    /// # Errors
    /// It cannot be read.
    pub(super) fn state(&self) -> Result<State, FleetError> {
        read_json(&self.0.join("state.json")).map(Option::unwrap_or_default)
    }

    /// Returns the manifest of the bundle in force; none where there is none.
    ///
    /// # Errors
    /// It cannot be read.
    pub(super) fn in_force(&self) -> Result<Option<Manifest>, FleetError> {
        read_json(&self.0.join("current").join(NAME))
    }

    /// Returns the manifest of a bundle that is kept.
    ///
    /// # Errors
    /// It is not there any more, or cannot be read.
    pub(super) fn read_manifest(&self, id: &str, version: u64) -> Result<Manifest, FleetError> {
        read_json(&self.dir(id, version).join(NAME))?
            .ok_or_else(|| FleetError::Refused(format!("{id}@{version} is not kept any more")))
    }

    /// Writes what is known.
    ///
    /// # Errors
    /// The disk refuses.
    pub(super) fn save(&self, state: &State) -> Result<(), FleetError> {
        self.write("state.json", state)
    }

    /// Writes a file that everybody's hooks read.
    ///
    /// # Errors
    /// The disk refuses.
    pub(super) fn write(&self, name: &str, content: &impl Serialize) -> Result<(), FleetError> {
        disk::write_whole(&self.0.join(name), &json(content), Mode::Public)
    }

    /// Keeps what the hooks of a bundle say beside it, so that no event reads them anew. Without it all holds as well.
    fn keep_readings(&self, bundle: &Path) {
        let kept = || {
            let entries = fs::read_dir(&self.0).into_iter().flatten().flatten();
            entries.map(|entry| entry.path()).filter(|path| {
                let name = path.file_name().unwrap_or_default();
                name.to_string_lossy().starts_with("hook-md-")
            })
        };
        for old in kept() {
            let _gone = fs::remove_file(old);
        }
        let bundle = bundle.canonicalize().unwrap_or_default();
        let hooks = bundle.join("hooks");
        if hooks.is_dir() {
            // A file that is hardly older than what is kept of it is read again.
            std::thread::sleep(std::time::Duration::from_millis(100));
            discover(&Places::default().bundled(hooks));
            for file in kept() {
                let _as_it_is = fs::set_permissions(file, fs::Permissions::from_mode(0o644));
            }
        }
    }

    fn dir(&self, id: &str, version: u64) -> PathBuf {
        self.0.join(format!("{id}-{version}"))
    }

    /// Lays a bundle down beside the one in force.
    ///
    /// # Errors
    /// The disk refuses; then nothing of it is left.
    pub(super) fn stage(&self, manifest: &Manifest, files: &Files) -> Result<Staged, FleetError> {
        Staged::lay_down(self.0.join(".new"), manifest, files)
    }

    /// Puts a bundle in force.
    ///
    /// # Errors
    /// The disk refuses; the old one stays.
    pub(super) fn activate(&self, id: &str, version: u64) -> Result<(), FleetError> {
        let (link, current) = (self.0.join(".current"), self.0.join("current"));
        let made = (|| {
            remove_file(&link)?;
            symlink(format!("{id}-{version}"), &link)?;
            fs::rename(&link, &current)?;
            fs::File::open(&self.0)?.sync_all()
        })();
        made.map_err(|error| FleetError::io("renew", &current, error))?;
        self.keep_readings(&self.dir(id, version));
        Ok(())
    }

    /// Removes bundles but the one in force and the one before it. What cannot be removed takes room and nothing else.
    pub(super) fn tidy(&self, state: &State, in_force: &Manifest) {
        let kept = [Some(in_force.version), state.previous]
            .map(|version| version.map(|version| self.dir(&in_force.id, version)));
        for entry in fs::read_dir(&self.0).into_iter().flatten().flatten() {
            let path = entry.path();
            let is_bundle = fs::symlink_metadata(&path).is_ok_and(|about| about.is_dir());
            if is_bundle && !kept.contains(&Some(path.clone())) {
                let _kept = fs::remove_dir_all(&path);
            }
        }
    }
}

/// A bundle that is laid down and not in force; it is removed when nobody has settled it.
#[derive(Debug)]
pub(super) struct Staged(PathBuf);

impl Staged {
    /// Lays a bundle down in a directory of its own, with a link `current` to it as where bundles are in force.
    ///
    /// # Errors
    /// The disk refuses.
    pub(super) fn lay_down(
        at: PathBuf,
        manifest: &Manifest,
        files: &Files,
    ) -> Result<Self, FleetError> {
        let fault = |path: &Path, error| FleetError::io("write", path, error);
        // One may be left by a process that was killed.
        if at.exists() {
            fs::remove_dir_all(&at).map_err(|error| fault(&at, error))?;
        }
        let staged = Self(at);
        let name = format!("{}-{}", manifest.id, manifest.version);
        let dir = staged.0.join(&name);
        disk::write_whole(&dir.join(NAME), &manifest.write(), Mode::Public)?;
        for (name, (content, is_program)) in files {
            let path = dir.join(name);
            let mode = if *is_program {
                Mode::Program
            } else {
                Mode::Public
            };
            disk::write_whole(&path, content, mode)?;
            let folders = path.ancestors().skip(1);
            for folder in folders.take_while(|folder| folder.starts_with(&dir)) {
                let open = fs::set_permissions(folder, fs::Permissions::from_mode(0o755));
                open.map_err(|error| fault(folder, error))?;
            }
        }
        let link = staged.0.join("current");
        symlink(&name, &link).map_err(|error| fault(&link, error))?;
        Ok(staged)
    }

    /// Holds it against all that `ahp check` finds in a policy.
    ///
    /// # Errors
    /// The first fault, and how many there are.
    pub(super) fn check(&self) -> Result<(), FleetError> {
        let locations = Locations {
            bundle_dir: Some(self.0.clone()),
            administrator: rustix::process::geteuid().as_raw(),
            // There is no project: what a bundle says must hold without one.
            ..Locations::of_project(self.0.join("none"))
        };
        let engine = Engine::builder().locations(locations).without_log().build();
        let engine = engine.map_err(|error| FleetError::Policy(error.to_string()))?;
        let state = engine.state();
        let hooks = state.hook_faults();
        let mut faults = state.faults().iter().chain(&hooks);
        let Some(first) = faults.next() else {
            return Ok(());
        };
        let others = match faults.count() {
            0 => String::new(),
            1 => " (and 1 more fault)".to_owned(),
            more => format!(" (and {more} more faults)"),
        };
        let told = first.one_line(state.sources());
        Err(FleetError::Refused(format!(
            "its policy has a fault: {told}{others}"
        )))
    }

    /// Moves it to where bundles lie. It is not in force yet.
    ///
    /// # Errors
    /// The disk refuses.
    pub(super) fn settle(self, store: &Store, manifest: &Manifest) -> Result<(), FleetError> {
        let dir = store.dir(&manifest.id, manifest.version);
        let from = self.0.join(format!("{}-{}", manifest.id, manifest.version));
        let moved = (|| {
            // It may lie there from before a rollback, or from a process that was killed.
            if dir.exists() {
                fs::remove_dir_all(&dir)?;
            }
            fs::rename(&from, &dir)?;
            fs::File::open(&store.0)?.sync_all()
        })();
        moved.map_err(|error| FleetError::io("write", &dir, error))
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        // What cannot be removed is removed by the next one.
        let _gone = fs::remove_dir_all(&self.0);
    }
}

/// Makes JSON that a person can read too.
pub(super) fn json(content: &impl Serialize) -> Vec<u8> {
    // What is written here are texts, numbers and times, which always can be.
    let mut bytes = serde_json::to_vec_pretty(content).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}

/// Reads a file of ours; none where it is not there.
pub(super) fn read_json<T: for<'a> Deserialize<'a>>(path: &Path) -> Result<Option<T>, FleetError> {
    match fs::read(path) {
        Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(|error| {
            FleetError::Refused(format!("`{}` cannot be read: {error}", path.display()))
        }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(FleetError::io("read", path, error)),
    }
}

/// Removes a file, if it is there.
pub(super) fn remove_file(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
