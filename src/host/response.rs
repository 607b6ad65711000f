//! HostResponse: what is to be said to a host, reduced to what it can carry at this event.

use serde_json::{Map, Value};

use crate::verdict::Verdict;

use super::HostEvent;

/// How an operation is held up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Objection {
    /// The words for the agent: reason, steps, how to respond.
    pub agent: String,
    /// The words for a person: one line.
    pub person: String,
    /// Whether the person is asked, in place of a plain no.
    pub ask: bool,
}

/// What is to be said; an adapter writes each part in its host's form and leaves none out.
#[derive(Clone, Debug)]
pub struct HostResponse<'a> {
    /// The host's event.
    pub host_event: &'a HostEvent,
    /// The event, as the host spelled it.
    pub event: &'a str,
    /// What holds the operation up.
    pub objection: Option<Objection>,
    /// What to give the tool in place of its input: all of it, or for a host that merges, the changed keys.
    pub input: Option<Value>,
    /// Words for the agent beside the operation.
    pub context: Option<String>,
    /// Words for the person.
    pub notice: Option<String>,
    /// Why the whole run of the agent ends, where the event can end it.
    pub ends: Option<String>,
    /// All of it, for a host that speaks AHP's own form.
    pub verdict: &'a Verdict,
}

impl<'a> HostResponse<'a> {
    /// Starts a response that says nothing yet.
    pub(super) const fn nothing(
        host_event: &'a HostEvent,
        event: &'a str,
        verdict: &'a Verdict,
    ) -> Self {
        Self {
            host_event,
            event,
            objection: None,
            input: None,
            context: None,
            notice: None,
            ends: None,
            verdict,
        }
    }
}

impl HostResponse<'_> {
    /// Whether there is nothing to say.
    pub fn is_empty(&self) -> bool {
        self.objection.is_none()
            && self.input.is_none()
            && self.context.is_none()
            && self.notice.is_none()
            && self.ends.is_none()
    }

    /// Starts the JSON that the Claude family shares: `systemMessage` for the person, and `continue: false` for the end.
    pub(super) fn with_notice(&self) -> Map<String, Value> {
        let mut out = Map::new();
        if let Some(notice) = &self.notice {
            out.insert("systemMessage".to_owned(), notice.as_str().into());
        }
        if let Some(reason) = &self.ends {
            out.insert("continue".to_owned(), false.into());
            out.insert("stopReason".to_owned(), reason.as_str().into());
        }
        out
    }

    /// Makes the `hookSpecificOutput` that the Claude family shares; `hookEventName` is never left out.
    pub(super) fn specific(&self) -> Map<String, Value> {
        let mut out = Map::new();
        out.insert("hookEventName".to_owned(), self.event.into());
        if let Some(context) = &self.context {
            out.insert("additionalContext".to_owned(), context.as_str().into());
        }
        out
    }
}
