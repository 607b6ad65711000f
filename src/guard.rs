//! Guard: every place that no agent may change, for whoever keeps agents away from them.

use std::borrow::Cow;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use foldhash::fast::RandomState;

use crate::config::{OWN_PLACES, STATE_DIR, UNREAD};
use crate::host::HOSTS;
use crate::place::{Place, Roots};
use crate::trust::Trust;

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

/// What no agent may change in one project.
#[derive(Debug, Default)]
pub struct Guards {
    roots: Roots,
    further: Vec<GuardedDir>,
    programs: Option<Trust>,
    dirs: OnceLock<Vec<GuardedDir>>,
}

impl Guards {
    /// Makes the guards of a project: what is known of every project, and what its own policy adds.
    pub const fn new(roots: Roots, further: Vec<GuardedDir>) -> Self {
        Self {
            roots,
            further,
            programs: None,
            dirs: OnceLock::new(),
        }
    }

    /// Guards the files of the project that may run, too.
    #[must_use]
    pub fn with_programs(mut self, trust: Trust) -> Self {
        self.programs = Some(trust);
        self
    }

    /// Returns the directories below which places lie.
    pub const fn roots(&self) -> &Roots {
        &self.roots
    }

    /// Returns what the policy adds.
    pub fn further(&self) -> impl Iterator<Item = &GuardedDir> {
        self.further.iter()
    }

    /// Returns what no agent may even read, by the directory that it lies in.
    pub fn unread(&self) -> impl Iterator<Item = GuardedDir> {
        self.roots.all(&STATE_DIR).map(|(dir, name)| GuardedDir {
            dir: dir.join(&*name),
            names: UNREAD.map(Cow::Borrowed).to_vec(),
        })
    }

    /// Returns everything that is guarded, by the directory that it lies below; computed when it is first asked for.
    pub fn dirs(&self) -> &[GuardedDir] {
        self.dirs.get_or_init(|| {
            let mut dirs = Dirs::default();
            for place in known() {
                for (dir, name) in self.roots.all(place) {
                    dirs.add(dir, name);
                }
            }
            for further in &self.further {
                for name in &further.names {
                    dirs.add(&further.dir, name.clone());
                }
            }
            if let Some(trust) = &self.programs {
                for file in trust.files(&self.roots.project) {
                    dirs.add(&self.roots.project, file.into());
                }
            }
            dirs.all
        })
    }
}

impl PartialEq for Guards {
    fn eq(&self, other: &Self) -> bool {
        self.roots == other.roots
            && self.further == other.further
            && self.programs.is_none()
            && other.programs.is_none()
    }
}

/// Guarded places while they are gathered, each once: several hosts share some.
#[derive(Default)]
struct Dirs {
    all: Vec<GuardedDir>,
    /// The names of each.
    known: HashSet<(usize, Cow<'static, str>), RandomState>,
}

impl Dirs {
    fn add(&mut self, dir: &Path, name: Cow<'static, str>) {
        // Letter by letter: what is the same by parts alone may well stand twice.
        let is_same = |known: &GuardedDir| known.dir.as_os_str() == dir.as_os_str();
        let at = self.all.iter().position(is_same);
        let at = at.unwrap_or(self.all.len());
        if !self.known.insert((at, name.clone())) {
            return;
        }
        match self.all.get_mut(at) {
            Some(known) => known.names.push(name),
            None => self.all.push(GuardedDir::of(dir, name)),
        }
    }
}
