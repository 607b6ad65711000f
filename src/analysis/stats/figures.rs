//! Figures: what is counted of a binding, an oracle, an issue, a host or a day.

use std::collections::BTreeMap;

use serde::Serialize;

use super::histogram::Histogram;
use crate::signal::Action;
use crate::signal::Intensity;
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
    pub(super) repaired: u64,
    pub(super) repair_ms: u64,
    pub(super) tries: u64,
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
        self.repaired += other.repaired;
        self.repair_ms += other.repair_ms;
        self.tries += other.tries;
        for (sum, count) in self.repair_times.iter_mut().zip(other.repair_times) {
            *sum += count;
        }
        self.durations.merge(&other.durations);
    }

    pub(super) const fn add_outcome(&mut self, outcome: Outcome, timed_out: bool) {
        match outcome {
            Outcome::Accepted => self.accepted += 1,
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

    pub(super) fn add_repair(&mut self, milliseconds: u64, tries: u64) {
        self.repaired += 1;
        self.repair_ms += milliseconds;
        self.tries += tries;
        let class = REPAIR_CLASSES.partition_point(|(_, below)| milliseconds / 1000 >= *below);
        if let Some(count) = self.repair_times.get_mut(class) {
            *count += 1;
        }
    }

    pub(super) fn figures(&self) -> Figures {
        let answered: u64 = self.responses.values().sum();
        let of = |actions: &[Action]| -> u64 {
            actions.iter().filter_map(|a| self.responses.get(a)).sum()
        };
        let dismissable = self.signals.prompt + self.signals.control + self.signals.aid;
        let dismissed = of(&[
            Action::Dismiss,
            Action::RejectModification,
            Action::SuggestionDeferred,
        ]);
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
            dismissal_rate: rate(dismissed, dismissable),
            waved_through_rate: rate(dismissed + of(&[Action::Acknowledge]), dismissable),
            override_rate: rate(of(&[Action::ProceedWithRisk]), self.signals.block),
            repaired: self.repaired,
            mean_time_to_repair_s: mean(self.repair_ms, self.repaired).map(|ms| ms / 1000.0),
            mean_tries: mean(self.tries, self.repaired),
            errors: self.errors,
            timeouts: self.timeouts,
            p50_us: self.durations.percentile(50),
            p99_us: self.durations.percentile(99),
            repair_times: self.repair_times,
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
    /// The part of the prompts, controls and aids that was dismissed, rejected or deferred.
    pub dismissal_rate: Option<f64>,
    /// That part with the acknowledged ones: said, and nothing came of it.
    pub waved_through_rate: Option<f64>,
    /// The part of the blocks that was overridden.
    pub override_rate: Option<f64>,
    /// How many chains ended with an acceptance.
    pub repaired: u64,
    /// The time from the first violation to the acceptance, in seconds.
    pub mean_time_to_repair_s: Option<f64>,
    /// The number of evaluations from the first violation to the acceptance, both counted.
    pub mean_tries: Option<f64>,
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
}

/// Divides, rounded to a ten-thousandth so that it reads well; none by zero.
fn rate(part: u64, whole: u64) -> Option<f64> {
    mean(part, whole).map(|rate| (rate * 10_000.0).round() / 10_000.0)
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counts of a log are far below 2^52"
)]
fn mean(sum: u64, count: u64) -> Option<f64> {
    (count > 0).then(|| sum as f64 / count as f64)
}
