//! Entry: one signal with what became of it, flat (S4 §8).

use std::collections::{HashMap, VecDeque};
use std::ops::ControlFlow;

use chrono::{DateTime, Utc};
use serde::Serialize;
use uuid::Uuid;

use super::Filter;
use crate::signal::{Action, Actor, Intensity};
use crate::signal_log::{Body, Line, LogError, Reader, ResponseRecord, SignalRecord};

/// One signal with what became of it.
#[derive(Clone, Debug, Serialize)]
pub struct Entry {
    /// When the signal was given.
    pub timestamp: DateTime<Utc>,
    /// The trigger.
    pub hook: String,
    /// How strongly it intervened.
    pub intensity: Intensity,
    /// The oracle.
    pub source: String,
    /// Whether it was answered.
    pub consumed: bool,
    /// How.
    pub action: Option<Action>,
    /// The signal's id.
    pub id: Uuid,
    /// The kind of finding.
    #[serde(rename = "type")]
    pub kind: String,
    /// The binding.
    pub binding: String,
    /// The binding's place.
    pub place: String,
    /// What it said.
    pub text: String,
    /// The issue.
    pub issue_id: Option<String>,
    /// The session.
    pub session_id: Option<String>,
    /// The host.
    pub host: Option<String>,
    /// The first signal of the chain.
    pub correlation_id: Option<Uuid>,
    /// When it was answered.
    pub consumed_at: Option<DateTime<Utc>>,
    /// Who answered.
    pub by: Option<Actor>,
    /// Whether the answer was concluded from what came next.
    pub inferred: bool,
    /// Why an answer was refused, where one was.
    pub refused: Option<String>,
    /// The number of the record.
    pub seq: u64,
}

/// The answers to signals, of which one counts for each.
#[derive(Debug, Default)]
struct Answers(HashMap<Uuid, ResponseRecord>);

impl Answers {
    /// Adds an answer that came after those that were added, or before them.
    fn add(&mut self, answer: ResponseRecord, is_later: bool) {
        use std::collections::hash_map::Entry::{Occupied, Vacant};
        match self.0.entry(answer.response.signal_id) {
            Vacant(free) => {
                free.insert(answer);
            }
            Occupied(mut held) => {
                let (old, new) = (rank(held.get()), rank(&answer));
                if new > old || (new == old && is_later) {
                    held.insert(answer);
                }
            }
        }
    }
}

/// What was said counts more than what was concluded, and both more than what was refused.
fn rank(answer: &ResponseRecord) -> u8 {
    match (&answer.refused, answer.response.inferred) {
        (Some(_), _) => 0,
        (None, true) => 1,
        (None, false) => 2,
    }
}

impl Entry {
    fn new(seq: u64, record: SignalRecord, answer: Option<&ResponseRecord>) -> Self {
        let header = record.signal.header;
        let taken = answer.filter(|a| a.refused.is_none()).map(|a| &a.response);
        Self {
            timestamp: header.timestamp,
            hook: record.signal.context.hook,
            intensity: header.intensity,
            source: header.source,
            consumed: taken.is_some(),
            action: taken.map(|r| r.action),
            id: header.id,
            kind: header.kind,
            binding: record.origin.binding,
            place: record.origin.source,
            text: record.signal.payload.said().into_owned(),
            issue_id: record.signal.context.issue_id,
            session_id: record.session_id,
            host: record.host,
            correlation_id: header.correlation_id,
            consumed_at: taken.map(|r| r.consumed_at),
            by: taken.map(|r| r.by),
            inferred: taken.is_some_and(|r| r.inferred),
            refused: answer.and_then(|a| a.refused.clone()),
            seq,
        }
    }

    /// Makes the entry of a signal, as if nobody had answered yet; none where the record is of no signal.
    pub fn of_signal(line: Line<'_>) -> Option<Self> {
        match line.body {
            Body::Signal(record) => Some(Self::new(line.seq, *record, None)),
            _ => None,
        }
    }

    /// Returns the last eight digits of the id: the first ones are the time, and many signals share it.
    pub fn short_id(&self) -> String {
        let id = self.id.simple().to_string();
        id.get(24..).unwrap_or_default().to_owned()
    }
}

/// Returns the newest signals that a filter lets pass, oldest first.
///
/// # Errors
/// A file that cannot be read.
pub fn newest_entries(
    reader: &Reader,
    filter: &Filter,
    most: usize,
) -> Result<Vec<Entry>, LogError> {
    let mut answers = Answers::default();
    let mut entries = VecDeque::new();
    reader.newest_first(|_, line| {
        let passes = filter.admits(&line);
        match line.body {
            Body::Evaluation(_) => {}
            Body::Response(answer) => answers.add(*answer, false),
            Body::Signal(record) => {
                if passes {
                    let answer = answers.0.get(&record.signal.header.id);
                    let entry = Entry::new(line.seq, *record, answer);
                    if !filter.unanswered || !entry.consumed {
                        entries.push_front(entry);
                    }
                }
            }
        }
        if entries.len() >= most {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    })?;
    Ok(entries.into())
}

/// Calls with every signal that a filter lets pass, oldest first; only the answers are held in memory.
///
/// # Errors
/// A file that cannot be read.
pub fn each_entry(
    reader: &Reader,
    filter: &Filter,
    mut give: impl FnMut(Entry) -> ControlFlow<()>,
) -> Result<(), LogError> {
    let mut answers = Answers::default();
    each_line(reader, |_, line| {
        if let Body::Response(answer) = line.body {
            answers.add(*answer, true);
        }
        ControlFlow::Continue(())
    })?;
    each_line(reader, |_, line| {
        let passes = filter.admits(&line);
        if passes && let Body::Signal(record) = line.body {
            let answer = answers.0.get(&record.signal.header.id);
            let entry = Entry::new(line.seq, *record, answer);
            if !filter.unanswered || !entry.consumed {
                return give(entry);
            }
        }
        ControlFlow::Continue(())
    })
}

/// Calls with every record that counts, oldest first.
///
/// # Errors
/// A file that cannot be read.
pub fn each_line(
    reader: &Reader,
    mut give: impl FnMut(&[u8], Line<'_>) -> ControlFlow<()>,
) -> Result<(), LogError> {
    reader.each_line(|frame, bytes| match Line::of(frame, bytes) {
        Ok(line) if reader.believes(&line) => give(bytes, line),
        Ok(_) | Err(_) => {
            reader.leave_out();
            ControlFlow::Continue(())
        }
    })
}
