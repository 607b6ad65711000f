//! BindingSpec: one binding of the merged layers, as written, with the place of every value.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{LayerSource, Node, OnError};
use crate::diagnostic::Span;
use crate::signal::Strength;

/// What a binding names: an oracle, or one HOOK.md hook.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Target {
    /// `oracle: NAME`.
    Oracle(String),
    /// `hook: NAME`.
    Hook(String),
    /// A HOOK.md hook that runs without being named by a layer.
    Found {
        /// Its name.
        name: String,
        /// Its folder.
        dir: PathBuf,
    },
}

impl Target {
    /// Returns the name as it is written.
    pub fn name(&self) -> &str {
        match self {
            Self::Oracle(name) | Self::Hook(name) | Self::Found { name, .. } => name,
        }
    }

    /// Whether it is a HOOK.md hook.
    pub const fn is_hook(&self) -> bool {
        !matches!(self, Self::Oracle(_))
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Oracle(name) => write!(f, "the oracle `{name}`"),
            Self::Hook(name) | Self::Found { name, .. } => write!(f, "the hook `{name}`"),
        }
    }
}

/// `intensity:` of a binding.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Ceiling {
    /// One for all contexts.
    Fixed(Strength),
    /// `by:` a fact, or the severity of a finding: the node of the map, already checked.
    By(Node),
}

/// What `settings.on_error` said when a binding was locked, if it said anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockedOnError(pub Option<OnError>);

/// `escalate:` of a binding (spec §7).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Escalation {
    /// What the first, second, third and later violation gives.
    pub steps: Vec<Strength>,
    /// Whether violations are counted by issue; else by session.
    pub per_issue: bool,
}

/// One binding after merging.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BindingSpec {
    /// Unique in its trigger.
    pub id: String,
    /// What it names.
    pub target: Target,
    /// `config:`, a map.
    pub config: Node,
    /// `when:` of the trigger's map form, if there is one.
    pub group_when: Option<Node>,
    /// `when:` of the binding itself.
    pub when: Option<Node>,
    /// The stage: lower numbers run first.
    pub priority: i64,
    /// Whether it runs at all.
    pub enabled: bool,
    /// Whether its result is not waited for.
    pub is_async: bool,
    /// How long its oracle may take; else `settings.timeout`.
    pub timeout: Option<Duration>,
    /// What it gives where it does not judge.
    pub on_error: Option<OnError>,
    /// What `settings.on_error` said when it was locked; else what it says in the end.
    pub on_failure: Option<LockedOnError>,
    /// The ceiling of what it gives.
    pub intensity: Option<Ceiling>,
    /// How repeated violations grow stronger.
    pub escalate: Option<Escalation>,
    /// Whether `proceed_with_risk` may lift its block.
    pub overridable: bool,
    /// Whether what it starts runs outside of a shield: the layers of the system and the user say so, and no layer of the
    /// project has a part in it.
    pub outside: bool,
    /// Whether later layers may not touch it.
    pub locked: bool,
    /// The keys that they may give all the same: `timeout`, `config.allow_commands`.
    pub open: Vec<String>,
    /// The layer that named it first.
    pub layer: LayerSource,
    /// Where it stands, in the layer that touched it last.
    pub span: Span,
    /// Where each key that was given came from: key, layer, place. Later entries override earlier ones.
    pub provenance: Vec<Provenance>,
}

impl BindingSpec {
    /// Makes a binding that no layer writes, with every default.
    pub fn unwritten(
        id: impl Into<String>,
        target: Target,
        layer: LayerSource,
        span: Span,
    ) -> Self {
        Self {
            id: id.into(),
            target,
            config: Node::empty_map(span),
            group_when: None,
            when: None,
            priority: 0,
            enabled: true,
            is_async: false,
            timeout: None,
            on_error: None,
            on_failure: None,
            intensity: None,
            escalate: None,
            overridable: false,
            outside: false,
            locked: false,
            open: Vec::new(),
            layer,
            span,
            provenance: Vec::new(),
        }
    }

    /// Whether a layer writes it; else it is the program's own or that of a HOOK.md hook.
    pub fn is_written(&self) -> bool {
        self.layer != LayerSource::BuiltIn && !matches!(self.target, Target::Found { .. })
    }

    /// Returns the place where a key was written last, or that of the binding.
    pub fn span_of(&self, key: &str) -> Span {
        let mut given = self.provenance.iter().rev().filter(|p| p.key == key);
        given.next().map_or(self.span, |p| p.span)
    }
}

/// Where one value came from.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Provenance {
    /// The dotted key: `priority`, `config.max_files`.
    pub key: String,
    /// The layer.
    pub layer: LayerSource,
    /// The place of the value.
    pub span: Span,
}
