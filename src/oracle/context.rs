//! HookContext: all that an oracle may see.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use std::time::Instant;

use crate::event::Event;
use crate::fact::Facts;
use crate::signal_log::History;
use crate::trust::Trust;
use crate::workspace::Workspace;

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

    /// Returns the past.
    pub fn history(&self) -> &dyn History {
        &**self.facts.history()
    }

    /// Returns the root of the project.
    pub fn root(&self) -> &Path {
        self.facts.project_root()
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
