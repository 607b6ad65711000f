//! The output of pytest and unittest.

use super::count_after;
use super::count_before;
use super::percent;
use super::place;
use crate::oracle::builtin::test_gate::tally::Failure;
use crate::oracle::builtin::test_gate::tally::Tally;

/// Reads a run.
pub(super) fn read(text: &str) -> Option<Tally> {
    pytest(text).or_else(|| unittest(text))
}

/// The last line of a pytest run: `1 failed, 2 passed in 0.12s`, between `=` where it is not quiet.
fn summary(line: &str) -> Option<Tally> {
    let line = line.trim().trim_matches('=').trim();
    let (counts, time) = line.rsplit_once(" in ")?;
    let time = time.split(" (").next()?;
    if !time
        .strip_suffix('s')?
        .parse::<f64>()
        .is_ok_and(f64::is_finite)
    {
        return None;
    }
    let known = [
        "passed",
        "failed",
        "skipped",
        "error",
        "errors",
        "deselected",
        "xfailed",
        "xpassed",
        "warning",
        "warnings",
        "rerun",
        "subtests",
    ];
    let is_summary = counts == "no tests ran"
        || counts.split(", ").all(|part| {
            part.split_once(' ').is_some_and(|(n, word)| {
                n.parse::<u64>().is_ok() && known.iter().any(|k| word.starts_with(k))
            })
        });
    let count = |word| count_before(counts, word).unwrap_or(0);
    is_summary.then(|| Tally {
        passed: count("passed") + count("xfailed") + count("xpassed"),
        failed: count("failed") + count("error") + count("errors"),
        skipped: count("skipped") + count("deselected"),
        ..Tally::default()
    })
}

fn pytest(text: &str) -> Option<Tally> {
    let mut tally = text.lines().rev().find_map(summary)?;
    for line in text.lines() {
        let found = line
            .strip_prefix("FAILED ")
            .or_else(|| line.strip_prefix("ERROR "));
        if let Some(rest) = found {
            let (name, message) = rest.split_once(" - ").unwrap_or((rest, ""));
            let file = name.split("::").next().unwrap_or(name);
            if file.contains('.') {
                tally.note(Failure {
                    file: Some(file.to_owned()),
                    ..Failure::named(name).saying(message)
                });
            }
        } else if let Some(rest) = line.strip_prefix("TOTAL ") {
            tally.coverage = rest.split_whitespace().last().and_then(percent);
        }
    }
    locate(&mut tally, text);
    Some(tally)
}

/// Finds the lines of failures in the traces, which stand under `____ name ____`.
fn locate(tally: &mut Tally, text: &str) {
    let mut current = None;
    for line in text.lines() {
        if line.starts_with("____") && line.ends_with("__") {
            let title = line.trim_matches('_').trim();
            let title = title
                .strip_prefix("ERROR at setup of ")
                .or_else(|| title.strip_prefix("ERROR at teardown of "))
                .unwrap_or(title);
            current = Some(title.replace('.', "::"));
        } else if let (Some(title), Some((file, at))) = (&current, place(line)) {
            let known = tally.failures.iter_mut().find(|failure| {
                failure.line.is_none()
                    && failure.file.as_deref() == Some(file.as_str())
                    && failure
                        .name
                        .split_once("::")
                        .is_some_and(|(_, name)| name == title)
            });
            if let Some(known) = known {
                known.line = Some(at);
                current = None;
            }
        }
    }
}

fn unittest(text: &str) -> Option<Tally> {
    let ran = text.lines().rev().find_map(|line| {
        let rest = line.strip_prefix("Ran ")?;
        rest.contains(" test").then(|| count_after(line, "Ran "))?
    })?;
    let verdict = text.lines().rev().map(str::trim).find(|line| {
        line.starts_with("OK") || line.starts_with("FAILED") || line.starts_with("NO TESTS RAN")
    })?;
    let count = |label| count_after(verdict, label).unwrap_or(0);
    let unexpected = count("unexpected successes=");
    // `failures=` is also the tail of `expected failures=`, which are no failures.
    let expected = count("expected failures=");
    let failures = verdict
        .trim_start_matches("FAILED")
        .trim_matches(['(', ')', ' '])
        .split(", ")
        .find_map(|part| part.strip_prefix("failures=")?.parse::<u64>().ok())
        .unwrap_or(0);
    let failed = failures + count("errors=") + unexpected;
    let skipped = count("skipped=");
    let mut tally = Tally {
        passed: ran.saturating_sub(failed + skipped),
        failed,
        skipped,
        ..Tally::default()
    };
    tally.passed = tally.passed.max(expected);
    let mut current = None::<Failure>;
    for line in text.lines() {
        let title = line
            .strip_prefix("FAIL: ")
            .or_else(|| line.strip_prefix("ERROR: "));
        if let Some(title) = title {
            tally.failures.extend(current.take());
            current = Some(Failure::named(title));
        } else if line.starts_with("Ran ") || line.starts_with("=====") {
            tally.failures.extend(current.take());
        } else if let Some(failure) = &mut current {
            if let Some(rest) = line.trim_start().strip_prefix("File \"") {
                let mut parts = rest.split('"');
                failure.file = parts.next().map(str::to_owned);
                failure.line = parts
                    .next()
                    .and_then(|rest| count_after(rest, "line "))
                    .and_then(|n| n.try_into().ok());
            } else if !line.starts_with([' ', '-'])
                && !line.is_empty()
                && !line.starts_with("Traceback")
            {
                failure.message = failure
                    .message
                    .take()
                    .or_else(|| Failure::default().saying(line).message);
            }
        }
    }
    tally.failures.extend(current);
    Some(tally)
}
