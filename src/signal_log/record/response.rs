//! Response: the record of one answer, and how the machine knows that it was given here.

use serde::{Deserialize, Serialize};

use crate::machine_key::ProjectKey;
use crate::signal::{Actor, Response};

/// What the mark of an answer says.
const ANSWER: &str = "ahp answer";

/// One answer.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ResponseRecord {
    /// The answer whole.
    pub response: Response,
    /// The trigger of the answered signal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hook: Option<String>,
    /// The session of the answered signal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The binding that gave the answered signal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub binding: Option<String>,
    /// The issue, else the session, of the answered signal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// The fingerprint of the answered finding.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
    /// Why the answer was refused, where it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// By what the machine on which it was given knows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mac: Option<String>,
}

impl ResponseRecord {
    /// Lets it be known as an answer that was given on this machine.
    pub(in crate::signal_log) fn sign(&mut self, key: &ProjectKey) {
        self.mac = self.with_said(|said| key.mac(ANSWER, said));
    }

    /// Whether it was given on this machine.
    pub(in crate::signal_log) fn is_by(&self, key: &ProjectKey) -> bool {
        let mac = self.mac.as_deref();
        mac.is_some_and(|mac| self.with_said(|said| key.verifies(ANSWER, said, mac)))
    }

    /// Calls with all that an answer does.
    fn with_said<T>(&self, call: impl FnOnce(&[&str]) -> T) -> T {
        let Response {
            signal_id,
            consumed_at,
            action,
            details: _,
            by,
            inferred,
        } = &self.response;
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        call(&[
            &signal_id.to_string(),
            &consumed_at.to_rfc3339(),
            action.name(),
            match by {
                Actor::Agent => "agent",
                Actor::Human => "human",
            },
            if *inferred { "inferred" } else { "said" },
            &text(&self.hook),
            &text(&self.session_id),
            &text(&self.binding),
            &text(&self.subject),
            &text(&self.fingerprint),
            if self.refused.is_some() {
                "refused"
            } else {
                "taken"
            },
        ])
    }
}
