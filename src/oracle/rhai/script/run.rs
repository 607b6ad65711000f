//! Run: a script with its configuration, run once in the sandbox within its time.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use rhai::{AST, Array, CallFnOptions, Dynamic, EvalAltResult, Map, Position, Scope};

use super::Script;
use crate::oracle::rhai::api::Answer;
use crate::oracle::rhai::context::Root;
use crate::oracle::rhai::error::ScriptError;
use crate::oracle::rhai::guard::{Sees, Used};
use crate::oracle::rhai::sandbox::engine;
use crate::oracle::rhai::{coverage, guard, value, workers};
use crate::oracle::{HookContext, Mode, Oracle, OracleError};
use crate::signal::Signal;

/// The most of a script's time that is kept back to find out where it was when its time was over, and to tell that.
const MAX_KEPT_BACK: Duration = Duration::from_millis(20);

/// How long a script is waited for past its deadline: it ends by itself, unless it is in one long step.
const LAST_WORDS: Duration = Duration::from_millis(60);

/// What one run of a script gave and used.
#[derive(Debug)]
pub struct Run {
    /// The signals, or why there are none.
    pub result: Result<Vec<Signal>, ScriptError>,
    /// How many operations it took.
    pub operations: u64,
    /// How long it took.
    pub duration: Duration,
    /// What it printed.
    pub printed: Vec<String>,
    is_clean: bool,
}

/// A script with its configuration.
#[derive(Clone, Debug)]
pub struct ScriptOracle {
    script: Arc<Script>,
    config: Arc<Map>,
}

impl ScriptOracle {
    pub(super) fn new(script: Arc<Script>, config: Map) -> Self {
        let config = Arc::new(config);
        Self { script, config }
    }

    /// Runs the script once and tells what it gave and used.
    ///
    /// # Errors
    /// No thread can be started for it.
    pub async fn run(&self, context: &HookContext) -> Result<Run, OracleError> {
        let (oracle, its) = (self.clone(), context.clone());
        let run = workers::run(
            move || oracle.script.run(&oracle.config, &its),
            |run| run.is_clean,
        )
        .map_err(|e| OracleError::failed(format!("no thread for the script: {e}")))?;
        let given_up = context.deadline.and_then(|d| d.checked_add(LAST_WORDS));
        match run.until(given_up).await {
            Ok(run) => Ok(run),
            Err(workers::Lost::Late) => Err(OracleError::TimedOut(format!(
                "`{}` is in one step that takes longer than its timeout",
                self.script.file
            ))),
            Err(workers::Lost::Gone) => {
                Err(OracleError::Panicked(format!("`{}`", self.script.file)))
            }
        }
    }
}

#[async_trait]
impl Oracle for ScriptOracle {
    async fn evaluate(&self, context: &HookContext) -> Result<Vec<Signal>, OracleError> {
        Ok(self.run(context).await?.result?)
    }

    // It has a thread of its own already, and a watch on its time.
    fn mode(&self) -> Mode {
        Mode::Inline
    }
}

impl Script {
    fn run(&self, config: &Arc<Map>, context: &HookContext) -> Run {
        let started = Instant::now();
        let kept_back = kept_back(context, started);
        let (outcome, used) = Self::once(&self.ast, config, &sooner(context, kept_back));
        let is_clean = matches!(outcome, Ok(Ok(_)));
        let result = match outcome {
            Ok(Ok(value)) => self.signals(&value),
            Ok(Err(error)) => {
                let mut told = ScriptError::of_run(&self.file, &self.source, &error, used.stop);
                if told.line == 0 {
                    let place = used
                        .last_reached
                        .or_else(|| self.last_place(config, &sooner(context, kept_back / 4)));
                    let place = place.map(|place| coverage::position(&self.source, place));
                    told.place(&self.source, place.unwrap_or(Position::NONE));
                }
                Err(told)
            }
            Err(_) => Err(ScriptError::of_file(
                &self.file,
                "the interpreter panicked on this script",
            )),
        };
        if coverage::is_recording() {
            coverage::add(&self.file, used.reached);
        }
        Run {
            result,
            operations: used.operations,
            duration: started.elapsed(),
            printed: used.printed,
            is_clean,
        }
    }

    fn once(ast: &AST, config: &Arc<Map>, context: &HookContext) -> (Outcome, Used) {
        guard::watch(Sees::All(context.clone()), || {
            catch_unwind(AssertUnwindSafe(|| {
                let mut scope = Scope::new();
                let options = CallFnOptions::new().rewind_scope(false);
                let root = Root::new((*context.facts).clone(), config.clone());
                let arguments = (Dynamic::from(root),);
                engine().call_fn_with_options(options, &mut scope, ast, "evaluate", arguments)
            }))
        })
    }

    /// Finds out where a limit was passed by code that names no variable: there the interpreter does not tell it.
    ///
    /// A script has no effects, so it may be run once more, noting where it comes to in the time that is left.
    fn last_place(&self, config: &Arc<Map>, context: &HookContext) -> Option<u32> {
        let noting = coverage::noting(&self.source, &self.ast);
        let ast = engine().compile(noting.text).ok()?;
        Self::once(&ast, config, context).1.last_reached
    }

    /// Reads what `evaluate` gave back.
    fn signals(&self, value: &Dynamic) -> Result<Vec<Signal>, ScriptError> {
        let one = |value: &Dynamic| -> Result<Option<Signal>, ScriptError> {
            match value.read_lock::<Answer>() {
                Some(answer) => Ok(answer.signal.clone().map(|mut signal| {
                    if signal.header.kind.is_empty() {
                        signal.header.kind.clone_from(&self.name);
                    }
                    signal
                })),
                None => Err(ScriptError::of_file(
                    &self.file,
                    format!(
                        "`evaluate` gave {}; expected `accept()`, `block(…)`, `control(…)`, `prompt(…)`, `aid(…)` or a list of them",
                        match value::type_name(value) {
                            "nothing" => "nothing (a `;` after the last expression?)",
                            other => other,
                        }
                    ),
                )),
            }
        };
        if let Some(array) = value.read_lock::<Array>() {
            return array
                .iter()
                .filter_map(|item| one(item).transpose())
                .collect();
        }
        Ok(one(value)?.into_iter().collect())
    }
}

/// Returns how much of a script's time is kept back to find out where it was when it was ended, and to tell that.
fn kept_back(context: &HookContext, now: Instant) -> Duration {
    let given = context.deadline.map(|d| d.saturating_duration_since(now));
    (given.unwrap_or_default() / 10).min(MAX_KEPT_BACK)
}

/// Returns the context with an earlier deadline.
fn sooner(context: &HookContext, by: Duration) -> HookContext {
    HookContext {
        deadline: context.deadline.map(|d| d.checked_sub(by).unwrap_or(d)),
        ..context.clone()
    }
}

/// What the interpreter gave, if it did not panic.
type Outcome = Result<Result<Dynamic, Box<EvalAltResult>>, Box<dyn Any + Send>>;
