//! ContextLoader.

use ahp::event::Trigger;
use ahp::signal::{Intensity, Signal};
use ahp::workspace::{Commit, GitError, KnownGit, MemoryWorkspace};

use super::bench::{Bench, changes, config_error};
use crate::world::steps;

const NAME: &str = "ContextLoader";

const ISSUE: &str = "---
id: FEAT-0123
type: feature
status: open
stage: doing
title: Login by token
parent: EPIC-0001
dependencies: [FEAT-0100, FEAT-0101]
files: [src/login.rs, docs/login.md]
---

## Objective
<!-- Describe the why. -->
Users log in with a token.

## Technical Tasks
- [x] Endpoint
- [ ] API docs
";

fn project() -> MemoryWorkspace {
    let git = KnownGit {
        branch: Some("FEAT-0123-login".to_owned()),
        ..KnownGit::default()
    };
    MemoryWorkspace::new("/project")
        .with_file("Issues/FEAT-0123-login.md", ISSUE)
        .with_file(
            "Issues/EPIC-0001-users.md",
            "---\nid: EPIC-0001\ntitle: Users\ntype: epic\n---\n",
        )
        .with_file(
            "Issues/FEAT-0100-x.md",
            "---\nid: FEAT-0100\ntitle: Tokens\nstatus: closed\n---\n",
        )
        .with_file(
            "Issues/FEAT-0101-x.md",
            "---\nid: FEAT-0101\ntitle: Sessions\nstatus: open\n---\n",
        )
        .with_file("src/login.rs", "fn login() {}\n")
        .with_commits([Commit {
            id: "0123456789abcdef".to_owned(),
            author: "Tess".to_owned(),
            time: "2026-02-08T10:00:00Z".parse().unwrap(),
            message: "Add the endpoint\n\nBody.".to_owned(),
        }])
        .with_git(git)
}

fn judge(workspace: MemoryWorkspace, config: &str) -> Option<Signal> {
    let bench = Bench::new(Trigger::PostIssueStart, workspace).issue("FEAT-0123");
    bench.judge(NAME, config).pop()
}

#[test]
fn an_aid_tells_what_the_issue_is_about() {
    let signal = judge(project(), "include_git_history: true").unwrap();
    assert_eq!(signal.intensity(), Intensity::Aid);
    assert_eq!(
        signal.payload.text(),
        "FEAT-0123: Login by token (feature, open, doing)

Objective:
Users log in with a token.

Checklist: 1 of 2 items done
- [chk-002] API docs (line 18)

Files:
- src/login.rs (14 bytes)
- docs/login.md (not there)

Recent commits on these files:
- 0123456 2026-02-08 Add the endpoint (Tess)

Part of EPIC-0001: Users (epic)
Depends on FEAT-0100: Tokens (closed)
Depends on FEAT-0101: Sessions (open)"
    );
    assert_eq!(
        steps(&signal),
        [
            "Finish FEAT-0101 first, or make sure that nothing of it is needed: Sessions",
            "Begin with `chk-002`: API docs",
        ]
    );
    assert_eq!(
        signal.context.files,
        ["Issues/FEAT-0123-login.md", "src/login.rs", "docs/login.md"]
    );
}

#[test]
fn what_is_not_wanted_is_left_out() {
    let signal = judge(project(), "include_files: false").unwrap();
    let text = signal.payload.text();
    assert!(
        !text.contains("Files:") && !text.contains("commits"),
        "{text}"
    );
}

#[test]
fn without_files_in_the_issue_those_of_the_branch_are_told() {
    let issue = ISSUE.replace("files: [src/login.rs, docs/login.md]\n", "");
    let workspace = project()
        .with_file("Issues/FEAT-0123-login.md", issue)
        .with_changes(changes(["src/login.rs"]));
    let text = judge(workspace, "").unwrap().payload.text().to_owned();
    assert!(
        text.contains("Files:\n- src/login.rs (14 bytes)\n"),
        "{text}"
    );
}

#[test]
fn the_branch_tells_the_issue_where_the_event_does_not() {
    let signals = Bench::new(Trigger::PreSession, project()).judge(NAME, "");
    assert!(
        signals[0]
            .payload
            .text()
            .starts_with("FEAT-0123: Login by token")
    );
    let elsewhere = project().with_git(KnownGit {
        branch: Some("main".to_owned()),
        ..KnownGit::default()
    });
    assert!(
        Bench::new(Trigger::PreSession, elsewhere)
            .judge(NAME, "")
            .is_empty()
    );
    let unknown = project().with_git(KnownGit {
        branch: Some("FIX-7-x".to_owned()),
        ..KnownGit::default()
    });
    let told = Bench::new(Trigger::PreSession, unknown).judge(NAME, "");
    assert!(
        told[0]
            .payload
            .text()
            .contains("no issue `FIX-7` was found")
    );
    assert!(
        Bench::new(Trigger::PreSession, MemoryWorkspace::new("/project"))
            .judge(NAME, "")
            .is_empty()
    );
}

#[test]
fn what_cannot_be_known_is_said() {
    let missing = Bench::new(Trigger::PostIssueStart, project())
        .issue("FEAT-9")
        .judge(NAME, "");
    assert_eq!(
        missing[0].payload.text(),
        "no issue `FEAT-9` was found below `Issues`"
    );
    let broken = project().with_file("Issues/FEAT-0123-login.md", "---\nid: FEAT-0123\n");
    assert!(
        judge(broken, "")
            .unwrap()
            .payload
            .text()
            .contains("FEAT-0123-login.md:1:")
    );
    let no_git = project().with_git_error(GitError::NoProgram("not found".to_owned()));
    let text = judge(no_git, "include_git_history: true")
        .unwrap()
        .payload
        .text()
        .to_owned();
    assert!(
        text.contains("Recent commits are not known: the `git` program cannot be started"),
        "{text}"
    );
}

#[test]
fn a_long_text_is_cut_at_a_line() {
    let issue = format!(
        "---\nid: FEAT-0123\n---\n## Objective\n{}",
        "多 words here\n".repeat(10_000)
    );
    let signal = judge(
        project().with_file("Issues/FEAT-0123-login.md", issue),
        "max_bytes: 300",
    )
    .unwrap();
    let text = signal.payload.text();
    assert!(text.len() <= 300 && text.len() > 200, "{}", text.len());
    assert!(
        text.ends_with("words here\n… the rest is in Issues/FEAT-0123-login.md"),
        "{text}"
    );
}

#[test]
fn a_wrong_configuration_is_told_at_its_place() {
    let few = "hooks.yaml:1:12 10 bytes are too few to say anything; expected at least 256";
    assert_eq!(config_error(NAME, "max_bytes: 10"), few);
    assert_eq!(
        config_error(NAME, "include_file: true"),
        "hooks.yaml:1:1 unknown key `include_file`"
    );
    assert_eq!(
        config_error(NAME, "max_commits: few"),
        "hooks.yaml:1:14 expected a whole number of at least 0, found the text `few`"
    );
}
