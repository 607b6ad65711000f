//! Given: what a builder is told of an engine.

use std::path::PathBuf;
use std::sync::Arc;

use crate::config::{Locations, Settings};
use crate::event::Event;
use crate::workspace::Workspace;

/// Why an engine cannot be made.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// Neither locations nor a text were given.
    #[error("an engine needs a policy: give it locations or a text")]
    NoPolicy,
}

/// Where the policy comes from.
#[derive(Debug)]
pub(super) enum Origin {
    Files(Box<Locations>),
    Text(String),
}

/// Where the log goes.
#[derive(Clone, Debug, Default)]
pub(super) enum LogTarget {
    #[default]
    AsSettings,
    File(PathBuf),
    Nowhere,
}

/// Starts an `async: true` binding in the host program's own way; it is given the event and the binding's id.
pub type Background = Arc<dyn Fn(&Event, &str) + Send + Sync>;

/// Makes the workspace of one event.
pub type MakeWorkspace = Arc<dyn Fn(&Settings) -> Arc<dyn Workspace> + Send + Sync>;
