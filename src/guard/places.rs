//! Places: what is guarded below a directory, and the places that are known without any policy.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use crate::config::OWN_PLACES;
use crate::host::HOSTS;
use crate::place::Place;

/// A directory, and what is guarded below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuardedDir {
    /// The directory.
    pub dir: PathBuf,
    /// Paths from there on, each with all below it; an empty one is the directory itself. A `*` stands for any
    /// characters of one name.
    pub names: Vec<Cow<'static, str>>,
}

impl GuardedDir {
    /// Guards one path below a directory.
    pub fn of(dir: &Path, name: impl Into<Cow<'static, str>>) -> Self {
        Self {
            dir: dir.to_owned(),
            names: vec![name.into()],
        }
    }

    /// Guards a file or directory.
    pub fn whole(path: &Path) -> Self {
        Self::of(path, "")
    }

    /// Guards a file and what lies beside it under the same name: locks, archives, parts.
    pub fn with_siblings(path: &Path) -> Option<Self> {
        let (dir, name) = (path.parent()?, path.file_name()?.to_string_lossy());
        let stem = path.file_stem()?.to_string_lossy();
        let names = [
            name.to_string(),
            format!("{name}.*"),
            format!("{stem}-*.{}*", path.extension()?.to_string_lossy()),
        ];
        Some(Self {
            dir: dir.to_owned(),
            names: names.map(Cow::Owned).to_vec(),
        })
    }

    /// Returns the paths of what is guarded, patterns as they are written.
    pub fn paths(&self) -> impl Iterator<Item = PathBuf> {
        self.names.iter().map(|name| match &**name {
            "" => self.dir.clone(),
            name => self.dir.join(name),
        })
    }
}

/// Returns the places that are known without any policy: our own, and what decides over the hooks of each host.
pub fn known() -> impl Iterator<Item = &'static Place> {
    let of_hosts = HOSTS.iter().flat_map(|host| host.places());
    OWN_PLACES.iter().chain(of_hosts)
}
