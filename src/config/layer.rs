//! LayerSource: which layer a value comes from. The order of the enum is the order of precedence.

use std::fmt;

use serde::Deserialize;
use serde::Serialize;

/// Which layer a value comes from; a later one overrides an earlier one (spec §3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LayerSource {
    /// What the program itself brings: self-protection.
    #[serde(rename = "built-in")]
    BuiltIn,
    /// `/etc/ahp/hooks.yaml`.
    System,
    /// `~/.ahp/hooks.yaml`.
    User,
    /// `.ahp/hooks.yaml` of the project.
    Project,
    /// `.ahp/hooks.local.yaml` of the project.
    Local,
}

impl LayerSource {
    /// Returns the name as it is shown.
    pub const fn name(self) -> &'static str {
        match self {
            Self::BuiltIn => "built-in",
            Self::System => "system",
            Self::User => "user",
            Self::Project => "project",
            Self::Local => "local",
        }
    }

    /// Whether the layer comes with the project, so that a clone brings it.
    pub const fn is_of_project(self) -> bool {
        matches!(self, Self::Project | Self::Local)
    }
}

impl fmt::Display for LayerSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
