//! History: what the engine and oracles may ask of past signals.

use std::collections::HashMap;
use std::fmt;
use std::ops::ControlFlow;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::asked::OpenQuestion;
use super::chain::{Key, State};
use super::files::LogFiles;
use super::index::Snapshot;
use super::respond::{RespondError, sessions_meant};
use super::{Line, LogError, LogPlace, Reader, Record, chain, index};
use crate::event::Trigger;
use crate::signal::{Action, Intensity, Signal};

/// What one binding has found for one issue (or session) and what stands of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chain {
    /// The findings that were not repaired, oldest first.
    pub standing: Vec<Standing>,
    /// The answers that still hold.
    pub waivers: Vec<Waiver>,
    /// The signals of it that nobody has answered, oldest first.
    pub open: Vec<OpenSignal>,
}

impl Chain {
    /// Returns a finding, by its identity, where it stands.
    pub fn find(&self, identity: &str) -> Option<&Standing> {
        self.standing.iter().find(|s| s.identity == identity)
    }

    /// Returns in how many evaluations a finding was found since it began to stand.
    pub fn violations(&self, identity: &str) -> u32 {
        self.find(identity).map_or(0, |found| found.violations)
    }

    /// Returns the answers of one kind that hold for a signal, which all its findings must have; none where they do not.
    pub fn answers_to(&self, signal: &Signal, of_event: Option<&str>, action: Action) -> Vec<Uuid> {
        let given = || self.waivers.iter().filter(|w| w.action == action);
        let fingerprint = signal.finding();
        if let Some(same) = given().find(|w| w.fingerprint == fingerprint) {
            return vec![same.signal_id];
        }
        if !signal.is_told_apart() {
            return Vec::new();
        }
        let mut holding = Vec::new();
        for identity in signal.identities(of_event) {
            let Some(answer) = given().find(|w| w.identities.contains(&identity)) else {
                return Vec::new();
            };
            holding.push(answer.signal_id);
        }
        holding.sort_unstable();
        holding.dedup();
        holding
    }
}

/// A finding that was not repaired.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standing {
    /// The digest of its rule and object.
    pub identity: String,
    /// The digest of what the event acted on in which it was found last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<String>,
    /// The id of its first signal.
    pub correlation_id: Uuid,
    /// In how many evaluations it was found.
    pub violations: u32,
    /// When it was found first.
    pub since: DateTime<Utc>,
    /// The strongest intensity that the last of them gave.
    pub last: Intensity,
}

/// A signal that nobody has answered yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenSignal {
    /// Its id.
    pub id: Uuid,
    /// How strongly it intervened.
    pub intensity: Intensity,
    /// What was found.
    pub fingerprint: String,
    /// The identity of each of its findings.
    pub identities: Vec<String>,
    /// The digest of what the event acted on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<String>,
}

/// An answer that changes what the same finding leads to next time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiver {
    /// What was found.
    pub fingerprint: String,
    /// What was answered: `acknowledge`, `dismiss`, `proceed_with_risk` or `reject_modification`.
    pub action: Action,
    /// The signal that was answered.
    pub signal_id: Uuid,
    /// The identity of each of its findings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub identities: Vec<String>,
    /// The digest of what the event acted on in which it was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<String>,
}

/// What may be asked of past signals. An error to read them is answered with nothing known, and said once.
///
/// The subject is the issue, else the session, else the empty text: an event of neither counts for the project.
pub trait History: fmt::Debug + Send + Sync {
    /// Returns what a binding has found for an issue (or session) at a trigger, and what stands of it.
    fn chain(&self, trigger: Trigger, binding: &str, subject: &str) -> Chain;

    /// Returns how often in a row a session's stop was blocked.
    fn stop_blocks(&self, session_id: &str) -> u32;

    /// Returns the signals of the question about a call of a session of which it is not known how it was answered.
    fn questions(&self, _session_id: &str, _call: &str) -> Vec<OpenQuestion> {
        Vec::new()
    }

    /// Returns how many evaluations of a trigger for an issue (or session) were stopped since it last passed.
    fn stopped(&self, trigger: Trigger, subject: &str) -> u32;

    /// Returns the records of an issue (or session), oldest first.
    fn records(&self, subject: &str) -> Vec<Record>;

    /// Returns the sessions of the signals that an answer to `selector` may reach, as [`respond`](super::respond) takes it:
    /// each with its session, if it has one. None where no log is asked, or where `selector` can never name a signal.
    fn sessions_meant(&self, _selector: &str) -> Option<Vec<Option<String>>> {
        None
    }
}

/// Where states and records are kept; what is asked of a history is answered from these two alike.
trait Lookup: fmt::Debug + Send + Sync {
    fn state(&self, key: Key) -> State;

    fn records_of(&self, subject: &str) -> Vec<Record>;

    /// Whether a text may stand in a state or record, as far as that is told without reading them.
    fn may_mention(&self, _text: &str) -> bool {
        true
    }

    fn meant(&self, _selector: &str) -> Option<Vec<Option<String>>> {
        None
    }
}

impl<L: Lookup> History for L {
    fn chain(&self, trigger: Trigger, binding: &str, subject: &str) -> Chain {
        self.state(Key::chain(trigger.name(), binding, subject))
            .into_chain()
    }

    fn stop_blocks(&self, session_id: &str) -> u32 {
        let stop = Trigger::PreAgentTurnStop.name();
        self.state(Key::stops(stop, session_id)).blocked()
    }

    fn stopped(&self, trigger: Trigger, subject: &str) -> u32 {
        self.state(Key::stops(trigger.name(), subject)).stopped()
    }

    fn questions(&self, session_id: &str, call: &str) -> Vec<OpenQuestion> {
        // Few calls were asked about, and each that has run asks for its question.
        if !self.may_mention(call) {
            return Vec::new();
        }
        self.state(Key::questions(session_id)).into_questions(call)
    }

    fn records(&self, subject: &str) -> Vec<Record> {
        self.records_of(subject)
    }

    fn sessions_meant(&self, selector: &str) -> Option<Vec<Option<String>>> {
        self.meant(selector)
    }
}

/// The history of a log that has nothing in it.
#[derive(Clone, Copy, Debug, Default)]
pub struct EmptyHistory;

impl Lookup for EmptyHistory {
    fn state(&self, _: Key) -> State {
        State::default()
    }

    fn records_of(&self, _: &str) -> Vec<Record> {
        Vec::new()
    }
}

/// The history of a log on the disk; not asked, nothing is read, and asked again, only what is new.
#[derive(Debug)]
pub struct LogHistory {
    files: LogFiles,
    snapshot: Mutex<Option<Snapshot>>,
    error: OnceLock<String>,
}

impl LogHistory {
    /// Makes the history of the log at a path.
    pub fn new(place: impl Into<LogPlace>) -> Self {
        Self {
            files: LogFiles::new(place),
            snapshot: Mutex::new(None),
            error: OnceLock::new(),
        }
    }

    /// Returns why the log could not be read, where it could not: the answer was then "nothing known".
    pub fn error(&self) -> Option<&str> {
        self.error.get().map(String::as_str)
    }

    fn complain(&self, error: &LogError) {
        self.error.get_or_init(|| error.to_string());
    }
}

impl Lookup for LogHistory {
    fn state(&self, key: Key) -> State {
        let mut snapshot = self.snapshot.lock().unwrap_or_else(PoisonError::into_inner);
        match Snapshot::renewed(snapshot.take(), &self.files) {
            Ok(renewed) => snapshot.insert(renewed).state(key),
            Err(error) => {
                self.complain(&error);
                State::default()
            }
        }
    }

    fn records_of(&self, subject: &str) -> Vec<Record> {
        let found = Reader::of(self.files.clone()).and_then(|reader| {
            let mut records = Vec::new();
            // As JSON writes it, so that lines without it need not be parsed.
            let quoted = serde_json::to_string(subject)?;
            reader.each_line(|frame, line| {
                if memchr::memmem::find(line, quoted.as_bytes()).is_some()
                    && Line::of(frame, line).is_ok_and(|line| line.is_of(subject))
                    && let Ok(record) = Record::of(frame, line)
                    && reader.believes(&record)
                {
                    records.push(record);
                }
                ControlFlow::Continue(())
            })?;
            Ok(records)
        });
        found.unwrap_or_else(|error| {
            self.complain(&error);
            Vec::new()
        })
    }

    fn may_mention(&self, text: &str) -> bool {
        let snapshot = self.snapshot.lock().unwrap_or_else(PoisonError::into_inner);
        snapshot.is_some() || index::may_mention(&self.files, text).unwrap_or(true)
    }

    fn meant(&self, selector: &str) -> Option<Vec<Option<String>>> {
        let reader = Reader::of(self.files.clone());
        match reader
            .map_err(RespondError::from)
            .and_then(|reader| sessions_meant(&reader, selector))
        {
            Ok(sessions) => Some(sessions),
            Err(RespondError::NoId { .. }) => None,
            // More than one, or none: nobody can tell whose it is.
            Err(_) => Some(Vec::new()),
        }
    }
}

/// The history of records that are given to it, for tests and for replaying a log.
#[derive(Debug, Default)]
pub struct MemoryHistory {
    states: HashMap<Key, State>,
    records: Vec<Record>,
}

impl MemoryHistory {
    /// Makes the history of some records, oldest first.
    pub fn new(records: impl IntoIterator<Item = Record>) -> Self {
        let mut history = Self::default();
        for record in records {
            history.push(record);
        }
        history
    }

    /// Adds the record that came next.
    pub fn push(&mut self, record: Record) {
        chain::steps(&record, |key, step| {
            self.states.entry(key).or_default().apply(&step);
        });
        self.records.push(record);
    }
}

impl Lookup for MemoryHistory {
    fn state(&self, key: Key) -> State {
        self.states.get(&key).cloned().unwrap_or_default()
    }

    fn records_of(&self, subject: &str) -> Vec<Record> {
        let records = self.records.iter();
        records.filter(|r| r.is_of(subject)).cloned().collect()
    }
}

/// A [`MemoryHistory`] that grows while others ask it: what was known at each moment of a replay.
#[derive(Debug, Default)]
pub struct SharedHistory(Mutex<MemoryHistory>);

impl SharedHistory {
    /// Adds the record that came next.
    pub fn push(&self, record: Record) {
        self.held().push(record);
    }

    fn held(&self) -> MutexGuard<'_, MemoryHistory> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lookup for SharedHistory {
    fn state(&self, key: Key) -> State {
        self.held().state(key)
    }

    fn records_of(&self, subject: &str) -> Vec<Record> {
        self.held().records_of(subject)
    }
}
