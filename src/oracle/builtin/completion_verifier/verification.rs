//! Verification: what the items of a checklist say that must hold.

use crate::oracle::toolchain::linter;
use crate::oracle::toolchain::test_run::{Failure, Runner, find, is_meant};
use crate::oracle::wording::{last_said, listed};
use crate::oracle::{HookContext, OracleError, toolchain};
use crate::process::Program;
use crate::shell_word::quoted;
use crate::signal::Signal;
use crate::workspace::{Change, Issue};

/// Carries out the verifications of a checklist; one block names all that failed.
pub(super) fn carry_out(
    context: &HookContext,
    issue: &Issue,
) -> Result<Option<Signal>, OracleError> {
    let mut failed = Vec::new();
    let mut errors = Vec::new();
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
                let why = format!("`{kind}: {rest}` ({place}) was not run: {why}");
                errors.push((item, OracleError::Untrusted(why)));
            }
            Err(error) => errors.push((item, error)),
        }
    }
    if failed.is_empty() {
        // What could not be carried out is told before what a person has yet to trust.
        errors.sort_by_key(|(_, error)| matches!(error, OracleError::Untrusted(_)));
        return errors
            .into_iter()
            .next()
            .map_or(Ok(None), |(_, error)| Err(error));
    }
    failed.extend(errors.into_iter().filter_map(|(item, error)| {
        let told = (!matches!(error, OracleError::Untrusted(_)))
            .then(|| format!("`{}` ({}): {error}", item.text, item.id));
        told.map(|told| (item, told))
    }));
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
        .steps(told.iter().take(20).map(|told| format!("fix {told}")))
        .files([issue.path.as_str()])
        .about_each(
            "verification-failed",
            failed
                .iter()
                .map(|(item, _)| format!("{}: {}", issue.id, item.id)),
        ),
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
            "`{other}` is not a kind of verification; expected `test_pass`, `file_exists`, `lint_clean` or `custom`"
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

/// Narrows a runner to the tests of a name, as far as it can be narrowed; says whether only they can run.
fn narrowed(runner: &Runner, name: &str) -> (Runner, bool) {
    let quoted = quoted(name);
    let command = &runner.command;
    let is_path = name.contains('/') || name.contains("::") && name.contains(".py");
    // `tests/it.rs` is the test target `it`, and no test names its target.
    let target = name
        .strip_prefix("tests/")
        .and_then(|file| file.strip_suffix(".rs"))
        .filter(|_| command.starts_with("cargo "));
    let narrowed = if let Some(target) = target {
        format!("{command} --test '{}'", target.replace('\'', ""))
    } else if command.starts_with("cargo ") {
        format!("{command} -- {quoted}")
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
    let runner = Runner {
        command: narrowed,
        ..runner.clone()
    };
    (runner, target.is_some())
}

fn tests_pass(context: &HookContext, name: &str) -> Result<Option<String>, OracleError> {
    let runners = find(context.workspace());
    if runners.is_empty() {
        return Ok(Some(
            "no way to run the project's tests was found".to_owned(),
        ));
    }
    context.permits_programs()?;
    let mut has_run = false;
    let mut other = None;
    for runner in &runners {
        let (runner, is_narrow) = if name.is_empty() {
            (runner.clone(), true)
        } else {
            narrowed(runner, name)
        };
        let run = runner.run(context)?;
        let tally = run.tally.unwrap_or_default();
        // What a runner can be narrowed to commonly holds more than what is meant.
        let is_meant = |test: &str| is_narrow || is_meant(test, name);
        let has_passed = if is_narrow {
            tally.passed > 0
        } else {
            tally.passed_names.iter().any(|test| is_meant(test))
        };
        has_run |= has_passed;
        let told = |failure: &Failure| {
            let place = failure.place().map(|place| format!(" in {place}"));
            let place = place.unwrap_or_default();
            format!("the test `{}` fails{place}", failure.name)
        };
        let mut failures = tally.failures.iter();
        if let Some(failure) = failures.find(|failure| is_meant(&failure.name)) {
            return Ok(Some(told(failure)));
        }
        other = other.or_else(|| tally.failures.first().map(told));
        if let Some(told) = run.cut_short.first() {
            return Ok(Some(told.clone()));
        }
        let found_none = tally.ran() == 0 && runners.len() > 1;
        let unexplained = !run.exit.is_success() && tally.failures.is_empty() && !found_none;
        if unexplained || tally.failed > tally.failures.len() as u64 {
            return Ok(Some(format!("`{}` fails", runner.command)));
        }
    }
    let none = if name.is_empty() {
        "no test ran".to_owned()
    } else {
        format!("no test of the name `{name}` ran")
    };
    let why = other.map_or(String::new(), |other| format!("; {other}"));
    Ok((!has_run).then(|| format!("{none}{why}")))
}

fn lint_clean(context: &HookContext, path: &str) -> Result<Option<String>, OracleError> {
    let files = if path.is_empty() {
        let changes = context.facts.changes().map_err(OracleError::of_git)?;
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
    let checked = linter::check(context, &files, &[]);
    if let Some((_, error)) = checked.failed.into_iter().next() {
        return Err(error);
    }
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
    let program = Program::shell(&format!("exec 2>&1\n{command}")).dir(context.root());
    let finished = toolchain::run(context, program, &format!("`{command}`"))?;
    Ok((!finished.exit.is_success())
        .then(|| format!("`{command}` fails: {}", last_said(&finished.stdout_text()))))
}
