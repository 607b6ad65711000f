//! Response: what an agent or a person answers to a signal (S4 §4.3).

use std::fmt;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

use super::Intensity;

macro_rules! actions {
    ($($variant:ident $name:literal $intensity:ident $doc:literal;)*) => {
        /// What is done about a signal; each intensity has its own.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Action {
            $(#[doc = $doc] $variant,)*
        }

        impl Action {
            /// Every action.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Returns the name as it is written.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// Returns the intensity that it answers.
            pub const fn answers(self) -> Intensity {
                match self { $(Self::$variant => Intensity::$intensity,)* }
            }

            /// Returns one line on what it says.
            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$variant => $doc,)* }
            }
        }
    };
}

actions! {
    RetryAfterFix "retry_after_fix" Block "The cause is fixed and the operation tried again.";
    ProceedWithRisk "proceed_with_risk" Block "The operation goes on all the same, where the binding allows it.";
    Abort "abort" Block "The operation is given up.";
    AcceptModification "accept_modification" Control "The changed parameters are taken.";
    RejectModification "reject_modification" Control "The changed parameters are refused.";
    Acknowledge "acknowledge" Prompt "The warning is understood and the operation goes on.";
    ApplySuggestion "apply_suggestion" Prompt "A suggestion is followed.";
    Dismiss "dismiss" Prompt "The warning does not apply.";
    SuggestionApplied "suggestion_applied" Aid "The advice was followed.";
    SuggestionDeferred "suggestion_deferred" Aid "The advice is left for later.";
}

impl Action {
    /// Finds an action by its name.
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|a| a.name() == name)
    }

    /// Returns the actions that answer signals of an intensity.
    pub fn for_intensity(intensity: Intensity) -> impl Iterator<Item = Self> {
        Self::ALL
            .iter()
            .copied()
            .filter(move |a| a.answers() == intensity)
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Who answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Actor {
    /// The agent.
    #[default]
    Agent,
    /// A person.
    Human,
}

/// One answer to one signal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Response {
    /// The signal that is answered.
    pub signal_id: Uuid,
    /// When it was answered.
    pub consumed_at: DateTime<Utc>,
    /// What is done about it.
    pub action: Action,
    /// Whatever else was said.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub details: Map<String, Value>,
    /// Who answered.
    #[serde(default)]
    pub by: Actor,
    /// Whether it was concluded from what the agent did next, not said by it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub inferred: bool,
}

impl Response {
    /// Whether somebody has answered: outright, or a person in the dialog of her host. All else is concluded of what came next.
    pub fn is_said(&self) -> bool {
        !self.inferred || self.by == Actor::Human
    }
}
