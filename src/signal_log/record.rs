//! Record: one line of the log (spec §8), for whoever writes, reads or keeps one.
//!
//! A record is generic over how it holds its texts and its event. [`Record`] owns both. [`Line`] borrows the texts from the
//! bytes of a log and passes over the event, for readers of many lines. The writer borrows both from the event and the
//! verdict.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Deref;

use chrono::{DateTime, Utc};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::asked::AskedAbout;
use super::frame::{Frame, Links};
use crate::event::{Event, Subagent};
use crate::machine_key::ProjectKey;
use crate::secret::marks;
use crate::session::MarkRecord;
use crate::signal::{Actor, Origin, Response, Severity, Signal, digest};
use crate::verdict::{BindingReport, Decision, Outcome, Verdict};

/// What the mark of an answer says.
const ANSWER: &str = "ahp answer";
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

/// One signal, with what is known beside it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(from = "FlatSignal")]
pub struct SignalRecord {
    /// The signal whole.
    pub signal: Signal,
    /// Which binding gave it.
    #[serde(flatten)]
    pub origin: Origin,
    /// What was found, apart from the words.
    pub fingerprint: String,
    /// The identity of the first finding, by which it is counted: a digest of the rule and the object. Records of earlier
    /// versions have none; [`Self::identity`] has one for each.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub identity: String,
    /// The rule that was broken, else the kind of the signal.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub rule: String,
    /// What broke it: a command, a path, an item; none where that is the issue or the session itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object: Option<String>,
    /// What else broke it, each a finding of its own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<AlsoFound>,
    /// How grave what was found is, where the oracle says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub severity: Option<Severity>,
    /// The session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// The subagent, as the evaluation has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// What it asks about, where it is of a question about a call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked: Option<AskedAbout>,
}

/// One more finding of a signal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AlsoFound {
    /// Its identity.
    pub identity: String,
    /// What broke the rule.
    pub object: String,
}

/// A signal as it is read: a flattened member would have everything beside it read twice.
#[derive(Deserialize)]
struct FlatSignal {
    signal: Signal,
    binding: String,
    source: String,
    #[serde(default, rename = "override")]
    overridable: bool,
    fingerprint: String,
    #[serde(default)]
    identity: String,
    #[serde(default)]
    rule: String,
    object: Option<String>,
    #[serde(default)]
    also: Vec<AlsoFound>,
    severity: Option<Severity>,
    session_id: Option<String>,
    host: Option<String>,
    agent: Option<String>,
    asked: Option<AskedAbout>,
}

impl From<FlatSignal> for SignalRecord {
    fn from(flat: FlatSignal) -> Self {
        Self {
            signal: flat.signal,
            origin: Origin {
                binding: flat.binding,
                source: flat.source,
                overridable: flat.overridable,
            },
            fingerprint: flat.fingerprint,
            identity: flat.identity,
            rule: flat.rule,
            object: flat.object,
            also: flat.also,
            severity: flat.severity,
            session_id: flat.session_id,
            host: flat.host,
            agent: flat.agent,
            asked: flat.asked,
        }
    }
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
    /// By what the machine on which it was given knows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mac: Option<String>,
}

impl ResponseRecord {
    /// Lets it be known as an answer that was given on this machine.
    pub(super) fn sign(&mut self, key: &ProjectKey) {
        self.mac = self.with_said(|said| key.mac(ANSWER, said));
    }

    /// Whether it was given on this machine.
    pub(super) fn is_by(&self, key: &ProjectKey) -> bool {
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

impl SignalRecord {
    /// Returns the record of a signal that an event was given.
    pub fn of(event: &Event, signal: &Signal) -> Self {
        let object = event.object();
        let short = |object: String| object.chars().take(LONGEST_OBJECT).collect();
        let mut findings = signal.findings(object.as_deref()).into_iter();
        let (identity, object) = findings.next().unwrap_or_default();
        let also = findings.map(|(identity, object)| AlsoFound {
            identity,
            object: short(object.unwrap_or_default()),
        });
        let rule = signal.rule.as_ref().unwrap_or(&signal.header.kind);
        Self {
            fingerprint: signal.finding(),
            identity,
            rule: rule.clone(),
            object: object.map(short),
            also: also.collect(),
            origin: signal.origin.clone(),
            severity: signal.severity,
            signal: signal.clone(),
            session_id: event.session_id.clone(),
            host: event.host.clone(),
            agent: (event.subagent.as_ref())
                .and_then(Subagent::called)
                .map(|name| self::short(name).to_owned()),
            asked: None,
        }
    }

    /// Returns each of its findings: the identity, and what broke the rule.
    pub fn findings(&self) -> impl Iterator<Item = (&str, Option<&String>)> {
        let also = self.also.iter();
        let also = also.map(|found| (found.identity.as_str(), Some(&found.object)));
        std::iter::once((self.identity(), self.object.as_ref())).chain(also)
    }

    /// Returns the identity of each of its findings.
    pub fn identities(&self) -> impl Iterator<Item = &str> {
        self.findings().map(|(identity, _)| identity)
    }

    /// Returns the identity of the first finding; of a record without one, its fingerprint.
    pub fn identity(&self) -> &str {
        match self.identity.as_str() {
            "" => &self.fingerprint,
            identity => identity,
        }
    }

    /// Returns the rule that was broken, else the kind of the signal.
    pub fn rule(&self) -> &str {
        match self.rule.as_str() {
            "" => &self.signal.header.kind,
            rule => rule,
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
