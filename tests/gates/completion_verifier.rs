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
    let empty = "def test_a(): pass\n";
    for nothing in [
        "",
        "\n",
        "# tests\n\n",
        "\"\"\"Tests.\"\"\"\n",
        "x = 1\n",
        empty,
    ] {
        project.write("tests/test_a.py", nothing);
        project.write("docs/a.md", "\n");
        assert_eq!(
            kinds(project.judge("CompletionVerifier", config)),
            ["no-tests-changed", "no-docs-changed"]
        );
    }
    project.write("tests/test_a.py", "def test_a(): assert 1\n");
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
    let config = "{require_tests: true}";
    rust.write("src/lib.rs", "#[test]\nfn a() {}\n");
    assert_eq!(
        only(&rust.judge("CompletionVerifier", config)).0,
        "no-tests-changed"
    );
    rust.write("src/lib.rs", "#[test]\nfn a() { assert!(f()); }\n");
    assert!(
        rust.judge("CompletionVerifier", "{require_tests: true}")
            .is_empty()
    );
}

/// What the change adds decides, not what was there already.
#[test]
fn only_what_was_added_counts() {
    let unit = "pub fn f() -> i32 {\n    1\n}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn t() {\n        assert_eq!(super::f(), 1);\n    }\n}\n";
    let test = "def test_x():\n    assert 1\n";
    let base = [
        ("src/x.py", "x = 1\n"),
        ("src/l.rs", unit),
        ("src/m.c", "int a;\n"),
        ("src/\u{e4}.py", "x = 1\n"),
        ("tests/test_x.py", test),
        ("docs/a.md", "# A\n"),
    ];
    let kinds = |changed: &[(&str, &str)]| {
        let project = Project::new(&base).in_git();
        issue(&project, "");
        for (path, content) in changed {
            project.write(path, content);
        }
        let config = "{require_tests: true, require_docs: true}";
        let signals = project.judge("CompletionVerifier", config);
        let kinds = signals.iter().map(|s| s.header.kind.as_str());
        kinds.collect::<Vec<_>>().join(" ")
    };
    let with = |more: &str| format!("{test}{more}");
    let rust = |from: &str, to: &str| unit.replace(from, to);
    let (code, doc) = (("src/x.py", "x = 2\n"), ("docs/a.md", "# A\n\nNew.\n"));
    for (added, is_test) in [
        ("# touched\n", false),
        ("\n", false),
        ("import os\n", false),
        ("    assert 2\n", true),
    ] {
        let test = with(added);
        let expected = if is_test { "" } else { "no-tests-changed" };
        assert_eq!(
            kinds(&[code, doc, ("tests/test_x.py", &test)]),
            expected,
            "{added}"
        );
    }
    for (changed, is_test) in [
        (rust("    1\n", "    2\n"), false),
        (rust("pub fn f", "// TODO #[test]\npub fn f"), false),
        (rust("pub fn f", "#[inline]\npub fn f"), false),
        (rust("    #[test]", "    // All.\n    #[test]"), false),
        (rust("super::f(), 1", "1, super::f()"), true),
        (rust("}\n\n#", "}\n\n#[test]\nfn u() {}\n\n#"), true),
    ] {
        let expected = if is_test { "" } else { "no-tests-changed" };
        assert_eq!(
            kinds(&[code, doc, ("src/l.rs", &changed)]),
            expected,
            "{changed}"
        );
    }
    let (new, blank) = (("tests/test_y.py", test), ("docs/a.md", "# A\n\n"));
    assert_eq!(kinds(&[code, new, blank]), "no-docs-changed");
    assert_eq!(kinds(&[code, new, doc]), "");
    // A change of comments alone wants neither.
    for (path, changed) in [
        ("src/x.py", "# Why.\nx = 1\n\n"),
        ("src/\u{e4}.py", "# Why.\nx = 1\n"),
        ("src/m.c", "/* Why. */\nint a;\n// End.\n"),
    ] {
        assert_eq!(kinds(&[(path, changed)]), "", "{changed}");
    }
    for (path, changed) in [
        ("src/m.c", "int a;\n*p = 1;\n"),
        ("src/m.c", "int a;\n/* x */ f();\n"),
        ("src/m.c", "int a;\n#define X 1\n"),
        ("src/x.py", "#!/bin/sh\nx = 1\n"),
        ("src/x.py", ""),
    ] {
        let expected = "no-tests-changed no-docs-changed";
        assert_eq!(kinds(&[(path, changed)]), expected, "{changed}");
    }
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
    project.write("tests/test_a.py", "def test_a(): assert 1\n");
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
