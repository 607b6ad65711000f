//! Script: a rhai script that is compiled and described, ready to be bound (spec §6.2).

use std::any::Any;
use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::panic::catch_unwind;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::OnceLock;
use std::sync::PoisonError;
use std::time::Duration;
use std::time::Instant;

use async_trait::async_trait;
use rhai::AST;
use rhai::Array;
use rhai::CallFnOptions;
use rhai::Dynamic;
use rhai::EvalAltResult;
use rhai::Map;
use rhai::Position;
use rhai::Scope;
use rhai::Stmt;

use super::api::Answer;
use super::context::Root;
use super::coverage;
use super::error::ScriptError;
use super::guard;
use super::guard::Sees;
use super::guard::Used;
use super::sandbox::engine;
use super::survey::MisspeltFact;
use super::survey::Survey;
use super::value;
use super::workers;
use crate::config::Node;
use crate::config::kebab_case;
use crate::diagnostic::Code;
use crate::diagnostic::Diagnostic;
use crate::diagnostic::Span;
use crate::event::Trigger;
use crate::fact::FactSource;
use crate::oracle::ConfigError;
use crate::oracle::Factory;
use crate::oracle::HookContext;
use crate::oracle::Kind;
use crate::oracle::Mode;
use crate::oracle::Oracle;
use crate::oracle::OracleConfig;
use crate::oracle::OracleError;
use crate::signal::Intensity;
use crate::signal::Signal;

/// How long a script's file may be, in bytes.
pub const MAX_SOURCE: usize = 256 << 10;

/// How many compiled scripts the process keeps.
const MAX_COMPILED: usize = 256;

/// The most of a script's time that is kept back to find out where it was when its time was over, and to tell that.
const MAX_KEPT_BACK: Duration = Duration::from_millis(20);

/// How long a script is waited for past its deadline: it ends by itself, unless it is in one long step.
const LAST_WORDS: Duration = Duration::from_millis(60);

/// A script, compiled and described.
#[derive(Debug)]
pub struct Script {
    name: String,
    file: String,
    source: Arc<str>,
    ast: Arc<AST>,
    summary: String,
    page: String,
    defaults: Map,
    choices: Map,
    triggers: Vec<Trigger>,
    intensities: Vec<Intensity>,
    needs: Vec<FactSource>,
    misspelt: Vec<MisspeltFact>,
}

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

impl Script {
    /// Compiles a script. `name` is its file's name without `.rhai`, `file` how the file is shown.
    ///
    /// # Errors
    /// The script does not compile, or is not an oracle; the place is told.
    pub fn compile(name: &str, file: &str, source: &str) -> Result<Self, ScriptError> {
        if source.len() > MAX_SOURCE {
            return Err(ScriptError::of_file(
                file,
                format!(
                    "a script has at most {MAX_SOURCE} bytes; this one has {}",
                    source.len()
                ),
            ));
        }
        let mut ast = compiled(source).map_err(|e| ScriptError::of_parse(file, source, &e))?;
        let evaluate = ast.iter_functions().find(|f| f.name == "evaluate");
        let context = match evaluate.as_ref().map(|f| f.params.as_slice()) {
            Some([context]) => *context,
            Some(_) => {
                return Err(ScriptError::of_file(
                    file,
                    "`evaluate` takes one parameter: `fn evaluate(ctx)`",
                ));
            }
            None => {
                return Err(ScriptError::of_file(
                    file,
                    "an oracle defines `fn evaluate(ctx)`",
                ));
            }
        };
        let mut survey = Survey::of_script(&ast, context);
        let mut constants: HashMap<&str, Dynamic> = ast
            .iter_literal_variables(true, false)
            .map(|(name, _, value)| (name, value))
            .collect();
        if let Some((name, position)) = computed_constant(&ast, &constants) {
            return Err(ScriptError::at(
                file,
                source,
                position,
                format!("`const {name}` is computed: write its values out"),
            ));
        }
        let page = header(source);
        let summary = match constants.remove("DESCRIPTION") {
            Some(text) if text.is_string() => text.to_string(),
            _ => page
                .lines()
                .next()
                .unwrap_or_default()
                .trim_start_matches(['#', ' '])
                .to_owned(),
        };
        let mut map = |name: &str| match constants.remove(name) {
            None => Ok(Map::new()),
            Some(value) => value.try_cast::<Map>().ok_or_else(|| {
                ScriptError::of_file(
                    file,
                    format!("`const {name}` is a map of constants: `#{{max_files: 20}}`"),
                )
            }),
        };
        let (defaults, choices) = (map("DEFAULTS")?, map("CHOICES")?);
        let keys: Vec<_> = defaults.keys().map(|key| &**key).collect();
        survey.check_config(&keys);
        let triggers = match constants.remove("TRIGGERS") {
            None => Vec::new(),
            Some(value) => super::list::texts(&value)
                .unwrap_or_default()
                .iter()
                .map(|name| {
                    name.parse::<Trigger>()
                        .map_err(|e| ScriptError::of_file(file, e.to_string()))
                })
                .collect::<Result<_, _>>()?,
        };
        if coverage::is_recording() {
            let noting = coverage::noting(source, &ast);
            coverage::begin(file, &noting);
            ast = compiled(&noting.text).map_err(|e| ScriptError::of_parse(file, source, &e))?;
        }
        Ok(Self {
            name: kebab_case(name),
            file: file.to_owned(),
            source: source.into(),
            summary,
            page,
            defaults,
            choices,
            triggers,
            intensities: survey.intensities.into_iter().rev().collect(),
            needs: survey.needs.into_iter().collect(),
            misspelt: survey.misspelt,
            ast,
        })
    }

    /// Returns the name, in kebab-case.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the file, as it is shown.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// Returns the script itself.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Returns the manual page: the `//!` lines at the head of the script, as Markdown.
    pub fn page(&self) -> &str {
        &self.page
    }

    /// Returns the configuration with its defaults, as JSON.
    pub fn defaults(&self) -> serde_json::Value {
        value::to_json(&Dynamic::from_map(self.defaults.clone()))
    }

    /// Returns the values that some keys of the configuration are offered, as JSON.
    pub fn choices(&self) -> serde_json::Value {
        value::to_json(&Dynamic::from_map(self.choices.clone()))
    }

    /// Returns the JSON Schema of the configuration.
    pub fn schema(&self) -> serde_json::Value {
        let mut schema = value::schema(&self.defaults, &self.choices);
        if let Some(object) = schema.as_object_mut() {
            object.insert("description".to_owned(), self.summary.clone().into());
        }
        schema
    }

    /// Returns the facts that the script asks for and that no event can ever have.
    pub fn misspelt_facts(&self) -> &[MisspeltFact] {
        &self.misspelt
    }

    /// Checks a configuration and completes it with the defaults.
    fn configure(&self, node: &Node) -> Result<Map, ConfigError> {
        let mut config = self.defaults.clone();
        let mut faults = Vec::new();
        for (key, given) in node.entries() {
            let name = key.name.as_str();
            let Some(default) = self.defaults.get(name) else {
                let known: Vec<_> = self.defaults.keys().map(|key| &**key).collect();
                let fault =
                    Diagnostic::error(Code::UnknownKey, format!("unknown key `{name}`"), key.span)
                        .did_you_mean(name, known.iter().copied());
                faults.push(if known.is_empty() {
                    fault.help(format!("`{}` takes no configuration", self.name))
                } else {
                    fault.help(format!("expected one of `{}`", known.join("`, `")))
                });
                continue;
            };
            let made = value::from_json(&given.to_json());
            let made = if default.is_float() && made.is_int() {
                value::float(&made)
            } else {
                made
            };
            if !default.is_unit() && value::type_name(default) != value::type_name(&made) {
                faults.push(Diagnostic::error(
                    Code::WrongType,
                    format!(
                        "expected {}, found {}",
                        value::type_name(default),
                        given.type_name()
                    ),
                    given.span,
                ));
                continue;
            }
            if let Some(choices) = self.choices.get(name) {
                let choices = super::list::texts(choices).unwrap_or_default();
                let chosen = made.to_string();
                if !choices.contains(&chosen) {
                    faults.push(
                        Diagnostic::error(
                            Code::BadValue,
                            format!("`{chosen}` is not one of the values offered"),
                            given.span,
                        )
                        .did_you_mean(&chosen, choices.iter().map(String::as_str))
                        .help(format!("expected one of `{}`", choices.join("`, `"))),
                    );
                    continue;
                }
            }
            config.insert(name.into(), made);
        }
        if faults.is_empty() {
            Ok(config)
        } else {
            Err(ConfigError(faults))
        }
    }

    /// Makes the oracle of a configuration.
    ///
    /// # Errors
    /// Every key that the script does not know or whose value does not fit, at its place.
    pub fn oracle(self: &Arc<Self>, config: &Node) -> Result<ScriptOracle, ConfigError> {
        Ok(ScriptOracle {
            config: Arc::new(self.configure(config)?),
            script: self.clone(),
        })
    }

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

impl Factory for Arc<Script> {
    fn kebab(&self) -> &str {
        &self.name
    }

    fn summary(&self) -> &str {
        &self.summary
    }

    fn kind(&self) -> Kind {
        Kind::Script
    }

    fn triggers(&self) -> &[Trigger] {
        &self.triggers
    }

    fn intensities(&self) -> &[Intensity] {
        &self.intensities
    }

    fn needs(&self) -> &[FactSource] {
        &self.needs
    }

    fn runs_programs(&self) -> bool {
        false
    }

    fn remarks(&self, named_at: Span) -> Vec<Diagnostic> {
        let remark = |misspelt: &MisspeltFact| {
            let (line, column) = (misspelt.line, misspelt.column);
            let told = if misspelt.name.starts_with("config.") {
                format!(
                    "`{}:{line}:{column}` asks for `{}`, which `DEFAULTS` does not have",
                    self.file, misspelt.name
                )
            } else {
                format!(
                    "`{}:{line}:{column}` asks for a fact `{}`, which no event can have",
                    self.file, misspelt.name
                )
            };
            let warning = Diagnostic::warning(Code::MisspeltFact, told, named_at);
            match &misspelt.nearest {
                Some(near) => warning.help(format!("did you mean `{near}`?")),
                None => warning,
            }
        };
        self.misspelt.iter().map(remark).collect()
    }

    fn build(&self, config: &OracleConfig<'_>) -> Result<Arc<dyn Oracle>, ConfigError> {
        Ok(Arc::new(self.oracle(config.node)?))
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

/// A script with its configuration.
#[derive(Clone, Debug)]
pub struct ScriptOracle {
    script: Arc<Script>,
    config: Arc<Map>,
}

impl ScriptOracle {
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

/// Compiles a source, or finds it among those that are compiled already.
fn compiled(source: &str) -> Result<Arc<AST>, rhai::ParseError> {
    static COMPILED: OnceLock<Mutex<HashMap<String, Arc<AST>>>> = OnceLock::new();
    let cache = COMPILED.get_or_init(Mutex::default);
    let lock = || cache.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(ast) = lock().get(source) {
        return Ok(ast.clone());
    }
    let ast = Arc::new(engine().compile(source)?);
    let mut compiled = lock();
    if compiled.len() >= MAX_COMPILED {
        compiled.clear();
    }
    compiled.insert(source.to_owned(), ast.clone());
    Ok(ast)
}

/// Finds a constant that describes the oracle and whose value is known only when the script runs.
fn computed_constant<'a>(
    ast: &'a AST,
    known: &HashMap<&str, Dynamic>,
) -> Option<(&'a str, Position)> {
    ast.statements().iter().find_map(|stmt| match stmt {
        Stmt::Var(definition, _, position) => {
            let name = definition.0.name.as_str();
            let describes = ["CHOICES", "DEFAULTS", "DESCRIPTION", "TRIGGERS"].contains(&name);
            (describes && !known.contains_key(name)).then_some((name, *position))
        }
        _ => None,
    })
}

/// Returns the `//!` lines at the head of a script, without their mark.
fn header(source: &str) -> String {
    source
        .lines()
        .map_while(|line| line.strip_prefix("//!"))
        .map(|line| line.strip_prefix(' ').unwrap_or(line))
        .collect::<Vec<_>>()
        .join("\n")
}
