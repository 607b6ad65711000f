//! Asked: questions about calls, of which the host's person says yes or no in a dialog that only the host sees.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::event::{Event, Trigger};
use crate::signal::{Intensity, digest};
use crate::verdict::{Decision, Verdict};

/// What a signal of a question was about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AskedAbout {
    /// By what its call is known again.
    pub call: String,
    /// Whether the host puts the question to its person; else nobody is asked, or a program.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub person: bool,
}

impl AskedAbout {
    /// Returns what is asked about by the signals of a verdict; none where it asks nothing about a call.
    pub fn of(event: &Event, verdict: &Verdict, person: bool) -> Option<Self> {
        let asks = verdict.trigger == Trigger::PreToolUse && verdict.decision == Decision::Ask;
        let call = asks.then(|| call_of(event)).flatten()?;
        Some(Self { call, person })
    }
}

/// A signal of a question of which it is not known how it was answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenQuestion {
    /// The signal.
    pub(crate) id: Uuid,
    /// What it was about.
    #[serde(flatten)]
    pub(crate) about: AskedAbout,
    /// When it was given: all that one question says was given at once.
    pub(crate) at: DateTime<Utc>,
    pub(crate) binding: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) subject: Option<String>,
    pub(crate) fingerprint: String,
    pub(crate) intensity: Intensity,
}

/// Returns by what the call of an event is known again: the host's name for it, else the tool and its input.
pub(super) fn call_of(event: &Event) -> Option<String> {
    let tool = event.tool.as_ref()?;
    Some(match &tool.use_id {
        Some(id) => digest(["use", id]),
        None => digest(["call", &tool.name, &tool.input.to_string()]),
    })
}
