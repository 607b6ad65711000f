//! The output of `go test`, plain and with `-json`.

use serde::Deserialize;

use super::percent;
use super::place;
use crate::oracle::builtin::test_gate::tally::Failure;
use crate::oracle::builtin::test_gate::tally::Tally;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Event {
    action: String,
    #[serde(default)]
    package: String,
    #[serde(default, alias = "ImportPath")]
    import_path: String,
    test: Option<String>,
    output: Option<String>,
}

/// Reads a run.
pub(super) fn read(text: &str) -> Option<Tally> {
    json(text).or_else(|| plain(text))
}

fn json(text: &str) -> Option<Tally> {
    let mut tally = Tally::default();
    let mut seen = false;
    let mut outputs = std::collections::HashMap::<(String, String), Vec<String>>::new();
    for line in text.lines() {
        let Some(event) = line
            .starts_with('{')
            .then(|| serde_json::from_str::<Event>(line).ok())
            .flatten()
        else {
            continue;
        };
        let package = if event.package.is_empty() {
            event.import_path
        } else {
            event.package
        };
        let key = (package, event.test.clone().unwrap_or_default());
        match (event.action.as_str(), event.test) {
            ("output" | "build-output", _) => {
                let output = event.output.unwrap_or_default();
                if let Some(found) = coverage(&output) {
                    tally.coverage = Some(found);
                }
                seen |= output.starts_with("ok ")
                    || output.starts_with("FAIL")
                    || output.starts_with("? ");
                outputs.entry(key).or_default().push(output);
            }
            ("pass", Some(_)) => {
                seen = true;
                tally.passed += 1;
            }
            ("skip", Some(_)) => {
                seen = true;
                tally.skipped += 1;
            }
            ("fail", Some(test)) => {
                seen = true;
                tally.failed += 1;
                let told = outputs.get(&key).map(Vec::as_slice).unwrap_or_default();
                tally.note(failure(&format!("{}.{test}", key.0), told));
            }
            ("build-fail", None) => {
                seen = true;
                tally.failed += 1;
                let told = outputs.get(&key).map(Vec::as_slice).unwrap_or_default();
                tally.note(failure(&format!("the build of {}", key.0), told));
            }
            _ => {}
        }
    }
    seen.then_some(tally)
}

/// Makes a failure of what a test printed.
fn failure(name: &str, told: &[String]) -> Failure {
    let at = told.iter().find_map(|line| Some((line, place(line)?)));
    match at {
        Some((line, at)) => {
            let message = line
                .split_once(&format!(":{}:", at.1))
                .map_or("", |(_, m)| m);
            Failure::named(name).at(Some(at)).saying(message)
        }
        None => Failure::named(name),
    }
}

/// Reads `coverage: 85.2% of statements`.
fn coverage(line: &str) -> Option<f64> {
    let (_, rest) = line.split_once("coverage: ")?;
    percent(rest.split_once(" of statements")?.0)
}

fn plain(text: &str) -> Option<Tally> {
    let mut tally = Tally::default();
    let mut seen = false;
    let mut current = None::<(String, Vec<String>)>;
    for line in text.lines() {
        let trimmed = line.trim_start();
        if let Some((status, rest)) = trimmed
            .strip_prefix("--- ")
            .and_then(|rest| rest.split_once(": "))
        {
            if let Some((name, told)) = current.take() {
                tally.note(failure(&name, &told));
            }
            let name = rest.split(" (").next().unwrap_or(rest);
            match status {
                "PASS" => tally.passed += 1,
                "SKIP" => tally.skipped += 1,
                "FAIL" => {
                    tally.failed += 1;
                    current = Some((name.to_owned(), Vec::new()));
                }
                _ => continue,
            }
            seen = true;
        } else if line.starts_with("ok  \t") {
            // Without `-v` a package that passes names no test: it counts as one.
            seen = true;
            if !line.contains("[no tests to run]") {
                tally.passed += 1;
            }
            tally.coverage = coverage(line).or(tally.coverage);
        } else if line.starts_with("?   \t") {
            seen = true;
        } else if let Some(package) = line.strip_prefix("FAIL\t") {
            seen = true;
            if package.contains("[build failed]") || package.contains("[setup failed]") {
                tally.failed += 1;
                let name = package.split_whitespace().next().unwrap_or(package);
                tally.note(Failure::named(format!("the build of {name}")));
            }
        } else if let Some((_, told)) = &mut current {
            told.push(line.to_owned());
        }
    }
    if let Some((name, told)) = current {
        tally.note(failure(&name, &told));
    }
    seen.then_some(tally)
}
