//! EngineBuilder: puts an engine together.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, RwLock};

use super::given::{Background, EngineError, LogTarget, MakeWorkspace, Origin};
use super::places::project_dir;
use super::state::State;
use super::{Clock, Engine, Keeper, SystemClock};
use crate::config::Locations;
use crate::event::{Event, GitHook, Trigger};
use crate::oracle::{Catalog, Definition, Oracle};
use crate::session::Store;
use crate::signal_log::History;
use crate::workspace::Workspace;

/// Puts an engine together: where the policy comes from, which oracles there are, where the log goes.
#[derive(Default)]
pub struct EngineBuilder {
    origin: Option<Origin>,
    root: Option<PathBuf>,
    catalog: Option<Catalog>,
    clock: Option<Arc<dyn Clock>>,
    log: LogTarget,
    history: Option<Arc<dyn History>>,
    workspace: Option<MakeWorkspace>,
    background: Option<Background>,
    environment: Option<String>,
    home: Option<PathBuf>,
    state_dir: Option<PathBuf>,
    script_dirs: Vec<PathBuf>,
    report_skipped: bool,
    only: Option<Trigger>,
    keeper: Option<Keeper>,
    by_event_time: bool,
}

impl fmt::Debug for EngineBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EngineBuilder")
            .field("origin", &self.origin)
            .field("root", &self.root)
            .finish_non_exhaustive()
    }
}

impl EngineBuilder {
    /// Takes the policy of the layers that lie around a project, and reads them again when they change.
    #[must_use]
    pub fn locations(mut self, locations: Locations) -> Self {
        self.root
            .get_or_insert_with(|| locations.project_root.clone());
        self.origin = Some(Origin::Files(Box::new(locations)));
        self
    }

    /// Takes the policy from a text in the form of `hooks.yaml`, as a project layer.
    #[must_use]
    pub fn policy_text(mut self, text: impl Into<String>) -> Self {
        self.origin = Some(Origin::Text(text.into()));
        self
    }

    /// Sets the root of the project; by default that of the locations, else the current directory's name alone.
    #[must_use]
    pub fn root(mut self, root: impl Into<PathBuf>) -> Self {
        self.root = Some(root.into());
        self
    }

    /// Adds an oracle that takes a configuration.
    #[must_use]
    pub fn register(mut self, definition: Definition) -> Self {
        self.catalog
            .get_or_insert_with(Catalog::default)
            .register(definition);
        self
    }

    /// Adds an oracle that takes none.
    #[must_use]
    pub fn oracle(mut self, name: &str, oracle: Arc<dyn Oracle>) -> Self {
        self.catalog
            .get_or_insert_with(Catalog::default)
            .register_oracle(name, oracle);
        self
    }

    /// Sets the clock; by default the machine's.
    #[must_use]
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = Some(clock);
        self
    }

    /// Writes no log, and remembers nothing.
    #[must_use]
    pub fn without_log(mut self) -> Self {
        self.log = LogTarget::Nowhere;
        self
    }

    /// Writes the log to a file, whatever the settings say.
    #[must_use]
    pub fn log_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.log = LogTarget::File(path.into());
        self
    }

    /// Sets what is known of the past, in the place of the log's.
    #[must_use]
    pub fn history(mut self, history: Arc<dyn History>) -> Self {
        self.history = Some(history);
        self
    }

    /// Sets how the workspace of an event is made; by default it is the project on the disk.
    #[must_use]
    pub fn workspace(mut self, make: MakeWorkspace) -> Self {
        self.workspace = Some(make);
        self
    }

    /// Sets how `async: true` bindings are started; by default on a thread of this process.
    #[must_use]
    pub fn background(mut self, background: Background) -> Self {
        self.background = Some(background);
        self
    }

    /// Sets the environment where neither the event nor the settings name one.
    #[must_use]
    pub fn environment(mut self, environment: impl Into<String>) -> Self {
        self.environment = Some(environment.into());
        self
    }

    /// Sets the user's home directory, for `~` in command lines.
    #[must_use]
    pub fn home(mut self, home: impl Into<PathBuf>) -> Self {
        self.home = Some(home.into());
        self
    }

    /// Sets where oracles keep state of their own between events; by default `.ahp/` of the project.
    #[must_use]
    pub fn state_dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.state_dir = Some(dir.into());
        self
    }

    /// Looks for script oracles in these directories too, behind those that the settings name.
    #[must_use]
    pub fn scripts_in(mut self, directories: impl IntoIterator<Item = PathBuf>) -> Self {
        self.script_dirs.extend(directories);
        self
    }

    /// Reports bindings whose `when` does not hold too; that costs time in proportion to their number.
    #[must_use]
    pub const fn report_skipped(mut self, report: bool) -> Self {
        self.report_skipped = report;
        self
    }

    /// Prepares for events of one trigger alone, and the issue events that they bring with them: a policy that was
    /// checked before and has not changed is then taken from the user's cache, without reading the rest of it.
    #[must_use]
    pub const fn only(mut self, trigger: Trigger) -> Self {
        self.only = Some(trigger);
        self
    }

    /// Sets where what marks count is kept; by default in the user's state directory, and nowhere without locations.
    #[must_use]
    pub fn keeper(mut self, keeper: Keeper) -> Self {
        self.keeper = Some(keeper);
        self
    }

    /// Counts by the times that the events tell, where they tell one: for events of the past.
    #[must_use]
    pub const fn by_event_time(mut self) -> Self {
        self.by_event_time = true;
        self
    }

    /// Makes the engine. A policy with faults makes one too: it blocks what has not happened yet, and says why.
    ///
    /// # Errors
    /// No policy was given.
    pub fn build(self) -> Result<Engine, EngineError> {
        let origin = self.origin.ok_or(EngineError::NoPolicy)?;
        let root = self.root.unwrap_or_else(|| PathBuf::from("."));
        let (home, environment, state_dir) = match &origin {
            Origin::Files(l) => (l.home.clone(), l.environment.clone(), project_dir(l)),
            Origin::Text(_) => (None, None, root.join(".ahp")),
        };
        let keeper = self.keeper.unwrap_or_else(|| match &origin {
            Origin::Files(l) => (l.state_dir.as_deref()).map_or(Keeper::Nowhere, |dir| {
                Keeper::Files(Store::new(dir, &l.project_root))
            }),
            Origin::Text(_) => Keeper::Nowhere,
        });
        let log = match (&origin, self.log) {
            // A policy without files has no place of its own to log to.
            (Origin::Text(_), LogTarget::AsSettings) => LogTarget::Nowhere,
            (_, log) => log,
        };
        let mut shared = Shared {
            origin,
            catalog: self.catalog.unwrap_or_default(),
            clock: self.clock.unwrap_or_else(|| Arc::new(SystemClock)),
            log,
            history: self.history,
            make_workspace: self.workspace,
            background: self.background,
            environment: self.environment.or(environment),
            home: self.home.or(home),
            state_dir: self.state_dir.unwrap_or(state_dir).into(),
            root,
            script_dirs: self.script_dirs,
            report_skipped: self.report_skipped,
            only: self.only,
            keeper,
            by_event_time: self.by_event_time,
            state: RwLock::new(None),
        };
        let state = Arc::new(State::load(&shared));
        shared.state = RwLock::new(Some(state));
        Ok(Engine {
            shared: Arc::new(shared),
        })
    }
}

/// What all clones of an engine share.
pub(super) struct Shared {
    pub(super) origin: Origin,
    pub(super) catalog: Catalog,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) log: LogTarget,
    pub(super) history: Option<Arc<dyn History>>,
    pub(super) make_workspace: Option<MakeWorkspace>,
    pub(super) background: Option<Background>,
    pub(super) environment: Option<String>,
    pub(super) home: Option<PathBuf>,
    pub(super) state_dir: Arc<Path>,
    pub(super) root: PathBuf,
    pub(super) script_dirs: Vec<PathBuf>,
    pub(super) report_skipped: bool,
    pub(super) only: Option<Trigger>,
    pub(super) keeper: Keeper,
    pub(super) by_event_time: bool,
    state: RwLock<Option<Arc<State>>>,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine")
            .field("root", &self.root)
            .field("origin", &self.origin)
            .finish_non_exhaustive()
    }
}

impl Shared {
    /// Returns the policy in force, read again if a file that it came from has changed.
    pub(super) fn state(&self) -> Arc<State> {
        // A thread that panicked while it held the lock left a whole value behind: states are only swapped.
        let current = self
            .state
            .read()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .clone();
        match current {
            Some(state) if state.is_current(&*self.clock) => state,
            current => {
                if current.is_some() {
                    tracing::info!("reads the policy of {} again", self.root.display());
                }
                let state = Arc::new(State::load(self));
                *self
                    .state
                    .write()
                    .unwrap_or_else(std::sync::PoisonError::into_inner) = Some(state.clone());
                state
            }
        }
    }

    /// Makes the workspace of one event.
    pub(super) fn workspace(&self, state: &State, event: &Event) -> Arc<dyn Workspace> {
        let index = match event.git.as_deref() {
            Some(GitHook::Commit(index)) => Some(index.clone()),
            _ => None,
        };
        match &self.make_workspace {
            Some(make) => make(state.policy().settings()),
            None => Arc::new(state.workspace().committing(index)),
        }
    }

    /// Returns the root of the project.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }
}
