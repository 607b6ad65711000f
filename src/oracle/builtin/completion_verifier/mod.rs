//! CompletionVerifier: tests and docs are there, the issue says how it was solved, and its checklist holds.

mod brought;
mod verification;

use std::sync::Arc;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;

use self::brought::Brought;
use super::values::{Texts, globs};
use crate::diagnostic::Code;
use crate::event::Trigger;
use crate::fact::FactSource;
use crate::oracle::toolchain::test_run::{CODE, TEST_FILES};
use crate::oracle::wording::listed;
use crate::oracle::{
    ConfigError, Definition, HookContext, Oracle, OracleConfig, OracleError, Programs,
};
use crate::signal::{Intensity, Signal};
use crate::workspace::{Change, ChangedFile, Issue};

pub(super) static DEFINITION: Definition = Definition {
    name: "CompletionVerifier",
    kebab: "completion-verifier",
    summary: "An issue that is closed has tests, docs, a solution, and a checklist that holds.",
    triggers: &[Trigger::PreIssueClose, Trigger::PreIssueSubmit],
    intensities: &[Intensity::Block],
    needs: &[FactSource::Git, FactSource::Issue],
    programs: Programs::Always,
    file_key: None,
    schema: || schemars::schema_for!(CompletionVerifier),
    build: |config| CompletionVerifier::build(config).map(|v| Arc::new(v) as Arc<dyn Oracle>),
};

/// Verifies that an issue is complete before it is closed.
///
/// What it does: it blocks if code was changed but no test (`require_tests`) or no documentation (`require_docs`) was
/// changed with it. The added lines decide: comments, blank lines and imports alone are no test, and code that consists
/// only of these needs none. A file that is empty, was moved or only became shorter counts as neither. It also blocks if an issue that is being closed has no `solution`, and if a `verification` of
/// its checklist fails.
///
/// A verification is one of these: `test_pass: NAME` (the tests of the project with that name, file or path ran and
/// passed; without a name, all tests), `file_exists: PATH` (globs are allowed), `lint_clean: PATH` (the linters of the
/// project find nothing there; without a path, in all changed files), or `custom: COMMAND` (it ends with code 0; it runs
/// only in the form that `ahp trust` has shown). An item of the `checklist:` in the front matter has it as text or as a
/// map: `verification: "file_exists: docs/api.md"` or `verification: {file_exists: docs/api.md}`. The block names each
/// item with its line.
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
    /// Whether a change of code must also change a test.
    require_tests: bool,
    /// Whether a change of code must also change documentation.
    require_docs: bool,
    /// What counts as a test. In a Rust file, a line inside of `#[test]` or `#[cfg(test)]` always does.
    #[serde(deserialize_with = "globs")]
    test_globs: Texts,
    /// What counts as documentation.
    #[serde(deserialize_with = "globs")]
    doc_globs: Texts,
    /// Whether the `verification` of each checklist item is run.
    verify: bool,
}

impl Default for CompletionVerifier {
    fn default() -> Self {
        let texts = |texts: &[&str]| Texts(texts.iter().map(|&t| t.to_owned()).collect());
        Self {
            require_tests: false,
            require_docs: false,
            test_globs: texts(TEST_FILES),
            doc_globs: texts(&["**/*.{md,mdx,rst,adoc}", "docs/**", "doc/**"]),
            verify: true,
        }
    }
}

#[async_trait]
impl Oracle for CompletionVerifier {
    async fn evaluate(&self, context: &HookContext) -> Result<Vec<Signal>, OracleError> {
        let mut signals = self.about_change(context)?;
        let issue = match context.issue() {
            Ok(issue) => issue,
            // What is found already is not lost by it.
            Err(_) if !signals.is_empty() => return Ok(signals),
            Err(error) => return Err(error),
        };
        if let (None, Some(id)) = (issue, context.facts.issue_id()) {
            let dir = context.workspace().issues_dir().display().to_string();
            let reason = format!(
                "no file was found for issue {id}, so that nobody can tell whether it is complete"
            );
            let signal = Signal::block("issue-not-found", reason)
                .steps([format!(
                    "create the file of {id} below {dir}, or name the issue that is meant"
                )])
                .about("issue-not-found", id);
            signals.push(signal);
        }
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
                    .about("no-solution", issue.id.as_str()),
                );
            }
            if self.verify && context.workspace().is_on_disk() {
                match verification::carry_out(context, issue) {
                    // What is certain is told first; what needs trust is asked for when nothing else is left.
                    Err(OracleError::Untrusted(_)) if !signals.is_empty() => {}
                    // What is found already is not lost by it.
                    Err(error) if !signals.is_empty() => signals.push(not_verified(issue, &error)),
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
        let changes = context.facts.issue_changes();
        let changes = changes.map_err(|error| OracleError::of_git(&error))?;
        let here: Vec<&ChangedFile> = changes
            .files
            .iter()
            .filter(|file| file.change != Change::Deleted)
            .collect();
        let is_named_code = |file: &&ChangedFile| {
            file.path
                .rsplit_once('.')
                .is_some_and(|(_, e)| CODE.contains(&e))
                && !matches(&self.test_globs, &file.path)
        };
        let mut code: Vec<&ChangedFile> = here.iter().copied().filter(is_named_code).collect();
        if code.is_empty() {
            return Ok(Vec::new());
        }
        let brought = Brought::by(context, &changes)?;
        code.retain(|file| brought.changes_code(file));
        let code: Vec<&str> = code.iter().map(|file| file.path.as_str()).collect();
        // A file that was moved, or from which lines were only taken, brings neither a test nor documentation.
        let brings = || {
            let files = here.iter().filter(|file| file.added_lines != Some(0));
            files.map(|file| file.path.as_str())
        };
        let is_test = |path: &str| {
            matches(&self.test_globs, path) && brought.adds_test(path)
                || path.strip_suffix(".rs").is_some() && brought.adds_unit_test(path)
        };
        if code.is_empty() {
            return Ok(Vec::new());
        }
        let mut signals = Vec::new();
        if self.require_tests && !brings().any(is_test) {
            signals.push(
                Signal::block(
                    "no-tests-changed",
                    format!("code was changed and no test with it: {}", listed(&code, 5)),
                )
                .steps([format!(
                    "write or change a test of {}: a file like {}, or `#[test]` in a Rust file",
                    listed(&code, 5),
                    listed(&self.test_globs.0, 3)
                )])
                .files(code.iter().copied())
                .about_each("no-tests-changed", code.iter().copied()),
            );
        }
        let issues = context.workspace().issues_dir();
        let is_doc = |path: &str| {
            matches(&self.doc_globs, path)
                && !std::path::Path::new(path).starts_with(issues)
                && brought.adds_words(path)
        };
        if self.require_docs && !brings().any(is_doc) {
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
                .about_each("no-docs-changed", code.iter().copied()),
            );
        }
        Ok(signals)
    }
}

/// Blocks where the verification itself failed, so that nobody can tell whether the checklist holds.
fn not_verified(issue: &Issue, error: &OracleError) -> Signal {
    let reason = format!(
        "the checklist of {} could not be verified: {error}",
        issue.id
    );
    Signal::block("verification-failed", reason)
        .steps(["fix what keeps the verification from its work"])
        .files([issue.path.as_str()])
        .about("not-verified", issue.id.as_str())
}

fn matches(globs: &Texts, path: &str) -> bool {
    globs.0.iter().any(|glob| fast_glob::glob_match(glob, path))
}
