//! CompletionVerifier on a real project.

use ahp::event::{Event, Trigger};

use super::project::{Project, only, refused, script};

fn issue(project: &Project, front: &str) {
    let text = format!(
        "---\nid: FEAT-0001\ntype: feature\nstatus: open\ntitle: T\n{front}---\n\n## Work\n"
    );
    project.write("Issues/Features/open/FEAT-0001-t.md", text);
}

#[test]
fn code_wants_tests_and_docs() {
    let project = Project::new(&[]).in_git();
    let config = "{require_tests: true, require_docs: true}";
    assert_eq!(
        only(&project.judge("CompletionVerifier", config)).0,
        "issue-not-found"
    );
    issue(&project, "");
    project.write("src/a.py", "x = 1\n");
    let kinds = |signals: Vec<ahp::signal::Signal>| {
        signals
            .iter()
            .map(|s| s.header.kind.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        kinds(project.judge("CompletionVerifier", config)),
        ["no-tests-changed", "no-docs-changed"]
    );
    // A file without a line of code tests nothing, and one without a line documents nothing.
    for nothing in ["", "\n", "# tests\n\n", "\"\"\"Tests.\"\"\"\n"] {
        project.write("tests/test_a.py", nothing);
        project.write("docs/a.md", "\n");
        assert_eq!(
            kinds(project.judge("CompletionVerifier", config)),
            ["no-tests-changed", "no-docs-changed"]
        );
    }
    project.write("tests/test_a.py", "def test_a(): pass\n");
    assert_eq!(
        kinds(project.judge("CompletionVerifier", config)),
        ["no-docs-changed"]
    );
    project.write("docs/a.md", "x\n");
    assert!(project.judge("CompletionVerifier", config).is_empty());
    assert_eq!(
        kinds(project.judge(
            "CompletionVerifier",
            "{require_docs: true, doc_globs: CHANGELOG.md}"
        )),
        ["no-docs-changed"]
    );
    assert!(
        refused(project.oracle("CompletionVerifier", "{require_test: true}"))
            .contains("require_test")
    );
    // A test inside a Rust file is one.
    let rust = Project::new(&[]).in_git();
    issue(&rust, "");
    rust.write("src/lib.rs", "#[test]\nfn a() {}\n");
    assert!(
        rust.judge("CompletionVerifier", "{require_tests: true}")
            .is_empty()
    );
}

/// A test that was moved or shortened is no new one.
#[test]
fn a_test_must_gain_something() {
    let test = "def test_a():\n    assert f(1)\n    assert f(2)\n";
    let project = Project::new(&[("tests/test_a.py", test), ("tests/test_b.py", test)]).in_git();
    issue(&project, "");
    project.write("src/a.py", "x = 1\n");
    project.write("tests/test_a.py", "def test_a():\n    assert f(1)\n");
    project.git(&["mv", "tests/test_b.py", "tests/test_c.py"]);
    let judge = || project.judge("CompletionVerifier", "{require_tests: true}");
    assert_eq!(only(&judge()).0, "no-tests-changed");
    project.write("tests/test_a.py", format!("{test}    assert f(3)\n"));
    assert!(judge().is_empty());
}

/// On the default branch the work of an issue is in the commits that name it.
#[test]
fn after_the_merge_the_commits_of_the_issue_are_looked_at() {
    let project = Project::new(&[("a.txt", "a\n")]).in_git();
    issue(&project, "");
    project.write("src/a.py", "x = 1\n");
    project.git(&["add", "-A"]);
    project.git(&["commit", "-qm", "Add a (FEAT-0001)"]);
    project.git(&["checkout", "-q", "main"]);
    project.git(&["merge", "-q", "--no-ff", "-m", "Merge work", "work"]);
    project.git(&["branch", "-q", "-D", "work"]);
    let config = "{require_tests: true}";
    let signals = project.judge("CompletionVerifier", config);
    assert_eq!(only(&signals).0, "no-tests-changed");
    assert_eq!(signals[0].context.files, ["src/a.py"]);
    project.write("tests/test_a.py", "def test_a(): pass\n");
    project.git(&["add", "-A"]);
    project.git(&["commit", "-qm", "Test a (FEAT-0001)"]);
    assert!(project.judge("CompletionVerifier", config).is_empty());
}

#[test]
fn an_issue_that_is_closed_says_how_it_was_solved() {
    let project = Project::new(&[]).in_git();
    let close = Event::new(Trigger::PreIssueClose).with_issue("FEAT-0001");
    issue(&project, "");
    let judge = |event: &Event| {
        project
            .judge_event("CompletionVerifier", "", event.clone(), 10.0)
            .unwrap()
    };
    assert_eq!(only(&judge(&close)).0, "no-solution");
    let mut told = close.clone();
    told.context
        .insert("solution".to_owned(), "implemented".into());
    assert!(judge(&told).is_empty());
    issue(&project, "solution: implemented\n");
    assert!(judge(&close).is_empty());
}

#[test]
fn the_verifications_of_the_checklist_are_carried_out() {
    let project = Project::new(&[("a.txt", "x"), ("test_a.py", "import unittest\nclass A(unittest.TestCase):\n    def test_good(self): pass\n    def test_bad(self): self.fail('no')\n    def test_good_not(self): self.fail('no')\n")]).in_git();
    let verified = |verification: &str| {
        issue(
            &project,
            &format!(
                "checklist:\n  - {{id: c1, item: The thing, checked: true, verification: \"{verification}\"}}\n"
            ),
        );
        project.judge("CompletionVerifier", "")
    };
    for good in [
        "file_exists: a.txt",
        "file_exists: '*.txt'",
        "custom: test -f a.txt",
        "test_pass: test_good",
    ] {
        let signals = verified(good);
        assert!(signals.is_empty(), "{good}: {signals:#?}");
    }
    for (bad, why) in [
        ("file_exists: b.txt", "b.txt"),
        ("custom: echo sorry; exit 1", "sorry"),
        ("custom: sh -c 'exit 3'", "`sh -c 'exit 3'` fails"),
        ("custom: 'false' || 'false'", "`'false' || 'false'` fails"),
        (
            "custom: 'echo whole; false'",
            "`echo whole; false` fails: whole",
        ),
        ("test_pass: test_bad", "test_bad"),
        ("test_pass: test_none", "test_none"),
        // Another test holds its name, and passes.
        ("test_pass: test_goo", "no test of the name `test_goo` ran"),
        ("test_pass: A", "test_a.A.test_"),
        ("magic: x", "not a kind of verification"),
        ("lint_clean: a.txt", "no linter"),
    ] {
        let signals = verified(bad);
        let (kind, _, reason) = only(&signals);
        assert_eq!(kind, "verification-failed");
        assert!(
            reason.contains(why)
                && reason.contains("The thing")
                && reason.contains("FEAT-0001-t.md:"),
            "{reason}"
        );
    }
    verified("custom: false");
    assert!(
        project
            .judge("CompletionVerifier", "{verify: false}")
            .is_empty()
    );
}

/// What is found is told, whatever fails beside it.
#[test]
fn a_verification_that_fails_to_run_hides_nothing() {
    let issue = |more: &str| {
        format!(
            "---\nid: FEAT-0001\nchecklist:\n  - {{id: c1, item: A, checked: true, verification: \"lint_clean: a.py\"}}\n{more}---\n"
        )
    };
    let project = Project::new(&[("a.py", "x = 1\n"), ("ruff.toml", "")]).in_git();
    script(&project, ".venv/bin/ruff", "echo boom >&2; exit 3");
    project.write("Issues/FEAT-0001.md", issue(""));
    let kinds = |project: &Project| {
        let event = Event::new(Trigger::PreIssueClose).with_issue("FEAT-0001");
        let signals = project
            .judge_event("CompletionVerifier", "", event, 10.0)
            .unwrap();
        signals
            .iter()
            .map(|s| (s.header.kind.clone(), s.payload.text().contains("boom")))
            .collect::<Vec<_>>()
    };
    let told = |kind: &str, boom| (kind.to_owned(), boom);
    assert_eq!(
        kinds(&project),
        [
            told("no-solution", false),
            told("verification-failed", true)
        ]
    );
    project.write(
        "Issues/FEAT-0001.md",
        issue("  - {id: c2, item: B, checked: true, verification: \"file_exists: nosuch\"}\n"),
    );
    assert_eq!(
        kinds(&project),
        [
            told("no-solution", false),
            told("verification-failed", true)
        ]
    );
}
