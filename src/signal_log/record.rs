//! Record: one line of the log (spec §8), for whoever writes, reads or keeps one.
//!
//! A record is generic over how it holds its texts and its event. [`Record`] owns both. [`Line`] borrows the texts from the
//! bytes of a log and passes over the event, for readers of many lines. The writer borrows both from the event and the
//! verdict.

use std::borrow::Cow;
use std::ops::Deref;

use chrono::DateTime;
use chrono::Utc;
use serde::Deserialize;
use serde::Serialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::frame::Frame;
use super::frame::Links;
use crate::event::Event;
use crate::secret::marks;
use crate::signal::Origin;
use crate::signal::Response;
use crate::signal::Signal;
use crate::verdict::BindingReport;
use crate::verdict::Decision;
use crate::verdict::Outcome;
use crate::verdict::Verdict;

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
    /// What else is to be known: an unknown event that passed, a repaired log.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<S>,
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
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
}

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

/// Why a line is not a record that counts.
#[derive(Debug, thiserror::Error)]
pub enum BadRecord {
    /// It does not have the outside of a record.
    #[error("it is not a record of the log")]
    NoRecord,
    /// It was changed after it had been written.
    #[error("record {seq} does not have the hash of its bytes")]
    Edited {
        /// The number of the record.
        seq: u64,
    },
    /// A record was put in, taken out or replaced before it.
    #[error("record {seq} is not chained to the record before it")]
    Unchained {
        /// The number of the record.
        seq: u64,
    },
    /// Its content is not that of a record.
    #[error("{0}")]
    Content(#[from] serde_json::Error),
}

impl<'a, S, E> Record<S, E>
where
    S: Deserialize<'a> + From<&'a str>,
    E: Deserialize<'a>,
{
    /// Reads a line without its newline. Whether it is chained to the line before it, [`super::Links`] tell.
    ///
    /// # Errors
    /// The line is not a record, or not the one that was written.
    pub fn read(line: &'a [u8]) -> Result<Self, BadRecord> {
        let frame = Frame::read(line).ok_or(BadRecord::NoRecord)?;
        Self::of(&frame, line)
    }

    /// Reads a line of which the outside has been read.
    pub(crate) fn of(frame: &Frame<'a>, line: &'a [u8]) -> Result<Self, BadRecord> {
        if !frame.is_intact(line) {
            return Err(BadRecord::Edited { seq: frame.seq });
        }
        let text = std::str::from_utf8(line).map_err(|_| BadRecord::NoRecord)?;
        let body = match frame.kind {
            "evaluation" => Body::Evaluation(serde_json::from_str(text)?),
            "signal" => Body::Signal(serde_json::from_str(text)?),
            "response" => Body::Response(serde_json::from_str(text)?),
            _ => return Err(BadRecord::NoRecord),
        };
        Ok(Self {
            seq: frame.seq,
            timestamp: frame.timestamp.parse().map_err(|_| BadRecord::NoRecord)?,
            body,
            notice: notice(line),
            prev: frame.prev.into(),
            hash: frame.hash.into(),
        })
    }
}

impl Links {
    /// Reads the next line, without its newline.
    ///
    /// # Errors
    /// The line is not a record, not the one that was written, or does not go on from those before it.
    pub fn read<'a, S, E>(&mut self, line: &'a [u8]) -> Result<Record<S, E>, BadRecord>
    where
        S: Deserialize<'a> + From<&'a str>,
        E: Deserialize<'a>,
    {
        let frame = Frame::read(line).ok_or(BadRecord::NoRecord)?;
        if self.admit(&frame) {
            Record::of(&frame, line)
        } else {
            Err(BadRecord::Unchained { seq: frame.seq })
        }
    }
}

/// Returns what the writer of a line found amiss.
pub(crate) fn notice(line: &[u8]) -> Option<Notice> {
    #[derive(Deserialize)]
    struct Noticed {
        notice: Notice,
    }
    // A quotation mark within a text is escaped: this is found in no text.
    memchr::memmem::find(line, b",\"notice\":{\"")?;
    let noticed: Noticed = serde_json::from_slice(line).ok()?;
    Some(noticed.notice)
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
        let selected = |report: &&BindingReport| report.outcome != Outcome::Skipped;
        let selected = verdict.bindings.iter().filter(selected);
        Self {
            hook: event.trigger.name().into(),
            decision: verdict.decision,
            host: event.host.as_deref().map(S::from),
            session_id: event.session_id.as_deref().map(S::from),
            issue_id: event.issue_id.as_deref().map(S::from),
            tool: event.tool.as_ref().map(|tool| tool.name.as_str().into()),
            digest: "".into(),
            event: None,
            bindings: selected.map(BindingReport::to).collect(),
            skipped: 0,
            duration_us: verdict.duration_us,
            note: None,
        }
    }
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

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
const fn is_zero(n: &u64) -> bool {
    *n == 0
}
