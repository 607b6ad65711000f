//! FileChangeLimiter: a change stays small enough to be looked at.

mod batches;

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use self::batches::{Batch, Limits, split};
use super::values::PathPatterns;
use crate::event::Trigger;
use crate::fact::FactSource;
use crate::oracle::toolchain::in_time;
use crate::oracle::wording::counted;
use crate::oracle::{
    ConfigError, Definition, HookContext, Oracle, OracleConfig, OracleError, Programs,
};
use crate::signal::{Intensity, Modification, Severity, Signal};
use crate::workspace::{Change, ChangedFile, git};

pub(super) static DEFINITION: Definition = Definition {
    name: "FileChangeLimiter",
    kebab: "file-change-limiter",
    summary: "The change touches no more files and lines than one can look at.",
    triggers: &[
        Trigger::PreIssueSubmit,
        Trigger::PreIssueClose,
        Trigger::PreToolUse,
        Trigger::PostToolUse,
        Trigger::PreAgentTurnStop,
    ],
    intensities: &[Intensity::Block, Intensity::Control, Intensity::Prompt],
    needs: &[FactSource::Git],
    programs: Programs::None,
    file_key: None,
    schema: || schemars::schema_for!(FileChangeLimiter),
    build: |config| {
        FileChangeLimiter::build(config).map(|oracle| Arc::new(oracle) as Arc<dyn Oracle>)
    },
};

/// Keeps a change small enough for a review.
///
/// What it does: at issue triggers it counts what the branch changes compared with the default branch, whether committed
/// or not. At other triggers it counts what the working tree changes compared with HEAD. Issue files and `.ahp/` do not
/// count, nor do untracked reports that TestGate has found written by the tests. A changed submodule counts as one file.
/// If the change exceeds `max_files` or `max_lines`, the oracle works out how to split it into batches of files
/// that lie together, each within the limits. `action` decides what happens then. `control` gives the batches as
/// modifications (`batch_size`, `batch.1`, `batch.2` …) and lets the operation continue, `prompt` warns, and `block`
/// blocks.
///
/// ```yaml
/// hooks:
///   pre-issue-submit:
///     - oracle: FileChangeLimiter
///       config:
///         max_files: 20
///         action: prompt
///         exclude: ["**/*.lock", "vendor/**"]
/// ```
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct FileChangeLimiter {
    /// The largest number of changed files that is accepted; at least 1.
    #[schemars(range(min = 1))]
    max_files: usize,
    /// The largest number of added and removed lines that is accepted; by default any number. The lines of a binary
    /// file cannot be counted, so with this key a changed binary file does not pass, unless `exclude` names it.
    max_lines: Option<u64>,
    /// What happens if a change exceeds the limits.
    action: Action,
    /// What `action: control` does.
    control_action: ControlAction,
    /// The largest number of files in a batch; by default `max_files`, which is also the limit.
    batch_size: Option<usize>,
    /// Files that do not count, such as lock files and generated files; written as in `.gitignore`: `dist`, `vendor/`, `*.lock`.
    exclude: PathPatterns,
}

/// What happens if a change exceeds the limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Action {
    /// The operation continues, split into batches.
    Control,
    /// The agent is warned.
    Prompt,
    /// The operation is blocked.
    Block,
}

/// What `action: control` does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ControlAction {
    /// The change is split into batches of files that lie together.
    SplitBatch,
}

impl Default for FileChangeLimiter {
    fn default() -> Self {
        Self {
            max_files: 20,
            max_lines: None,
            action: Action::Control,
            control_action: ControlAction::SplitBatch,
            batch_size: None,
            exclude: PathPatterns::default(),
        }
    }
}

#[async_trait]
impl Oracle for FileChangeLimiter {
    async fn evaluate(&self, context: &HookContext) -> Result<Vec<Signal>, OracleError> {
        let changes = context.facts.changes().map_err(OracleError::of_git)?;
        let mut files: Vec<&ChangedFile> = changes
            .files
            .iter()
            .filter(|file| !self.exclude.match_path(&file.path))
            .collect();
        if files.len() > self.max_files || self.max_lines.is_some() {
            let reports = reports_of_tests(context, &files)?;
            files.retain(|file| !reports.contains(&file.path));
        }
        let lines = files.iter().map(|file| lines_of(file)).sum();
        let signal = self.judge(&files, lines);
        let uncounted = || files.iter().find(|file| is_uncounted(file));
        if signal.is_none()
            && self.max_lines.is_some()
            && let Some(file) = uncounted()
        {
            return Err(OracleError::CannotTell(format!(
                "the lines of `{}` cannot be counted, as of a binary file; `exclude` names files that do not count",
                file.path
            )));
        }
        Ok(signal.into_iter().collect())
    }
}

impl FileChangeLimiter {
    fn build(config: &OracleConfig<'_>) -> Result<Self, ConfigError> {
        let oracle: Self = config.decode()?;
        let at_least_one = |key| {
            config.bad_value(
                key,
                "`0` would accept no change; expected a whole number of at least 1",
            )
        };
        if oracle.max_files == 0 {
            return Err(at_least_one("max_files"));
        }
        match oracle.batch_size {
            Some(0) => return Err(at_least_one("batch_size")),
            Some(size) if size > oracle.max_files => {
                return Err(config.bad_value(
                    "batch_size",
                    format!(
                        "batches of {size} files would be past `max_files`, which is {}",
                        oracle.max_files
                    ),
                ));
            }
            _ => {}
        }
        Ok(oracle)
    }

    fn judge(&self, files: &[&ChangedFile], lines: u64) -> Option<Signal> {
        let too_many_lines = self.max_lines.filter(|max| lines > *max);
        if files.len() <= self.max_files && too_many_lines.is_none() {
            return None;
        }
        let size = self.batch_size.unwrap_or(self.max_files);
        let batches = split(
            files.iter().map(|f| (f.path.as_str(), lines_of(f))),
            Limits {
                files: size,
                lines: self.max_lines,
            },
        );
        let mut what = format!("large change: {}", counted(files.len(), "file"));
        if files.len() > self.max_files {
            what += &format!(", at most {} are accepted", self.max_files);
        }
        if let Some(max) = too_many_lines {
            what += &format!("; {lines} changed lines, at most {max} are accepted");
        }
        let signal = match self.action {
            Action::Control => {
                let reason = format!(
                    "{what}; split into {}",
                    match batches.len() {
                        1 => "1 batch".to_owned(),
                        n => format!("{n} batches"),
                    }
                );
                Signal::control("large-change", modifications(files.len(), size, &batches))
                    .reason(reason)
            }
            Action::Prompt => Signal::prompt(
                "large-change",
                format!("{what}; consider to submit it in steps"),
            )
            .severity(if files.len() > 2 * self.max_files {
                Severity::High
            } else {
                Severity::Medium
            })
            .steps(steps(&batches)),
            Action::Block => Signal::block("large-change", format!("{what}; submit it in steps"))
                .steps(steps(&batches)),
        };
        let paths = files.iter().map(|file| file.path.as_str());
        // It is the change as a whole; an answer holds for the files that it was given for.
        let signal = signal
            .files(paths.clone())
            .about("large-change", "the change");
        Some(signal.fingerprint(paths))
    }
}

/// Returns the reports among new files that a run of the tests has written, and that git does not track: a gate that runs the tests
/// would else make another change of the one that it judges.
fn reports_of_tests(
    context: &HookContext,
    files: &[&ChangedFile],
) -> Result<Vec<String>, OracleError> {
    let evidence = context.workspace().evidence(&context.state_dir);
    let runs = evidence.load();
    let is_new = |path: &&String| {
        let mut new = files.iter().filter(|file| file.change == Change::Added);
        new.any(|file| file.path == **path)
    };
    let written = runs.iter().flat_map(|run| &run.written).filter(is_new);
    let written: BTreeSet<&str> = written.map(String::as_str).collect();
    if written.is_empty() {
        return Ok(Vec::new());
    }
    let mut arguments = vec!["--literal-pathspecs", "ls-files", "-z", "--others", "--"];
    arguments.extend(written);
    let finished = git(context.root(), &arguments)
        .deadline(in_time(context))
        .run()
        .map_err(|error| OracleError::failed(error.to_string()))?;
    let listed = String::from_utf8_lossy(&finished.stdout);
    Ok(listed.split_terminator('\0').map(str::to_owned).collect())
}

/// Whether it is not known how many lines of a file that is there have changed.
fn is_uncounted(file: &ChangedFile) -> bool {
    let is_known = file.added_lines.is_some() || file.removed_lines.is_some();
    file.change != Change::Deleted && !is_known
}

fn lines_of(file: &ChangedFile) -> u64 {
    let count = |lines: Option<u32>| lines.map_or(0, u64::from);
    count(file.added_lines) + count(file.removed_lines)
}

/// Hands the split over: the size first, then each batch as the files that belong to it.
fn modifications(files: usize, size: usize, batches: &[Batch<'_>]) -> Vec<Modification> {
    let first = Modification {
        target: "batch_size".to_owned(),
        original: Value::from(files),
        updated: Value::from(size),
        reason: format!("at most {} at once", counted(size, "file")),
    };
    let each = (1..).zip(batches).map(|(number, batch)| Modification {
        target: format!("batch.{number}"),
        original: Value::Null,
        updated: Value::from(batch.paths.clone()),
        reason: batch.describe(),
    });
    std::iter::once(first).chain(each).collect()
}

fn steps(batches: &[Batch<'_>]) -> Vec<String> {
    (1..)
        .zip(batches)
        .map(|(number, batch)| format!("Step {number} of {}: {}", batches.len(), batch.describe()))
        .collect()
}
