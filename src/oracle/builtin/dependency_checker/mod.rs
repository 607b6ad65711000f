//! DependencyChecker: what a project and an issue need is there.

mod cargo;
mod go;
mod manifest;
mod npm;
mod python;
mod toml;

use std::sync::Arc;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;

use self::manifest::Fault;
use super::values::Texts;
use super::wording::counted;
use super::wording::listed;
use crate::diagnostic::Code;
use crate::event::Trigger;
use crate::fact::FactSource;
use crate::oracle::ConfigError;
use crate::oracle::Definition;
use crate::oracle::HookContext;
use crate::oracle::Oracle;
use crate::oracle::OracleConfig;
use crate::oracle::OracleError;
use crate::signal::Intensity;
use crate::signal::Signal;

pub(super) static DEFINITION: Definition = Definition {
    name: "DependencyChecker",
    kebab: "dependency-checker",
    summary: "What the project and the issue depend on is there.",
    triggers: &[Trigger::PreIssueStart, Trigger::PreIssueSubmit],
    intensities: &[Intensity::Block],
    needs: &[FactSource::Issue],
    runs_programs: true,
    schema: || schemars::schema_for!(DependencyChecker),
    build: |config| DependencyChecker::build(config).map(|c| Arc::new(c) as Arc<dyn Oracle>),
};

/// How many faults are named one by one.
const NAMED: usize = 20;

/// Blocks work whose dependencies are not met.
///
/// What it does: of each manifest (`Cargo.toml`, `package.json`, `pyproject.toml`, `requirements.txt`, `go.mod`; found in
/// the root by default) it checks that it is there and parses, that its lock file is there and in step, and that what it
/// declares can be resolved offline: Cargo is asked (`cargo metadata --locked --offline`), `node_modules/` is compared with
/// the lock file, the project's Python is asked for its installed distributions, `go.sum` must name every module. Nothing is
/// downloaded. Of an issue it checks that every issue it depends on exists and is done. One block names everything that is
/// not met, with the command that mends it.
///
/// ```yaml
/// hooks:
///   pre-issue-start:
///     - oracle: DependencyChecker
///       config:
///         manifest_files: [package.json, requirements.txt]
/// ```
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct DependencyChecker {
    /// The manifests, relative to the project; by default those in its root.
    manifest_files: Texts,
}

#[async_trait]
impl Oracle for DependencyChecker {
    async fn evaluate(&self, context: &HookContext) -> Result<Vec<Signal>, OracleError> {
        let mut faults = of_issue(context)?;
        let found: Vec<String> = if self.manifest_files.0.is_empty() {
            manifest::NAMES
                .iter()
                .filter(|name| context.workspace().exists(name))
                .map(|&name| name.to_owned())
                .collect()
        } else {
            self.manifest_files.0.clone()
        };
        let mut failure = None;
        for path in &found {
            match manifest::check(context, path) {
                Ok(found) => faults.extend(found),
                Err(error) => failure = Some(error),
            }
        }
        if faults.is_empty() {
            // What could not be looked at is not known to be met.
            return failure.map_or(Ok(Vec::new()), Err);
        }
        let told: Vec<&str> = faults.iter().map(|f| f.what.as_str()).collect();
        let mut steps: Vec<&str> = faults.iter().map(|f| f.remedy.as_str()).collect();
        steps.dedup();
        let mut files: Vec<&str> = faults.iter().map(|f| f.file.as_str()).collect();
        files.sort_unstable();
        files.dedup();
        let noun = if faults.len() == 1 {
            "dependency is"
        } else {
            "dependencies are"
        };
        let head = format!("{} {noun} not met", faults.len());
        Ok(vec![
            Signal::block(
                "dependencies-unmet",
                format!("{head}: {}", listed(&told, NAMED)),
            )
            .steps(steps)
            .files(files)
            .fingerprint(told.iter().copied()),
        ])
    }
}

impl DependencyChecker {
    fn build(config: &OracleConfig<'_>) -> Result<Self, ConfigError> {
        let checker: Self = config.decode()?;
        for path in &checker.manifest_files.0 {
            if !manifest::is_known(path) {
                return Err(config.error_at(
                    "manifest_files",
                    Code::BadValue,
                    format!(
                        "`{path}` is no manifest that is understood (known: {}, requirements*.txt)",
                        manifest::NAMES.join(", ")
                    ),
                ));
            }
        }
        Ok(checker)
    }
}

/// Returns the issues that the event's issue depends on and that are not done.
fn of_issue(context: &HookContext) -> Result<Vec<Fault>, OracleError> {
    let issue = context
        .facts
        .issue()
        .map_err(|e| OracleError::failed(e.to_string()))?;
    let Some(issue) = issue else {
        return Ok(Vec::new());
    };
    let mut faults = Vec::new();
    for id in &issue.dependencies {
        let found = context
            .workspace()
            .issue(id)
            .map_err(|e| OracleError::failed(e.to_string()))?;
        match found {
            None => faults.push(Fault {
                file: issue.path.clone(),
                what: format!("{} depends on {id}, which does not exist", issue.id),
                remedy: format!(
                    "create {id}, or take it out of `dependencies` in {}",
                    issue.path
                ),
            }),
            Some(other) => {
                let is = |value: &Option<String>, done: &[&str]| {
                    value
                        .as_deref()
                        .is_some_and(|v| done.contains(&v.to_ascii_lowercase().as_str()))
                };
                let is_done = is(&other.status, &["closed", "done", "completed"])
                    || is(&other.stage, &["done", "completed"]);
                if !is_done {
                    let (total, done) = other.progress();
                    let open = match total {
                        0 => String::new(),
                        _ => format!(", with {} open", counted(total - done, "checklist item")),
                    };
                    let stage = other
                        .stage
                        .as_deref()
                        .or(other.status.as_deref())
                        .unwrap_or("not done");
                    faults.push(Fault {
                        file: other.path.clone(),
                        what: format!("{} depends on {id}, which is {stage}{open}", issue.id),
                        remedy: format!("finish {id} ({}) first", other.path),
                    });
                }
            }
        }
    }
    Ok(faults)
}
