//! TestGate: tests pass and coverage holds, on the very tree that is here.

mod baseline;
mod coverage;
mod judgement;
mod replaced;
mod report;
mod settings;
mod statement;
mod unusable;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use schemars::JsonSchema;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use self::judgement::{Figure, Outcome};
use super::values::{Age, PathPatterns, Texts, globs};
use crate::event::Trigger;
use crate::fact::FactSource;
use crate::oracle::toolchain::test_run::{Aside, Runner, Tally, expand, find, read_junit, times};
use crate::oracle::{
    ConfigError, Definition, HookContext, Oracle, OracleConfig, OracleError, Programs,
};
use crate::signal::{Intensity, Signal, hex};
use crate::workspace::{Evidence, EvidenceStore, Tree, TreeDigest};

pub(super) static DEFINITION: Definition = Definition {
    name: "TestGate",
    kebab: "test-gate",
    summary: "The tests pass and the coverage holds, on the very tree that is here.",
    triggers: &[
        Trigger::PreIssueSubmit,
        Trigger::PreIssueClose,
        Trigger::PreAgentTurnStop,
        Trigger::PreToolUse,
        Trigger::PostSubagent,
    ],
    intensities: &[Intensity::Block, Intensity::Prompt],
    needs: &[FactSource::Git],
    programs: Programs::Always,
    file_key: None,
    schema: || schemars::schema_for!(TestGate),
    build: |config| TestGate::build(config).map(|gate| Arc::new(gate) as Arc<dyn Oracle>),
};

/// What the runs of a project's own runners are remembered by.
const FOUND: &str = "the project's own runners";

/// Lets an operation pass only if the project's tests pass and cover enough lines.
///
/// What it does: it runs `command`, or reads the `report` that another run has written. Without either it finds the test
/// runner of the project: `cargo nextest` (if `.config/nextest.toml` exists) or `cargo test`, pytest or unittest,
/// `npm`/`pnpm`/`yarn test`, `go test`, Maven, Gradle; if there is none of these, `make test`. In a project with several
/// languages, all of its runners run. It blocks with the failed tests, their files and lines, and with the coverage and
/// the threshold.
///
/// A run passes only if it ended, ran at least one test, and ran every test that it found. Exit code 0 alone is not a
/// pass. So each runner is made to write a report, also behind `npm test`, `make test` or a script. pytest, unittest,
/// jest, vitest, mocha and `node --test` write it into a folder of this run; Surefire, Failsafe and Gradle always write
/// theirs. `cargo test`, nextest and `go test` write no report, so the output of the program itself is read, as it is
/// found by its name in `PATH`. Any other output may show that something failed, but never that a test passed. For any
/// other runner, name the JUnit XML that it writes in `report`, or set `exit_code_suffices`. A test that is expected to
/// fail (`xfail`, `test.failing`, `test.fails`) counts as skipped. A report that an earlier run has left does not count.
///
/// A run counts only if it is of the tests as they are written in the tree that is here. A test passes only if its own code
/// ran: where a metaclass, a decorator, an importer or a hook of the project puts other code in its place, that is
/// told by name, and the test counts as left out. It also blocks if files of tests were written during the run, be it
/// that they are the same again afterwards (`tests-rewritten`), if other code changed meanwhile (`code-changed-meanwhile`),
/// and if a run was one part of several (`--shard`, `--partition`) and the other parts did not run.
///
/// Tests of another tree do not count (`tests-of-another-tree`). pytest, unittest, jest, vitest, mocha and `node --test`
/// tell the files of their tests; cargo, Go, Maven and Gradle tell the manifest by which they ran. It blocks if all of these
/// lie outside of the project, or if one lies outside, or is ignored by git, and is called like a file of the tree that did
/// not run itself: `target/old/tests/test_a.py` in the place of `tests/test_a.py`. Tests that are generated or compiled
/// into a folder that git ignores are free, and so are the files in `own_runners`. A JUnit report that the policy names tells no
/// place that could be believed, so that its tests are judged by their names and its age alone. From where the code
/// comes that the tests load is not looked at.
///
/// Only the reporters of the runners are believed. They write to a pipe, so that nothing can be changed afterwards, and
/// they sign it with a key that they remove from the environment before the tests run. A report that anything else has
/// written or changed blocks. If the change replaces a runner or a part of one, that blocks by name
/// (`test-runner-replaced`): a `runner`, a linker or a compiler in `.cargo/config.toml` or `RUSTFLAGS`, `harness = false`, `-exec` of `go test`,
/// `testRunner` of jest, `runner` of vitest, a file that is called like a runner (`pytest.py`, `jest.js`), macros of Rust by the names of assertions, a module of tests that is only there compiled, functions of a runner that code of the project replaces, a new `mvnw` or
/// `gradlew`, and so on. The same holds for what replaces an assertion around the tests: functions of `node:assert` under mocha
/// and `node --test`, `expect` and its matchers under jest, and options that leave out errors which no test has caught. What
/// existed before the change is allowed, and so are the files in `own_runners`. The tests themselves, and the code that they
/// run (fixtures, plugins of a bundler, setup files of vitest), decide what a test finds. This oracle does not notice that a
/// test was made weaker. Nor does it notice code that imitates a reporter inside the process of a runner or in a script
/// around it.
///
/// Tests that passed before must still run. If a test passed in the last passing run, is part of the commit that the
/// change is compared with, and is now skipped or gone, it blocks by name. If this is intended, say so in a commit
/// message of the branch or in the issue: `Removed: NAME, NAME`, or a sentence like "Drop the test `NAME`, since …". A
/// test that was moved, or whose name alone was changed, is not gone. It was moved if a test of its name is new and its
/// old place does not hold it any more; a copy elsewhere does not stand for it. If tests have no names, they are counted.
///
/// A result belongs to the content that was tested. A tree on which the same command has already passed is not tested
/// again, and a tree in which any file differs counts as not tested. Files that git ignores, issues and `.ahp/` are not
/// part of it. A report is stale, and blocks, if any file of the project is newer, if it is older than `max_age` or from
/// the future, and if the same report already existed when the tree was different.
///
/// Tests may need more time than the default `timeout` of a binding, so set it. A run that exceeds it is stopped with all
/// its child processes, and the `on_error` of the binding decides; `on_error: block` is advisable here.
///
/// ```yaml
/// hooks:
///   pre-issue-submit:
///     - oracle: TestGate
///       timeout: 10m
///       on_error: block
///       config:
///         command: cargo llvm-cov --lcov --output-path lcov.info
///         coverage_report: lcov.info
///         coverage_threshold: 80
/// ```
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct TestGate {
    /// The command line that runs the tests, in the project's root; without this and `report`, the project's own runner
    /// is used.
    command: Option<String>,
    /// JUnit XML reports, as paths or globs. With `command`: what it writes. Alone: what another run has written.
    #[serde(deserialize_with = "globs")]
    report: Texts,
    /// Coverage reports, as paths or globs: lcov, Cobertura, Clover, JaCoCo, llvm-cov JSON, coverage.py JSON, istanbul's
    /// `coverage-summary.json`, Go's profile. By default the usual places are searched.
    #[serde(deserialize_with = "globs")]
    coverage_report: Texts,
    /// The least share of covered lines, in percent; by default any share is accepted.
    coverage_threshold: Option<f64>,
    /// Whether a failed test blocks; otherwise it prompts.
    require_all_pass: bool,
    /// Whether exit code 0 is a pass if neither a report nor the output says which tests ran.
    exit_code_suffices: bool,
    /// Files of the project that may replace a runner or a part of one, and files of tests and code that a run may write
    /// or build, as in `.gitignore`: `tools/run.sh`, `gradlew`. Files that the base of the change already has need not be named.
    own_runners: PathPatterns,
    /// How old a report or a passed run may be: `30m`, `12h`, `7d`; by default any age, as long as the tree is the same.
    max_age: Option<Age>,
}

impl Default for TestGate {
    fn default() -> Self {
        Self {
            command: None,
            report: Texts::default(),
            coverage_report: Texts::default(),
            coverage_threshold: None,
            require_all_pass: true,
            exit_code_suffices: false,
            own_runners: PathPatterns::default(),
            max_age: None,
        }
    }
}

#[async_trait]
impl Oracle for TestGate {
    async fn evaluate(&self, context: &HookContext) -> Result<Vec<Signal>, OracleError> {
        if !context.workspace().is_on_disk() {
            return Ok(self.judge(&judgement::from_facts(context), context));
        }
        if self.command.is_none() && !self.report.0.is_empty() {
            return self.by_report(context);
        }
        let runners = match &self.command {
            Some(command) => vec![Runner {
                command: command.clone(),
                reports: self.report.0.clone(),
            }],
            None => find(context.workspace()),
        };
        if runners.is_empty() {
            return Ok(vec![unusable::no_runner()]);
        }
        if self.command.is_none() {
            context.permits_programs()?;
        }
        self.by_run(&runners, context)
    }
}

impl TestGate {
    fn build(config: &OracleConfig<'_>) -> Result<Self, ConfigError> {
        let gate: Self = config.decode()?;
        if let Some(threshold) = gate.coverage_threshold {
            let wrong = |message: String| config.bad_value("coverage_threshold", message);
            if !(0.0..=100.0).contains(&threshold) {
                return Err(wrong(format!(
                    "`{threshold}` is not a percentage; expected 0 to 100"
                )));
            }
            if threshold > 0.0 && threshold < 1.0 {
                return Err(wrong(format!(
                    "`{threshold}` would be less than one percent; expected 0 to 100, such as `{}`",
                    threshold * 100.0
                )));
            }
        }
        if gate.command.as_ref().is_some_and(|c| c.trim().is_empty()) {
            return Err(config.bad_value("command", "the command is empty"));
        }
        Ok(gate)
    }

    /// Judges by running, unless the same has passed on this very tree.
    fn by_run(
        &self,
        runners: &[Runner],
        context: &HookContext,
    ) -> Result<Vec<Signal>, OracleError> {
        let root = context.root();
        let unreadable = |e: std::io::Error| {
            OracleError::failed(format!("the project's files cannot be read: {e}"))
        };
        let reports: Vec<String> = runners.iter().flat_map(|r| r.reports.clone()).collect();
        let made = self.made(context, &reports);
        let before = Tree::read(root, context.workspace().issues_dir()).map_err(unreadable)?;
        let digest = before.digest(&made);
        let command = runners
            .iter()
            .map(|r| r.command.as_str())
            .collect::<Vec<_>>()
            .join(" && ");
        let store = context.workspace().evidence(&context.state_dir);
        if let Some(known) = store
            .latest(&digest, Some(&command))
            .filter(|e| self.suffices(e, context))
        {
            return Ok(self.judge(&Outcome::known(&known), context));
        }

        // A guess at where coverage is written may meet a file of the project.
        let own = match self.coverage_report.0.as_slice() {
            [] => context.workspace().list("**/*"),
            _ => Vec::new(),
        };
        let mut aside = Aside::of(context, &self.coverage_reports(context), |file| {
            !own.contains(file)
        });
        let mut outcome = Outcome::of(&command);
        for runner in runners {
            let run = runner.run(context)?;
            for (file, fault) in &run.unreadable {
                outcome.faults.push(unusable::unreadable(file, fault));
            }
            let originals = run.written.iter().filter_map(|file| {
                let original = before.original_of(root, file).ok().flatten()?;
                Some(unusable::copied(file, original))
            });
            outcome.faults.extend(originals);
            if !runner.reports.is_empty() && run.written.is_empty() {
                let fault = unusable::not_written(&runner.reports, &runner.command);
                outcome.faults.push(fault);
            }
            outcome.add(&runner.command, run);
        }
        let written = aside.written(root, &self.coverage_reports(context));
        outcome.coverage = self.coverage(context, outcome.tally.coverage, |file| {
            written.iter().any(|path| path == file)
        });
        outcome.written.extend(written);
        let after = Tree::read(root, context.workspace().issues_dir()).map_err(unreadable)?;
        let unapproved = self.unapproved(&outcome.replaced, &outcome.runners, context);
        outcome.unapproved = unapproved
            .or_else(|| self.rewritten(&before, &after, context))
            .or_else(|| self.elsewhere(&outcome.places, &before, context))
            .or_else(|| self.changed(&before, &after, &made));
        // Which runners are found is the project's to say, and what they must cover is not.
        let suite = self.command.as_deref().unwrap_or(FOUND);
        if outcome.passed(self.exit_code_suffices) {
            outcome.lost = baseline::lost(&store, suite, &outcome, context);
        }

        let made = self.made(context, &reports);
        let mut proven = vec![digest];
        // What the run has added beside the sources does not make them others; what it changed does.
        if before.is_kept_by(&after, &made) {
            proven.push(after.digest(&made));
        }
        for tree in proven {
            self.keep(&store, &outcome, tree, (&command, suite), context);
        }
        Ok(self.judge(&outcome, context))
    }

    /// Remembers what is known of a tree.
    fn keep(
        &self,
        store: &EvidenceStore,
        outcome: &Outcome,
        tree: TreeDigest,
        (command, suite): (&str, &str),
        context: &HookContext,
    ) {
        let success = outcome.passed(self.exit_code_suffices);
        let git = context.facts.git().ok();
        let kept = store.record(Evidence {
            tree,
            command: command.to_owned(),
            at: context.facts.time(),
            success,
            passed: outcome.tally.passed,
            failed: outcome.tally.failed,
            skipped: outcome.tally.skipped,
            coverage: outcome.coverage.percent(),
            head: git.and_then(|git| git.head()).map(str::to_owned),
            suite: suite.to_owned(),
            tests: if success {
                outcome.tally.passed_names.clone()
            } else {
                BTreeSet::new()
            },
            written: outcome.written.clone(),
        });
        if let Err(error) = kept {
            tracing::warn!(%error, "what is known of the tests cannot be kept");
        }
    }

    /// Whether a run that is known already answers what is asked now.
    fn suffices(&self, known: &Evidence, context: &HookContext) -> bool {
        let age = context.facts.time().signed_duration_since(known.at);
        let is_young = self.max_age.is_none_or(|max| {
            age.to_std().is_ok_and(|age| age <= max.0) || age.num_milliseconds() <= 0
        });
        known.success && is_young && (self.coverage_threshold.is_none() || known.coverage.is_some())
    }

    /// Returns the files that a run writes, which are not part of the tree.
    fn made(&self, context: &HookContext, reports: &[String]) -> Vec<String> {
        let mut patterns = reports.to_vec();
        patterns.extend(self.report.0.iter().cloned());
        let mut files = expand(context.root(), &patterns);
        files.extend(self.coverage_reports(context));
        files
    }

    /// Returns the files that coverage is looked for in: those that are named, else the usual ones.
    fn coverage_reports(&self, context: &HookContext) -> Vec<String> {
        let usual = report::USUAL_COVERAGE.iter().map(|&path| path.to_owned());
        let usual: Vec<String> = usual.collect();
        let named = &self.coverage_report.0;
        expand(
            context.root(),
            if named.is_empty() { &usual } else { named },
        )
    }

    /// Judges by reports that another run has left.
    fn by_report(&self, context: &HookContext) -> Result<Vec<Signal>, OracleError> {
        let root = context.root();
        let files = expand(root, &self.report.0);
        let made = self.made(context, &[]);
        let written = times(root, &made);
        let times = times(root, &files);
        let missing: Vec<&String> = files.iter().filter(|f| !times.contains_key(*f)).collect();
        if files.is_empty() || !missing.is_empty() {
            let named = if missing.is_empty() {
                self.report.0.clone()
            } else {
                missing.into_iter().cloned().collect()
            };
            return Ok(vec![unusable::missing_report(&named)]);
        }
        let mut outcome = Outcome::of(&self.report.0.join(", "));
        outcome.written = written.into_keys().collect();
        let mut content = Sha256::new();
        for file in &files {
            match read_report(context, file, &mut content) {
                Ok(tally) => {
                    let unlisted = tally.unlisted(file).into_iter();
                    outcome.cut_short(file, unlisted.collect());
                    outcome.tally.add(tally);
                }
                Err(fault) => outcome.faults.push(*fault),
            }
        }
        // The oldest of several reports tells how much of them still holds.
        if let Some((file, time)) = times.iter().min_by_key(|(_, time)| **time) {
            let stale = self.staleness(context, file, *time, &made);
            outcome.faults.extend(stale);
        }
        let tree = Tree::read(root, context.workspace().issues_dir())
            .map_err(|e| OracleError::failed(format!("the project's files cannot be read: {e}")))?
            .digest(&made);
        let store = context.workspace().evidence(&context.state_dir);
        // A time can be set; what a report held when the tree was another cannot tell of this one.
        let command = format!("report sha256:{}", hex(&content.finalize()));
        let suite = format!("report: {}", outcome.command);
        let known = store
            .load()
            .into_iter()
            .rfind(|known| known.command == command);
        if outcome.faults.is_empty() && known.is_some_and(|known| known.tree != tree) {
            let fault = unusable::of_another_tree(&files);
            outcome.faults.push(fault);
        }
        outcome.coverage = self.coverage(context, outcome.tally.coverage, |_| false);
        if outcome.passed(self.exit_code_suffices) {
            outcome.lost = baseline::lost(&store, &suite, &outcome, context);
        }
        if outcome.faults.is_empty() {
            self.keep(&store, &outcome, tree, (&command, &suite), context);
        }
        Ok(self.judge(&outcome, context))
    }

    /// Returns a fault where a report says nothing about the tree that is here now.
    fn staleness(
        &self,
        context: &HookContext,
        file: &str,
        time: SystemTime,
        made: &[String],
    ) -> Option<Signal> {
        let now = context.facts.time();
        let age = now.signed_duration_since(DateTime::<Utc>::from(time));
        // File systems may round a time up.
        if age < -TimeDelta::seconds(2) {
            return Some(unusable::of_the_future(file));
        }
        let newer = report::newer_sources(context, time, made);
        if !newer.is_empty() {
            return Some(unusable::stale(file, &newer));
        }
        let max = self.max_age?.0;
        let age = age.to_std().unwrap_or(Duration::ZERO);
        (age > max).then(|| unusable::too_old(file, age, max))
    }

    /// Finds the coverage figure: the reports that are named, the usual ones that the run has written, what it printed.
    fn coverage(
        &self,
        context: &HookContext,
        printed: Option<f64>,
        written: impl Fn(&str) -> bool,
    ) -> Figure {
        let root = context.root();
        let named = !self.coverage_report.0.is_empty();
        let candidates = self.coverage_reports(context);
        let times = times(root, &candidates);
        if named && (candidates.is_empty() || times.len() < candidates.len()) {
            return Figure::Fault(Box::new(unusable::missing_coverage(
                &self.coverage_report.0,
            )));
        }
        let made = self.made(context, &[]);
        let mut sum = None::<coverage::Coverage>;
        for (file, time) in &times {
            let fresh = written(file);
            if !fresh && let Some(fault) = self.staleness(context, file, *time, &made) {
                if named {
                    return Figure::Fault(Box::new(fault));
                }
                continue;
            }
            let bytes = std::fs::read(root.join(file));
            match bytes
                .map_err(|e| e.to_string())
                .and_then(|bytes| coverage::read(&bytes))
            {
                Ok(found) if named => {
                    let sum = sum.get_or_insert_default();
                    sum.covered += found.covered;
                    sum.total += found.total;
                    sum.files.extend(found.files);
                }
                // One run may write the same figures in several formats: one of them is enough.
                Ok(found) => return Figure::Report(found),
                Err(fault) if named => {
                    return Figure::Fault(Box::new(unusable::unreadable(file, &fault)));
                }
                Err(_) => {}
            }
        }
        match (sum, printed) {
            (Some(sum), _) => Figure::Report(sum),
            (None, Some(percent)) => Figure::Printed(percent),
            (None, None) => Figure::Unknown,
        }
    }
}

fn read_report(
    context: &HookContext,
    file: &str,
    content: &mut Sha256,
) -> Result<Tally, Box<Signal>> {
    let fault = |message: String| Box::new(unusable::unreadable(file, &message));
    // Read anew: what the workspace has read of it before the run would be out of date.
    let bytes = std::fs::read(context.root().join(file)).map_err(|e| fault(e.to_string()))?;
    content.update(&bytes);
    read_junit(&bytes, context.root()).map_err(fault)
}
