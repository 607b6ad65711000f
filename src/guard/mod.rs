//! Guard: every place that no agent may change, for whoever keeps agents away from them.

mod of_git;
mod places;
mod repository;

pub use self::of_git::{HOOKS, OfGit, names};
pub use self::places::{GuardedDir, known};
pub use self::repository::Repository;

use std::borrow::Cow;
use std::collections::HashSet;
use std::path::Path;
use std::sync::OnceLock;

use foldhash::fast::RandomState;

use crate::config::{STATE_DIR, UNREAD};
use crate::place::Roots;
use crate::trust::Trust;

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

    /// Returns what of git is guarded beside that, as its settings are now.
    pub fn of_git(&self) -> OfGit {
        OfGit::of(&self.roots)
    }

    /// Returns everything that is guarded, but for [`Self::of_git`], by the directory that it lies below; computed when it is
    /// first asked for.
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
