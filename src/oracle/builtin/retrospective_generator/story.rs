//! Story: what happened to one issue, gathered from the log, git and the issue's file.

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use uuid::Uuid;

use crate::oracle::HookContext;
use crate::oracle::wording::counted;
use crate::signal::{Action, Intensity};
use crate::signal_log::{Body, EvaluationRecord, Record, SignalRecord};
use crate::verdict::{Decision, Outcome};
use crate::workspace::{Changes, Commit, Issue};

#[derive(Debug)]
pub(super) struct Story {
    pub(super) id: String,
    pub(super) issue: Option<Arc<Issue>>,
    /// Why the issue's file tells nothing, where it does not.
    pub(super) issue_fault: Option<String>,
    pub(super) now: DateTime<Utc>,
    /// What happened, oldest first.
    pub(super) timeline: Vec<TimelineEntry>,
    /// What stood in the way, in the order in which it first did.
    pub(super) obstacles: Vec<Obstacle>,
    pub(super) answers: Vec<Answer>,
    /// Oracles that could not judge, with how often.
    pub(super) failures: Vec<(String, usize)>,
    pub(super) evaluations: usize,
    pub(super) stops: usize,
    /// How long all oracles took together, in microseconds.
    pub(super) spent_us: u64,
    /// Oldest first.
    pub(super) commits: Vec<Commit>,
    pub(super) changes: Option<Arc<Changes>>,
}

/// One line of the time line.
#[derive(Clone, Debug)]
pub(super) struct TimelineEntry {
    pub(super) time: DateTime<Utc>,
    pub(super) text: String,
}

/// A finding, from the first time until its binding judged the same again without it.
#[derive(Clone, Debug)]
pub(super) struct Obstacle {
    pub(super) hook: String,
    pub(super) binding: String,
    /// Which finding it is, and what the event acted on.
    identities: Vec<String>,
    acted_on: Option<String>,
    /// Its signals, by which an answer that held it back is known.
    signals: Vec<Uuid>,
    /// The strongest that it gave.
    pub(super) intensity: Intensity,
    /// What it said last.
    pub(super) said: String,
    pub(super) first: DateTime<Utc>,
    /// How many evaluations it spoke in.
    pub(super) times: usize,
    /// When it was found no more.
    pub(super) repaired: Option<DateTime<Utc>>,
    /// An answer held it back.
    is_waived: bool,
}

/// The evaluation that signals follow.
#[derive(Debug, Default)]
struct AtHand {
    acted_on: Option<String>,
    /// The obstacles that it has counted, and those that are repaired unless a signal of theirs follows.
    spoken: Vec<usize>,
    repaired: Vec<usize>,
}

/// How one signal was answered.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    pub(super) binding: String,
    pub(super) action: Action,
    pub(super) refused: bool,
    /// Whether somebody has said so; else it is concluded from what came next.
    pub(super) is_said: bool,
}

impl Answer {
    /// Whether it is an answer that somebody has given and that was taken.
    pub(super) const fn counts(&self) -> bool {
        self.is_said && !self.refused
    }
}

/// What is said where no file holds the issue.
const NO_FILE: &str = "no file was found for it";

impl Obstacle {
    /// Whether it neither went nor was let through.
    pub(super) const fn is_open(&self) -> bool {
        self.repaired.is_none() && !self.is_waived
    }
}

impl Story {
    /// Whether nothing tells of the issue: neither its file nor a commit nor a record.
    pub(super) fn is_empty(&self) -> bool {
        let is_told = self.issue.is_some() || !self.commits.is_empty() || self.evaluations > 0;
        !is_told && self.issue_fault.as_deref() == Some(NO_FILE)
    }

    /// Gathers the story of an issue.
    pub(super) fn of(id: &str, context: &HookContext) -> Self {
        let (issue, issue_fault) = match context.facts.issue() {
            Ok(Some(issue)) => (Some(issue.clone()), None),
            Ok(None) => (None, Some(NO_FILE.to_owned())),
            Err(error) => (None, Some(error.to_string())),
        };
        let mut story = Self {
            id: id.to_owned(),
            issue,
            issue_fault,
            now: context.facts.time(),
            timeline: Vec::new(),
            obstacles: Vec::new(),
            answers: Vec::new(),
            failures: Vec::new(),
            evaluations: 0,
            stops: 0,
            spent_us: 0,
            commits: context.facts.issue_commits(),
            changes: context.facts.issue_changes().ok(),
        };
        let mut at_hand = AtHand::default();
        for record in context.history().records(id) {
            story.add(&record, &mut at_hand);
        }
        for commit in &story.commits {
            story.timeline.push(TimelineEntry {
                time: commit.time,
                text: format!("commit {} {}", commit.short_id(), commit.subject()),
            });
        }
        story.timeline.sort_by_key(|entry| entry.time);
        story
    }

    fn add(&mut self, record: &Record, at_hand: &mut AtHand) {
        match &record.body {
            Body::Evaluation(evaluation) => {
                *at_hand = self.add_evaluation(record.timestamp, evaluation);
            }
            Body::Signal(signal) => self.add_signal(record.timestamp, signal, at_hand),
            Body::Response(response) => {
                let binding = response.binding.clone().unwrap_or_default();
                let refused = response.refused.is_some();
                let action = response.response.action;
                let is_said = response.response.is_said();
                let ending = match (refused, is_said) {
                    (true, _) => ", which was refused",
                    (false, true) => "",
                    (false, false) => ", as is concluded from what came next",
                };
                self.timeline.push(TimelineEntry {
                    time: record.timestamp,
                    text: format!("`{binding}` was answered with `{action}`{ending}"),
                });
                self.answers.push(Answer {
                    binding,
                    action,
                    refused,
                    is_said,
                });
            }
        }
    }

    fn add_evaluation(&mut self, time: DateTime<Utc>, evaluation: &EvaluationRecord) -> AtHand {
        self.evaluations += 1;
        self.spent_us += evaluation.duration_us;
        let hook = &evaluation.hook;
        let stopped = evaluation.decision >= Decision::Ask;
        let what = match evaluation.decision {
            Decision::Block => "was blocked",
            Decision::Ask => "had to wait for an answer",
            Decision::Allow | Decision::None => "passed",
        };
        self.stops += usize::from(stopped);
        if stopped || hook.contains("-issue-") {
            let tool = evaluation.tool.as_ref();
            let tool = tool.map_or(String::new(), |tool| format!(" (`{tool}`)"));
            self.timeline.push(TimelineEntry {
                time,
                text: format!("`{hook}`{tool} {what}"),
            });
        }
        let mut repaired = Vec::new();
        for report in &evaluation.bindings {
            match report.outcome {
                Outcome::Accepted | Outcome::Signalled => {
                    for (at, obstacle) in self.obstacles.iter_mut().enumerate() {
                        if !obstacle.is_open()
                            || (&obstacle.hook, &obstacle.binding) != (hook, &report.id)
                            || obstacle.acted_on != evaluation.object
                        {
                            continue;
                        }
                        if report.waived.iter().any(|id| obstacle.signals.contains(id)) {
                            obstacle.is_waived = true;
                        } else {
                            obstacle.repaired = Some(time);
                            repaired.push(at);
                        }
                    }
                }
                Outcome::Failed => {
                    match self.failures.iter_mut().find(|(id, _)| *id == report.id) {
                        Some((_, count)) => *count += 1,
                        None => self.failures.push((report.id.clone(), 1)),
                    }
                }
                _ => {}
            }
        }
        AtHand {
            acted_on: evaluation.object.clone(),
            spoken: Vec::new(),
            repaired,
        }
    }

    fn add_signal(&mut self, time: DateTime<Utc>, record: &SignalRecord, at_hand: &mut AtHand) {
        let signal = &record.signal;
        if signal.intensity() == Intensity::Aid {
            return;
        }
        let said = signal.payload.said();
        let mut lines = said.lines().filter(|line| !line.trim().is_empty());
        // A line that ends so says nothing without the next one.
        let said = match (lines.next(), lines.next()) {
            (Some(first), Some(next)) if first.ends_with(':') => format!("{first} {next}"),
            (Some(first), _) => first.to_owned(),
            (None, _) => signal.header.kind.clone(),
        };
        let hook = &signal.context.hook;
        let binding = &record.origin.binding;
        let mut obstacles = self.obstacles.iter().enumerate();
        let open = obstacles.rfind(|(at, obstacle)| {
            (&obstacle.hook, &obstacle.binding) == (hook, binding)
                && record
                    .identities()
                    .any(|i| obstacle.identities.iter().any(|o| o == i))
                && (obstacle.is_open() || at_hand.repaired.contains(at))
        });
        let open = open.map(|(at, _)| at);
        let at = open.unwrap_or(self.obstacles.len());
        if open.is_none() {
            self.obstacles.push(Obstacle {
                hook: hook.clone(),
                binding: binding.clone(),
                identities: Vec::new(),
                acted_on: None,
                signals: Vec::new(),
                intensity: signal.intensity(),
                said: String::new(),
                first: time,
                times: 0,
                repaired: None,
                is_waived: false,
            });
        }
        if let Some(obstacle) = self.obstacles.get_mut(at) {
            obstacle.intensity = obstacle.intensity.max(signal.intensity());
            obstacle.said.clone_from(&said);
            obstacle.identities = record.identities().map(str::to_owned).collect();
            obstacle.acted_on.clone_from(&at_hand.acted_on);
            obstacle.signals.push(signal.header.id);
            obstacle.repaired = None;
            if !at_hand.spoken.contains(&at) {
                obstacle.times += 1;
                at_hand.spoken.push(at);
            }
        }
        self.timeline.push(TimelineEntry {
            time,
            text: format!("{} by `{binding}`: {said}", signal.intensity()),
        });
    }

    /// Returns when a step of the issue's life first and last passed.
    pub(super) fn passed(&self, verb: &str) -> Option<(DateTime<Utc>, DateTime<Utc>)> {
        let text = format!("-issue-{verb}` passed");
        let mut times = self
            .timeline
            .iter()
            .filter(|m| m.text.ends_with(&text))
            .map(|m| m.time);
        let first = times.next()?;
        Some((first, times.next_back().unwrap_or(first)))
    }

    /// Returns how often an answer was given.
    pub(super) fn answered(&self, action: Action) -> usize {
        let given = self
            .answers
            .iter()
            .filter(|a| a.action == action && a.counts());
        given.count()
    }

    /// Returns the mean time from the first finding of an obstacle to the end of it.
    pub(super) fn mean_repair(&self) -> Option<TimeDelta> {
        let times: Vec<TimeDelta> = self
            .obstacles
            .iter()
            .filter_map(|obstacle| Some(obstacle.repaired? - obstacle.first))
            .collect();
        let count = i32::try_from(times.len()).ok().filter(|count| *count > 0)?;
        Some(times.into_iter().sum::<TimeDelta>() / count)
    }

    /// Says it in one line.
    pub(super) fn summary(&self) -> String {
        let stops = match self.stops {
            0 => "never stopped".to_owned(),
            1 => "stopped once".to_owned(),
            n => format!("stopped {n} times"),
        };
        format!(
            "{} evaluated, {stops}, {}",
            counted(self.evaluations, "event"),
            counted(self.commits.len(), "commit")
        )
    }

    /// Says what can be learned from it; each is founded on figures.
    pub(super) fn lessons(&self) -> Vec<String> {
        let mut lessons = Vec::new();
        for obstacle in &self.obstacles {
            if obstacle.times >= 3 && !obstacle.is_waived {
                let end = match obstacle.repaired {
                    Some(_) => "before it was content: say up front what it wants",
                    None => "and was never content: is what it wants worth wanting?",
                };
                lessons.push(format!(
                    "`{}` spoke up {} times at `{}` {end}",
                    obstacle.binding, obstacle.times, obstacle.hook
                ));
            }
            if obstacle.is_open() && obstacle.intensity == Intensity::Block {
                lessons.push(format!(
                    "`{}` never accepted at `{}` after it had blocked: {}",
                    obstacle.binding, obstacle.hook, obstacle.said
                ));
            }
        }
        let of = |action: Action| {
            let mut counts: Vec<(&str, usize)> = Vec::new();
            for answer in self
                .answers
                .iter()
                .filter(|a| a.action == action && a.counts())
            {
                match counts
                    .iter_mut()
                    .find(|(binding, _)| *binding == answer.binding)
                {
                    Some((_, count)) => *count += 1,
                    None => counts.push((&answer.binding, 1)),
                }
            }
            counts
        };
        for (binding, count) in of(Action::Dismiss) {
            if count >= 2 {
                lessons.push(format!(
                    "{count} prompts of `{binding}` were dismissed: narrow it or drop it"
                ));
            }
        }
        for (binding, count) in of(Action::ProceedWithRisk) {
            lessons.push(format!(
                "{} of `{binding}` passed at a risk: look at what came of it",
                counted(count, "block")
            ));
        }
        for (binding, count) in &self.failures {
            lessons.push(format!(
                "`{binding}` could not judge {}: see `ahp log show`",
                counted(*count, "time")
            ));
        }
        lessons
    }
}
