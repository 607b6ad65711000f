//! CompletionVerifier: tests and docs are there, the issue says how it was solved, and its checklist holds.

use std::sync::Arc;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;

use super::lint_checker;
use super::test_gate::output;
use super::test_gate::runner;
use super::test_gate::runner::Runner;
use super::test_gate::tally::shortened;
use super::values::Texts;
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
use crate::process::Exit;
use crate::process::Program;
use crate::signal::Intensity;
use crate::signal::Signal;
use crate::workspace::Change;
use crate::workspace::Issue;

pub(super) static DEFINITION: Definition = Definition {
    name: "CompletionVerifier",
    kebab: "completion-verifier",
    summary: "An issue that is closed has tests, docs, a solution, and a checklist that holds.",
    triggers: &[Trigger::PreIssueClose, Trigger::PreIssueSubmit],
    intensities: &[Intensity::Block],
    needs: &[FactSource::Git, FactSource::Issue],
    runs_programs: true,
    schema: || schemars::schema_for!(CompletionVerifier),
    build: |config| CompletionVerifier::build(config).map(|v| Arc::new(v) as Arc<dyn Oracle>),
};

/// Files that hold code, so that a change of them wants tests and docs.
const CODE: &[&str] = &[
    "c", "cc", "cpp", "cs", "ex", "go", "h", "hpp", "java", "js", "jsx", "kt", "lua", "mjs", "php",
    "pl", "py", "rb", "rs", "scala", "sh", "swift", "ts", "tsx", "vue",
];

/// Verifies that an issue is complete before it is closed.
///
/// What it does: it blocks where code was changed and no test (`require_tests`) or no documentation (`require_docs`) with
/// it; where an issue that is being closed has no `solution`; and where a `verification` of its checklist fails. A
/// verification is `test_pass: NAME` (the project's tests of that name, file or path ran and passed; without a name, all),
/// `file_exists: PATH` (globs are understood), `lint_clean: PATH` (the project's linters find nothing there; without a
/// path, in all changed files), or `custom: COMMAND` (it ends with code 0; it runs only as `ahp trust` has shown it). The
/// block names each item with its line.
///
/// ```yaml
/// hooks:
///   pre-issue-close:
///     - oracle: CompletionVerifier
///       timeout: 10m
///       config:
///         require_tests: true
///         require_docs: true
///         doc_globs: ["docs/**", "CHANGELOG.md"]
/// ```
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct CompletionVerifier {
    /// Whether a change of code must change a test too.
    require_tests: bool,
    /// Whether a change of code must change documentation too.
    require_docs: bool,
    /// What counts as a test. A Rust file with `#[test]` in it always does.
    test_globs: Texts,
    /// What counts as documentation.
    doc_globs: Texts,
    /// Whether the `verification` of each checklist item is carried out.
    verify: bool,
}

impl Default for CompletionVerifier {
    fn default() -> Self {
        let texts = |texts: &[&str]| Texts(texts.iter().map(|&t| t.to_owned()).collect());
        Self {
            require_tests: false,
            require_docs: false,
            test_globs: texts(&[
                "**/{test,tests,spec,specs,__tests__}/**",
                "**/test_*.py",
                "**/*_test.{py,go,rs,rb,exs}",
                "**/*.{test,spec}.*",
                "**/*Test.{java,kt,php}",
                "**/*Tests.{java,kt,cs}",
                "**/*_spec.rb",
            ]),
            doc_globs: texts(&["**/*.{md,mdx,rst,adoc}", "docs/**", "doc/**"]),
            verify: true,
        }
    }
}

#[async_trait]
impl Oracle for CompletionVerifier {
    async fn evaluate(&self, context: &HookContext) -> Result<Vec<Signal>, OracleError> {
        let mut signals = self.about_change(context)?;
        let issue = context
            .facts
            .issue()
            .map_err(|e| OracleError::failed(e.to_string()))?;
        if let Some(issue) = issue {
            let event = context.event();
            let is_solved = issue
                .solution
                .as_deref()
                .is_some_and(|s| !s.trim().is_empty())
                || event
                    .context
                    .get("solution")
                    .is_some_and(|s| s.as_str().is_some_and(|s| !s.is_empty()));
            if event.trigger == Trigger::PreIssueClose && !is_solved {
                signals.push(
                    Signal::block(
                        "no-solution",
                        format!("{} does not say how it was solved", issue.id),
                    )
                    .steps([format!(
                        "set `solution:` in the front matter of {}",
                        issue.path
                    )])
                    .files([issue.path.as_str()])
                    .fingerprint(["no-solution"]),
                );
            }
            if self.verify && context.workspace().is_on_disk() {
                match verification(context, issue) {
                    // What is certain is told first; what needs trust is asked for when nothing else is left.
                    Err(OracleError::Untrusted(_)) if !signals.is_empty() => {}
                    result => signals.extend(result?),
                }
            }
        }
        Ok(signals)
    }
}

impl CompletionVerifier {
    fn build(config: &OracleConfig<'_>) -> Result<Self, ConfigError> {
        let verifier: Self = config.decode()?;
        for (key, globs) in [
            ("test_globs", &verifier.test_globs),
            ("doc_globs", &verifier.doc_globs),
        ] {
            if globs.0.iter().any(|glob| glob.trim().is_empty()) {
                return Err(config.error_at(key, Code::BadGlob, "a glob is empty"));
            }
        }
        Ok(verifier)
    }

    /// Blocks a change of code that brings no test or no documentation.
    fn about_change(&self, context: &HookContext) -> Result<Vec<Signal>, OracleError> {
        if !self.require_tests && !self.require_docs {
            return Ok(Vec::new());
        }
        let changes = context
            .facts
            .changes()
            .map_err(|e| OracleError::failed(e.to_string()))?;
        let here: Vec<&str> = changes
            .files
            .iter()
            .filter(|file| file.change != Change::Deleted)
            .map(|file| file.path.as_str())
            .collect();
        let is_test = |path: &str| {
            matches(&self.test_globs, path)
                || path.strip_suffix(".rs").is_some()
                    && context
                        .workspace()
                        .read(path)
                        .is_ok_and(|text| memchr::memmem::find(&text, b"#[test]").is_some())
        };
        let is_code = |path: &&str| {
            path.rsplit_once('.')
                .is_some_and(|(_, e)| CODE.contains(&e))
                && !matches(&self.test_globs, path)
        };
        let code: Vec<&str> = here.iter().copied().filter(is_code).collect();
        if code.is_empty() {
            return Ok(Vec::new());
        }
        let mut signals = Vec::new();
        if self.require_tests && !here.iter().any(|path| is_test(path)) {
            signals.push(
                Signal::block(
                    "no-tests-changed",
                    format!("code was changed and no test with it: {}", listed(&code, 5)),
                )
                .steps([format!("write tests for {}", listed(&code, 5))])
                .files(code.iter().copied())
                .fingerprint(["no-tests-changed"]),
            );
        }
        let issues = context.workspace().issues_dir();
        let is_doc = |path: &&str| {
            matches(&self.doc_globs, path) && !std::path::Path::new(path).starts_with(issues)
        };
        if self.require_docs && !here.iter().any(is_doc) {
            signals.push(
                Signal::block(
                    "no-docs-changed",
                    format!(
                        "code was changed and no documentation with it: {}",
                        listed(&code, 5)
                    ),
                )
                .steps([format!(
                    "document the change (any of {})",
                    listed(&self.doc_globs.0, 5)
                )])
                .files(code.iter().copied())
                .fingerprint(["no-docs-changed"]),
            );
        }
        Ok(signals)
    }
}

fn matches(globs: &Texts, path: &str) -> bool {
    globs.0.iter().any(|glob| fast_glob::glob_match(glob, path))
}

/// Carries out the verifications of a checklist; one block names all that failed.
fn verification(context: &HookContext, issue: &Issue) -> Result<Option<Signal>, OracleError> {
    let mut failed = Vec::new();
    let mut untrusted = None;
    for item in issue.items() {
        let Some((kind, rest)) = item.verification() else {
            continue;
        };
        let place = format!("{}:{}", issue.path, item.line);
        match verify(context, kind, rest) {
            Ok(None) => {}
            Ok(Some(reason)) => failed.push((
                item,
                format!("`{}` ({}, {place}): {reason}", item.text, item.id),
            )),
            Err(OracleError::Untrusted(why)) => {
                untrusted.get_or_insert(format!("`{kind}: {rest}` ({place}) was not run: {why}"));
            }
            Err(error) => return Err(error),
        }
    }
    if failed.is_empty() {
        return untrusted.map_or(Ok(None), |why| Err(OracleError::Untrusted(why)));
    }
    let told: Vec<&str> = failed.iter().map(|(_, told)| told.as_str()).collect();
    let noun = if failed.len() == 1 {
        "verification of the checklist fails"
    } else {
        "verifications of the checklist fail"
    };
    Ok(Some(
        Signal::block(
            "verification-failed",
            format!("{} {noun}: {}", failed.len(), listed(&told, 20)),
        )
        .steps(told.iter().take(20).map(|told| format!("mend {told}")))
        .files([issue.path.as_str()])
        .fingerprint(failed.iter().map(|(item, _)| item.id.as_str())),
    ))
}

/// Carries out one verification; gives the reason where it fails.
fn verify(context: &HookContext, kind: &str, rest: &str) -> Result<Option<String>, OracleError> {
    match kind {
        "file_exists" => Ok(missing(context, rest)),
        "test_pass" => tests_pass(context, rest),
        "lint_clean" => lint_clean(context, rest),
        "custom" => custom(context, rest),
        other => Ok(Some(format!(
            "`{other}` is no kind of verification; expected `test_pass`, `file_exists`, `lint_clean` or `custom`"
        ))),
    }
}

fn missing(context: &HookContext, paths: &str) -> Option<String> {
    let absent: Vec<&str> = paths
        .split(',')
        .map(str::trim)
        .filter(|path| {
            let found = if path.contains(['*', '?', '{']) {
                !context.workspace().list(path).is_empty()
            } else {
                !path.is_empty() && context.workspace().exists(path)
            };
            !found
        })
        .collect();
    (!absent.is_empty()).then(|| format!("there is no {}", listed(&absent, 5)))
}

/// Narrows a runner to the tests of a name, as far as it can be narrowed.
fn narrowed(runner: &Runner, name: &str) -> Runner {
    let quoted = format!("'{}'", name.replace('\'', "'\\''"));
    let command = &runner.command;
    let is_path = name.contains('/') || name.contains("::") && name.contains(".py");
    let narrowed = if command.starts_with("cargo ") {
        // `tests/it.rs` is the test target `it`.
        match name
            .strip_prefix("tests/")
            .and_then(|file| file.strip_suffix(".rs"))
        {
            Some(target) => format!("{command} --test '{}'", target.replace('\'', "")),
            None => format!("{command} -- {quoted}"),
        }
    } else if command.ends_with("-m pytest") {
        if is_path || name.strip_suffix(".py").is_some() {
            format!("{command} {quoted}")
        } else {
            format!("{command} -k {quoted}")
        }
    } else if command.contains("-m unittest") {
        format!("{command} -k {quoted}")
    } else if command.starts_with("go test") {
        format!("go test -json -run {quoted} ./...")
    } else {
        command.clone()
    };
    Runner {
        command: narrowed,
        reports: runner.reports.clone(),
    }
}

fn tests_pass(context: &HookContext, name: &str) -> Result<Option<String>, OracleError> {
    let runners = runner::find(context.workspace());
    if runners.is_empty() {
        return Ok(Some(
            "no way to run the project's tests was found".to_owned(),
        ));
    }
    let mut ran = 0;
    for runner in &runners {
        let runner = if name.is_empty() {
            runner.clone()
        } else {
            narrowed(runner, name)
        };
        let finished = runner.run(context)?;
        let tally = output::read(&finished.stdout).unwrap_or_default();
        ran += tally.ran();
        if let Some(failure) = tally.failures.first() {
            let place = failure
                .place()
                .map(|p| format!(" in {p}"))
                .unwrap_or_default();
            return Ok(Some(format!("the test `{}` fails{place}", failure.name)));
        }
        let found_none = tally.ran() == 0 && runners.len() > 1;
        if !finished.exit.is_success() && !found_none {
            return Ok(Some(format!("`{}` fails", runner.command)));
        }
    }
    Ok((ran == 0).then(|| {
        if name.is_empty() {
            "no test ran".to_owned()
        } else {
            format!("no test of the name `{name}` ran")
        }
    }))
}

fn lint_clean(context: &HookContext, path: &str) -> Result<Option<String>, OracleError> {
    let files = if path.is_empty() {
        let changes = context
            .facts
            .changes()
            .map_err(|e| OracleError::failed(e.to_string()))?;
        changes
            .files
            .iter()
            .filter(|f| f.change != Change::Deleted)
            .map(|f| f.path.clone())
            .collect()
    } else if path.contains(['*', '?', '{']) {
        context.workspace().list(path)
    } else if context.root().join(path).is_dir() {
        context
            .workspace()
            .list(&format!("{}/**/*", path.trim_end_matches('/')))
    } else {
        vec![path.to_owned()]
    };
    let checked = lint_checker::check(context, &files, &[])?;
    if let Some(first) = checked.faults.first() {
        return Ok(Some(format!(
            "{} ({} in all)",
            first.told(),
            checked.faults.len()
        )));
    }
    Ok(match (checked.missing.first(), checked.ran) {
        (Some(missing), _) => Some(format!("the linter `{missing}` is not installed")),
        (None, 0) => Some("no linter is configured for it".to_owned()),
        (None, _) => None,
    })
}

fn custom(context: &HookContext, command: &str) -> Result<Option<String>, OracleError> {
    if command.is_empty() {
        return Ok(Some("no command is named".to_owned()));
    }
    // An issue is the project's, whoever has bound this oracle; and any agent may write one.
    context
        .trust
        .permits_issue_command(command)
        .map_err(|reason| OracleError::Untrusted(reason.to_string()))?;
    let finished = Program::shell(&format!("exec 2>&1\n{command}"))
        .dir(context.root())
        .deadline(runner::in_time(context))
        .run()
        .map_err(|e| OracleError::failed(e.to_string()))?;
    Ok(match finished.exit {
        Exit::Code(0) => None,
        Exit::TimedOut => {
            return Err(OracleError::TimedOut(format!(
                "`{command}` did not end in time"
            )));
        }
        _ => {
            let said = finished.stdout_text();
            let said = said
                .lines()
                .rev()
                .find(|l| !l.trim().is_empty())
                .unwrap_or("it said nothing");
            Some(format!(
                "`{command}` fails: {}",
                shortened(said.trim(), 160)
            ))
        }
    })
}
