//! The issue of an event is found in one way by every oracle that asks for it.

use ahp::event::{Event, Trigger};

use super::project::{Project, only, submission};

const ISSUE: &str = "---\nid: FEAT-0001\nstatus: open\ntitle: T\n---\n\n- [ ] an open item\n";

#[test]
fn an_event_without_an_issue_is_about_that_of_the_branch() {
    let project = Project::new(&[("Issues/Features/open/FEAT-0001-t.md", ISSUE)]).in_git();
    let stop = Event::new(Trigger::PreAgentTurnStop);
    let judge = |oracle: &str| project.judge_event(oracle, "", stop.clone(), 10.0).unwrap();
    assert!(judge("ChecklistValidator").is_empty());
    project.git(&["checkout", "-q", "-b", "me/FEAT-0001-a-title"]);
    let signals = judge("ChecklistValidator");
    assert_eq!(only(&signals).0, "checklist-incomplete");
    assert_eq!(only(&judge("ContextLoader")).0, "issue-context");
    // A branch that only looks as if it were named after an issue.
    project.git(&["checkout", "-q", "-b", "me/fix-12"]);
    assert!(judge("ChecklistValidator").is_empty());
    assert!(judge("ContextLoader").is_empty());
}

#[test]
fn an_issue_is_found_wherever_its_id_stands_in_the_name_of_the_branch() {
    let project = Project::new(&[("Issues/Features/open/FEAT-0001-t.md", ISSUE)]).in_git();
    let stop = Event::new(Trigger::PreAgentTurnStop);
    for (branch, found) in [
        ("me/FEAT-0001/a-title", Some("checklist-incomplete")),
        ("feature/FEAT-0001-a-title", Some("checklist-incomplete")),
        ("FEAT-0001_a_title", Some("checklist-incomplete")),
        ("fix-12-of-feat-0001", Some("checklist-incomplete")),
        // As this project writes its ids, and no file is there.
        ("me/FEAT-0002/a-title", Some("issue-not-found")),
        ("CHORE-0003", Some("issue-not-found")),
        // Of no issue.
        ("FEAT-0001b", None),
        ("unFEAT-0002", None),
        ("CVE-2024-1234", None),
        ("release-2", None),
    ] {
        project.git(&["checkout", "-q", "-b", branch]);
        let signals = project
            .judge_event("ChecklistValidator", "", stop.clone(), 10.0)
            .unwrap();
        let kinds: Vec<&str> = signals.iter().map(|s| s.header.kind.as_str()).collect();
        assert_eq!(kinds, Vec::from_iter(found), "{branch}");
    }
}

#[test]
fn the_files_of_an_issue_are_those_of_its_commits_where_its_branch_is_gone() {
    let files = [("Issues/FEAT-0001-t.md", ISSUE), ("src/a.py", "a = 1\n")];
    let judge = |project: &Project| {
        let config = "require_tests: true\nverify: false";
        let found = project.judge_event("CompletionVerifier", config, submission(), 10.0);
        let found = found.unwrap();
        found.iter().any(|s| s.header.kind == "no-tests-changed")
    };
    let commit = |project: &Project, path: &str, message: &str| {
        project.write(path, "def test_a():\n    assert True\n");
        project.git(&["add", "-A"]);
        project.git(&["commit", "-qm", message]);
    };
    for (on_branch, is_clean, misses_tests) in [
        // Merged: the test came with it, whatever lies about.
        ("FEAT-0001: do", true, false),
        ("FEAT-0001: do", false, false),
        // The test is that of another issue.
        ("FEAT-0007: do", false, true),
    ] {
        let project = Project::new(&files).in_git();
        commit(&project, "tests/test_a.py", on_branch);
        project.write("src/b.py", "b = 1\n");
        project.git(&["add", "-A"]);
        project.git(&["commit", "-qm", "FEAT-0001: more"]);
        project.git(&["checkout", "-q", "main"]);
        project.git(&["merge", "-q", "--ff-only", "work"]);
        project.git(&["branch", "-q", "-D", "work"]);
        if !is_clean {
            project.write("src/c.py", "c = 1\n");
        }
        assert_eq!(judge(&project), misses_tests, "{on_branch}, {is_clean}");
    }
    // On the branch of another issue, its tests are not those of this one.
    let project = Project::new(&files).in_git();
    project.write("src/b.py", "b = 1\n");
    project.git(&["add", "-A"]);
    project.git(&["commit", "-qm", "FEAT-0001: do"]);
    project.git(&["checkout", "-q", "-b", "FEAT-0002-other"]);
    commit(&project, "tests/test_a.py", "FEAT-0002: do");
    assert!(judge(&project));
}
