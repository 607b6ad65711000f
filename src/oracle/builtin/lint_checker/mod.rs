//! LintChecker: the project's linters find nothing in the changed files, or what they find is fixed.

mod fix;

use std::sync::Arc;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::diagnostic::nearest;
use crate::event::Trigger;
use crate::fact::FactSource;
use crate::oracle::toolchain::linter::{Checked, Fault, TOOLS, check};
use crate::oracle::wording::{counted, listed};
use crate::oracle::{
    ConfigError, Definition, HookContext, Oracle, OracleConfig, OracleError, Programs,
};
use crate::signal::{Intensity, Severity, Signal};
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
    programs: Programs::Always,
    file_key: None,
    schema: || schemars::schema_for!(LintChecker),
    build: |config| LintChecker::build(config).map(|l| Arc::new(l) as Arc<dyn Oracle>),
};

/// How many findings are named one by one.
const NAMED: usize = 20;

/// The intensity of findings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Action {
    /// A prompt.
    #[default]
    Prompt,
    /// A block.
    Block,
}

impl Action {
    const fn intensity(self) -> Intensity {
        match self {
            Self::Prompt => Intensity::Prompt,
            Self::Block => Intensity::Block,
        }
    }
}

/// Runs the project's linters on the changed files.
///
/// What it does: it runs each linter for which the project has a configuration: clippy and rustfmt (`Cargo.toml`), ruff,
/// mypy, eslint, tsc (`tsconfig.json`), prettier, biome, golangci-lint, go-vet and gofmt (`go.mod`), shellcheck
/// (`.shellcheckrc`). Only findings in changed files count.
///
/// Findings give a prompt, or a block with `action: block`. A linter that is named in `linters` but not installed counts
/// as a finding; if it is not named there, a prompt says that it is missing. If a linter fails, the failure is reported
/// beside the findings of the others, and blocks with `action: block`. If there is nothing else to report, the `on_error`
/// of the binding decides.
///
/// With `auto_fix`, the fixers of rustfmt, ruff, eslint, prettier, biome and gofmt run on the changed files first. This
/// gives a control whose modifications name each file that was changed. The remaining findings are reported as usual. The
/// fixes can be undone: the patch is kept in `.ahp/fixes/`, and `git apply -R` reverts it.
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
    /// The linters, by name; by default those for which the project has a configuration.
    linters: Vec<String>,
    /// Whether the fixers run first.
    auto_fix: bool,
    /// The intensity of findings: `prompt` or `block`.
    action: Action,
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
        let checked = check(context, &files, &self.linters);
        if !checked.faults.is_empty() {
            signals.push(self.found(&checked.faults));
        }
        signals.extend(self.missing(&checked));
        // Alone, it is for the binding's `on_error`; beside findings it must not hide them.
        if self.action == Action::Prompt && signals.is_empty() && !checked.failed.is_empty() {
            return Err(all_of(checked.failed));
        }
        signals.extend(checked.failed.iter().map(|(name, error)| {
            let reason = format!("{error}; what it looks at is not known to be clean");
            Signal::with(self.action.intensity(), "linter-failed", reason)
                .steps([format!("run {name} and fix what keeps it from its work")])
                .about("linter-failed", *name)
        }));
        Ok(signals)
    }
}

/// Returns one error that tells all of them; that a person has yet to trust something stays what it is.
fn all_of(failed: Vec<(&'static str, OracleError)>) -> OracleError {
    let told: Vec<String> = failed.iter().map(|(_, error)| error.to_string()).collect();
    let mut errors = failed.into_iter().map(|(_, error)| error);
    match errors.next() {
        Some(error) if told.len() == 1 || matches!(error, OracleError::Untrusted(_)) => error,
        _ => OracleError::failed(told.join("; ")),
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
                return Err(config.bad_value(
                    "linters",
                    format!("there is no linter `{linter}`{hint} (known: {known})"),
                ));
            }
        }
        Ok(checker)
    }

    /// Tells of linters that are not installed: one that the configuration names is as needed as what it would find.
    fn missing(&self, checked: &Checked) -> Option<Signal> {
        let names = checked.missing.join(", ");
        let signal = if self.linters.is_empty() {
            let reason = format!("the project uses {names}, which is not installed here");
            Signal::prompt("linter-missing", reason).severity(Severity::Low)
        } else {
            let reason = format!("{names} is wanted and not installed here");
            Signal::with(self.action.intensity(), "linter-missing", reason)
        };
        let signal = signal
            .steps(checked.missing.iter().map(|name| format!("install {name}")))
            .about_each("linter-missing", checked.missing.iter().copied());
        (!checked.missing.is_empty()).then_some(signal)
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
        Signal::with(self.action.intensity(), "lint-findings", reason)
            .steps(told.iter().take(NAMED).map(|told| format!("fix {told}")))
            .files(files)
            .locations(faults.iter().filter_map(|f| Some((&f.file, f.line?))))
            .about_each("lint-findings", faults.iter().map(Fault::object))
    }
}
