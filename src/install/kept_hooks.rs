//! KeptHooks: how the hooks of a host stood when they were last known to be right, to tell a change of its settings that leaves
//! them alone.

use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::place::Scope;
use crate::regular_file;
use crate::signal::hex;

use super::{InstallError, Installer, Places, Wire};

/// The hooks by which a host asks `ahp` in a project, and what switches them off.
#[derive(Debug)]
pub struct KeptHooks {
    /// Where it is noted in the user's state directory.
    file: PathBuf,
    now: String,
}

impl KeptHooks {
    /// Reads how they stand; none where the host does not tell of changes, or where they cannot be read.
    pub fn of(installer: &Installer, places: &Places, state_dir: &Path) -> Option<Self> {
        installer
            .host
            .events
            .iter()
            .find(|event| event.is_settings)?;
        let scopes = Scope::ALL.into_iter();
        let wires = scopes.map(|scope| installer.wires(places, scope, None));
        let wires: Result<Vec<Vec<Wire>>, InstallError> = wires.collect();
        let off = installer.switched_off(places).ok()?;
        let all = format!(
            "{:?} {off:?} {:?} {:?}",
            wires.ok()?,
            installer.plugin(places),
            installer.disarming(places)
        );
        let whose = format!("{} {}", installer.host.name, places.roots.project.display());
        Some(Self {
            file: state_dir.join("wires").join(digest(&whose)),
            now: digest(&all),
        })
    }

    /// Whether they stand as they did when they were last kept.
    pub fn is_known(&self) -> bool {
        regular_file::text(&self.file, 1 << 10).is_ok_and(|kept| kept == self.now)
    }

    /// Notes that they are right as they stand. What cannot be written makes nobody wait: it is not known then.
    pub fn keep(&self) {
        if let Some(dir) = self.file.parent().filter(|_| !self.is_known()) {
            fs::create_dir_all(dir).ok();
            regular_file::replace(Some(dir), &self.file, self.now.as_bytes()).ok();
        }
    }
}

fn digest(text: &str) -> String {
    hex(&Sha256::digest(text.as_bytes()))
}
