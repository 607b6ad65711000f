//! What is said where the tests were not run, or where their run or its report tells nothing.

use std::time::Duration;

use crate::oracle::toolchain::test_run::Tally;
use crate::process::Exit;
use crate::signal::Signal;

/// Blocks a run that ended badly without naming a failed test.
pub(super) fn broken_run((command, exit, told): &(String, Exit, String), tally: &Tally) -> Signal {
    let how = match exit {
        Exit::Code(126 | 127) => "could not be run".to_owned(),
        Exit::Code(code) => format!("ended with code {code}"),
        Exit::Signal(signal) => format!("was ended by signal {signal}"),
        Exit::TimedOut => "did not end".to_owned(),
    };
    let counted = match tally.ran() {
        0 => "no test is known to have run".to_owned(),
        1 => "1 test ran and is not named as failed".to_owned(),
        n => format!("{n} tests ran and none of them is named as failed"),
    };
    let mut reason = format!("`{command}` {how}; {counted}");
    if !told.is_empty() {
        reason.push_str(&format!("; it said last:\n{told}"));
    }
    Signal::block("tests-not-run", reason)
        .steps([
            format!("run `{command}` and fix what it says"),
            "see that it ends with code 0".to_owned(),
        ])
        .fingerprint(["tests-not-run", command])
}

/// Blocks a project in which no way to run tests is found.
pub(super) fn no_runner() -> Signal {
    Signal::block(
        "no-test-runner",
        "no way to run the project's tests was found: no Cargo.toml, Python tests, `test` script in package.json, go.mod, pom.xml, Gradle build or `test` target of a Makefile",
    )
    .steps([
        "write tests in one of these forms",
        "or set `command` (what runs the tests) or `report` (the JUnit report of a run) in the configuration of TestGate",
    ])
    .fingerprint(["no-test-runner"])
}

/// Blocks reports that are not there.
pub(super) fn missing_report(files: &[String]) -> Signal {
    missing("test-report-missing", "test report", files)
}

/// Blocks coverage reports that are not there.
pub(super) fn missing_coverage(files: &[String]) -> Signal {
    missing("coverage-report-missing", "coverage report", files)
}

fn missing(kind: &str, what: &str, files: &[String]) -> Signal {
    let reason = format!("there is no {what} `{}`", files.join("`, `"));
    Signal::block(kind, reason)
        .steps(["run the tests so that they write it"])
        .files(files.to_vec())
        .fingerprint([kind])
}

/// Blocks a command that should have written a report and did not.
pub(super) fn not_written(files: &[String], command: &str) -> Signal {
    let files_named = files.join("`, `");
    let reason = format!("`{command}` has not written the test report `{files_named}`");
    Signal::block("test-report-missing", reason)
        .steps([
            format!("run `{command}` and see why"),
            "set `report` to the place that it writes to".to_owned(),
        ])
        .files(files.to_vec())
        .fingerprint(["test-report-missing", command])
}

/// Blocks a report that cannot be understood.
pub(super) fn unreadable(file: &str, fault: &str) -> Signal {
    let reason = format!("`{file}` cannot be read: {fault}");
    anew("test-report-unreadable", reason, file).files([file])
}

/// Blocks a report that is a copy of a file that was there before the run.
pub(super) fn copied(file: &str, original: &str) -> Signal {
    let why = format!("it is a copy of `{original}`, which was there before the tests ran");
    outdated(file, &why).files([file])
}

/// Blocks a report that is older than the sources.
pub(super) fn stale(file: &str, newer: &[String]) -> Signal {
    let named: Vec<String> = newer.iter().take(5).map(|f| format!("`{f}`")).collect();
    let mut named = named.join(", ");
    if newer.len() > 5 {
        named.push_str(&format!(" and {} more", newer.len() - 5));
    }
    let verb = if newer.len() == 1 { "was" } else { "were" };
    let why = format!("{named} {verb} changed after it was written");
    outdated(file, &why).files(newer.to_vec())
}

/// Blocks a report that was written later than now.
pub(super) fn of_the_future(file: &str) -> Signal {
    let why = "its time lies in the future, so that it tells nothing";
    outdated(file, why).files([file])
}

/// Blocks reports that were there, with the same content, when the tree was another.
pub(super) fn of_another_tree(files: &[String]) -> Signal {
    let why = "it was there already when files of the project were others";
    outdated(&files.join("`, `"), why).files(files.to_vec())
}

/// Blocks a report that is older than the configuration allows.
pub(super) fn too_old(file: &str, age: Duration, max: Duration) -> Signal {
    let (age, max) = (span(age), span(max));
    let why = format!("it is {age} old, and at most {max} are allowed");
    outdated(file, &why).files([file])
}

fn outdated(file: &str, why: &str) -> Signal {
    let reason = format!("the report `{file}` is stale: {why}");
    anew("test-report-stale", reason, file)
}

fn anew(kind: &str, reason: String, file: &str) -> Signal {
    Signal::block(kind, reason)
        .steps([format!("run the tests so that they write `{file}` anew")])
        .fingerprint([kind, file])
}

/// Blocks a run that ended before it had run everything.
pub(super) fn cut_short(command: &str, told: &[String]) -> Signal {
    let told = told.join("; ");
    let reason = format!("`{command}` did not run all of its tests: {told}");
    let step = "let every test run to its end: no `exit`, `--collect-only` or the like on the way";
    let signal = Signal::block("tests-cut-short", reason).steps([step]);
    signal.fingerprint(["tests-cut-short", command])
}

/// Blocks a run whose reports others than its reporters have written or changed.
pub(super) fn forged(command: &str, told: &[String]) -> Signal {
    let told = told.join("; ");
    let reason = format!("what tells of `{command}` is not what its runners reported: {told}");
    let step = "let no test, script or setting write into the folder of reports or change what stands there";
    let signal = Signal::block("test-report-forged", reason).steps([step]);
    signal.fingerprint(["test-report-forged", command])
}

/// Blocks a run of which nothing tells what it has tested.
pub(super) fn no_result(command: &str) -> Signal {
    let reason = format!("`{command}` ended with code 0, and nothing tells which tests it ran");
    Signal::block("no-test-result", reason)
        .steps([
            "let it run tests with a runner that is known, or write a JUnit report that `report` names",
            "or set `exit_code_suffices: true` in the configuration of TestGate, if code 0 is to be believed",
        ])
        .fingerprint(["no-test-result", command])
}

/// Writes a duration in its largest fitting unit.
fn span(duration: Duration) -> String {
    match duration.as_secs() {
        s if s < 120 => format!("{s} s"),
        s if s < 7_200 => format!("{} min", s / 60),
        s if s < 172_800 => format!("{} h", s / 3_600),
        s => format!("{} days", s / 86_400),
    }
}
