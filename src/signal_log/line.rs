//! Line: a record as it lies in the log, borrowed and without its texts; for whoever reads many.

use std::borrow::Cow;
use std::ops::Deref;

use chrono::DateTime;
use chrono::Utc;
use serde::Deserialize;
use uuid::Uuid;

use super::Notice;
use super::scan::scan;
use crate::signal::Action;
use crate::signal::Actor;
use crate::signal::Intensity;
use crate::verdict::Decision;
use crate::verdict::Outcome;

/// A text of a line, borrowed where nothing in it is escaped.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize)]
pub struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'a> Text<'a> {
    /// A text that stands in the line as it is.
    pub(super) const fn plain(text: &'a str) -> Self {
        Self(Cow::Borrowed(text))
    }
}

impl Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

/// Which kind of record a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// One event was evaluated.
    Evaluation,
    /// One signal was given.
    Signal,
    /// One signal was answered.
    Response,
}

/// One line of the log, borrowed.
#[derive(Debug, PartialEq, Eq, Deserialize)]
pub struct Line<'a> {
    /// The number of the record.
    pub seq: u64,
    /// When it was written, in RFC 3339.
    pub timestamp: &'a str,
    /// What it is.
    pub kind: Kind,
    /// The trigger, of an evaluation or a response.
    #[serde(default, borrow)]
    pub hook: Option<Text<'a>>,
    /// What was decided, of an evaluation.
    #[serde(default)]
    pub decision: Option<Decision>,
    /// The host.
    #[serde(default, borrow)]
    pub host: Option<Text<'a>>,
    /// The session.
    #[serde(default, borrow)]
    pub session_id: Option<Text<'a>>,
    /// The issue, of an evaluation.
    #[serde(default, borrow)]
    pub issue_id: Option<Text<'a>>,
    /// What became of each binding, of an evaluation.
    #[serde(default, borrow)]
    pub bindings: Vec<LineReport<'a>>,
    /// How long the evaluation took.
    #[serde(default)]
    pub duration_us: u64,
    /// The signal.
    #[serde(default, borrow)]
    pub signal: Option<LineSignal<'a>>,
    /// The binding, of a signal or a response.
    #[serde(default, borrow)]
    pub binding: Option<Text<'a>>,
    /// The place of the binding, of a signal.
    #[serde(default, borrow)]
    pub source: Option<Text<'a>>,
    /// What was found, of a signal or a response.
    #[serde(default, borrow)]
    pub fingerprint: Option<Text<'a>>,
    /// The response.
    #[serde(default)]
    pub response: Option<LineResponse>,
    /// The issue, else the session, of a response.
    #[serde(default, borrow)]
    pub subject: Option<Text<'a>>,
    /// Why an answer was refused.
    #[serde(default, borrow)]
    pub refused: Option<Text<'a>>,
    /// What the writer found amiss.
    #[serde(default)]
    pub notice: Option<Notice>,
}

/// The lines of a piece of a log, each read into the place of the one before.
#[derive(Debug)]
pub(crate) struct Lines<'a> {
    bytes: &'a [u8],
    /// The same as a text, if it is one.
    text: Option<&'a str>,
    at: usize,
    line: Line<'a>,
}

impl<'a> Lines<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            text: std::str::from_utf8(bytes).ok(),
            at: 0,
            line: Line::empty(),
        }
    }

    /// Reads the next line; an error where it is no record, none at the end.
    pub(crate) fn next(&mut self) -> Option<Result<&Line<'a>, serde_json::Error>> {
        loop {
            let text = self.text.and_then(|text| text.get(self.at..));
            // A record that was read whole has no newline in it, so that its end need not be looked for.
            if let Some(end) = text.and_then(|text| scan(text, &mut self.line)) {
                self.at += end + 1;
                return Some(Ok(&self.line));
            }
            let rest = self.bytes.get(self.at..).filter(|rest| !rest.is_empty())?;
            let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
            self.at += end + 1;
            let bytes = rest.get(..end).unwrap_or_default();
            if !bytes.is_empty() {
                return Some(serde_json::from_slice(bytes).map(|line| {
                    self.line = line;
                    &self.line
                }));
            }
        }
    }
}

/// What became of one binding.
#[derive(Debug, PartialEq, Eq, Deserialize)]
pub struct LineReport<'a> {
    /// The binding's id.
    #[serde(borrow)]
    pub id: Text<'a>,
    /// The oracle.
    #[serde(borrow)]
    pub oracle: Text<'a>,
    /// What became of it.
    pub outcome: Outcome,
    /// The place of the binding.
    #[serde(borrow)]
    pub source: Text<'a>,
    /// How long the oracle took.
    #[serde(default)]
    pub duration_us: u64,
    /// Why it failed.
    #[serde(default, borrow)]
    pub error: Option<Text<'a>>,
    /// The answered signals that held back what it found.
    #[serde(default)]
    pub waived: Vec<Uuid>,
}

/// The head and context of a signal.
#[derive(Debug, PartialEq, Eq, Deserialize)]
pub struct LineSignal<'a> {
    /// Who, when, how strongly.
    #[serde(borrow)]
    pub header: LineHeader<'a>,
    /// About what.
    #[serde(borrow)]
    pub context: LineContext<'a>,
}

/// The head of a signal.
#[derive(Debug, PartialEq, Eq, Deserialize)]
pub struct LineHeader<'a> {
    /// Its id.
    pub id: Uuid,
    /// The kind of finding.
    #[serde(rename = "type", borrow)]
    pub kind: Text<'a>,
    /// The oracle.
    #[serde(borrow)]
    pub source: Text<'a>,
    /// How strongly it intervenes.
    pub intensity: Intensity,
    /// The first signal of its chain.
    #[serde(default)]
    pub correlation_id: Option<Uuid>,
}

/// What a signal is about.
#[derive(Debug, PartialEq, Eq, Deserialize)]
pub struct LineContext<'a> {
    /// The trigger.
    #[serde(borrow)]
    pub hook: Text<'a>,
    /// The issue.
    #[serde(default, borrow)]
    pub issue_id: Option<Text<'a>>,
}

/// A response without its details.
#[derive(Debug, PartialEq, Eq, Deserialize)]
pub struct LineResponse {
    /// The answered signal.
    pub signal_id: Uuid,
    /// What is done about it.
    pub action: Action,
    /// Who answered.
    #[serde(default)]
    pub by: Actor,
    /// Whether it was concluded.
    #[serde(default)]
    pub inferred: bool,
}

impl<'a> Line<'a> {
    /// Reads a line without its newline.
    ///
    /// # Errors
    /// The line is no JSON, or not of a record.
    pub fn parse(line: &'a [u8]) -> Result<Self, serde_json::Error> {
        let mut found = Self::empty();
        match std::str::from_utf8(line).map(|text| scan(text, &mut found)) {
            Ok(Some(end)) if end == line.len() => Ok(found),
            _ => serde_json::from_slice(line),
        }
    }

    /// Makes it one that says nothing; the room for bindings stays.
    pub(super) fn clear(&mut self) {
        let mut bindings = std::mem::take(&mut self.bindings);
        bindings.clear();
        *self = Self {
            bindings,
            ..Self::empty()
        };
    }

    /// A line that says nothing.
    pub(super) const fn empty() -> Self {
        Self {
            seq: 0,
            timestamp: "",
            kind: Kind::Evaluation,
            hook: None,
            decision: None,
            host: None,
            session_id: None,
            issue_id: None,
            bindings: Vec::new(),
            duration_us: 0,
            signal: None,
            binding: None,
            source: None,
            fingerprint: None,
            response: None,
            subject: None,
            refused: None,
            notice: None,
        }
    }

    /// Returns the trigger, of whatever kind the record is.
    pub fn trigger(&self) -> Option<&str> {
        match &self.signal {
            Some(signal) => Some(&signal.context.hook),
            None => self.hook.as_deref(),
        }
    }

    /// Returns the issue; of a response it is not known whether its subject is one.
    pub fn issue(&self) -> Option<&str> {
        match &self.signal {
            Some(signal) => signal.context.issue_id.as_deref(),
            None => self.issue_id.as_deref(),
        }
    }

    /// Returns when it was written.
    pub fn time(&self) -> Option<DateTime<Utc>> {
        self.timestamp.parse().ok()
    }
}
