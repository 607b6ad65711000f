//! Oracle: the one trait that a check implements.

mod added;
#[doc(hidden)]
pub mod builtin;
mod catalog;
mod config;
mod context;
mod definition;
#[doc(hidden)]
pub mod external;
mod knowledge;
mod not_judged;
mod page;
#[doc(hidden)]
pub mod rhai;
mod toolchain;
mod wording;

pub use self::builtin::{Judged, allows_deed, judged};
pub use self::catalog::Catalog;
pub use self::config::{ConfigError, OracleConfig};
pub use self::context::HookContext;
pub use self::definition::{
    Build, Definition, Factory, Kind, Lookup, Programs, Registered, folded_name,
};
pub use self::knowledge::ProjectKnowledge;
pub use self::not_judged::{InPlace, NotJudged, Standing};
pub use self::page::page;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use crate::fact::Facts;
use crate::signal::Signal;
use crate::workspace::GitError;

/// How an oracle must be run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// It neither blocks nor computes for long: it is awaited in place, on the caller's thread.
    Inline,
    /// It reads files, runs programs or may take long: it gets a thread of its own, so that not even an
    /// endless loop in it delays the verdict past its timeout.
    Threaded,
}

/// A check: it judges an event and answers with signals; none means no objection.
#[async_trait]
pub trait Oracle: fmt::Debug + Send + Sync {
    /// Judges the event in `context`; an empty list accepts.
    ///
    /// # Errors
    /// An [`OracleError`] says that it could not judge; the binding's `on_error` decides what that means.
    async fn evaluate(&self, context: &HookContext) -> Result<Vec<Signal>, OracleError>;

    /// Returns how long it may take where its binding does not say and that is longer than what the settings give.
    fn timeout(&self, _facts: &Facts) -> Option<Duration> {
        None
    }

    /// Returns what it leaves to be done without being waited for; what that finds stands in the log alone.
    fn unawaited(&self, _facts: &Facts) -> Option<Arc<dyn Oracle>> {
        None
    }

    /// Returns how it must be run.
    fn mode(&self) -> Mode {
        Mode::Threaded
    }
}

/// Why an oracle could not judge.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OracleError {
    /// Something that it needs is not there or did not work.
    #[error("{0}")]
    Failed(String),
    /// There is no program to run.
    #[error("{0}")]
    NoProgram(String),
    /// What it is to run is not there, which is a failure only for a binding that insists on it.
    #[error("{0}")]
    Absent(String),
    /// It, or a program that it ran, took longer than its timeout.
    #[error("timed out: {0}")]
    TimedOut(String),
    /// It panicked.
    #[error("panicked: {0}")]
    Panicked(String),
    /// The project that it comes from is not trusted to run programs.
    #[error("{0}")]
    Untrusted(String),
    /// What it is to judge cannot be told, however often it is asked: git has no base, an input has no known form.
    #[error("{0}")]
    CannotTell(String),
}

impl OracleError {
    /// Makes the error of what git could not tell.
    pub fn of_git(error: &GitError) -> Self {
        match error {
            GitError::NoBase(_) => Self::CannotTell(error.to_string()),
            _ => Self::Failed(error.to_string()),
        }
    }

    /// Returns why the event was not judged.
    pub const fn reason(&self) -> NotJudged {
        match self {
            Self::Failed(_) | Self::NoProgram(_) | Self::Absent(_) => NotJudged::Failed,
            Self::TimedOut(_) => NotJudged::TimedOut,
            Self::Panicked(_) => NotJudged::Panicked,
            Self::Untrusted(_) => NotJudged::NotTrusted,
            Self::CannotTell(_) => NotJudged::CannotTell,
        }
    }

    /// Makes the error of something that did not work.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::Failed(message.into())
    }
}
