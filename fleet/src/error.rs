//! FleetError: what can go wrong here, each with where and what to do about it.

use std::io;
use std::path::{Path, PathBuf};

/// A fault that ends the command with exit code 1. It never concerns a hook: none waits for this program.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FleetError {
    /// A file or directory could not be used.
    #[error("cannot {verb} `{}`: {error}", .path.display())]
    Io {
        verb: &'static str,
        path: PathBuf,
        error: io::Error,
    },
    #[error(
        "neither XDG_STATE_HOME nor HOME names an absolute directory, so there is no place for the state"
    )]
    NoHome,
    #[error(
        "this machine has no id: /etc/machine-id is not there; set AHP_MACHINE_ID to one that stays the same"
    )]
    NoMachineId,
    #[error(
        "the salt of `settings.fleet` has {0} bytes; it needs 32 or more, or names could be found by trying"
    )]
    ShortSalt(usize),
    #[error(
        "there is no place to ship to: give `--to`, or `settings.fleet.ship.to` in /etc/ahp/hooks.yaml"
    )]
    NoTarget,
    #[error(
        "`{0}` is not a place to ship to: expected `dir:/PATH`, `https://HOST/PATH/` or `otlp:https://HOST`"
    )]
    BadTarget(String),
    #[error("the policy cannot be read: {0}")]
    Policy(String),
    #[error(transparent)]
    Log(#[from] ahp::signal_log::LogError),
    #[error("the table file `{}` cannot be {verb}: {error}", .path.display())]
    Table {
        verb: &'static str,
        path: PathBuf,
        error: String,
    },
    /// A server or a bundle was not what it had to be; the text says what and what is done about it.
    #[error("{0}")]
    Refused(String),
}

impl FleetError {
    pub(crate) fn io(verb: &'static str, path: &Path, error: io::Error) -> Self {
        Self::Io {
            verb,
            path: path.to_owned(),
            error,
        }
    }
}
