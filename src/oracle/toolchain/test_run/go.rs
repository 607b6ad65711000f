//! The output of `go test`: with `-json` one event a line, else what `-v` prints.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::console::Read;
use super::place;
use super::tally::{Failure, Outcome};

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Event {
    action: String,
    #[serde(default, alias = "ImportPath")]
    package: String,
    test: Option<String>,
    #[serde(default)]
    output: String,
}

/// Reads a run.
pub(super) fn read(text: &str) -> Option<Read> {
    let events: Vec<Event> = text
        .lines()
        .filter(|line| line.starts_with("{\""))
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect();
    let mut run = Run::default();
    for event in events.iter().filter(|event| !event.action.is_empty()) {
        let key = (
            event.package.clone(),
            event.test.clone().unwrap_or_default(),
        );
        match (event.action.as_str(), &event.test) {
            ("run", Some(_)) => run.begun += 1,
            ("output" | "build-output", _) => {
                run.seen |= !event.package.is_empty() && event.test.is_none();
                run.told.entry(key).or_default().push(event.output.clone());
            }
            // A test that ended the process is a pass of its package, by which it is told once more, without having ended.
            ("pass", Some(_)) if !run.has_said(&key, "--- PASS: ") => {}
            ("pass" | "skip" | "fail", Some(_)) => run.end(&event.action, key),
            ("build-fail", None) => run.unbuilt(key),
            _ => {}
        }
    }
    if events.is_empty() {
        run.plain(text);
    }
    run.seen.then(|| run.result())
}

#[derive(Default)]
struct Run {
    read: Read,
    /// Whether there was anything of `go test`.
    seen: bool,
    /// How many tests began, and how many ended.
    begun: u64,
    ended: u64,
    /// What each test printed, by package and test.
    told: BTreeMap<Key, Vec<String>>,
    /// The tests that failed, each with its name.
    failed: Vec<(String, Key)>,
}

/// A package and a test of it; no test for the package itself.
type Key = (String, String);

fn name((package, test): &Key) -> String {
    if package.is_empty() {
        test.clone()
    } else {
        format!("{package}.{test}")
    }
}

impl Run {
    fn end(&mut self, action: &str, key: Key) {
        self.seen = true;
        self.ended += 1;
        match action {
            "pass" => self.read.tally.count(&name(&key), Outcome::Passed),
            "skip" => self.read.tally.count(&name(&key), Outcome::Skipped),
            // Without `-v`, what it printed comes after.
            _ => self.failed.push((name(&key), key)),
        }
    }

    fn has_said(&self, key: &Key, what: &str) -> bool {
        let told = self.told.get(key).map(Vec::as_slice).unwrap_or_default();
        told.iter().any(|line| line.contains(what))
    }

    fn unbuilt(&mut self, key: Key) {
        self.seen = true;
        self.failed.push((format!("the build of {}", key.0), key));
    }

    /// Makes a failure of what a test printed.
    fn failure(&self, name: &str, key: &Key) -> Failure {
        let told = self.told.get(key).map(Vec::as_slice).unwrap_or_default();
        let at = told
            .iter()
            .find_map(|line| Some((line, place::in_line(line)?)));
        at.map_or_else(
            || Failure::named(name),
            |(line, at)| {
                let mark = format!(":{}:", at.1);
                let message = line.split_once(&mark).map_or("", |(_, message)| message);
                Failure::named(name).at(Some(at)).saying(message)
            },
        )
    }

    fn plain(&mut self, text: &str) {
        let mut current = String::new();
        for line in text.lines() {
            let trimmed = line.trim_start();
            if let Some(name) = trimmed.strip_prefix("=== RUN ") {
                self.begun += 1;
                name.trim().clone_into(&mut current);
            } else if let Some((status, rest)) = trimmed
                .strip_prefix("--- ")
                .and_then(|rest| rest.split_once(": "))
            {
                let name = rest.split(" (").next().unwrap_or(rest);
                if ["PASS", "SKIP", "FAIL"].contains(&status) {
                    self.end(
                        &status.to_ascii_lowercase(),
                        (String::new(), name.to_owned()),
                    );
                    name.clone_into(&mut current);
                }
            } else if line.starts_with("ok  \t") || line.starts_with("?   \t") {
                self.seen = true;
            } else if let Some(package) = line.strip_prefix("FAIL\t") {
                self.seen = true;
                if package.contains(" failed]") {
                    let name = package.split_whitespace().next().unwrap_or(package);
                    self.unbuilt((name.to_owned(), String::new()));
                }
            } else if !current.is_empty() {
                let key = (String::new(), current.clone());
                self.told.entry(key).or_default().push(line.to_owned());
            }
        }
    }

    fn result(mut self) -> Read {
        for (name, key) in &self.failed {
            let failure = self.failure(name, key);
            self.read.tally.count("", Outcome::Failed(failure));
        }
        if self.begun > self.ended {
            self.read.cut_short.push(format!(
                "go test began {} tests and ended {}",
                self.begun, self.ended
            ));
        }
        self.read
    }
}
