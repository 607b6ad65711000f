//! Record: one line of the log (spec §8).

use chrono::DateTime;
use chrono::Utc;
use serde::Deserialize;
use serde::Serialize;
use serde_json::Value;

use super::marks;
use crate::event::Event;
use crate::signal::Origin;
use crate::signal::Response;
use crate::signal::Signal;
use crate::verdict::BindingReport;
use crate::verdict::Decision;
use crate::verdict::Outcome;
use crate::verdict::Verdict;

/// One line of the log.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Record {
    /// The number of the record, from 1, without gaps, over rotated files too.
    pub seq: u64,
    /// When it was written.
    pub timestamp: DateTime<Utc>,
    /// What it holds.
    #[serde(flatten)]
    pub body: Body,
    /// What the writer found amiss when it came to write.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notice: Option<Notice>,
    /// The hash of the record before this one; 64 zeros before the first.
    pub prev: String,
    /// SHA-256 over this line without its `hash` member.
    pub hash: String,
}

/// What a writer found amiss before its record: the log says what it could not keep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    /// How many bytes of a torn tail were moved into the `.torn` file beside the log.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub torn_bytes: u64,
    /// How many records had been written after the last one that is there: lost with the power, or deleted.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub lost_records: u64,
    /// How far the clock stands behind the record before, in milliseconds.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub clock_back_ms: u64,
}

impl Notice {
    /// Says what of the log was lost or had to be mended; none where there was no more than a clock that went back.
    pub fn damage(&self) -> Option<String> {
        let torn = (self.torn_bytes > 0).then(|| {
            let bytes = self.torn_bytes;
            format!("{bytes} bytes at its end were no whole record and are kept beside it")
        });
        let lost = match self.lost_records {
            0 => None,
            1 => Some("1 record is gone from its end".to_owned()),
            lost => Some(format!("{lost} records are gone from its end")),
        };
        let said: Vec<String> = torn.into_iter().chain(lost).collect();
        (!said.is_empty()).then(|| said.join("; "))
    }
}

/// What a record holds.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Body {
    /// One event was evaluated.
    Evaluation(Box<EvaluationRecord>),
    /// One signal was given.
    Signal(Box<SignalRecord>),
    /// One signal was answered.
    Response(Box<ResponseRecord>),
}

/// One evaluated event. Its signals follow it in the log.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct EvaluationRecord {
    /// The trigger's canonical name.
    pub hook: String,
    /// What was decided.
    pub decision: Decision,
    /// The host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// The session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The issue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issue_id: Option<String>,
    /// The tool's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The first 16 hexadecimal digits of the SHA-256 of the event's JSON.
    pub digest: String,
    /// The event itself, by `settings.log.events`: whole, with secrets cut, or not at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<Value>,
    /// What became of each binding that was selected; skipped ones are counted below.
    pub bindings: Vec<BindingReport>,
    /// How many bindings of the trigger had a `when` that did not hold.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub skipped: u64,
    /// How long the evaluation took, in microseconds.
    pub duration_us: u64,
    /// What else is to be known: an unknown event that passed, a repaired log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
const fn is_zero(n: &u64) -> bool {
    *n == 0
}

impl EvaluationRecord {
    /// Whether something was cut out of the event, a secret or too much text.
    pub fn is_cut(&self) -> bool {
        self.event.as_ref().is_some_and(marks::is_cut)
    }

    /// Returns the record of an evaluated event, without the event itself, its digest and what was skipped.
    pub fn of(event: &Event, verdict: &Verdict) -> Self {
        let selected = |report: &&BindingReport| report.outcome != Outcome::Skipped;
        Self {
            hook: event.trigger.name().to_owned(),
            decision: verdict.decision,
            host: event.host.clone(),
            session_id: event.session_id.clone(),
            issue_id: event.issue_id.clone(),
            tool: event.tool.as_ref().map(|tool| tool.name.clone()),
            digest: String::new(),
            event: None,
            bindings: verdict.bindings.iter().filter(selected).cloned().collect(),
            skipped: 0,
            duration_us: verdict.duration_us,
            note: None,
        }
    }
}

/// One signal, with what is known beside it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SignalRecord {
    /// The signal whole.
    pub signal: Signal,
    /// Which binding gave it.
    #[serde(flatten)]
    pub origin: Origin,
    /// What was found, apart from the words.
    pub fingerprint: String,
    /// The session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
}

impl SignalRecord {
    /// Returns the record of a signal that an event was given.
    pub fn of(event: &Event, signal: &Signal) -> Self {
        Self {
            fingerprint: signal.finding(),
            origin: signal.origin.clone(),
            signal: signal.clone(),
            session_id: event.session_id.clone(),
            host: event.host.clone(),
        }
    }
}

/// One answer.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ResponseRecord {
    /// The answer whole.
    pub response: Response,
    /// The trigger of the answered signal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hook: Option<String>,
    /// The session of the answered signal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The binding that gave the answered signal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub binding: Option<String>,
    /// The issue, else the session, of the answered signal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// The fingerprint of the answered finding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
    /// Why the answer was refused, where it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}
