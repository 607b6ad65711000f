//! Story: what happened to one issue, gathered from the log, git and the issue's file.

use std::sync::Arc;

use chrono::DateTime;
use chrono::TimeDelta;
use chrono::Utc;

use crate::oracle::HookContext;
use crate::oracle::wording::counted;
use crate::signal::Action;
use crate::signal::Intensity;
use crate::signal_log::Body;
use crate::signal_log::EvaluationRecord;
use crate::signal_log::Record;
use crate::signal_log::SignalRecord;
use crate::verdict::Decision;
use crate::verdict::Outcome;
use crate::workspace::ChangeScope;
use crate::workspace::Changes;
use crate::workspace::Commit;
use crate::workspace::CommitsOf;
use crate::workspace::Issue;
use crate::workspace::names_id;

/// How far back commits are looked through for the issue's id.
const MOST_COMMITS: usize = 2000;

/// What happened to one issue.
#[derive(Debug)]
pub(super) struct Story {
    pub(super) id: String,
    pub(super) issue: Option<Arc<Issue>>,
    /// Why the issue's file tells nothing, where it does not.
    pub(super) issue_fault: Option<String>,
    pub(super) now: DateTime<Utc>,
    /// What happened, oldest first.
    pub(super) moments: Vec<Moment>,
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
pub(super) struct Moment {
    pub(super) time: DateTime<Utc>,
    pub(super) text: String,
}

/// What one binding found, from the first time until it accepted.
#[derive(Clone, Debug)]
pub(super) struct Obstacle {
    pub(super) hook: String,
    pub(super) binding: String,
    /// The strongest that it gave.
    pub(super) intensity: Intensity,
    /// What it said last.
    pub(super) said: String,
    pub(super) first: DateTime<Utc>,
    /// How many evaluations it spoke in.
    pub(super) times: usize,
    /// When it accepted.
    pub(super) mended: Option<DateTime<Utc>>,
}

/// How one signal was answered.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    pub(super) binding: String,
    pub(super) action: Action,
    pub(super) refused: bool,
}

impl Story {
    /// Gathers the story of an issue.
    pub(super) fn of(id: &str, context: &HookContext) -> Self {
        let (issue, issue_fault) = match context.facts.issue() {
            Ok(Some(issue)) => (Some(issue.clone()), None),
            Ok(None) => (None, Some("no file was found for it".to_owned())),
            Err(error) => (None, Some(error.to_string())),
        };
        let mut story = Self {
            id: id.to_owned(),
            issue,
            issue_fault,
            now: context.facts.time(),
            moments: Vec::new(),
            obstacles: Vec::new(),
            answers: Vec::new(),
            failures: Vec::new(),
            evaluations: 0,
            stops: 0,
            spent_us: 0,
            commits: commits(id, context),
            changes: context.workspace().changes(ChangeScope::Branch).ok(),
        };
        let mut spoken = Vec::new();
        for record in context.history().records(id) {
            story.add(&record, &mut spoken);
        }
        for commit in &story.commits {
            story.moments.push(Moment {
                time: commit.time,
                text: format!("commit {} {}", commit.short_id(), commit.subject()),
            });
        }
        story.moments.sort_by_key(|moment| moment.time);
        story
    }

    /// Takes one record; `spoken` are the obstacles that the evaluation at hand has already counted.
    fn add(&mut self, record: &Record, spoken: &mut Vec<usize>) {
        match &record.body {
            Body::Evaluation(evaluation) => {
                spoken.clear();
                self.add_evaluation(record.timestamp, evaluation);
            }
            Body::Signal(signal) => self.add_signal(record.timestamp, signal, spoken),
            Body::Response(response) => {
                let binding = response.binding.clone().unwrap_or_default();
                let refused = response.refused.is_some();
                let action = response.response.action;
                let ending = if refused { ", which was refused" } else { "" };
                self.moments.push(Moment {
                    time: record.timestamp,
                    text: format!("`{binding}` was answered with `{action}`{ending}"),
                });
                self.answers.push(Answer {
                    binding,
                    action,
                    refused,
                });
            }
        }
    }

    fn add_evaluation(&mut self, time: DateTime<Utc>, evaluation: &EvaluationRecord) {
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
            self.moments.push(Moment {
                time,
                text: format!("`{hook}`{tool} {what}"),
            });
        }
        for report in &evaluation.bindings {
            match report.outcome {
                Outcome::Accepted => {
                    let open =
                        self.obstacles.iter_mut().rev().find(|obstacle| {
                            obstacle.hook == *hook && obstacle.binding == report.id
                        });
                    if let Some(obstacle) = open {
                        obstacle.mended.get_or_insert(time);
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
    }

    fn add_signal(&mut self, time: DateTime<Utc>, record: &SignalRecord, spoken: &mut Vec<usize>) {
        let signal = &record.signal;
        if signal.intensity() == Intensity::Aid {
            return;
        }
        let said = signal
            .payload
            .text()
            .lines()
            .next()
            .unwrap_or_default()
            .to_owned();
        let hook = &signal.context.hook;
        let binding = &record.origin.binding;
        let open = self.obstacles.iter().rposition(|obstacle| {
            obstacle.hook == *hook && obstacle.binding == *binding && obstacle.mended.is_none()
        });
        let at = open.unwrap_or(self.obstacles.len());
        if open.is_none() {
            self.obstacles.push(Obstacle {
                hook: hook.clone(),
                binding: binding.clone(),
                intensity: signal.intensity(),
                said: String::new(),
                first: time,
                times: 0,
                mended: None,
            });
        }
        if let Some(obstacle) = self.obstacles.get_mut(at) {
            obstacle.intensity = obstacle.intensity.max(signal.intensity());
            obstacle.said.clone_from(&said);
            if !spoken.contains(&at) {
                obstacle.times += 1;
                spoken.push(at);
            }
        }
        self.moments.push(Moment {
            time,
            text: format!("{} by `{binding}`: {said}", signal.intensity()),
        });
    }

    /// Returns when a step of the issue's life first and last passed.
    pub(super) fn passed(&self, verb: &str) -> Option<(DateTime<Utc>, DateTime<Utc>)> {
        let text = format!("-issue-{verb}` passed");
        let mut times = self
            .moments
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
            .filter(|a| a.action == action && !a.refused);
        given.count()
    }

    /// Returns the mean time from the first finding of an obstacle to its mending.
    pub(super) fn mean_repair(&self) -> Option<TimeDelta> {
        let times: Vec<TimeDelta> = self
            .obstacles
            .iter()
            .filter_map(|obstacle| Some(obstacle.mended? - obstacle.first))
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
            if obstacle.times >= 3 {
                let end = match obstacle.mended {
                    Some(_) => "before it was content: say up front what it wants",
                    None => "and was never content: is what it wants worth wanting?",
                };
                lessons.push(format!(
                    "`{}` spoke up {} times at `{}` {end}",
                    obstacle.binding, obstacle.times, obstacle.hook
                ));
            }
            if obstacle.mended.is_none() && obstacle.intensity == Intensity::Block {
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
                .filter(|a| a.action == action && !a.refused)
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

/// Returns the commits of the issue, oldest first: of its branch, or those that name it where the branch is gone.
fn commits(id: &str, context: &HookContext) -> Vec<Commit> {
    let ask = |of: &CommitsOf| {
        let commits = context.workspace().commits(of, MOST_COMMITS);
        commits.unwrap_or_default()
    };
    let mut commits = ask(&CommitsOf::Branch);
    if commits.is_empty() {
        commits = ask(&CommitsOf::Paths(Vec::new()));
        commits.retain(|commit| names_id(&commit.message, id));
    }
    commits.reverse();
    commits
}
