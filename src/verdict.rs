//! Verdict: many signals become the one answer that a host gets (spec §5.2).

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use crate::event::Trigger;
use crate::session::MarkRecord;
use crate::signal::{Intensity, Signal};

/// Whether the operation may go on. The order is the order of force, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// Nobody had an objection or anything to add: a host must not be told "allow" then.
    None,
    /// It goes on, with something to say or to change.
    Allow,
    /// A person must be asked first.
    Ask,
    /// It does not go on.
    Block,
}

impl Decision {
    /// Returns the name as it is written.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Block => "block",
        }
    }

    /// Returns what a set of signals adds up to; their order does not matter.
    pub fn of(signals: &[Signal]) -> Self {
        signals
            .iter()
            .map(|signal| match signal.intensity() {
                Intensity::Block => Self::Block,
                Intensity::Prompt if signal.asks() => Self::Ask,
                Intensity::Control | Intensity::Prompt | Intensity::Aid => Self::Allow,
            })
            .max()
            .unwrap_or(Self::None)
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// What became of one binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Outcome {
    /// Its oracle had no objection.
    Accepted,
    /// Its oracle gave signals.
    Signalled,
    /// Its `when` does not hold.
    Skipped,
    /// An earlier block stopped it.
    NotRun,
    /// It is switched off.
    Disabled,
    /// Its oracle failed, panicked or ran out of time.
    Failed,
    /// It was started and not waited for.
    Started,
}

impl Outcome {
    /// Returns the name as it is written.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Signalled => "signalled",
            Self::Skipped => "skipped",
            Self::NotRun => "not-run",
            Self::Disabled => "disabled",
            Self::Failed => "failed",
            Self::Started => "started",
        }
    }
}

/// What became of one binding, and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BindingReport<S = String> {
    /// The binding's id.
    pub id: S,
    /// The oracle, in kebab-case.
    pub oracle: S,
    /// What became of it.
    pub outcome: Outcome,
    /// `file:line` of the binding.
    pub source: S,
    /// How long its oracle took, in microseconds.
    pub duration_us: u64,
    /// Why it failed.
    pub error: Option<S>,
    /// The answered signals whose answers held back or changed what it found: an `acknowledge` or `dismiss` goes
    /// on holding, a `reject_modification` is used up by standing here, and a `proceed_with_risk` where nothing else blocks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waived: Vec<Uuid>,
}

impl BindingReport {
    /// Returns it with its texts held otherwise, borrowed as a rule.
    pub(crate) fn to<'a, S: From<&'a str>>(&'a self) -> BindingReport<S> {
        BindingReport {
            id: self.id.as_str().into(),
            oracle: self.oracle.as_str().into(),
            outcome: self.outcome,
            source: self.source.as_str().into(),
            duration_us: self.duration_us,
            error: self.error.as_deref().map(S::from),
            waived: self.waived.clone(),
        }
    }
}

/// The answer to one event.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Verdict {
    /// The event's trigger.
    pub trigger: Trigger,
    /// Whether the operation may go on.
    pub decision: Decision,
    /// The tool's whole input with every control applied; none where nothing changes it.
    pub modified_input: Option<Value>,
    /// All signals, in the order of the configuration.
    pub signals: Vec<Signal>,
    /// What became of each binding of the trigger, in the order of the configuration.
    pub bindings: Vec<BindingReport>,
    /// How long the whole evaluation took, in microseconds.
    pub duration_us: u64,
    /// What the event did to each mark that it feeds, ends or asks for.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub marks: BTreeMap<String, MarkRecord>,
    /// What a person should know that is not a signal: a log that cannot be written.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

impl Verdict {
    /// Makes the verdict of an event that no binding had anything to say about.
    pub fn none(trigger: Trigger) -> Self {
        Self {
            trigger,
            decision: Decision::None,
            modified_input: None,
            signals: Vec::new(),
            bindings: Vec::new(),
            duration_us: 0,
            marks: BTreeMap::new(),
            warnings: Vec::new(),
        }
    }

    /// Makes the verdict that signals add up to.
    pub fn of(trigger: Trigger, signals: Vec<Signal>) -> Self {
        Self {
            decision: Decision::of(&signals),
            signals,
            ..Self::none(trigger)
        }
    }

    /// Whether the operation must not go on without somebody's answer.
    pub fn stops(&self) -> bool {
        self.decision >= Decision::Ask
    }
}
