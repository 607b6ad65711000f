//! The output of jest, vitest, mocha, `node --test` and whatever speaks TAP.

use super::count_before;
use super::percent;
use super::place;
use crate::oracle::builtin::test_gate::tally::Failure;
use crate::oracle::builtin::test_gate::tally::Tally;

/// Reads a run.
pub(super) fn read(text: &str) -> Option<Tally> {
    let mut tally = jest(text)
        .or_else(|| vitest(text))
        .or_else(|| node(text))
        .or_else(|| tap(text))
        .or_else(|| mocha(text))?;
    // Istanbul's table: File | % Stmts | % Branch | % Funcs | % Lines | …
    tally.coverage = text.lines().find_map(|line| {
        let mut cells = line.trim().strip_prefix("All files")?.split('|').skip(1);
        percent(cells.nth(3)?)
    });
    Some(tally)
}

fn jest(text: &str) -> Option<Tally> {
    let sum = text
        .lines()
        .rev()
        .find(|line| line.starts_with("Tests:") && line.contains(" total"))?;
    let (_, counts) = sum.split_once(':')?;
    let count = |word| count_before(counts, word).unwrap_or(0);
    let mut tally = Tally {
        passed: count("passed"),
        failed: count("failed"),
        skipped: count("skipped") + count("todo"),
        ..Tally::default()
    };
    let mut file = None;
    let mut current = None::<Failure>;
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("FAIL ") {
            tally_up(&mut tally, &mut current);
            let path = rest.split(" (").next().unwrap_or(rest).trim();
            file = Some(path.strip_prefix("./").unwrap_or(path).to_owned());
        } else if let Some(name) = line.strip_prefix("  ● ") {
            tally_up(&mut tally, &mut current);
            if name == "Test suite failed to run" {
                // It holds no test that could be counted.
                tally.failed += 1;
            }
            current = Some(Failure {
                file: file.clone(),
                ..Failure::named(name)
            });
        } else if line.starts_with("Test Suites:") || line.starts_with("PASS ") {
            tally_up(&mut tally, &mut current);
        } else if let Some(failure) = &mut current {
            note_line(failure, line);
        }
    }
    tally_up(&mut tally, &mut current);
    Some(tally)
}

fn tally_up(tally: &mut Tally, current: &mut Option<Failure>) {
    if let Some(failure) = current.take() {
        tally.note(failure);
    }
}

/// Takes from a line of a failure's text what is new: the first words, and the first place in the project.
fn note_line(failure: &mut Failure, line: &str) {
    let trimmed = line.trim();
    if trimmed.is_empty() {
        return;
    }
    let is_frame = trimmed.starts_with("at ") || trimmed.starts_with('❯');
    if is_frame {
        if failure.line.is_none()
            && let Some((file, at)) =
                place(trimmed).filter(|(file, _)| !file.contains("node_modules"))
        {
            failure.file = Some(file);
            failure.line = Some(at);
        }
    } else if failure.message.is_none() {
        failure.message = Failure::default().saying(trimmed).message;
    }
}

fn vitest(text: &str) -> Option<Tally> {
    let sum = text.lines().rev().find_map(|line| {
        let counts = line.trim().strip_prefix("Tests ")?;
        counts.trim_end().ends_with(')').then_some(counts)
    });
    let no_files = text.contains("No test files found");
    let sum = match sum {
        Some(sum) => sum,
        None if no_files || text.contains("Failed Suites") => "",
        None => return None,
    };
    let count = |word| count_before(sum, word).unwrap_or(0);
    let mut tally = Tally {
        passed: count("passed"),
        failed: count("failed"),
        skipped: count("skipped") + count("todo"),
        ..Tally::default()
    };
    let mut current = None::<Failure>;
    for line in text.lines() {
        let trimmed = line.trim_start();
        if let Some(name) = trimmed.strip_prefix("FAIL ") {
            tally_up(&mut tally, &mut current);
            let name = name.trim();
            let mut parts = name.split(" > ");
            let file = parts
                .next()
                .unwrap_or(name)
                .split(" [")
                .next()
                .map(str::to_owned);
            if parts.next().is_none() {
                tally.failed += 1;
            }
            current = Some(Failure {
                file,
                ..Failure::named(name)
            });
        } else if trimmed.starts_with("⎯⎯") {
            tally_up(&mut tally, &mut current);
        } else if let Some(failure) = &mut current {
            note_line(failure, line);
        }
    }
    tally_up(&mut tally, &mut current);
    Some(tally)
}

/// Reads the sums that `node --test` prints after `ℹ` (spec reporter) or `#` (TAP).
fn sums(text: &str, mark: &str) -> Option<Tally> {
    let sum = |word: &str| {
        text.lines().rev().find_map(|line| {
            let rest = line.strip_prefix(mark)?.strip_prefix(' ')?;
            let count = rest.strip_prefix(word)?.strip_prefix(' ')?;
            count.trim().parse::<u64>().ok()
        })
    };
    sum("tests")?;
    Some(Tally {
        passed: sum("pass")? + sum("todo").unwrap_or(0),
        failed: sum("fail").unwrap_or(0) + sum("cancelled").unwrap_or(0),
        skipped: sum("skipped").unwrap_or(0),
        ..Tally::default()
    })
}

fn node(text: &str) -> Option<Tally> {
    let mut tally = sums(text, "ℹ")?;
    let mut current = None::<Failure>;
    let mut at = None;
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("test at ") {
            tally_up(&mut tally, &mut current);
            at = place(rest);
        } else if let (Some(name), true) = (line.strip_prefix("✖ "), at.is_some()) {
            let name = name.rsplit_once(" (").map_or(name, |(name, _)| name);
            current = Some(Failure::named(name).at(at.take()));
        } else if let Some(failure) = &mut current {
            note_line(failure, line);
        }
    }
    tally_up(&mut tally, &mut current);
    Some(tally)
}

fn tap(text: &str) -> Option<Tally> {
    let is_plan = |line: &str| {
        line.strip_prefix("1..")
            .is_some_and(|n| n.trim().parse::<u64>().is_ok())
    };
    if !text
        .lines()
        .any(|line| is_plan(line) || line.starts_with("TAP version"))
    {
        return None;
    }
    let mut counted = Tally::default();
    let mut parents = Vec::<(usize, String)>::new();
    let mut current = None::<Failure>;
    let mut is_suite = false;
    for line in text.lines() {
        let trimmed = line.trim_start();
        let depth = line.len() - trimmed.len();
        let (ok, rest) = if let Some(rest) = trimmed.strip_prefix("not ok ") {
            (false, rest)
        } else if let Some(rest) = trimmed.strip_prefix("ok ") {
            (true, rest)
        } else {
            if let Some(name) = trimmed.strip_prefix("# Subtest: ") {
                parents.retain(|(at, _)| *at < depth);
                parents.push((depth, name.to_owned()));
            } else if trimmed == "type: 'suite'" || trimmed == "failureType: 'subtestsFailed'" {
                is_suite = true;
            } else if let Some(failure) = &mut current {
                if let Some(at) = trimmed.strip_prefix("location: ") {
                    *failure = std::mem::take(failure).at(place(at));
                } else if let Some(message) = trimmed
                    .strip_prefix("error: ")
                    .or_else(|| trimmed.strip_prefix("message: "))
                {
                    let message = message.trim_matches(['\'', '"']);
                    if !message.starts_with('|') {
                        *failure = std::mem::take(failure).saying(message);
                    }
                } else if !["---", "..."].contains(&trimmed) && !is_yaml_key(trimmed) {
                    note_line(failure, line);
                }
            }
            continue;
        };
        settle(&mut counted, &mut current, &mut is_suite);
        let rest = rest
            .trim_start_matches(|c: char| c.is_ascii_digit())
            .trim_start();
        let name = rest.strip_prefix("- ").unwrap_or(rest);
        let (name, directive) = name.split_once(" # ").unwrap_or((name, ""));
        let directive = directive.to_ascii_uppercase();
        if directive.starts_with("SKIP") {
            counted.skipped += 1;
        } else if ok || directive.starts_with("TODO") {
            counted.passed += 1;
        } else {
            counted.failed += 1;
            let path: Vec<&str> = parents
                .iter()
                .filter(|(at, parent)| *at < depth && parent != name)
                .map(|(_, parent)| parent.as_str())
                .chain([name])
                .collect();
            current = Some(Failure::named(path.join(" > ")));
        }
    }
    settle(&mut counted, &mut current, &mut is_suite);
    // The sums leave suites out, which a plain count cannot tell from tests.
    if let Some(sums) = sums(text, "#") {
        counted.passed = sums.passed;
        counted.failed = sums.failed.max(counted.failures.len() as u64);
        counted.skipped = counted.skipped.max(sums.skipped);
    }
    Some(counted)
}

/// Whether a line is a `key: value` of a TAP diagnostic that says nothing to a reader.
fn is_yaml_key(line: &str) -> bool {
    [
        "duration_ms",
        "failureType",
        "code",
        "stack",
        "name",
        "type",
        "expected",
        "actual",
        "operator",
    ]
    .iter()
    .any(|key| {
        line.strip_prefix(key)
            .is_some_and(|rest| rest.starts_with(':'))
    })
}

/// Ends a failure's diagnostic; a suite fails only because of what is in it, which is named already.
fn settle(counted: &mut Tally, current: &mut Option<Failure>, is_suite: &mut bool) {
    if let Some(failure) = current.take() {
        if *is_suite {
            counted.failed -= 1;
        } else {
            counted.note(failure);
        }
    }
    *is_suite = false;
}

fn mocha(text: &str) -> Option<Tally> {
    let count = |word: &str| {
        text.lines().find_map(|line| {
            let (n, rest) = line.trim().split_once(' ')?;
            let is_it = rest == word || rest.starts_with(&format!("{word} ("));
            is_it.then(|| n.parse::<u64>().ok())?
        })
    };
    let passed = count("passing")?;
    let mut tally = Tally {
        passed,
        failed: count("failing").unwrap_or(0),
        skipped: count("pending").unwrap_or(0),
        ..Tally::default()
    };
    let details = text
        .lines()
        .skip_while(|line| !line.trim().ends_with(" failing"))
        .skip(1);
    let mut current = None::<(Failure, bool)>;
    for line in details {
        let trimmed = line.trim();
        let numbered = trimmed
            .split_once(") ")
            .filter(|(n, _)| line.starts_with("  ") && n.parse::<u32>().is_ok());
        if let Some((_, name)) = numbered {
            if let Some((failure, _)) = current.take() {
                tally.note(failure);
            }
            let whole = name.ends_with(':');
            current = Some((Failure::named(name.trim_end_matches(':')), whole));
        } else if let Some((failure, whole)) = &mut current {
            if *whole {
                note_line(failure, line);
            } else if !trimmed.is_empty() {
                // The names of the suites stand in lines of their own above the test's.
                failure.name = format!("{} > {}", failure.name, trimmed.trim_end_matches(':'));
                *whole = trimmed.ends_with(':');
            }
        }
    }
    if let Some((failure, _)) = current {
        tally.note(failure);
    }
    Some(tally)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_without_any_test_has_none() {
        let vitest = read("No test files found, exiting with code 1\n").unwrap();
        assert_eq!(vitest.ran(), 0);
        let tap = read("TAP version 13\n1..0\n# tests 0\n# pass 0\n# fail 0\n").unwrap();
        assert_eq!(tap.ran(), 0);
    }

    #[test]
    fn the_sums_of_jest_are_not_taken_for_anything_else() {
        assert!(read("Tests are important\n").is_none());
    }
}
