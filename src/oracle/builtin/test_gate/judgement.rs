//! What the figures of a test run mean: the signals of the gate.

use std::collections::BTreeSet;
use std::path::Path;

use super::coverage::Coverage;
use super::{TestGate, unusable};
use crate::fact::{Fact, FactValue};
use crate::oracle::HookContext;
use crate::oracle::toolchain::relative;
use crate::oracle::toolchain::test_run::{Failure, Replaced, Tally, TestRun};
use crate::process::Exit;
use crate::signal::{Intensity, Severity, Signal};
use crate::workspace::Evidence;

/// How many failed tests are named one by one.
const NAMED: usize = 20;

/// The coverage of a run.
#[derive(Clone, Debug, Default)]
pub(super) enum Figure {
    /// Nothing tells it.
    #[default]
    Unknown,
    /// The runner printed it, or it is remembered.
    Printed(f64),
    /// A report tells it, for each file too.
    Report(Coverage),
    /// The report that should tell it does not.
    Fault(Box<Signal>),
}

impl Figure {
    /// Returns the covered share in percent.
    pub(super) fn percent(&self) -> Option<f64> {
        match self {
            Self::Unknown | Self::Fault(_) => None,
            Self::Printed(percent) => Some(*percent),
            Self::Report(coverage) => coverage.percent(),
        }
    }
}

/// All that is known of the tests.
#[derive(Clone, Debug, Default)]
pub(super) struct Outcome {
    /// What was run or read.
    pub(super) command: String,
    /// The tests.
    pub(super) tally: Tally,
    /// The command lines that ended with code 0 without telling of any test.
    untold: Vec<String>,
    /// How runs ended before everything had run: the command line and what was left.
    cut_short: Vec<(String, Vec<String>)>,
    /// Reports that nobody can have made who may: the command line and why.
    forged: Vec<(String, Vec<String>)>,
    /// What of the project's own stood in the place of a runner, as the runs showed it.
    pub(super) replaced: BTreeSet<Replaced>,
    /// The runners that reported.
    pub(super) runners: BTreeSet<String>,
    /// The files of tests, and the manifests, that ran, as far as the runners tell.
    pub(super) places: BTreeSet<String>,
    /// What is wrong with that.
    pub(super) unapproved: Option<Signal>,
    /// Tests that passed before and do not run any more.
    pub(super) lost: Option<Signal>,
    /// How runs ended that did not end well: the command, its exit, and the end of its output.
    failed_runs: Vec<(String, Exit, String)>,
    /// The reports that were written into the project.
    pub(super) written: BTreeSet<String>,
    pub(super) coverage: Figure,
    /// What is wrong with the reports.
    pub(super) faults: Vec<Signal>,
}

impl Outcome {
    /// Makes an outcome of which nothing is known yet.
    pub(super) fn of(command: &str) -> Self {
        Self {
            command: command.to_owned(),
            ..Self::default()
        }
    }

    /// Makes the outcome of a run that is remembered.
    pub(super) fn known(evidence: &Evidence) -> Self {
        Self {
            tally: Tally {
                passed: evidence.passed,
                failed: evidence.failed,
                skipped: evidence.skipped,
                ..Tally::default()
            },
            untold: if evidence.passed == 0 {
                vec![evidence.command.clone()]
            } else {
                Vec::new()
            },
            coverage: evidence.coverage.map_or(Figure::Unknown, Figure::Printed),
            ..Self::of(&evidence.command)
        }
    }

    pub(super) fn add(&mut self, command: &str, run: TestRun) {
        match run.tally {
            Some(tally) => self.tally.add(tally),
            None if run.exit.is_success() => self.untold.push(command.to_owned()),
            None => {}
        }
        self.cut_short(command, run.cut_short);
        self.replaced.extend(run.replaced);
        self.runners.extend(run.runners);
        self.places.extend(run.places);
        self.written.extend(run.written);
        if !run.forged.is_empty() {
            self.forged.push((command.to_owned(), run.forged));
        }
        if !run.exit.is_success() {
            self.failed_runs
                .push((command.to_owned(), run.exit, run.said));
        }
    }

    /// Adds how a run ended before everything had run, if it did.
    pub(super) fn cut_short(&mut self, command: &str, told: Vec<String>) {
        if !told.is_empty() {
            self.cut_short.push((command.to_owned(), told));
        }
    }

    /// Whether every run ended well, tests ran, all of them passed, and none was lost.
    pub(super) fn passed(&self, exit_code_suffices: bool) -> bool {
        self.faults.is_empty()
            && self.failed_runs.is_empty()
            && self.cut_short.is_empty()
            && self.forged.is_empty()
            && self.unapproved.is_none()
            && self.lost.is_none()
            && self.tally.failed == 0
            && (self.untold.is_empty() || exit_code_suffices)
            && (self.tally.ran() > 0 || !self.untold.is_empty())
    }
}

/// Returns what the facts tell, for a project that is not on the disk.
pub(super) fn from_facts(context: &HookContext) -> Outcome {
    let count = |fact| match context.facts.get(fact) {
        FactValue::Integer(n) => u64::try_from(n).unwrap_or(0),
        _ => 0,
    };
    Outcome {
        tally: Tally {
            passed: count(Fact::TestsPassed),
            failed: count(Fact::TestsFailed),
            ..Tally::default()
        },
        coverage: match context.facts.get(Fact::CoverageCurrent) {
            FactValue::Number(percent) => Figure::Printed(percent),
            #[expect(clippy::cast_precision_loss, reason = "a percentage is small")]
            FactValue::Integer(percent) => Figure::Printed(percent as f64),
            _ => Figure::Unknown,
        },
        ..Outcome::of("the tests")
    }
}

impl TestGate {
    /// Says what an outcome means.
    pub(super) fn judge(&self, outcome: &Outcome, context: &HookContext) -> Vec<Signal> {
        if !outcome.faults.is_empty() {
            return outcome.faults.clone();
        }
        let mut signals = Vec::new();
        let tally = &outcome.tally;
        if tally.failed > 0 {
            signals.push(self.failed(outcome, context));
        } else if let Some((command, told)) = outcome.forged.first() {
            signals.push(unusable::forged(command, told));
        } else if let Some(run) = outcome.failed_runs.first() {
            let broken = unusable::broken_run(run, tally);
            signals.push(if self.require_all_pass || tally.ran() == 0 {
                broken
            } else {
                broken.with_intensity(Intensity::Prompt)
            });
        } else if let Some((command, told)) = outcome.cut_short.first() {
            signals.push(unusable::cut_short(command, told));
        } else if let Some(command) = outcome.untold.first().filter(|_| !self.exit_code_suffices) {
            signals.push(unusable::no_result(command));
        } else if tally.ran() == 0 && outcome.untold.is_empty() {
            signals.push(
                Signal::block(
                    "no-tests-ran",
                    format!(
                        "no test ran: {} found none{}",
                        quoted(&outcome.command),
                        skipped(tally)
                    ),
                )
                .steps([
                    "write tests for the change".to_owned(),
                    format!("see that {} runs them", quoted(&outcome.command)),
                ])
                .fingerprint(["no-tests-ran"]),
            );
        } else {
            signals.extend(outcome.unapproved.clone());
        }
        signals.extend(outcome.lost.clone());
        signals.extend(self.coverage_signal(outcome, context));
        signals
    }

    fn failed(&self, outcome: &Outcome, context: &HookContext) -> Signal {
        let tally = &outcome.tally;
        let failures = placed(&tally.failures, context);
        let mut reason = format!("{} of {} tests failed", tally.failed, tally.ran());
        if !failures.is_empty() {
            let named = failures.iter().take(NAMED).map(|failure| {
                let place = failure.place().map(|place| format!(" ({place})"));
                format!("`{}`{}", failure.name, place.unwrap_or_default())
            });
            reason.push_str(&format!(": {}", named.collect::<Vec<_>>().join(", ")));
            if failures.len() > NAMED {
                reason.push_str(&format!(" and {} more", failures.len() - NAMED));
            }
        }
        let mut steps: Vec<String> = failures
            .iter()
            .take(NAMED)
            .map(|failure| {
                let mut step = format!("fix `{}`", failure.name);
                if let Some(place) = failure.place() {
                    step.push_str(&format!(" in {place}"));
                }
                if let Some(message) = &failure.message {
                    step.push_str(&format!(": {message}"));
                }
                step
            })
            .collect();
        steps.push(format!(
            "see that every test passes in {}",
            quoted(&outcome.command)
        ));
        let mut files: Vec<String> = failures.iter().filter_map(|f| f.file.clone()).collect();
        files.sort_unstable();
        files.dedup();
        let mut names: Vec<&str> = failures.iter().map(|f| f.name.as_str()).collect();
        names.sort_unstable();
        let signal = if self.require_all_pass {
            Signal::block("tests-failed", reason)
        } else {
            Signal::prompt("tests-failed", reason).severity(Severity::High)
        };
        let places = failures
            .iter()
            .filter_map(|f| Some((f.file.clone()?, f.line?)));
        signal
            .steps(steps)
            .files(files)
            .locations(places)
            .about_each("tests-failed", names)
    }

    fn coverage_signal(&self, outcome: &Outcome, context: &HookContext) -> Option<Signal> {
        let threshold = self.coverage_threshold?;
        let unknown = || {
            Signal::block(
                "coverage-unknown",
                format!(
                    "the coverage is not known; at least {threshold} % of the lines must be covered"
                ),
            )
            .steps([
                format!("let {} write a coverage report", quoted(&outcome.command)),
                "name it in `coverage_report`".to_owned(),
            ])
            .fingerprint(["coverage-unknown"])
        };
        let percent = match &outcome.coverage {
            Figure::Fault(fault) => return Some((**fault).clone()),
            figure => match figure.percent() {
                Some(percent) => percent,
                None => return Some(unknown()),
            },
        };
        if percent >= threshold {
            return None;
        }
        let worst = match &outcome.coverage {
            Figure::Report(coverage) => worst_changed(coverage, threshold, context),
            _ => Vec::new(),
        };
        let mut steps: Vec<String> = worst
            .iter()
            .map(|(file, percent)| {
                format!(
                    "test more of {file}, of which {} % is covered",
                    shown(*percent)
                )
            })
            .collect();
        if steps.is_empty() {
            steps.push("write tests for the lines that no test reaches".to_owned());
        }
        steps.push(format!("see that at least {threshold} % is covered"));
        Some(
            Signal::block(
                "coverage-too-low",
                format!(
                    "{} % of the lines are covered by tests; at least {threshold} % must be",
                    shown(percent)
                ),
            )
            .steps(steps)
            .files(worst.into_iter().map(|(file, _)| file))
            .fingerprint(["coverage-too-low", &shown(percent)]),
        )
    }
}

/// Writes a percentage so that what is below a threshold never looks as if it were not.
fn shown(percent: f64) -> String {
    let floor = (percent * 100.0).floor() / 100.0;
    let text = format!("{floor:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Returns the changed files that are covered least, below the threshold; at most five.
fn worst_changed(coverage: &Coverage, threshold: f64, context: &HookContext) -> Vec<(String, f64)> {
    let Ok(changes) = context.facts.changes() else {
        return Vec::new();
    };
    let mut worst: Vec<(String, f64)> = coverage
        .files
        .iter()
        .filter_map(|file| {
            let percent = file.percent().filter(|percent| *percent < threshold)?;
            let path = relative(context.root(), &file.path);
            // Reports name files from the root of the sources, of the module, or from the root of the disk.
            let changed = changes.paths.iter().find(|changed| {
                **changed == path
                    || changed.ends_with(&format!("/{path}"))
                    || path.ends_with(&format!("/{changed}"))
            })?;
            Some((changed.clone(), percent))
        })
        .collect();
    worst.sort_by(|a, b| a.1.total_cmp(&b.1).then_with(|| a.0.cmp(&b.0)));
    worst.truncate(5);
    worst
}

/// Gives failures their files as paths in the project.
fn placed(failures: &[Failure], context: &HookContext) -> Vec<Failure> {
    let workspace = context.workspace();
    let mut sources = None;
    let mut placed: Vec<Failure> = failures
        .iter()
        .map(|failure| {
            let mut failure = failure.clone();
            if let Some(file) = &failure.file {
                let path = relative(context.root(), file);
                let known = if Path::new(&path).is_absolute() || workspace.exists(&path) {
                    path
                } else {
                    // A test of a package below the root, or of a class that only names its package.
                    let all = sources.get_or_insert_with(|| workspace.list("**/*"));
                    let end = format!("/{path}");
                    let mut found = all.iter().filter(|candidate| candidate.ends_with(&end));
                    match (found.next(), found.next()) {
                        (Some(only), None) => only.clone(),
                        _ => path,
                    }
                };
                failure.file = Some(known);
            }
            failure
        })
        .collect();
    placed.sort();
    placed
}

fn quoted(command: &str) -> String {
    format!("`{command}`")
}

fn skipped(tally: &Tally) -> String {
    match tally.skipped {
        0 => String::new(),
        n => format!(", and left {n} out"),
    }
}
