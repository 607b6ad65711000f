//! Evaluation: an evaluated event, written straight into the text of its record.
//!
//! Every event becomes a record, so this one borrows its texts, and the event is not built as a value first.

use serde_json::value::{RawValue, to_raw_value};
use sha2::{Digest as _, Sha256};

use super::record::short;
use super::redact::Redactor;
use super::{Body, EvaluationRecord, Text};
use crate::config::LogEvents;
use crate::event::{Event, Subagent};
use crate::signal::hex;
use crate::verdict::{Outcome, Verdict};

/// An evaluated event, on its way into the log.
#[derive(Clone, Copy, Debug)]
pub struct Evaluation<'a> {
    /// The event, with the controls of its oracles applied.
    pub event: &'a Event,
    /// What it came to.
    pub verdict: &'a Verdict,
    /// How many bindings of the trigger had a `when` that did not hold.
    pub skipped: usize,
    /// The digest of the policy that judged; empty where it came from no file.
    pub policy: &'a str,
    /// What else is to be known of it.
    pub note: Option<&'a str>,
}

impl Evaluation<'_> {
    /// Returns the record as a JSON object, cleaned; of the event it holds what `events` allows.
    pub(super) fn text(
        &self,
        redactor: &Redactor,
        events: LogEvents,
    ) -> serde_json::Result<Vec<u8>> {
        let event = to_raw_value(self.event)?;
        let digest = hex(Sha256::digest(event.get()).get(..8).unwrap_or_default());
        let kept = match events {
            LogEvents::None => None,
            LogEvents::Full => Some(event),
            LogEvents::Redacted if redactor.leaves(event.get()) => Some(event),
            LogEvents::Redacted => Some(RawValue::from_string(redactor.event(self.event)?)?),
        };
        let reports = self.verdict.bindings.iter();
        let reports = redactor.reports(reports.filter(|r| r.outcome != Outcome::Skipped));
        // A name that is cut first may no longer be known for a secret.
        let cleaned = |name: Option<&str>| {
            let clean = |name: &str| {
                redactor
                    .without_secrets(name)
                    .unwrap_or_else(|| name.to_owned())
            };
            name.map(clean)
        };
        let subagent = self.event.subagent.as_ref();
        let agent = cleaned(subagent.and_then(Subagent::called));
        let agent_id = cleaned(subagent.and_then(Subagent::own_name));
        serde_json::to_vec(&Body::Evaluation(Box::new(EvaluationRecord {
            digest: digest.as_str().into(),
            ahp: Some(env!("CARGO_PKG_VERSION").into()),
            policy: (!self.policy.is_empty()).then(|| self.policy.into()),
            note: self.note.map(Into::into),
            agent: agent.as_deref().map(|name| short(name).into()),
            agent_id: agent_id.as_deref().map(|id| short(id).into()),
            event: kept,
            bindings: reports.iter().map(|report| report.to()).collect(),
            skipped: self.skipped as u64,
            ..EvaluationRecord::<Text<'_>, Box<RawValue>>::of(self.event, self.verdict)
        })))
    }
}
