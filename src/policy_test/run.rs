//! Runs tests: the policy is compiled as any other, the project is made up, and the verdict compared.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};

use super::case::{Case, TestFile};
use super::compare::{Difference, compare};
use super::coverage::Coverage;
use super::past::Past;
use super::project;
use super::setup::Setup;
use crate::config::parse_duration;
use crate::diagnostic::{Diagnostic, nearest};
use crate::engine::{Engine, FixedClock, Keeper, block_on};
use crate::event::{Event, ToolKind, Trigger};
use crate::random;
use crate::signal::Action;
use crate::signal_log::MemoryHistory;
use crate::verdict::{Decision, Verdict};
use crate::workspace::Workspace;

/// What came of one test.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// What is not as expected; empty: the test passes.
    pub differences: Vec<Difference>,
    /// What came of the event; none where it could not be evaluated.
    pub verdict: Option<Verdict>,
    /// How long it took.
    pub duration: Duration,
}

impl Outcome {
    /// Whether all is as expected.
    pub fn passes(&self) -> bool {
        self.differences.is_empty()
    }
}

/// Runs tests.
#[derive(Debug)]
pub struct Runner {
    root: PathBuf,
    /// Where oracles keep what they remember; gone when the runner is.
    scratch: PathBuf,
    script_dirs: Vec<PathBuf>,
    /// What the tests have reached so far.
    pub coverage: Coverage,
}

impl Runner {
    /// Makes a runner; `root` is the project in which scripts and policy files are found.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        let name = format!("ahp-test-{}", random::id());
        Self {
            root: root.into(),
            scratch: std::env::temp_dir().join(name),
            script_dirs: Vec::new(),
            coverage: Coverage::default(),
        }
    }

    /// Looks for scripts in these directories too, behind those that the tested policy names.
    #[must_use]
    pub fn scripts_in(mut self, directories: impl IntoIterator<Item = PathBuf>) -> Self {
        self.script_dirs.extend(directories);
        self
    }

    /// Runs one test of a file.
    pub fn run(&mut self, file: &TestFile, case: &Case) -> Outcome {
        let started = Instant::now();
        let (differences, verdict) = match self.evaluate(file, case) {
            Ok((verdict, None)) => (compare(&case.expect, &verdict), Some(verdict)),
            Ok((verdict, Some(fault))) => (vec![fault], Some(verdict)),
            Err(difference) => (difference.into_iter().collect(), None),
        };
        Outcome {
            differences,
            verdict,
            duration: started.elapsed(),
        }
    }

    /// Evaluates the earlier events and then the event; an error is what keeps the test from being run, none of it
    /// where just that was expected.
    fn evaluate(
        &mut self,
        file: &TestFile,
        case: &Case,
    ) -> Result<(Verdict, Option<Difference>), Option<Difference>> {
        let setup = &case.setup;
        let policy = policy_text(setup, &file.path)
            .map_err(|reason| Some(Difference::new("policy", "a policy to test", reason)))?;
        let mut scene = Scene {
            policy: &policy,
            past: Past::default(),
            keeper: Keeper::in_memory(),
            later: TimeDelta::zero(),
        };
        let mut differences = Vec::new();
        for (n, earlier) in setup.history.iter().enumerate() {
            let answer = earlier.answer.as_deref().map(action).transpose();
            let answer =
                answer.map_err(|reason| Some(Difference::new("history", "an answer", reason)))?;
            let then = setup.earlier(earlier.clone());
            for _ in 0..earlier.times.unwrap_or(1) {
                let judged = self.one(&mut scene, &then, case, file)?;
                scene.add(&judged, answer);
                if let Some(expected) = &earlier.expect {
                    let found = compare(&expected.whole(), &judged.verdict);
                    differences.extend(found.into_iter().map(|difference| Difference {
                        what: format!("history[{n}].{}", difference.what),
                        ..difference
                    }));
                }
                // Where nothing counts results, they need not be told.
                if judged.has_marks && earlier.post.is_none() && judged.runs_a_tool() {
                    let event = judged.result(earlier.exit_code.unwrap_or(0));
                    let judged =
                        self.judge(&scene, event, then.policy.is_some(), &then, case, file)?;
                    scene.add(&judged, None);
                }
            }
        }
        let Judged { verdict, .. } = self.one(&mut scene, setup, case, file)?;
        if let Some(difference) = differences.into_iter().next() {
            return Ok((verdict, Some(difference)));
        }
        let fault = case.expect.fault.as_deref().map(|fault| {
            Difference::new(
                "policy",
                format!("a fault: {fault}"),
                "the policy has no fault",
            )
        });
        Ok((verdict, fault))
    }

    /// Evaluates one event of a test, which happens so long after the one before it as it says.
    fn one(
        &mut self,
        scene: &mut Scene<'_>,
        setup: &Setup,
        case: &Case,
        file: &TestFile,
    ) -> Result<Judged, Option<Difference>> {
        if let Some(after) = &setup.after {
            let wrong = |reason| Some(Difference::new("after", "a duration", reason));
            let after = parse_duration(after).map_err(wrong)?;
            scene.later += TimeDelta::from_std(after).unwrap_or_default();
        }
        let event: Event = serde_json::from_value(setup.event_json(time(setup) + scene.later))
            .map_err(|error| Some(Difference::new("event", "an event", error.to_string())))?;
        self.judge(scene, event, setup.policy.is_some(), setup, case, file)
    }

    fn judge(
        &mut self,
        scene: &Scene<'_>,
        event: Event,
        shows_policy: bool,
        setup: &Setup,
        case: &Case,
        file: &TestFile,
    ) -> Result<Judged, Option<Difference>> {
        let past = &scene.past;
        let (project, root) = (setup.project.clone(), self.root.clone());
        let builder = Engine::builder()
            .policy_text(scene.policy)
            .keeper(scene.keeper.clone())
            .by_event_time()
            .root(self.root.clone())
            .state_dir(self.scratch.clone())
            .scripts_in(self.script_dirs.iter().cloned())
            .without_log()
            .report_skipped(true)
            // Each event of a test has ids of its own.
            .clock(Arc::new(FixedClock::new(
                time(setup) + scene.later + past.age(),
            )))
            .history(Arc::new(MemoryHistory::new(past.records())))
            .home("/home/somebody")
            .workspace(Arc::new(move |settings| {
                Arc::new(project::workspace(&project, &root, &settings.issues))
                    as Arc<dyn Workspace>
            }));
        let engine = builder.build().map_err(|error| {
            Some(Difference::new(
                "policy",
                "a policy to test",
                error.to_string(),
            ))
        })?;
        let state = engine.state();
        let faults = state.faults();
        if !faults.is_empty() {
            let sources = state.policy().sources();
            let told: Vec<_> = faults
                .iter()
                .map(|fault| {
                    // A place in a policy that the test does not show leads nowhere.
                    let label = fault.label.clone().filter(|_| shows_policy);
                    let shown = Diagnostic {
                        label,
                        ..fault.clone()
                    };
                    shown.one_line(sources)
                })
                .collect();
            let told = told.join("\n");
            return Err(match &case.expect.fault {
                Some(expected) if told.contains(expected.as_str()) => None,
                Some(expected) => Some(Difference::new(
                    "policy",
                    format!("a fault: {expected}"),
                    told,
                )),
                None => Some(Difference::new("policy", "a policy without faults", told)),
            });
        }
        let verdict = block_on(engine.evaluate(event.clone()));
        self.coverage
            .add(&subject(setup, &file.path), &state, &verdict);
        Ok(Judged {
            event,
            verdict,
            has_marks: !state.policy().marks().is_empty(),
        })
    }
}

/// What a test has come to so far.
struct Scene<'a> {
    policy: &'a str,
    past: Past,
    /// Where marks count.
    keeper: Keeper,
    /// How long after its beginning the test is.
    later: TimeDelta,
}

impl Scene<'_> {
    fn add(&mut self, judged: &Judged, answer: Option<Action>) {
        let time = judged.event.timestamp.unwrap_or(DEFAULT_TIME);
        self.past.add(&judged.event, &judged.verdict, answer, time);
    }
}

/// One event of a test, judged.
struct Judged {
    event: Event,
    verdict: Verdict,
    has_marks: bool,
}

impl Judged {
    /// Whether it was a tool that now runs.
    fn runs_a_tool(&self) -> bool {
        let is_let_go = matches!(self.verdict.decision, Decision::None | Decision::Allow);
        self.event.trigger == Trigger::PreToolUse && self.event.tool.is_some() && is_let_go
    }

    /// Returns the event that tells its result.
    fn result(&self, exit_code: i64) -> Event {
        let mut event = self.event.clone();
        event.trigger = Trigger::PostToolUse;
        if let Some(tool) = &mut event.tool {
            let is_shell = tool.kinds().contains(&ToolKind::Shell);
            tool.exit_code = is_shell.then_some(exit_code);
            if let Some(input) = &self.verdict.modified_input {
                tool.input.clone_from(input);
            }
        }
        event
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        // Most tests leave nothing there.
        fs::remove_dir_all(&self.scratch).ok();
    }
}

fn time(setup: &Setup) -> DateTime<Utc> {
    setup.time.unwrap_or(DEFAULT_TIME)
}

/// 2026-02-09T10:00:00Z, a Monday.
const DEFAULT_TIME: DateTime<Utc> = match DateTime::from_timestamp(1_770_631_200, 0) {
    Some(time) => time,
    None => DateTime::UNIX_EPOCH,
};

fn action(name: &str) -> Result<Action, String> {
    Action::find(name).ok_or_else(|| {
        let names = Action::ALL.iter().map(|action| action.name());
        match nearest(name, names) {
            Some(near) => format!("`{name}` is not an answer; did you mean `{near}`?"),
            None => format!("`{name}` is not an answer"),
        }
    })
}

/// Names what is tested, for the coverage.
fn subject(setup: &Setup, file: &Path) -> String {
    match (&setup.policy, &setup.pack, &setup.oracle) {
        (Some(Value::String(path)), _, _) if !path.contains('\n') => path.clone(),
        (Some(_), _, _) => format!("{}", file.display()),
        (None, Some(pack), _) => format!("ahp:{pack}"),
        (None, None, oracle) => oracle.clone().unwrap_or_default(),
    }
}

/// Returns the policy that a test names or brings.
fn policy_text(setup: &Setup, file: &Path) -> Result<String, String> {
    match (&setup.policy, &setup.pack, &setup.oracle) {
        (Some(Value::String(text)), _, _) if text.contains('\n') || text.contains(':') => {
            Ok(text.clone())
        }
        (Some(Value::String(path)), _, _) => {
            let path = file.parent().unwrap_or(Path::new(".")).join(path);
            fs::read_to_string(&path).map_err(|error| format!("`{}`: {error}", path.display()))
        }
        // JSON is YAML.
        (Some(map), _, _) => Ok(map.to_string()),
        (None, Some(pack), _) => {
            Ok(json!({"extends": [format!("ahp:{pack}")], "settings": setup.settings}).to_string())
        }
        (None, None, Some(oracle)) => {
            let trigger = setup
                .trigger
                .as_deref()
                .ok_or("a test of an oracle needs a `trigger`")?;
            let mut binding = setup.binding.clone();
            binding.insert("oracle".to_owned(), json!(oracle));
            binding.insert("config".to_owned(), Value::Object(setup.config.clone()));
            Ok(json!({"settings": setup.settings, "hooks": {trigger: [binding]}}).to_string())
        }
        (None, None, None) => Err("name a `policy`, a `pack` or an `oracle`".to_owned()),
    }
}
