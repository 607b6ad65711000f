//! Test reports in the JUnit XML format, as surefire, Gradle, `node --test`, mocha, pytest and nextest write it.

use std::path::Path;

use roxmltree::Node;

use super::place::{in_line, in_project};
use super::tally::{Failure, Outcome, Tally};
use crate::oracle::toolchain::xml;
use crate::words::words;

/// Reads a report; places become relative to `project`. The error says what is wrong with it.
pub(in crate::oracle) fn read(bytes: &[u8], project: &Path) -> Result<Tally, String> {
    let text = std::str::from_utf8(bytes).map_err(|e| format!("it is not UTF-8: {e}"))?;
    let document = xml::document(text)?;
    let root = document.root_element();
    if !["testsuites", "testsuite"].contains(&root.tag_name().name()) {
        return Err(format!(
            "it is not a JUnit report: its root is <{}>, expected <testsuites> or <testsuite>",
            root.tag_name().name()
        ));
    }
    let mut tally = Tally::default();
    for case in root.descendants().filter(|n| n.has_tag_name("testcase")) {
        add(&mut tally, case, project);
    }
    // A suite that could not be loaded counts as an error and has no case that says so.
    let told = leaves(root).map(|suite| count(suite, "failures") + count(suite, "errors"));
    let told = told
        .sum::<u64>()
        .max(count(root, "failures") + count(root, "errors"));
    // `node --test` counts a `todo` test that fails as a failure, and lets the run pass.
    let left_out = (root.descendants()).filter(|n| {
        let has = |name| n.children().any(|c| c.has_tag_name(name));
        n.has_tag_name("testcase") && has("skipped") && has("failure")
    });
    let unnamed = told.saturating_sub(tally.failed + left_out.count() as u64);
    tally.failed += unnamed;
    tally.passed = tally.passed.saturating_sub(unnamed);
    // What is counted and not listed may be anything. A suite that could not be loaded is counted by some, and told above.
    let counted = leaves(root).map(|suite| count(suite, "tests"));
    let counted = counted.sum::<u64>().max(count(root, "tests"));
    let cases = root.descendants().filter(|n| n.has_tag_name("testcase"));
    tally.unlisted = counted.saturating_sub(cases.count() as u64 + unnamed);
    Ok(tally)
}

/// Returns the suites that hold no others.
fn leaves<'a, 'input>(root: Node<'a, 'input>) -> impl Iterator<Item = Node<'a, 'input>> {
    root.descendants().filter(|n| {
        n.has_tag_name("testsuite") && !n.children().any(|c| c.has_tag_name("testsuite"))
    })
}

fn count(node: Node<'_, '_>, name: &str) -> u64 {
    node.attribute(name)
        .and_then(|n| n.trim().parse().ok())
        .unwrap_or(0)
}

fn add(tally: &mut Tally, case: Node<'_, '_>, project: &Path) {
    let child = |name| (case.children()).find(|c: &Node<'_, '_>| c.has_tag_name(name));
    let says = |words: &[&str]| {
        let values = ["status", "result"]
            .iter()
            .filter_map(|name| case.attribute(*name));
        let mut values = values.map(str::to_ascii_lowercase);
        values.any(|value| words.contains(&value.as_str()))
    };
    let name = case.attribute("name").unwrap_or("a test without a name");
    let class = case.attribute("classname").unwrap_or_default();
    let whole = whole_name(case, class, name);
    let fault = child("failure").or_else(|| child("error"));
    let fault = fault.or_else(|| says(&["failed", "failure", "error"]).then_some(case));
    // `node --test` writes both of a `todo` test that fails.
    if child("skipped").is_some() || says(&["notrun"]) {
        tally.count(&whole, Outcome::Skipped);
    } else if let Some(fault) = fault {
        let told = fault.text().unwrap_or_default();
        let (file, line) = place(case, class, told, project);
        let message = fault.attribute("message").filter(|m| !m.trim().is_empty());
        let mut failure = Failure::named(whole).saying(message.unwrap_or(told));
        failure.file = file;
        failure.line = line;
        tally.count("", Outcome::Failed(failure));
    } else if !(name.starts_with('/') && Path::new(name).is_file()) {
        // What `node --test` names by its path is a file in which no test ran.
        tally.count(&whole, Outcome::Passed);
    }
}

/// Returns a name with that of its class; where the class says nothing (`node --test`), with those of its suites.
fn whole_name(case: Node<'_, '_>, class: &str, name: &str) -> String {
    if class == "test" {
        let suites = case.ancestors().filter(|n| n.has_tag_name("testsuite"));
        let mut path: Vec<&str> = suites.filter_map(|suite| suite.attribute("name")).collect();
        path.reverse();
        path.push(name);
        path.join(" > ")
    } else if class.is_empty() || name.starts_with(class) {
        name.to_owned()
    } else {
        let separator = if class.contains('/') { " > " } else { "." };
        format!("{class}{separator}{name}")
    }
}

/// Finds where a case stands: its own attributes, its class, its suite, or the trace of what went wrong.
fn place(
    case: Node<'_, '_>,
    class: &str,
    told: &str,
    project: &Path,
) -> (Option<String>, Option<u32>) {
    let attribute = |name| {
        case.ancestors()
            .find_map(|n| n.attribute(name))
            .map(str::to_owned)
    };
    let line = case.attribute("line").and_then(|n| n.parse().ok());
    if let Some(file) = attribute("file").or_else(|| attribute("filepath")) {
        let line = line.or_else(|| line_in(told, &file));
        return (Some(file), line);
    }
    // vitest and jest name the file as the class.
    let is_path = class.contains('/')
        || class
            .rsplit_once('.')
            .is_some_and(|(_, ext)| SCRIPTS.contains(&ext));
    if is_path {
        return (Some(class.to_owned()), line_in(told, class));
    }
    // `tests/test_a.py:5: AssertionError`, `at com.example.SumTest.adds(SumTest.java:12)`.
    let simple = class.rsplit(['.', '$']).next().unwrap_or(class);
    let own = told
        .lines()
        .filter_map(in_line)
        .filter(|(file, _)| !file.contains("site-packages") && !file.contains("node_modules"))
        .find(|(file, _)| {
            let stem = file
                .rsplit('/')
                .next()
                .and_then(|name| name.split('.').next());
            stem.is_some_and(|stem| {
                class.split(['.', '$']).any(|part| part == stem) || stem == simple
            })
        });
    match own {
        Some((file, line)) if file.contains('/') => (Some(file), Some(line)),
        Some((file, line)) => {
            let package = class.rsplit_once('.').map_or("", |(package, _)| package);
            let dir = package.replace('.', "/");
            let whole = if dir.is_empty() {
                file
            } else {
                format!("{dir}/{file}")
            };
            (Some(whole), Some(line))
        }
        None => in_project(told, project)
            .map_or((None, line), |(file, at)| (Some(file), line.or(Some(at)))),
    }
}

const SCRIPTS: &[&str] = words!("script-endings");

/// Finds the line of a trace that lies in `file`.
fn line_in(told: &str, file: &str) -> Option<u32> {
    told.lines()
        .filter_map(in_line)
        .find(|(path, _)| path.ends_with(file) || file.ends_with(path.as_str()))
        .map(|(_, line)| line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_one(bytes: &[u8]) -> Result<Tally, String> {
        read(bytes, Path::new("/none"))
    }

    #[test]
    fn what_is_counted_and_not_listed_has_not_passed() {
        for (report, passed, failed, unlisted) in [
            (&br#"<testsuites><testsuite tests="5" failures="1" errors="1" skipped="1" time="1,234.5"/></testsuites>"#[..], 0, 2, 3),
            (br#"<testsuite tests="3"><testcase name="a"/></testsuite>"#, 1, 0, 2),
            (br#"<testsuites tests="3"><testsuite tests="1"><testcase name="a"/></testsuite></testsuites>"#, 1, 0, 2),
            (br#"<testsuites tests="1"><testsuite tests="1"><testcase name="a"/></testsuite></testsuites>"#, 1, 0, 0),
            // A test that fails twice may be listed twice and counted once.
            (br#"<testsuite tests="1"><testcase name="a"/><testcase name="a"/></testsuite>"#, 2, 0, 0),
        ] {
            let tally = read_one(report).unwrap();
            let found = (tally.passed, tally.failed, tally.unlisted);
            assert_eq!(found, (passed, failed, unlisted), "{}", String::from_utf8_lossy(report));
        }
    }

    #[test]
    fn what_only_the_counts_or_a_status_say_has_failed() {
        for (report, failed) in [
            (&br#"<testsuites failures="1"><testsuite tests="2" failures="1"><testcase name="a"/><testcase name="b"/></testsuite></testsuites>"#[..], 1),
            (br#"<testsuites><testsuite tests="1" errors="1"/><testsuite tests="1"><testcase name="b"/></testsuite></testsuites>"#, 1),
            (br#"<testsuite tests="1"><testcase name="b" status="failed"/></testsuite>"#, 1),
            (br#"<testsuite tests="1" failures="1" errors="0"><testcase name="b"><failure/></testcase></testsuite>"#, 1),
            (br#"<testsuite tests="1" failures="0"><testcase name="b" status="passed"/></testsuite>"#, 0),
        ] {
            assert_eq!(read_one(report).unwrap().failed, failed, "{}", String::from_utf8_lossy(report));
        }
    }

    #[test]
    fn what_is_no_report_is_said_so() {
        assert!(read_one(b"<html/>").unwrap_err().contains("<html>"));
        assert!(read_one(b"{}").unwrap_err().contains("XML"));
        assert!(read_one(b"\xff").unwrap_err().contains("UTF-8"));
    }

    #[test]
    fn a_trace_tells_file_and_line() {
        let tally = read_one(
            br#"<testsuite><testcase classname="com.example.SumTest" name="adds"><failure message="expected 3">
            at org.junit.Assert.fail(Assert.java:86)
            at com.example.SumTest.adds(SumTest.java:12)</failure></testcase></testsuite>"#,
        )
        .unwrap();
        assert_eq!(
            tally.failures[0].place().unwrap(),
            "com/example/SumTest.java:12"
        );
        assert_eq!(tally.failures[0].name, "com.example.SumTest.adds");
    }
}
