//! Guard: every place that no agent may change, for whoever keeps agents away from them.

mod of_git;
mod places;
mod repository;

pub use self::of_git::{HOOKS, OfGit, names};
pub use self::places::{
    GuardedDir, GuardedPlace, Places, components, entries_named, known, matches, named_below,
    of_agents, way_in,
};
pub use self::repository::Repository;

use std::path::PathBuf;
use std::sync::OnceLock;

use crate::config::{STATE_DIR, UNREAD};
use crate::place::{Relative, Roots};
use crate::trust::Trust;

/// What no agent may change in one project.
#[derive(Debug, Default)]
pub struct Guards {
    roots: Roots,
    further: Vec<GuardedDir>,
    running: Running,
    programs: Option<(Trust, bool)>,
    places: OnceLock<Places>,
}

/// What a policy runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Running {
    /// Folders with HOOK.md hooks; none where there is no hook.
    pub hooks: Vec<PathBuf>,
    /// Programs outside of the project, which may name others.
    pub programs: Vec<PathBuf>,
}

impl Guards {
    /// Makes the guards of a project: what is known of every project, and what its own policy adds.
    pub const fn new(roots: Roots, further: Vec<GuardedDir>) -> Self {
        Self {
            roots,
            further,
            running: Running {
                hooks: Vec::new(),
                programs: Vec::new(),
            },
            programs: None,
            places: OnceLock::new(),
        }
    }

    /// Guards the files of the project that may run, too; `may_extend` says whether its layers may extend other files.
    #[must_use]
    pub fn with_programs(mut self, trust: Trust, may_extend: bool) -> Self {
        self.programs = Some((trust, may_extend));
        self
    }

    /// Guards what these lead to, too, wherever that is.
    #[must_use]
    pub fn with_running(mut self, running: Running) -> Self {
        self.running = running;
        self
    }

    /// Returns what the policy runs.
    pub const fn running(&self) -> &Running {
        &self.running
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
            names: UNREAD.map(Relative::from).to_vec(),
        })
    }

    /// Returns what of git is guarded beside that, as its settings are now.
    pub fn of_git(&self) -> OfGit {
        OfGit::of(&self.roots)
    }

    /// Returns everything that is guarded, but for [`Self::of_git`]; gathered when it is first asked for.
    pub fn places(&self) -> &Places {
        self.places.get_or_init(|| {
            let known = GuardedDir::all(&self.roots, known());
            let programs = self.programs.iter().map(|(trust, may_extend)| {
                let files = trust.files(&self.roots.project, *may_extend);
                GuardedDir {
                    dir: self.roots.project.clone(),
                    names: files.into_iter().map(Relative::from).collect(),
                }
            });
            known
                .chain(self.further.iter().cloned())
                .chain(programs)
                .collect()
        })
    }
}

impl PartialEq for Guards {
    fn eq(&self, other: &Self) -> bool {
        self.roots == other.roots
            && self.further == other.further
            && self.running == other.running
            && self.programs.is_none()
            && other.programs.is_none()
    }
}
