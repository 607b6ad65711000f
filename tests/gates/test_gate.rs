//! TestGate on small real projects, with the runners that are installed.

use std::time::Instant;

use ahp::oracle::OracleError;
use ahp::signal::Intensity;

use super::project::{Project, only, refused, script, submission};
use crate::world::{is_here, steps};

const REPORT: &str = r#"<testsuites><testsuite name="s" tests="2"><testcase classname="tests.test_a" name="test_ok"/>
<testcase classname="tests.test_a" name="test_bad" file="tests/test_a.py" line="3"><failure message="assert 1 == 2"/></testcase></testsuite></testsuites>"#;
const UNITTEST: &str =
    "import unittest\nclass A(unittest.TestCase):\n    def test_a(self):\n        pass\n";
const GOOD_REPORT: &str = r#"<testsuite tests="1"><testcase classname="a" name="ok"/></testsuite>"#;

#[test]
fn a_failed_test_is_named_with_its_file_and_a_passing_tree_is_not_tested_again() {
    let project = Project::new(&[
        ("test_sum.py", "import unittest\nimport sum\n\nclass Sum(unittest.TestCase):\n    def test_adds(self):\n        open('runs', 'a').write('x')\n        self.assertEqual(sum.add(1, 1), 2)\n"),
        ("sum.py", "def add(a, b):\n    return a - b\n"),
        (".gitignore", "runs\n__pycache__/\n"),
    ])
    .in_git();
    let config = "{command: python3 -m unittest -q}";
    let signals = project.judge("TestGate", config);
    let (kind, intensity, reason) = only(&signals);
    assert_eq!((kind, intensity), ("tests-failed", Intensity::Block));
    assert!(
        reason.contains("1 of 1 tests failed") && reason.contains("test_sum.py:7"),
        "{reason}"
    );
    assert_eq!(signals[0].context.files, ["test_sum.py"]);
    assert!(steps(&signals[0])[0].contains("AssertionError"));

    project.write("sum.py", "def add(a, b):\n    return a + b\n");
    assert!(project.judge("TestGate", config).is_empty());
    assert_eq!(project.read("runs"), "xx");
    // The same tree: not run again. An issue's file is not part of it.
    project.write(
        "Issues/Features/open/FEAT-0001-t.md",
        "---\nid: FEAT-0001\n---\n",
    );
    assert!(project.judge("TestGate", config).is_empty());
    assert_eq!(project.read("runs"), "xx");
    // Another tree, even if only by a comment: never tested.
    project.write("sum.py", "def add(a, b):\n    return b + a\n");
    assert!(project.judge("TestGate", config).is_empty());
    assert_eq!(project.read("runs"), "xxx");
    // Another command: other evidence.
    assert!(
        project
            .judge("TestGate", "{command: python3 -m unittest}")
            .is_empty()
    );
    assert_eq!(project.read("runs"), "xxxx");
    // A tree that failed is tried again.
    project.write("sum.py", "def add(a, b):\n    return a - b\n");
    project.judge("TestGate", config);
    project.judge("TestGate", config);
    assert_eq!(project.read("runs"), "xxxxxx");
}

#[test]
fn no_test_is_never_a_pass() {
    let project = Project::new(&[("README.md", "x")]).in_git();
    assert_eq!(only(&project.judge("TestGate", "")).0, "no-test-runner");
    project.write("test_none.py", "import unittest\n");
    let signals = project.judge("TestGate", "{command: python3 -m unittest}");
    assert!(["no-tests-ran", "tests-not-run"].contains(&only(&signals).0));
    let signals = project.judge("TestGate", "{command: ./not-there}");
    let (kind, _, reason) = only(&signals);
    assert_eq!(kind, "tests-not-run");
    assert!(reason.contains("could not be run"), "{reason}");
    let signals = project.judge("TestGate", "{command: 'echo \"segfault\"; exit 3'}");
    assert!(only(&signals).2.contains("code 3") && only(&signals).2.contains("segfault"));
}

#[test]
fn a_run_that_ends_badly_with_good_tests_prompts_where_not_all_must_pass() {
    let project = Project::new(&[("test_a.py", UNITTEST)]).in_git();
    let with = |all: bool| {
        let config = format!("{{command: 'python3 -m unittest; exit 3', require_all_pass: {all}}}");
        let signals = project.judge("TestGate", &config);
        let (kind, intensity, _) = only(&signals);
        (kind.to_owned(), intensity)
    };
    assert_eq!(with(true), ("tests-not-run".to_owned(), Intensity::Block));
    assert_eq!(with(false), ("tests-not-run".to_owned(), Intensity::Prompt));
}

/// It is the runner that reports, whatever starts it, and wherever its output goes.
#[test]
fn a_runner_is_known_behind_whatever_starts_it() {
    let cargo = "[package]\nname = \"a\"\nedition = \"2021\"\n[workspace]\n";
    let project = Project::new(&[
        ("test_a.py", UNITTEST),
        ("run.sh", "python3 -m unittest > log.txt 2>&1\n"),
        (
            "Makefile",
            "py:\n\t@sh run.sh\nrs:\n\t@cargo test --lib 2>&1 | tail -n 0\n",
        ),
        ("Cargo.toml", cargo),
        ("src/lib.rs", "#[test]\nfn passes() {}\n"),
        (".gitignore", "target\nlog.txt\nCargo.lock\n__pycache__\n"),
    ])
    .in_git();
    for (needed, command) in [
        ("sh", "sh run.sh"),
        ("make", "make py"),
        ("cargo", "make rs"),
        ("cargo", "cargo --color never test --lib"),
    ] {
        if is_here("make") && is_here(needed) {
            let signals = project.judge("TestGate", &format!("{{command: {command}}}"));
            assert!(signals.is_empty(), "{command}: {signals:#?}");
        }
    }
}

#[test]
fn a_run_past_its_timeout_is_ended_with_its_children() {
    let project = Project::new(&[]).in_git();
    let started = Instant::now();
    let result = project.judge_event(
        "TestGate",
        "{command: '(trap \"\" TERM; sleep 30; echo late > late) & sleep 30'}",
        submission(),
        1.0,
    );
    assert!(
        matches!(result, Err(OracleError::TimedOut(_))),
        "{result:?}"
    );
    assert!(started.elapsed().as_secs_f64() < 1.5);
    assert!(!project.exists("late"));
}

#[test]
fn a_report_is_judged_while_it_is_fresh() {
    let project = Project::new(&[("src/a.py", "x = 1\n"), (".gitignore", "*.xml\n")]).in_git();
    let config = "{report: report.xml}";
    assert_eq!(
        only(&project.judge("TestGate", config)).0,
        "test-report-missing"
    );
    project.write("src/a.py", "x = 2\n");
    project.write("report.xml", REPORT);
    project.age("src/a.py", 60);
    project.age(".gitignore", 20_000);
    let signals = project.judge("TestGate", config);
    let (kind, _, reason) = only(&signals);
    assert_eq!(kind, "tests-failed");
    assert!(
        reason.contains("`tests.test_a.test_bad` (tests/test_a.py:3)"),
        "{reason}"
    );
    let signals = project.judge("TestGate", "{report: report.xml, require_all_pass: false}");
    assert_eq!(only(&signals).1, Intensity::Prompt);

    project.write("report.xml", GOOD_REPORT);
    assert!(project.judge("TestGate", config).is_empty());
    assert!(project.judge("TestGate", "{report: '*.xml'}").is_empty());
    // A file that changed after the report was written.
    project.age("report.xml", 3600);
    let signals = project.judge("TestGate", config);
    assert_eq!(only(&signals).0, "test-report-stale");
    assert_eq!(signals[0].context.files, ["src/a.py"]);
    project.age("src/a.py", 7200);
    assert!(project.judge("TestGate", config).is_empty());
    let signals = project.judge("TestGate", "{report: report.xml, max_age: 30m}");
    assert!(
        only(&signals).2.contains("60 min old"),
        "{}",
        only(&signals).2
    );
    // A time can be set: the same report for another tree, and one of the future.
    project.write("src/a.py", "x = 3\n");
    project.age("src/a.py", 7200);
    let signals = project.judge("TestGate", config);
    assert!(only(&signals).2.contains("was there already"));
    project.write("report.xml", GOOD_REPORT.replace("ok", "good"));
    assert!(project.judge("TestGate", config).is_empty());
    let file = std::fs::File::options()
        .append(true)
        .open(project.root().join("report.xml"))
        .unwrap();
    let now = file.metadata().unwrap().modified().unwrap();
    file.set_modified(now + std::time::Duration::from_hours(1))
        .unwrap();
    let signals = project.judge("TestGate", config);
    assert!(only(&signals).2.contains("future"));
    project.write("report.xml", "<html>");
    assert_eq!(
        only(&project.judge("TestGate", config)).0,
        "test-report-unreadable"
    );
}

#[test]
fn coverage_is_held_to_the_threshold() {
    let project = Project::new(&[
        (".gitignore", "*.xml\n*.info\n"),
        ("src/a.rs", "fn a() {}\n"),
    ])
    .in_git();
    project.write("src/a.rs", "fn a() {}\nfn b() {}\n");
    project.age("src/a.rs", 60);
    project.write("report.xml", GOOD_REPORT);
    project.write(
        "lcov.info",
        "SF:src/a.rs\nDA:1,1\nDA:2,0\nDA:3,1\nend_of_record\n",
    );
    let with = |threshold: &str| {
        format!(
            "{{report: report.xml, coverage_report: lcov.info, coverage_threshold: {threshold}}}"
        )
    };
    assert!(project.judge("TestGate", &with("66.6")).is_empty());
    let signals = project.judge("TestGate", &with("66.7"));
    let (kind, _, reason) = only(&signals);
    assert_eq!(kind, "coverage-too-low");
    assert!(
        reason.contains("66.66 %") && reason.contains("66.7 %"),
        "{reason}"
    );
    assert_eq!(signals[0].context.files, ["src/a.rs"]);
    let signals = project.judge(
        "TestGate",
        "{report: report.xml, coverage_report: no.info, coverage_threshold: 1}",
    );
    assert_eq!(only(&signals).0, "coverage-report-missing");
    assert!(refused(project.oracle("TestGate", "{coverage_threshold: 0.8}")).contains("`80`"));
    assert!(refused(project.oracle("TestGate", "{coverage_threshold: 101}")).contains("0 to 100"));
    assert!(
        refused(project.oracle("TestGate", "{coverage_treshold: 80}"))
            .contains("coverage_treshold")
    );
    assert!(refused(project.oracle("TestGate", "{command: ' '}")).contains("empty"));
}

#[test]
fn a_command_must_write_the_report_that_it_is_said_to_write() {
    let project = Project::new(&[(".gitignore", "*.xml\n")]).in_git();
    script(
        &project,
        "run-tests",
        &format!("echo '{GOOD_REPORT}' > report.xml"),
    );
    assert!(
        project
            .judge("TestGate", "{command: ./run-tests, report: report.xml}")
            .is_empty()
    );
    script(&project, "run-tests", "true");
    let judge = || {
        only(&project.judge("TestGate", "{command: ./run-tests, report: report.xml}"))
            .0
            .to_owned()
    };
    assert_eq!(judge(), "test-report-missing");
    // What an earlier run has left is not touched, and does not count with a new date.
    assert_eq!(project.read("report.xml"), format!("{GOOD_REPORT}\n"));
    script(&project, "run-tests", "touch report.xml");
    assert_eq!(judge(), "test-report-unreadable");
}

#[test]
fn a_report_must_cover_what_the_one_before_did() {
    let project =
        Project::new(&[(".gitignore", "*.xml\n"), ("tests.txt", "adds subtracts\n")]).in_git();
    let judge = |count: usize, names: &[&str]| {
        let case = |name: &&str| format!(r#"<testcase classname="a" name="{name}"/>"#);
        let cases: String = names.iter().map(case).collect();
        let report = format!(r#"<testsuite tests="{count}">{cases}</testsuite>"#);
        project.write("report.xml", report);
        let signals = project.judge("TestGate", "{report: report.xml}");
        let kinds = signals.iter().map(|signal| signal.header.kind.clone());
        kinds.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(judge(2, &["adds", "subtracts"]), "");
    assert_eq!(judge(1, &["adds"]), "tests-lost");
    assert_eq!(judge(2, &["adds", "more"]), "tests-lost");
    assert_eq!(judge(2, &["adds"]), "tests-cut-short");
    project.git(&["commit", "--allow-empty", "-qm", "Removed: subtracts"]);
    assert_eq!(judge(1, &["adds"]), "");
}

#[test]
fn the_projects_own_runner_is_found() {
    let python = Project::new(&[("tests/test_a.py", "import unittest\nclass A(unittest.TestCase):\n    def test_a(self):\n        self.fail('no')\n")]).in_git();
    if !is_here("pytest") {
        assert!(
            only(&python.judge("TestGate", ""))
                .2
                .contains("tests/test_a.py:4")
        );
    }
    if is_here("npm") && is_here("node") {
        let node = Project::new(&[
            ("package.json", r#"{"name":"a","scripts":{"test":"node --test"}}"#),
            ("a.test.js", "const test = require('node:test');\ntest('fails', () => { throw new Error('x') });\n"),
        ])
        .in_git();
        let signals = node.judge("TestGate", "");
        assert!(
            only(&signals).2.contains("fails` (a.test.js:2)"),
            "{}",
            only(&signals).2
        );
        node.write(
            "a.test.js",
            "const test = require('node:test');\ntest('passes', () => {});\n",
        );
        assert!(node.judge("TestGate", "").is_empty());
    }
    if is_here("cargo") {
        let rust = Project::new(&[
            (
                "Cargo.toml",
                "[package]\nname = \"a\"\nedition = \"2021\"\n[workspace]\n",
            ),
            ("src/lib.rs", "#[test]\nfn fails() { assert_eq!(1, 2); }\n"),
            (".gitignore", "target\n"),
        ])
        .in_git();
        let signals = rust.judge("TestGate", "");
        assert!(
            only(&signals).2.contains("`fails` (src/lib.rs:2)"),
            "{}",
            only(&signals).2
        );
        rust.write("src/lib.rs", "fn broken( {}\n");
        let signals = rust.judge("TestGate", "");
        assert!(
            only(&signals).2.contains("src/lib.rs:1"),
            "{}",
            only(&signals).2
        );
    }
    if is_here("make") {
        let make = Project::new(&[(
            "Makefile",
            "test:\n\t@echo 'Ran 0 tests in 0.0s'; echo; echo OK\n",
        )])
        .in_git();
        assert_eq!(only(&make.judge("TestGate", "")).0, "no-test-result");
    }
}

#[test]
fn a_change_may_say_that_tests_go() {
    let tests = |text: &str| format!("const test = require('node:test');\n{text}");
    let honest = tests("test('adds', () => {});\ntest('subtracts', () => {});\n");
    if !is_here("node") {
        return;
    }
    let project = Project::new(&[("a.test.js", &honest)]).in_git();
    let config = "{command: node --test}";
    assert!(project.judge("TestGate", config).is_empty());
    let changed = tests("test('adds', () => {});\n");
    project.write("a.test.js", &changed);
    let signals = project.judge("TestGate", config);
    assert_eq!(only(&signals).0, "tests-lost");
    assert!(only(&signals).2.contains("subtracts"));
    // What it says of the tree is kept: the same tree is not a pass the second time.
    assert_eq!(only(&project.judge("TestGate", config)).0, "tests-lost");
    // A new one is no renaming, where more than the name is another.
    let emptied = tests("test('adds', () => {});\ntest('takes away', () => { 1; });\n");
    project.write("a.test.js", &emptied);
    assert_eq!(only(&project.judge("TestGate", config)).0, "tests-lost");
    // Nothing but the name.
    let renamed = tests("test('adds', () => {});\ntest('takes away', () => {});\n");
    project.write("a.test.js", &renamed);
    assert!(project.judge("TestGate", config).is_empty());
    // A test that was never committed may come and go.
    project.write("a.test.js", &honest);
    assert!(project.judge("TestGate", config).is_empty());
    let more = format!("{honest}test('a third', () => {{}});\n");
    project.write("a.test.js", &more);
    assert!(project.judge("TestGate", config).is_empty());
    project.write("a.test.js", &honest);
    assert!(project.judge("TestGate", config).is_empty());
    // The change only happens to hold the name, or says so.
    project.git(&["commit", "--allow-empty", "-qm", "Mend what subtracts"]);
    project.write("a.test.js", &changed);
    assert_eq!(only(&project.judge("TestGate", config)).0, "tests-lost");
    project.git(&[
        "commit",
        "-qam",
        "Drop the test `subtracts`, since nothing subtracts",
    ]);
    assert!(project.judge("TestGate", config).is_empty());
}

#[test]
fn a_report_of_the_tests_is_no_part_of_the_change_that_is_limited() {
    let project = Project::new(&[
        ("report.sh", "echo '<testsuite tests=\"1\"><testcase classname=\"a\" name=\"ok\"/></testsuite>' >out.xml; echo 'mode: set' >coverage.out; echo >notes.out\n"),
    ])
    .in_git();
    project.write("a.txt", "a\n");
    let limited = || {
        let signals = project.judge("FileChangeLimiter", "{max_files: 1, action: prompt}");
        signals.into_iter().next().map(|s| s.context.files)
    };
    assert_eq!(limited(), None);
    let config = "{command: sh report.sh, report: out.xml}";
    assert!(project.judge("TestGate", config).is_empty());
    // What a run writes beside its reports is a file like any other.
    assert_eq!(limited().unwrap(), ["a.txt", "notes.out"]);
    // What was put into the change is a part of it.
    project.git(&["add", "out.xml"]);
    assert_eq!(limited().unwrap(), ["a.txt", "notes.out", "out.xml"]);
}
