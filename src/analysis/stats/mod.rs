//! Stats: how often each binding fires, how it is answered, how long a repair takes (spec §8).

mod figures;
mod findings;
mod gathered;
mod histogram;
mod keys;
mod sums;
mod whole;

pub(super) use self::figures::SLOW_US;
pub use self::figures::{Fates, Figures, Intensities, REPAIR_CLASSES};
pub use self::gathered::{Gap, Gathered, PartStats, Silent};

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use rayon::iter::{IntoParallelRefIterator as _, ParallelIterator as _};
use serde::Serialize;

use self::sums::Sums;
use super::Filter;
use crate::signal_log::{BadRecord, Frame, Line, Links, LogError, Reader, bare_lines};

/// How much one thread reads at a time.
const SHARE: usize = 1 << 18;
/// How many shares are read while those before are added up.
const AT_ONCE: usize = 8;
/// How much of the file is held at a time.
const BLOCK: usize = 64 * SHARE;

/// What a log says about the policy.
#[derive(Clone, Debug, Serialize)]
pub struct Stats {
    /// When the first record was written.
    pub since: Option<DateTime<Utc>>,
    /// When the last one was.
    pub until: Option<DateTime<Utc>>,
    /// How many records were read.
    pub records: u64,
    /// How many lines are not records.
    pub bad_lines: u64,
    /// How many events were evaluated.
    pub evaluations: u64,
    /// How often each trigger came.
    pub hooks: BTreeMap<String, u64>,
    /// How they were decided.
    pub decisions: BTreeMap<&'static str, u64>,
    /// All signals.
    pub signals: Intensities,
    /// All answers.
    pub responses: BTreeMap<&'static str, u64>,
    /// All bindings together.
    pub total: Figures,
    /// Each binding, the most active first.
    pub bindings: Vec<BindingStats>,
    /// Each oracle.
    pub oracles: Vec<NamedFigures>,
    /// Each mark that an event fed, set back or asked for.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub marks: BTreeMap<String, MarkStats>,
    /// Each issue.
    pub issues: Vec<GroupStats>,
    /// Each host.
    pub hosts: Vec<GroupStats>,
    /// Each kind of subagent, and what no subagent did; none where the figures of many machines are read.
    pub agents: Vec<GroupStats>,
    /// Each day from the first to the last, in order (UTC), with those of which there is nothing.
    pub days: Vec<GroupStats>,
    /// The sessions with most signals, at most a thousand.
    pub sessions: Vec<GroupStats>,
    /// Each rule of each binding, the one with most findings first.
    pub rules: Vec<FindingStats>,
    /// What broke them, the one with most findings first, at most a thousand.
    pub findings: Vec<FindingStats>,
    /// What only the logs of many machines tell; none of one log.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gathered: Option<Gathered>,
}

/// What is known of a rule, or of one object that breaks it.
#[derive(Clone, Debug, Serialize)]
pub struct FindingStats {
    /// The binding's id.
    pub binding: String,
    /// Its trigger.
    pub hook: String,
    /// The rule, else the kind of the signal.
    pub rule: String,
    /// What broke it; none of a rule, and none where that is the issue or session itself.
    pub object: Option<String>,
    /// The signals.
    pub signals: Intensities,
    /// The findings, and what became of them.
    #[serde(flatten)]
    pub fates: Fates,
    /// The time from the first signal of a finding to its repair, in seconds; none where nothing was repaired.
    pub mean_time_to_repair_s: Option<f64>,
    /// The number of evaluations from the first signal of a finding to its repair, both counted.
    pub mean_tries: Option<f64>,
    /// How many times in between the agent wanted to stop.
    pub mean_turns: Option<f64>,
}

/// What is known of a binding.
#[derive(Clone, Debug, Serialize)]
pub struct BindingStats {
    /// The binding's id.
    pub id: String,
    /// Its trigger.
    pub hook: String,
    /// Its oracle.
    pub oracle: String,
    /// `file:line` of it.
    pub source: String,
    /// The figures.
    #[serde(flatten)]
    pub figures: Figures,
}

/// What is known of a mark.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct MarkStats {
    /// How many events counted, those that may have too.
    pub fed: u64,
    /// How many set it back, those that may have too.
    pub ended: u64,
    /// How many asked for it.
    pub asked: u64,
    /// To how many of them it could not be told.
    pub untold: u64,
}

/// What is known of an oracle.
#[derive(Clone, Debug, Serialize)]
pub struct NamedFigures {
    /// The oracle.
    pub name: String,
    /// The figures.
    #[serde(flatten)]
    pub figures: Figures,
}

/// What is known of an issue, a host, a kind of agent, a session or a day.
#[derive(Clone, Debug, Default, Serialize)]
pub struct GroupStats {
    /// The issue, host or day.
    pub name: String,
    /// How many events were evaluated.
    pub evaluations: u64,
    /// How many of them were stopped.
    pub stopped: u64,
    /// The signals.
    pub signals: Intensities,
    /// How many of them were answered.
    pub answered: u64,
    /// The findings, and what became of them.
    #[serde(flatten)]
    pub fates: Fates,
    /// How long that took.
    pub mean_time_to_repair_s: Option<f64>,
    /// How many times in between the agent wanted to stop.
    pub mean_turns: Option<f64>,
    /// When its first event was.
    pub first: Option<DateTime<Utc>>,
    /// When its last event was.
    pub last: Option<DateTime<Utc>>,
}

impl Stats {
    /// Counts a log; the memory does not grow with it.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn collect(reader: &Reader, filter: &Filter) -> Result<Self, LogError> {
        let mut sums = Sums::new(filter);
        let mut links = Links::default();
        let mut add = |share: Vec<Read<'_>>| {
            for (frame, record) in share {
                // Every line is shown to the chain, whether it counts or not.
                let is_chained = frame.is_some_and(|frame| links.admit(&frame));
                match record {
                    Ok(record) if is_chained && reader.believes(&record) => sums.add(&record),
                    _ => sums.add_bad_line(),
                }
            }
        };
        let mut blocks = reader.blocks(None).of_size(BLOCK);
        while let Some(block) = blocks.next_block()? {
            let mut ready = Vec::new();
            // While some shares are read, the ones before are added up.
            for group in shares(block.bytes).chunks(AT_ONCE) {
                let before = std::mem::take(&mut ready);
                let read = || group.par_iter().map(|share| read(share)).collect();
                (ready, ()) = rayon::join(read, || before.into_iter().for_each(&mut add));
            }
            ready.into_iter().for_each(&mut add);
        }
        Ok(sums.finish())
    }
}

/// A line that was read: its outside, and what it holds.
type Read<'a> = (Option<Frame<'a>>, Result<Line<'a>, BadRecord>);

fn read(bytes: &[u8]) -> Vec<Read<'_>> {
    let read = |line| {
        let frame = Frame::read(line);
        let record = frame.map_or(Err(BadRecord::NoRecord), |frame| Line::of(&frame, line));
        (frame, record)
    };
    bare_lines(bytes).map(read).collect()
}

/// Cuts bytes at ends of lines into pieces of about one share.
fn shares(mut bytes: &[u8]) -> Vec<&[u8]> {
    let mut shares = Vec::new();
    while bytes.len() > SHARE {
        let rest = bytes.get(SHARE..).unwrap_or_default();
        let end = memchr::memchr(b'\n', rest).map_or(bytes.len(), |newline| SHARE + newline + 1);
        let (share, rest) = bytes.split_at(end);
        shares.push(share);
        bytes = rest;
    }
    shares.push(bytes);
    shares
}
