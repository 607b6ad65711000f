//! The output of `cargo test` and `cargo nextest run`.

use super::count_before;
use super::place;
use crate::oracle::builtin::test_gate::tally::Failure;
use crate::oracle::builtin::test_gate::tally::Tally;

/// Reads a run; a crate that does not compile is a failure too.
pub(super) fn read(text: &str) -> Option<Tally> {
    nextest(text)
        .or_else(|| libtest(text))
        .or_else(|| broken(text))
}

/// What a panic tells of its test.
fn panics(text: &str) -> Vec<Failure> {
    let mut found = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let Some(rest) = line.trim_start().strip_prefix("thread '") else {
            continue;
        };
        let Some((name, rest)) = rest.split_once('\'') else {
            continue;
        };
        let Some((_, at)) = rest.split_once("panicked at ") else {
            continue;
        };
        let message = lines.next().unwrap_or_default();
        found.push(Failure::named(name).at(place(at)).saying(message));
    }
    found
}

/// Completes failures by what their panics tell.
fn explain(tally: &mut Tally, text: &str) {
    for panic in panics(text) {
        let known = tally
            .failures
            .iter_mut()
            .find(|f| f.name == panic.name && f.line.is_none());
        if let Some(known) = known {
            known.file = panic.file.or(known.file.take());
            known.line = panic.line;
            known.message = panic.message;
        }
    }
}

fn libtest(text: &str) -> Option<Tally> {
    let mut tally = Tally::default();
    let mut seen = false;
    let mut binary = None;
    for line in text.lines() {
        let line = line.trim();
        if let Some(rest) = line.strip_prefix("Running ") {
            // `unittests src/lib.rs (target/…)` or `tests/it.rs (target/…)`.
            binary = rest
                .split_whitespace()
                .find(|word| word.strip_suffix(".rs").is_some())
                .map(str::to_owned);
        } else if line.starts_with("Doc-tests ") {
            binary = None;
        } else if let Some(result) = line.strip_prefix("test result: ") {
            seen = true;
            tally.passed += count_before(result, "passed").unwrap_or(0);
            tally.failed += count_before(result, "failed").unwrap_or(0);
            tally.skipped += count_before(result, "ignored").unwrap_or(0);
        } else if let Some(name) = line
            .strip_prefix("test ")
            .and_then(|rest| rest.strip_suffix(" ... FAILED"))
        {
            tally.note(match doc_test(name) {
                Some(at) => Failure::named(name).at(Some(at)),
                None => Failure {
                    file: binary.clone(),
                    ..Failure::named(name)
                },
            });
        }
    }
    explain(&mut tally, text);
    // Some targets ran, and one did not even compile.
    if let (true, Some(other)) = (seen, broken(text)) {
        tally.add(other);
    }
    seen.then_some(tally)
}

/// Returns the place in a doc test's name: `src/lib.rs - add (line 4)`.
fn doc_test(name: &str) -> Option<(String, u32)> {
    let (file, rest) = name.split_once(" - ")?;
    let (_, line) = rest.rsplit_once("(line ")?;
    Some((file.to_owned(), line.split(')').next()?.parse().ok()?))
}

fn nextest(text: &str) -> Option<Tally> {
    let mut tally = Tally::default();
    let mut seen = false;
    for line in text.lines() {
        let line = line.trim();
        let Some((status, rest)) = line.split_once('[') else {
            continue;
        };
        let Some((_, rest)) = rest.split_once(']') else {
            continue;
        };
        match status.trim() {
            "Summary" => {
                seen = true;
                tally.passed += count_before(rest, "passed").unwrap_or(0);
                for word in ["failed", "timed"] {
                    tally.failed += count_before(rest, word).unwrap_or(0);
                }
                tally.skipped += count_before(rest, "skipped").unwrap_or(0);
            }
            "FAIL" | "TIMEOUT" | "ABORT" | "SIGABRT" | "SIGSEGV" | "SIGKILL" => {
                let rest = rest.trim();
                // `(2/5) demo::it whole`; the counter is missing in the list at the end.
                let rest = match rest.strip_prefix('(').and_then(|r| r.split_once(')')) {
                    Some((_, rest)) => rest.trim(),
                    None => rest,
                };
                if let Some((_, name)) = rest.split_once(' ') {
                    tally.note(Failure::named(name.trim()));
                }
            }
            _ => {}
        }
    }
    explain(&mut tally, text);
    seen.then_some(tally)
}

/// Reads the errors of a crate that does not compile.
fn broken(text: &str) -> Option<Tally> {
    if !text.contains("error: could not compile") {
        return None;
    }
    let mut tally = Tally::default();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let is_error = line.starts_with("error[") || line.starts_with("error: ");
        let at = lines
            .peek()
            .and_then(|next| next.trim_start().strip_prefix("--> "))
            .and_then(place);
        if is_error && at.is_some() {
            tally.failed += 1;
            tally.failures.push(
                Failure::named(format!("compile error {}", tally.failed))
                    .at(at)
                    .saying(line),
            );
        }
    }
    if tally.failed == 0 {
        tally.failed = 1;
        tally.failures.push(Failure::named("the build"));
    }
    Some(tally)
}
