//! The output of Maven's surefire and of Gradle.

use super::count_after;
use super::place;
use crate::oracle::builtin::test_gate::tally::Failure;
use crate::oracle::builtin::test_gate::tally::Tally;

/// Reads a run.
pub(super) fn read(text: &str) -> Option<Tally> {
    surefire(text).or_else(|| gradle(text))
}

/// Takes `[ERROR]` and its like from the head of a line.
fn without_level(line: &str) -> &str {
    let line = line.trim();
    line.strip_prefix('[')
        .and_then(|rest| rest.split_once(']'))
        .map_or(line, |(_, rest)| rest.trim())
}

fn surefire(text: &str) -> Option<Tally> {
    let mut tally = Tally::default();
    let mut seen = false;
    let mut failing = false;
    for line in text.lines().map(without_level) {
        // Each class has such a line with its name after it; the sum of a module has none.
        if line.starts_with("Tests run:") && !line.contains("Time elapsed") {
            let count = |label| count_after(line, label).unwrap_or(0);
            let failed = count("Failures:") + count("Errors:");
            let skipped = count("Skipped:");
            tally.passed += count("Tests run:").saturating_sub(failed + skipped);
            tally.failed += failed;
            tally.skipped += skipped;
            seen = true;
            failing = false;
        } else if line == "Failures:" || line == "Errors:" {
            failing = true;
        } else if failing && !line.is_empty() {
            tally.note(failed_method(line));
        }
    }
    seen.then_some(tally)
}

/// Reads `CalculatorTest.adds:12 expected: <3> but was: <2>`.
fn failed_method(line: &str) -> Failure {
    let (name, message) = line.split_once(' ').unwrap_or((line, ""));
    let (name, at) = name.rsplit_once(':').unwrap_or((name, ""));
    let class = name.rsplit_once('.').map_or(name, |(class, _)| class);
    let class = class.split("->").next().unwrap_or(class);
    Failure {
        file: Some(format!("{}.java", class.replace('.', "/"))),
        line: at.parse().ok(),
        ..Failure::named(name).saying(message)
    }
}

fn gradle(text: &str) -> Option<Tally> {
    let mut tally = Tally::default();
    let mut seen = false;
    let mut current = None::<Failure>;
    for line in text.lines() {
        if let Some((class, name)) = line
            .strip_suffix(" FAILED")
            .filter(|_| !line.starts_with("> Task"))
            .and_then(|name| name.split_once(" > "))
        {
            tally.failures.extend(current.take());
            current = Some(Failure::named(format!("{class}.{name}")));
        } else if line.contains(" tests completed, ") || line.contains(" test completed, ") {
            seen = true;
            let total = count_after(line, "").unwrap_or(0);
            tally.failed = count_after(line, "completed, ").unwrap_or(0);
            tally.skipped = line
                .split(", ")
                .find_map(|part| part.strip_suffix(" skipped")?.parse().ok())
                .unwrap_or(0);
            tally.passed = total.saturating_sub(tally.failed + tally.skipped);
        } else if let Some(failure) = &mut current {
            if line.trim().is_empty() {
                tally.failures.extend(current.take());
            } else if failure.message.is_none() {
                *failure = std::mem::take(failure).saying(line);
                let at = place(line);
                *failure = std::mem::take(failure).at(at);
            }
        }
    }
    tally.failures.extend(current);
    seen.then_some(tally)
}
