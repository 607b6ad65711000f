//! Figures: what is counted of a binding, an oracle, an issue, a host or a day.

use std::collections::BTreeMap;

use serde::Serialize;

use super::histogram::Histogram;
use crate::signal::{Action, Actor, Intensity};
use crate::verdict::Outcome;

/// How many signals of each intensity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Intensities {
    /// Blocks.
    pub block: u64,
    /// Controls.
    pub control: u64,
    /// Prompts.
    pub prompt: u64,
    /// Aids.
    pub aid: u64,
}

impl Intensities {
    /// Returns how many there are of one.
    pub const fn of(&self, intensity: Intensity) -> u64 {
        match intensity {
            Intensity::Block => self.block,
            Intensity::Control => self.control,
            Intensity::Prompt => self.prompt,
            Intensity::Aid => self.aid,
        }
    }

    /// Returns how many there are in all.
    pub const fn total(&self) -> u64 {
        self.block + self.control + self.prompt + self.aid
    }

    pub(super) const fn add(&mut self, intensity: Intensity) {
        match intensity {
            Intensity::Block => self.block += 1,
            Intensity::Control => self.control += 1,
            Intensity::Prompt => self.prompt += 1,
            Intensity::Aid => self.aid += 1,
        }
    }

    pub(super) const fn merge(&mut self, other: &Self) {
        self.block += other.block;
        self.control += other.control;
        self.prompt += other.prompt;
        self.aid += other.aid;
    }
}

/// What became of a finding; `docs/signal-log.md` has the definitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Repaired {
        milliseconds: u64,
        tries: u64,
        turns: u64,
    },
    Overridden(Actor),
    Dismissed(Actor),
    Heeded,
    Ignored,
}

/// How many findings there were, and what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Fates {
    /// The findings: a rule and its object, once however often it was found until its fate was known.
    pub findings: u64,
    /// The signals that brought new ones: what one signal brings at once has one cause.
    pub occasions: u64,
    /// The same binding judged the same object again and did not find it any more.
    pub repaired: u64,
    /// A block was lifted by `proceed_with_risk`.
    pub overridden: u64,
    /// Of these, by an answer of the agent itself.
    pub overridden_by_agent: u64,
    /// It was acknowledged, dismissed, rejected or deferred.
    pub dismissed: u64,
    /// Of these, by an answer of the agent itself.
    pub dismissed_by_agent: u64,
    /// It was stopped, and its session ended without another try.
    pub heeded: u64,
    /// It was let through, and its session ended with neither a repair nor an answer.
    pub ignored: u64,
}

impl Fates {
    /// Returns of how many it is not known yet.
    pub const fn open(&self) -> u64 {
        let ended = self.repaired + self.overridden + self.dismissed + self.heeded + self.ignored;
        self.findings.saturating_sub(ended)
    }

    /// Returns how many an answer of the agent itself has ended.
    pub const fn by_agent(&self) -> u64 {
        self.overridden_by_agent + self.dismissed_by_agent
    }

    pub(super) const fn end(&mut self, fate: Fate) {
        match fate {
            Fate::Repaired { .. } => self.repaired += 1,
            Fate::Overridden(by) => {
                self.overridden += 1;
                self.overridden_by_agent += matches!(by, Actor::Agent) as u64;
            }
            Fate::Dismissed(by) => {
                self.dismissed += 1;
                self.dismissed_by_agent += matches!(by, Actor::Agent) as u64;
            }
            Fate::Heeded => self.heeded += 1,
            Fate::Ignored => self.ignored += 1,
        }
    }

    const fn merge(&mut self, other: &Self) {
        self.findings += other.findings;
        self.occasions += other.occasions;
        self.repaired += other.repaired;
        self.overridden += other.overridden;
        self.overridden_by_agent += other.overridden_by_agent;
        self.dismissed += other.dismissed;
        self.dismissed_by_agent += other.dismissed_by_agent;
        self.heeded += other.heeded;
        self.ignored += other.ignored;
    }
}

/// What repairs took in all.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Repairs {
    pub(super) milliseconds: u64,
    pub(super) tries: u64,
    pub(super) turns: u64,
}

impl Repairs {
    const fn add(&mut self, fate: Fate) {
        if let Fate::Repaired {
            milliseconds,
            tries,
            turns,
        } = fate
        {
            self.milliseconds += milliseconds;
            self.tries += tries;
            self.turns += turns;
        }
    }

    const fn merge(&mut self, other: &Self) {
        self.milliseconds += other.milliseconds;
        self.tries += other.tries;
        self.turns += other.turns;
    }

    /// Returns what one of so many took: seconds, tries and turns.
    pub(super) fn means(&self, repaired: u64) -> [Option<f64>; 3] {
        let seconds = mean(self.milliseconds, repaired).map(|ms| ms / 1000.0);
        [
            seconds,
            mean(self.tries, repaired),
            mean(self.turns, repaired),
        ]
    }
}

/// What is counted of a rule, or of one object that breaks it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Kind {
    pub(super) signals: Intensities,
    pub(super) fates: Fates,
    pub(super) repairs: Repairs,
}

impl Kind {
    pub(super) const fn end(&mut self, fate: Fate) {
        self.fates.end(fate);
        self.repairs.add(fate);
    }
}

/// What is counted of a binding; the figures of its oracle, issue, host or day are sums of these.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts {
    pub(super) triggered: u64,
    pub(super) accepted: u64,
    pub(super) signalled: u64,
    pub(super) errors: u64,
    pub(super) timeouts: u64,
    pub(super) signals: Intensities,
    pub(super) responses: BTreeMap<Action, u64>,
    pub(super) refused: u64,
    pub(super) inferred: u64,
    pub(super) fates: Fates,
    pub(super) repairs: Repairs,
    /// How many repairs took half an hour or more than three tries.
    pub(super) hard_repairs: u64,
    /// How many runs took two seconds or longer.
    pub(super) slow_runs: u64,
    pub(super) repair_times: [u64; REPAIR_CLASSES.len()],
    pub(super) durations: Histogram,
}

/// The classes into which times to repair fall: what each is called, and below how many seconds it ends.
pub const REPAIR_CLASSES: [(&str, u64); 7] = [
    ("< 1 min", 60),
    ("< 5 min", 300),
    ("< 15 min", 900),
    ("< 1 h", 3600),
    ("< 4 h", 14_400),
    ("< 1 d", 86_400),
    ("longer", u64::MAX),
];

/// From which duration on a run is slow, in microseconds.
pub(in crate::analysis) const SLOW_US: u32 = 2_000_000;
/// From how long on a repair is hard, in milliseconds, and from how many tries on.
const HARD_MS: u64 = 1_800_000;
const HARD_TRIES: u64 = 4;

impl Counts {
    pub(super) fn merge(&mut self, other: &Self) {
        self.triggered += other.triggered;
        self.accepted += other.accepted;
        self.signalled += other.signalled;
        self.errors += other.errors;
        self.timeouts += other.timeouts;
        self.signals.merge(&other.signals);
        for (action, count) in &other.responses {
            *self.responses.entry(*action).or_default() += count;
        }
        self.refused += other.refused;
        self.inferred += other.inferred;
        self.fates.merge(&other.fates);
        self.repairs.merge(&other.repairs);
        self.hard_repairs += other.hard_repairs;
        self.slow_runs += other.slow_runs;
        for (sum, count) in self.repair_times.iter_mut().zip(other.repair_times) {
            *sum += count;
        }
        self.durations.merge(&other.durations);
    }

    pub(super) const fn add_outcome(&mut self, outcome: Outcome, is_waived: bool, timed_out: bool) {
        match outcome {
            // Whatever an answer holds back was found all the same.
            Outcome::Accepted => self.accepted += !is_waived as u64,
            Outcome::Signalled => self.signalled += 1,
            Outcome::Failed => {
                self.errors += 1;
                self.timeouts += timed_out as u64;
            }
            Outcome::Started => {}
            Outcome::Skipped | Outcome::NotRun | Outcome::Disabled => return,
        }
        self.triggered += 1;
    }

    pub(super) fn add_duration(&mut self, microseconds: u32) {
        self.durations.add(microseconds);
        self.slow_runs += u64::from(microseconds >= SLOW_US);
    }

    pub(super) fn end(&mut self, fate: Fate) {
        self.fates.end(fate);
        self.repairs.add(fate);
        let Fate::Repaired {
            milliseconds,
            tries,
            turns: _,
        } = fate
        else {
            return;
        };
        self.hard_repairs += u64::from(milliseconds >= HARD_MS || tries >= HARD_TRIES);
        let class = REPAIR_CLASSES.partition_point(|(_, below)| milliseconds / 1000 >= *below);
        if let Some(count) = self.repair_times.get_mut(class) {
            *count += 1;
        }
    }

    pub(super) fn figures(&self) -> Figures {
        let answered: u64 = self.responses.values().sum();
        let fates = self.fates;
        let [mean_time_to_repair_s, mean_tries, mean_turns] = self.repairs.means(fates.repaired);
        Figures {
            triggered: self.triggered,
            accepted: self.accepted,
            signalled: self.signalled,
            signals: self.signals,
            answered,
            responses: self
                .responses
                .iter()
                // An answer may have taken the place of the only one of another kind.
                .filter(|(_, count)| **count > 0)
                .map(|(action, count)| (action.name(), *count))
                .collect(),
            inferred: self.inferred,
            refused: self.refused,
            consumption_rate: rate(answered, self.signals.total()),
            fates,
            dismissal_rate: rate(fates.dismissed, fates.findings),
            override_rate: rate(fates.overridden, fates.findings),
            ignored_rate: rate(fates.ignored, fates.findings),
            mean_time_to_repair_s,
            mean_tries,
            mean_turns,
            errors: self.errors,
            timeouts: self.timeouts,
            p50_us: self.durations.percentile(50),
            p99_us: self.durations.percentile(99),
            repair_times: self.repair_times,
            hard_repairs: self.hard_repairs,
            slow_runs: self.slow_runs,
        }
    }
}

/// What is known of a binding, an oracle, an issue, a host or a day.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Figures {
    /// How often it judged: accepted, signalled, failed, or started without being waited for.
    pub triggered: u64,
    /// How often it had no objection.
    pub accepted: u64,
    /// How often it gave signals.
    pub signalled: u64,
    /// The signals that it gave.
    pub signals: Intensities,
    /// How many of them were answered.
    pub answered: u64,
    /// How.
    pub responses: BTreeMap<&'static str, u64>,
    /// How many of the answers were concluded from what came next.
    pub inferred: u64,
    /// How many answers were refused.
    pub refused: u64,
    /// The part of the signals that was answered.
    pub consumption_rate: Option<f64>,
    /// The findings behind its prompts and stronger signals, and what became of them.
    #[serde(flatten)]
    pub fates: Fates,
    /// The part of the findings that was dismissed.
    pub dismissal_rate: Option<f64>,
    /// The part of the findings that was overridden.
    pub override_rate: Option<f64>,
    /// The part of the findings that was ignored.
    pub ignored_rate: Option<f64>,
    /// The time from the first signal of a finding to its repair, in seconds.
    pub mean_time_to_repair_s: Option<f64>,
    /// The number of evaluations from the first signal of a finding to its repair, both counted.
    pub mean_tries: Option<f64>,
    /// How many times in between the agent wanted to stop.
    pub mean_turns: Option<f64>,
    /// How often it failed.
    pub errors: u64,
    /// How often it failed because it took too long.
    pub timeouts: u64,
    /// The duration that half of its evaluations do not exceed, in microseconds.
    pub p50_us: Option<u64>,
    /// The duration that 99 of 100 do not exceed, in microseconds.
    pub p99_us: Option<u64>,
    /// How many times to repair fall into each of [`REPAIR_CLASSES`].
    #[serde(skip)]
    pub repair_times: [u64; REPAIR_CLASSES.len()],
    /// How many repairs took half an hour or longer, or four tries or more.
    pub hard_repairs: u64,
    /// How many runs took two seconds or longer.
    pub slow_runs: u64,
}

/// Divides, rounded to a ten-thousandth so that it reads well; none by zero.
fn rate(part: u64, whole: u64) -> Option<f64> {
    mean(part, whole).map(|rate| (rate * 10_000.0).round() / 10_000.0)
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counts of a log are far below 2^52"
)]
pub(super) fn mean(sum: u64, count: u64) -> Option<f64> {
    (count > 0).then(|| sum as f64 / count as f64)
}
