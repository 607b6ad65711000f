//! The JSON report of jest, whose form our reporters of pytest, unittest, vitest and mocha have too.

use std::path::Path;

use serde::Deserialize;

use super::place;
use super::tally::{Failure, Outcome, Tally};
use crate::oracle::toolchain::relative;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    /// How many tests were found, where the writer tells it.
    collected: Option<u64>,
    /// Covered lines in percent, where the writer tells it.
    coverage: Option<f64>,
    test_results: Vec<File>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[derive(Default)]
struct File {
    name: String,
    status: String,
    message: String,
    assertion_results: Vec<Case>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Case {
    ancestor_titles: Vec<String>,
    title: String,
    full_name: String,
    status: String,
    /// Whether it is meant to fail, so that its pass proves nothing.
    failing: bool,
    location: Option<Location>,
    failure_messages: Vec<String>,
}

#[derive(Deserialize)]
struct Location {
    line: u32,
}

/// Reads a report; beside the tests it says how many of them were found and not run.
pub(super) fn read(bytes: &[u8], root: &Path) -> Result<(Tally, Option<String>), String> {
    let report: Report = serde_json::from_slice(bytes).map_err(|e| e.to_string())?;
    let mut tally = Tally {
        coverage: report.coverage,
        ..Tally::default()
    };
    for file in &report.test_results {
        let path = relative(root, &file.name);
        for case in &file.assertion_results {
            let name = case.name();
            let outcome = match case.status.as_str() {
                "passed" if !case.failing => Outcome::Passed,
                "failed" => Outcome::Failed(case.failure(&name, &path, root)),
                _ => Outcome::Skipped,
            };
            if outcome == Outcome::Passed && !path.is_empty() {
                tally.places.insert(path.clone());
            }
            let whole = if path.is_empty() {
                name
            } else {
                format!("{path} > {name}")
            };
            tally.count(&whole, outcome);
        }
        // A file that could not be loaded holds no test that could be counted.
        let failed = |case: &Case| case.status == "failed";
        if file.status == "failed" && !file.assertion_results.iter().any(failed) {
            let mut failure = Failure::named(path.clone()).saying(&file.message);
            failure.file = Some(path);
            failure.line = place::in_project(&file.message, root).map(|(_, line)| line);
            tally.count("", Outcome::Failed(failure));
        }
    }
    let told = tally.ran() + tally.skipped;
    let lost = report.collected.filter(|collected| *collected > told);
    Ok((
        tally,
        lost.map(|n| format!("found {n} tests, and ran {told} of them")),
    ))
}

impl Case {
    fn name(&self) -> String {
        if self.title.is_empty() {
            return self.full_name.clone();
        }
        let titles = self.ancestor_titles.iter().chain([&self.title]);
        titles.map(String::as_str).collect::<Vec<_>>().join(" > ")
    }

    fn failure(&self, name: &str, file: &str, root: &Path) -> Failure {
        let told = self.failure_messages.join("\n");
        let at = place::in_project(&told, root).filter(|(path, _)| path == file);
        let line = at.map(|(_, line)| line);
        let mut failure = Failure::named(name).saying(&told);
        failure.file = Some(file.to_owned()).filter(|file| !file.is_empty());
        failure.line = line.or(self.location.as_ref().map(|location| location.line));
        failure
    }
}
