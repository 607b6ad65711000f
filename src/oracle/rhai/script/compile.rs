//! Compile: a source becomes a script, described by its constants and the comment at its head.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rhai::{AST, Dynamic, Map, Position, Stmt};

use super::Script;
use crate::config::kebab_case;
use crate::event::{Trigger, UnknownTriggerError};
use crate::oracle::rhai::error::ScriptError;
use crate::oracle::rhai::sandbox::engine;
use crate::oracle::rhai::survey::Survey;
use crate::oracle::rhai::{coverage, list};

/// How long a script's file may be, in bytes.
pub const MAX_SOURCE: usize = 256 << 10;

/// How many compiled scripts the process keeps.
const MAX_COMPILED: usize = 256;

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
        let declared = Declared::of(&ast, file, source)?;
        let keys: Vec<_> = declared.defaults.keys().map(|key| &**key).collect();
        survey.check_config(&keys);
        let page = header(source);
        let heading = || page.lines().next().unwrap_or_default();
        let summary = declared
            .description
            .unwrap_or_else(|| heading().trim_start_matches(['#', ' ']).to_owned());
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
            defaults: declared.defaults,
            choices: declared.choices,
            triggers: declared.triggers,
            intensities: survey.intensities.into_iter().rev().collect(),
            needs: survey.needs.into_iter().collect(),
            reads_project: survey.reads_project,
            misspelt: survey.misspelt,
            ast,
        })
    }
}

/// What a script says of itself by its constants.
struct Declared {
    description: Option<String>,
    defaults: Map,
    choices: Map,
    triggers: Vec<Trigger>,
}

impl Declared {
    fn of(ast: &AST, file: &str, source: &str) -> Result<Self, ScriptError> {
        let mut constants: HashMap<&str, Dynamic> = ast
            .iter_literal_variables(true, false)
            .map(|(name, _, value)| (name, value))
            .collect();
        if let Some((name, position)) = computed_constant(ast, &constants) {
            return Err(ScriptError::at(
                file,
                source,
                position,
                format!("`const {name}` is computed: write its values out"),
            ));
        }
        let wrong = |name: &str, wanted: &str| {
            ScriptError::of_file(file, format!("`const {name}` is {wanted}"))
        };
        let mut map = |name: &str| match constants.remove(name) {
            None => Ok(Map::new()),
            Some(value) => value
                .try_cast::<Map>()
                .ok_or_else(|| wrong(name, "a map of constants: `#{max_files: 20}`")),
        };
        let (defaults, choices) = (map("DEFAULTS")?, map("CHOICES")?);
        for (key, offered) in &choices {
            if !defaults.contains_key(key) {
                let told = format!("`const CHOICES` names `{key}`, which `DEFAULTS` does not have");
                return Err(ScriptError::of_file(file, told));
            }
            list::texts(offered).map_err(|_| {
                wrong(
                    "CHOICES",
                    "a map of lists: `#{intensity: [\"block\", \"prompt\"]}`",
                )
            })?;
        }
        let description = constants.remove("DESCRIPTION").map(Dynamic::into_string);
        let description = description
            .transpose()
            .map_err(|_| wrong("DESCRIPTION", "a text"))?;
        let triggers = constants.remove("TRIGGERS").unwrap_or(Dynamic::UNIT);
        let triggers = list::texts(&triggers)
            .map_err(|_| wrong("TRIGGERS", "a list of triggers: `[\"pre-tool-use\"]`"))?
            .iter()
            .map(|name| name.parse())
            .collect::<Result<_, UnknownTriggerError>>()
            .map_err(|e| ScriptError::of_file(file, e.to_string()))?;
        Ok(Self {
            description,
            defaults,
            choices,
            triggers,
        })
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
