//! Record: one line of the log (spec §8), for whoever writes, reads or keeps one.
//!
//! A record is generic over how it holds its texts and its event. [`Record`] owns both. [`Line`] borrows the texts from the
//! bytes of a log and passes over the event, for readers of many lines. The writer borrows both from the event and the
//! verdict.

mod read;
mod response;
mod signal;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Deref;

use chrono::{DateTime, Utc};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use self::read::BadRecord;
pub(super) use self::read::notice;
pub use self::response::ResponseRecord;
pub use self::signal::{AlsoFound, SignalRecord};
use crate::event::{Event, Subagent};
use crate::secret::marks;
use crate::session::MarkRecord;
use crate::signal::digest;
use crate::verdict::{BindingReport, Decision, Outcome, Verdict};

/// How many characters of what broke a rule a record holds: to show it, not to tell it apart.
const LONGEST_OBJECT: usize = 200;

/// A record as it lies in the log: its texts borrowed, its event passed over.
pub type Line<'a> = Record<Text<'a>, IgnoredAny>;

/// One line of the log.
#[derive(Clone, Debug, Serialize)]
pub struct Record<S = String, E = Value> {
    /// The number of the record, from 1, without gaps, over rotated files too.
    pub seq: u64,
    /// When it was written.
    pub timestamp: DateTime<Utc>,
    /// What it holds.
    #[serde(flatten)]
    pub body: Body<S, E>,
    /// What the writer found amiss when it came to write.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notice: Option<Notice>,
    /// The hash of the record before this one; 64 zeros before the first.
    pub prev: S,
    /// SHA-256 over this line without its `hash` member.
    pub hash: S,
}

/// What a record holds.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Body<S = String, E = Value> {
    /// One event was evaluated.
    Evaluation(Box<EvaluationRecord<S, E>>),
    /// One signal was given.
    Signal(Box<SignalRecord>),
    /// One signal was answered.
    Response(Box<ResponseRecord>),
}

/// One evaluated event. Its signals follow it in the log.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct EvaluationRecord<S = String, E = Value> {
    /// The trigger's canonical name.
    pub hook: S,
    /// What was decided.
    pub decision: Decision,
    /// The host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<S>,
    /// The kind of the subagent that acted, began or ended, else its name; none of what the session's own agent did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<S>,
    /// The host's id of that subagent: a session may have many of one kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<S>,
    /// The session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<S>,
    /// The issue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issue_id: Option<S>,
    /// The tool's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<S>,
    /// The first 16 hexadecimal digits of the SHA-256 of the event's JSON.
    pub digest: S,
    /// The version of `ahp` that judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ahp: Option<S>,
    /// The digest of the policy in force: the first 16 digits of a SHA-256 over all layers, packs and scripts; with a
    /// signed bundle `id@version+` before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<S>,
    /// The digest of what a tool call acts on, where a binding judged it: by this a repair is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<String>,
    /// The event itself, by `settings.log.events`: whole, with secrets cut, or not at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<E>,
    /// What became of each binding that was selected; skipped ones are counted below.
    pub bindings: Vec<BindingReport<S>>,
    /// How many bindings of the trigger had a `when` that did not hold.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub skipped: u64,
    /// How long the evaluation took, in microseconds.
    pub duration_us: u64,
    /// What the event did to each mark that it feeds, ends or asks for.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub marks: BTreeMap<String, MarkRecord>,
    /// What else is to be known: an unknown event that passed, a repaired log.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<S>,
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

/// A text of a line, borrowed where nothing in it is escaped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'a> From<&'a str> for Text<'a> {
    fn from(text: &'a str) -> Self {
        Self(Cow::Borrowed(text))
    }
}

impl Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl<S: Deref<Target = str>, E> Record<S, E> {
    /// Returns the trigger.
    pub fn trigger(&self) -> Option<&str> {
        match &self.body {
            Body::Evaluation(evaluation) => Some(&evaluation.hook),
            Body::Signal(record) => Some(&record.signal.context.hook),
            Body::Response(record) => record.hook.as_deref(),
        }
    }

    /// Returns the issue; of a response it is not known whether its subject is one.
    pub fn issue(&self) -> Option<&str> {
        match &self.body {
            Body::Evaluation(evaluation) => evaluation.issue_id.as_deref(),
            Body::Signal(record) => record.signal.context.issue_id.as_deref(),
            Body::Response(_) => None,
        }
    }

    /// Returns the session.
    pub fn session(&self) -> Option<&str> {
        match &self.body {
            Body::Evaluation(evaluation) => evaluation.session_id.as_deref(),
            Body::Signal(record) => record.session_id.as_deref(),
            Body::Response(record) => record.session_id.as_deref(),
        }
    }

    /// Returns the host; a response has none.
    pub fn host(&self) -> Option<&str> {
        match &self.body {
            Body::Evaluation(evaluation) => evaluation.host.as_deref(),
            Body::Signal(record) => record.host.as_deref(),
            Body::Response(_) => None,
        }
    }

    /// Returns the subagent; a response has none.
    pub fn agent(&self) -> Option<&str> {
        match &self.body {
            Body::Evaluation(evaluation) => evaluation.agent.as_deref(),
            Body::Signal(record) => record.agent.as_deref(),
            Body::Response(_) => None,
        }
    }

    /// Whether it is of an issue or session.
    pub(super) fn is_of(&self, subject: &str) -> bool {
        let answered = match &self.body {
            Body::Response(record) => record.subject.as_deref(),
            _ => None,
        };
        [self.issue(), self.session(), answered].contains(&Some(subject))
    }
}

impl EvaluationRecord {
    /// Whether something was cut out of the event, a secret or too much text.
    pub fn is_cut(&self) -> bool {
        self.event.as_ref().is_some_and(marks::is_cut)
    }
}

impl<'a, S: From<&'a str>, E> EvaluationRecord<S, E> {
    /// Returns the record of an evaluated event, without the event itself, its digest and what was skipped.
    pub fn of(event: &'a Event, verdict: &'a Verdict) -> Self {
        let subagent = event.subagent.as_ref();
        let selected = |report: &&BindingReport| report.outcome != Outcome::Skipped;
        Self {
            hook: event.trigger.name().into(),
            decision: verdict.decision,
            host: event.host.as_deref().map(S::from),
            agent: subagent.and_then(Subagent::called).map(|n| short(n).into()),
            agent_id: subagent
                .and_then(|s| s.id.as_deref())
                .map(|id| short(id).into()),
            session_id: event.session_id.as_deref().map(S::from),
            issue_id: event.issue_id.as_deref().map(S::from),
            tool: event.tool.as_ref().map(|tool| short(&tool.name).into()),
            digest: "".into(),
            ahp: None,
            policy: None,
            object: verdict
                .bindings
                .iter()
                .find(selected)
                .and_then(|_| event.object())
                .map(|object| digest([object])),
            event: None,
            bindings: verdict
                .bindings
                .iter()
                .filter(selected)
                .map(BindingReport::to)
                .collect(),
            skipped: 0,
            duration_us: verdict.duration_us,
            marks: verdict.marks.clone(),
            note: None,
        }
    }
}

impl Notice {
    /// Says what of the log was lost or had to be repaired; none where there was no more than a clock that went back.
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

/// Returns the beginning of a name: servers and projects name their tools and agents as they like.
pub(super) fn short(name: &str) -> &str {
    name.get(..name.floor_char_boundary(LONGEST_OBJECT))
        .unwrap_or_default()
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
const fn is_zero(n: &u64) -> bool {
    *n == 0
}
