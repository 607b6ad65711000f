//! LintChecker: the project's linters find nothing in the changed files, or what they find is mended.

mod finding;
mod fix;
mod tool;

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde::Serialize;

pub(super) use self::finding::Fault;
use self::finding::Form;
use self::tool::TOOLS;
use self::tool::Tool;
use super::test_gate::runner::in_time;
use super::test_gate::tally::shortened;
use super::wording::counted;
use super::wording::listed;
use crate::diagnostic::Code;
use crate::diagnostic::nearest;
use crate::event::Trigger;
use crate::fact::FactSource;
use crate::oracle::ConfigError;
use crate::oracle::Definition;
use crate::oracle::HookContext;
use crate::oracle::Oracle;
use crate::oracle::OracleConfig;
use crate::oracle::OracleError;
use crate::process::Exit;
use crate::process::Finished;
use crate::process::Program;
use crate::process::installed;
use crate::signal::Intensity;
use crate::signal::Severity;
use crate::signal::Signal;
use crate::workspace::Change;

pub(super) static DEFINITION: Definition = Definition {
    name: "LintChecker",
    kebab: "lint-checker",
    summary: "The project's linters find nothing in the changed files.",
    triggers: &[
        Trigger::PreIssueSubmit,
        Trigger::PreAgentTurnStop,
        Trigger::PostToolUse,
    ],
    intensities: &[Intensity::Block, Intensity::Control, Intensity::Prompt],
    needs: &[FactSource::Git],
    runs_programs: true,
    schema: || schemars::schema_for!(LintChecker),
    build: |config| LintChecker::build(config).map(|l| Arc::new(l) as Arc<dyn Oracle>),
};

/// How many files one call of a linter is given: the system bounds the length of a command line.
const FILES_A_CALL: usize = 400;
/// How many findings are named one by one.
const NAMED: usize = 20;

/// What findings give.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Action {
    /// A prompt.
    #[default]
    Prompt,
    /// A block.
    Block,
}

/// Runs the project's linters on the changed files.
///
/// What it does: a linter is used where the project has its configuration: clippy and rustfmt (`Cargo.toml`), ruff, mypy,
/// eslint, tsc (`tsconfig.json`), prettier, biome, golangci-lint, go-vet and gofmt (`go.mod`), shellcheck (`.shellcheckrc`). Only
/// findings in changed files count.
/// They prompt, or block with `action: block`. A linter that the project uses and that is not installed is told in a
/// prompt.
///
/// With `auto_fix` the fixers of rustfmt, ruff, eslint, prettier, biome and gofmt run on the changed files first. That
/// gives a control whose modifications name each file that was changed, and what is left is reported as before. It can be
/// taken back: the patch is kept in `.ahp/fixes/`, and `git apply -R` undoes it.
///
/// ```yaml
/// hooks:
///   pre-issue-submit:
///     - oracle: LintChecker
///       timeout: 5m
///       config:
///         linters: [ruff, prettier]
///         auto_fix: true
///         action: block
/// ```
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct LintChecker {
    /// The linters, by name; by default those that the project has a configuration of.
    linters: Vec<String>,
    /// Whether what can be mended is mended.
    auto_fix: bool,
    /// What findings give: `prompt` or `block`.
    action: Action,
}

/// What linters found.
#[derive(Clone, Debug, Default)]
pub(super) struct Checked {
    /// Their findings in the files that they were to look at.
    pub(super) faults: Vec<Fault>,
    /// Linters that are wanted and not installed.
    pub(super) missing: Vec<&'static str>,
    /// How many linters ran.
    pub(super) ran: usize,
}

#[async_trait]
impl Oracle for LintChecker {
    async fn evaluate(&self, context: &HookContext) -> Result<Vec<Signal>, OracleError> {
        if !context.workspace().is_on_disk() {
            return Ok(Vec::new());
        }
        let changes = context.facts.changes().map_err(OracleError::of_git)?;
        let files: Vec<String> = changes
            .files
            .iter()
            .filter(|file| file.change != Change::Deleted)
            .map(|file| file.path.clone())
            .collect();
        let mut signals = Vec::new();
        if self.auto_fix {
            signals.extend(fix::fix(context, &files, &self.linters)?);
        }
        let checked = check(context, &files, &self.linters)?;
        if !checked.faults.is_empty() {
            signals.push(self.found(&checked.faults));
        }
        if !checked.missing.is_empty() {
            let names = checked.missing.join(", ");
            signals.push(
                Signal::prompt(
                    "linter-missing",
                    format!("the project uses {names}, which is not installed here"),
                )
                .severity(Severity::Low)
                .steps(checked.missing.iter().map(|name| format!("install {name}")))
                .fingerprint(["linter-missing", &names]),
            );
        }
        Ok(signals)
    }
}

impl LintChecker {
    fn build(config: &OracleConfig<'_>) -> Result<Self, ConfigError> {
        let checker: Self = config.decode()?;
        let names = || TOOLS.iter().map(|tool| tool.name);
        for linter in &checker.linters {
            if !names().any(|name| name == linter) {
                let hint = nearest(linter, names())
                    .map(|near| format!("; did you mean `{near}`?"))
                    .unwrap_or_default();
                let known = names().collect::<Vec<_>>().join(", ");
                return Err(config.error_at(
                    "linters",
                    Code::BadValue,
                    format!("there is no linter `{linter}`{hint} (known: {known})"),
                ));
            }
        }
        Ok(checker)
    }

    fn found(&self, faults: &[Fault]) -> Signal {
        let told: Vec<String> = faults.iter().map(Fault::told).collect();
        let mut files: Vec<&str> = faults.iter().map(|f| f.file.as_str()).collect();
        files.dedup();
        let reason = format!(
            "{} in {}: {}",
            counted(faults.len(), "lint finding"),
            counted(files.len(), "changed file"),
            listed(&told, NAMED)
        );
        let intensity = match self.action {
            Action::Prompt => Intensity::Prompt,
            Action::Block => Intensity::Block,
        };
        Signal::with(intensity, "lint-findings", reason)
            .steps(told.iter().take(NAMED).map(|told| format!("mend {told}")))
            .files(files)
            .fingerprint(&told)
    }
}

/// Returns the linters that are wanted: those that are named, else those that the project uses.
fn wanted(context: &HookContext, named: &[String]) -> impl Iterator<Item = &'static Tool> {
    TOOLS.iter().filter(move |tool| {
        if named.is_empty() {
            tool.is_used_by(context.workspace())
        } else {
            named.iter().any(|name| name == tool.name)
        }
    })
}

/// Returns the program of a linter: the project's own before the machine's.
fn program(context: &HookContext, tool: &Tool) -> Option<PathBuf> {
    let own = ["node_modules/.bin", ".venv/bin", "venv/bin"]
        .iter()
        .map(|dir| context.root().join(dir).join(tool.program))
        .find(|path| path.exists());
    own.or_else(|| installed(tool.program))
}

fn call(
    context: &HookContext,
    tool: &Tool,
    program: &std::path::Path,
    arguments: &[&str],
    files: &[String],
) -> Result<Finished, OracleError> {
    let mut argv = vec![program.to_string_lossy().into_owned()];
    argv.extend(arguments.iter().map(|&a| a.to_owned()));
    argv.extend(tool.project_arguments(context.workspace()));
    // A file whose name begins with a dash is no option.
    argv.extend(files.iter().map(|file| {
        if file.starts_with('-') {
            format!("./{file}")
        } else {
            file.clone()
        }
    }));
    let finished = Program::new(argv)
        .dir(context.root())
        .env("NO_COLOR", "1")
        .deadline(in_time(context))
        .max_output(32 << 20)
        .run()
        .map_err(|e| OracleError::failed(e.to_string()))?;
    if finished.exit == Exit::TimedOut {
        return Err(OracleError::TimedOut(format!(
            "{} did not end in time; give the binding a longer `timeout`",
            tool.name
        )));
    }
    Ok(finished)
}

/// Lets linters look at files; `named` are the only ones, where it names any.
///
/// # Errors
/// A linter did not end in time, or failed without a finding.
pub(super) fn check(
    context: &HookContext,
    files: &[String],
    named: &[String],
) -> Result<Checked, OracleError> {
    let mut checked = Checked::default();
    for tool in wanted(context, named) {
        let own: Vec<String> = files
            .iter()
            .filter(|file| tool.looks_at(file))
            .cloned()
            .collect();
        if own.is_empty() {
            continue;
        }
        let Some(program) = program(context, tool) else {
            checked.missing.push(tool.name);
            continue;
        };
        checked.ran += 1;
        let batches: Vec<&[String]> = if tool.takes_files {
            own.chunks(FILES_A_CALL).collect()
        } else {
            vec![&[]]
        };
        for batch in batches {
            let finished = call(context, tool, &program, tool.check, batch)?;
            let mut found = tool.read(&finished.stdout_text(), context.root());
            // Compilers tell there what they find also where they succeed.
            let tells_there = matches!(tool.form, Form::Places);
            if found.is_empty() && (tells_there || !finished.exit.is_success()) {
                found = tool.read_errors(&finished.stderr_text(), context.root());
            }
            if found.is_empty() && !finished.exit.is_success() {
                let said = format!("{}\n{}", finished.stderr_text(), finished.stdout_text());
                let said = said
                    .lines()
                    .find(|l| !l.trim().is_empty())
                    .unwrap_or("it said nothing");
                return Err(OracleError::failed(format!(
                    "{} failed: {}",
                    tool.name,
                    shortened(said.trim(), 200)
                )));
            }
            // A fault of its own configuration is one of everything that it looks at.
            checked.faults.extend(found.into_iter().filter(|fault| {
                fault.hinders
                    || own.contains(&fault.file)
                    || tool.files.contains(&fault.file.as_str())
            }));
        }
    }
    checked.faults.sort();
    checked.faults.dedup();
    Ok(checked)
}
