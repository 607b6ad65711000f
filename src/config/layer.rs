//! LayerSource: which layer a value comes from. The order of the enum is the order of precedence.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::diagnostic::Diagnostic;
use crate::event::Trigger;

/// Which layer a value comes from; a later one overrides an earlier one (spec §3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LayerSource {
    /// What the program itself brings: self-protection.
    #[serde(rename = "built-in")]
    BuiltIn,
    /// The signed bundle in force, `/etc/ahp/bundle/current/hooks.yaml`.
    Bundle,
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
            Self::Bundle => "bundle",
            Self::System => "system",
            Self::User => "user",
            Self::Project => "project",
            Self::Local => "local",
        }
    }

    /// Whether the layer is the machine's: only its administrator writes it.
    pub const fn is_of_machine(self) -> bool {
        matches!(self, Self::Bundle | Self::System)
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

/// One layer that was read, with the packs and files that it extends.
#[derive(Clone, Debug)]
pub struct LayerRead {
    /// Which layer it is.
    pub source: LayerSource,
    /// Its file, as it is shown.
    pub name: String,
    /// The triggers that it binds; none where a fault keeps that from being known.
    pub triggers: Option<BTreeSet<Trigger>>,
    /// Whether it is left out, because it has a fault.
    pub is_left_out: bool,
    /// The numbers of its files in the source map.
    pub(super) files: Range<usize>,
}

impl fmt::Display for LayerRead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the {} layer `{}`", self.source, self.name)
    }
}

impl LayerRead {
    /// Whether a fault stands in one of its files.
    pub fn holds(&self, fault: &Diagnostic) -> bool {
        let label = fault.label.as_ref();
        label.is_some_and(|label| self.files.contains(&usize::from(label.span.file.0)))
    }

    /// Whether it binds a trigger, as far as that can be known.
    pub fn may_bind(&self, trigger: Trigger) -> bool {
        self.triggers
            .as_ref()
            .is_none_or(|bound| bound.contains(&trigger))
    }
}
