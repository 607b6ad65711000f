//! Command hooks: the JSON hook files of Claude Code, VS Code and Copilot, run under every host.

mod answer;
mod file;
mod input;
mod matcher;
mod rule;
mod run;
mod survey;

pub(crate) use self::file::HookFile;
pub(crate) use self::run::{has_unawaited, run, settle};
pub use self::survey::{HookFileSurvey, survey};

use std::time::Duration;

/// Whose file it is: the hosts agree on the outer form and differ in what it means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Dialect {
    /// Claude Code: handlers in groups with a matcher.
    Claude,
    /// Copilot CLI: lower-case event names or a `version`.
    Copilot,
    /// VS Code: handlers directly below the event, matchers without effect.
    VsCode,
}

impl Dialect {
    /// Returns how long a command may take that does not say.
    const fn timeout(self) -> Duration {
        match self {
            Self::Claude => Duration::from_mins(10),
            Self::Copilot | Self::VsCode => Duration::from_secs(30),
        }
    }
}
