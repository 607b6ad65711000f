//! Runs tests: the policy is compiled as any other, the project is made up, and the verdict compared.

use std::fs;
use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use std::time::Instant;

use chrono::DateTime;
use chrono::Utc;
use serde_json::Value;
use serde_json::json;
use uuid::Uuid;

use super::case::Case;
use super::case::TestFile;
use super::compare::Difference;
use super::compare::compare;
use super::coverage::Coverage;
use super::past::Past;
use super::project;
use super::setup::Setup;
use crate::diagnostic::Diagnostic;
use crate::diagnostic::nearest;
use crate::engine::Engine;
use crate::engine::FixedClock;
use crate::engine::block_on;
use crate::event::Event;
use crate::signal::Action;
use crate::signal_log::MemoryHistory;
use crate::verdict::Verdict;
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
        let name = format!("ahp-test-{}", Uuid::new_v4());
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
        let mut past = Past::default();
        for earlier in &setup.history {
            let answer = earlier.answer.as_deref().map(action).transpose();
            let answer =
                answer.map_err(|reason| Some(Difference::new("history", "an answer", reason)))?;
            let then = setup.earlier(earlier.clone());
            for _ in 0..earlier.times.unwrap_or(1) {
                let (event, verdict) = self.one(&policy, &then, &past, case, file)?;
                past.add(&event, &verdict, answer, time(&then));
            }
        }
        let (_, verdict) = self.one(&policy, setup, &past, case, file)?;
        let fault = case.expect.fault.as_deref().map(|fault| {
            Difference::new(
                "policy",
                format!("a fault: {fault}"),
                "the policy has no fault",
            )
        });
        Ok((verdict, fault))
    }

    fn one(
        &mut self,
        policy: &str,
        setup: &Setup,
        past: &Past,
        case: &Case,
        file: &TestFile,
    ) -> Result<(Event, Verdict), Option<Difference>> {
        let event: Event = serde_json::from_value(setup.event_json(time(setup)))
            .map_err(|error| Some(Difference::new("event", "an event", error.to_string())))?;
        let (project, root) = (setup.project.clone(), self.root.clone());
        let builder = Engine::builder()
            .policy_text(policy)
            .root(self.root.clone())
            .state_dir(self.scratch.clone())
            .scripts_in(self.script_dirs.iter().cloned())
            .without_log()
            .report_skipped(true)
            // Each event of a test has ids of its own.
            .clock(Arc::new(FixedClock::new(time(setup) + past.age())))
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
                .map(|fault| match setup.policy {
                    Some(_) => fault.one_line(sources),
                    // A place in a policy that the test does not show leads nowhere.
                    None => Diagnostic {
                        label: None,
                        ..fault.clone()
                    }
                    .one_line(sources),
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
        Ok((event, verdict))
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
            Some(near) => format!("`{name}` is no answer; did you mean `{near}`?"),
            None => format!("`{name}` is no answer"),
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
