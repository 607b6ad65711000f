//! HookContext: all that an oracle may see.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::config::CACHE_DIR;
use crate::event::Event;
use crate::fact::Facts;
use crate::guard::Guards;
use crate::oracle::OracleError;
use crate::process::Program;
use crate::signal_log::History;
use crate::trust::Trust;
use crate::workspace::{Issue, Workspace};

/// What an oracle sees of an event: the event, the project, the past, and how long it may take.
#[derive(Clone, Debug)]
pub struct HookContext {
    /// The facts of the event, shared by all its bindings.
    pub facts: Arc<Facts>,
    /// The id of the binding that is being evaluated.
    pub binding: Arc<str>,
    /// When the oracle must have answered; what it starts must be ended by then.
    pub deadline: Option<Instant>,
    /// Where an oracle may keep state of its own between events: `.ahp/` of the project, or a test's folder.
    pub state_dir: Arc<Path>,
    /// What of the project may run.
    pub trust: Trust,
    /// What no agent may change.
    pub guards: Arc<Guards>,
    /// Whether what the binding starts runs outside of the shield that the event comes from.
    pub outside: bool,
}

impl HookContext {
    /// Returns the event.
    pub fn event(&self) -> &Event {
        self.facts.event()
    }

    /// Returns the project.
    pub fn workspace(&self) -> &dyn Workspace {
        &**self.facts.workspace()
    }

    /// Returns the text of a file of the project; none where it cannot be read.
    pub(super) fn text(&self, path: &str) -> Option<String> {
        self.workspace().text(path)
    }

    /// Returns the past.
    pub fn history(&self) -> &dyn History {
        &**self.facts.history()
    }

    /// Returns the root of the project.
    pub fn root(&self) -> &Path {
        self.facts.project_root()
    }

    /// Returns the issue that the event is about; none where it is about none, or no file holds it.
    ///
    /// # Errors
    /// The issue's file cannot be understood, or something happens to an issue and nobody says to which: what an oracle asks of
    /// it then cannot be told.
    pub(in crate::oracle) fn issue(&self) -> Result<Option<&Arc<Issue>>, OracleError> {
        let issue = self
            .facts
            .issue()
            .map_err(|error| OracleError::CannotTell(format!("{error}. {}", error.remedy())))?;
        match self.facts.lacks_issue() {
            Some(why) => Err(OracleError::CannotTell(why)),
            None => Ok(issue),
        }
    }

    /// Whether programs of the project may run that no command of the policy names.
    ///
    /// # Errors
    /// Nobody trusts the project.
    pub(in crate::oracle) fn permits_programs(&self) -> Result<(), OracleError> {
        let permitted = self.trust.permits_programs();
        permitted.map_err(|error| OracleError::Untrusted(error.to_string()))
    }

    /// Returns a program as a policy may run it: not without end inside of itself, and in a project that nobody trusts it finds
    /// no other by an entry of `PATH` which leads into it.
    pub(in crate::oracle) fn held(&self, program: Program) -> Program {
        let mut program = program.of_policy(self.event().depth);
        // What lies beside the modules of the project an agent may have written: Python takes it for what they say.
        if let Some(cache) = self.guards.roots().path(&CACHE_DIR) {
            program = program.env("PYTHONPYCACHEPREFIX", cache.join("python"));
        }
        match self.trust.permits_programs() {
            Ok(()) => program,
            Err(_) => program.found_outside(self.root()),
        }
    }

    /// Returns how long the oracle may still take; at least a millisecond.
    pub fn remaining(&self) -> Option<Duration> {
        self.deadline.map(|deadline| {
            deadline
                .saturating_duration_since(Instant::now())
                .max(Duration::from_millis(1))
        })
    }
}
