//! What stands in the place of a test runner, who approves it, and names of tests that a run computes.

use super::project::{Project, only, script};
use crate::world::{World, fed, is_here};

const POM: &str = "<project/>\n";
const WRAPPER: &str = "mkdir -p target/surefire-reports\necho '<testsuite name=\"A\" tests=\"1\"><testcase name=\"one\" classname=\"A\"/></testsuite>' > target/surefire-reports/TEST-A.xml";

fn kinds(project: &Project, config: &str) -> String {
    let signals = project.judge("TestGate", config);
    let kinds = signals.iter().map(|signal| signal.header.kind.clone());
    kinds.collect::<Vec<_>>().join(" ")
}

#[test]
fn what_takes_the_place_of_a_runner_is_named_until_a_person_names_it() {
    let project = Project::new(&[("pom.xml", POM), (".gitignore", "target/\n")]).in_git();
    script(&project, "mvnw", WRAPPER);
    let signals = project.judge("TestGate", "");
    let (kind, _, reason) = only(&signals);
    assert_eq!(kind, "test-runner-replaced");
    assert!(reason.ends_with(": mvnw"), "{reason}");
    assert_eq!(kinds(&project, "{own_runners: mvnw}"), "");
    assert_eq!(
        kinds(
            &project,
            "{command: ./mvnw, report: 'target/surefire-reports/*.xml'}"
        ),
        "test-runner-replaced"
    );
    // It says nothing of what another command runs.
    script(&project, "run", "printf 'x\\n'");
    assert_eq!(
        kinds(&project, "{command: ./run, exit_code_suffices: true}"),
        ""
    );
}

#[test]
fn what_was_there_before_the_change_is_free_until_it_is_changed() {
    let project = Project::new(&[("pom.xml", POM), (".gitignore", "target/\n")]);
    script(&project, "mvnw", WRAPPER);
    let project = project.in_git();
    assert_eq!(kinds(&project, ""), "");
    script(&project, "mvnw", &format!("{WRAPPER}\necho done"));
    assert_eq!(kinds(&project, ""), "test-runner-replaced");
    project.git(&["commit", "-qam", "Change the wrapper"]);
    assert_eq!(kinds(&project, ""), "test-runner-replaced");
    project.git(&["branch", "-qf", "main"]);
    assert_eq!(kinds(&project, ""), "");
}

/// Without a commit that it could be compared with, nothing was there before.
#[test]
fn where_nothing_tells_what_was_there_before_it_blocks() {
    let project = Project::new(&[("pom.xml", POM), (".gitignore", "target/\n")]);
    script(&project, "mvnw", WRAPPER);
    assert_eq!(kinds(&project, ""), "test-runner-replaced");
}

/// Reporters that lie in the project, because what is for a while is made there, take nobody's place.
#[test]
fn reports_may_be_written_in_the_project_itself() {
    if !is_here("python3") {
        return;
    }
    let policy = "hooks: {pre-agent-turn-stop: [{oracle: TestGate, on_error: block, config: {command: python3 -m unittest}}]}\n";
    let world = World::new(policy);
    let test =
        "import unittest\nclass T(unittest.TestCase):\n    def test_it(self):\n        pass\n";
    world.write("test_it.py", test);
    world.write("scratch/.gitignore", "*\n");
    let stop = || {
        let mut ahp = world.ahp_command();
        ahp.args(["hook", "--host", "claude-code"])
            .env("TMPDIR", world.path("scratch"))
            .env("AHP_TRUST", "all");
        let event = "{\"session_id\": \"s\", \"hook_event_name\": \"Stop\"}";
        fed(&mut ahp, event.as_bytes()).stdout
    };
    assert_eq!(stop(), "");
    world.write("test_it.py", test.replace("pass", "self.fail()"));
    let said = stop();
    assert!(
        said.contains("1 of 1 tests failed") || said.contains("test_it"),
        "{said}"
    );
    let left = std::fs::read_dir(world.path("scratch")).unwrap().count();
    assert_eq!(left, 1, "a folder of reports is left");
}

#[test]
fn a_report_that_is_a_copy_of_a_file_of_the_project_is_stale() {
    let saved = "<testsuite tests=\"1\"><testcase classname=\"a\" name=\"ok\"/></testsuite>\n";
    let project = Project::new(&[(".gitignore", "out.xml\n"), ("saved.xml", saved)]).in_git();
    let config = "{command: 'cp saved.xml out.xml', report: out.xml}";
    let signals = project.judge("TestGate", config);
    let (kind, _, reason) = only(&signals);
    assert_eq!(kind, "test-report-stale");
    assert!(reason.contains("a copy of `saved.xml`"), "{reason}");
}

/// `adds 1` is not written anywhere, and stands for what is: its number may change, and may not hide that it is gone.
#[test]
fn a_computed_name_is_known_by_what_is_fixed_in_it() {
    if !is_here("node") {
        return;
    }
    let tests = |numbers: &str| {
        format!(
            "const test = require('node:test');\nfor (const n of [{numbers}]) test(`adds ${{n}} rows`, () => {{}});\ntest('other', () => {{}});\n"
        )
    };
    let project = Project::new(&[("a.test.js", &tests("1, 2"))]).in_git();
    let judge = |numbers: &str| {
        project.write("a.test.js", tests(numbers));
        kinds(&project, "{command: node --test}")
    };
    assert_eq!(judge("1, 2"), "");
    assert_eq!(judge("7, 2"), "");
    assert_eq!(judge("Date.now(), Date.now() + 1"), "");
    assert_eq!(judge("Date.now(), Date.now() + 1, 5"), "");
    assert_eq!(judge("4"), "tests-lost");
    // One that was written out takes the place of none that was computed, and the other way round.
    let written = "const test = require('node:test');\ntest('adds many rows', () => {});\ntest('other', () => {});\n";
    project.write("a.test.js", written);
    assert_eq!(kinds(&project, "{command: node --test}"), "tests-lost");
    project.git(&[
        "commit",
        "-qam",
        "Take few rows\n\nRemoved tests: `adds 5 rows`",
    ]);
    assert_eq!(kinds(&project, "{command: node --test}"), "tests-lost");
}
