//! LintChecker with linters of this test's own, and with those that are installed.

use ahp::signal::{Intensity, Payload};

use super::project::{Project, only, refused, script, submission};
use crate::world::is_here;

/// A project with a ruff of its own, which finds tabs and turns them into blanks.
fn project() -> Project {
    let project = Project::new(&[
        ("ruff.toml", ""),
        ("old.py", "\tx\n"),
        (".gitignore", ".venv\n.ahp\n"),
    ])
    .in_git();
    script(
        &project,
        ".venv/bin/ruff",
        "case \"$2\" in --fix) shift 4; sed -i 's/\\t/    /' \"$@\"; exit 0;; esac\nshift 4; grep -n \"$(printf '\\t')\" /dev/null old.py \"$@\" | sed 's/:\\([0-9]*\\):.*/:\\1:1: W191 tabs/'; exit 1",
    );
    project
}

#[test]
fn findings_in_changed_files_count_and_no_others() {
    let project = project();
    project.write("new.py", "a = 1\n\tb\n");
    let signals = project.judge("LintChecker", "");
    let (kind, intensity, reason) = only(&signals);
    assert_eq!((kind, intensity), ("lint-findings", Intensity::Prompt));
    assert!(
        reason.contains("new.py:2: W191 tabs (ruff)") && !reason.contains("old.py"),
        "{reason}"
    );
    assert_eq!(
        only(&project.judge("LintChecker", "{action: block}")).1,
        Intensity::Block
    );
    assert!(
        refused(project.oracle("LintChecker", "{linters: [rufff]}"))
            .contains("did you mean `ruff`")
    );
    assert!(refused(project.oracle("LintChecker", "{linter: [ruff]}")).contains("linter"));
}

/// A script says by its first line what it is, where its name does not.
#[test]
fn scripts_without_an_extension_are_looked_at() {
    let project = project();
    project.write("tool", "#!/usr/bin/env -S python3.12 -u\n\tb\n");
    project.write("run", "#!/bin/sh\n\tb\n");
    project.write("data", "\tb\n");
    let signals = project.judge("LintChecker", "");
    let reason = only(&signals).2;
    assert!(
        reason.starts_with("1 lint finding in 1 changed file: tool:2: W191 tabs (ruff)"),
        "{reason}"
    );
}

#[test]
fn what_is_mended_can_be_taken_back() {
    let project = project();
    project.write("new.py", "a = 1\n\tb\n");
    // The project's own ruff still finds the tab of the old file, which does not count.
    let signals = project.judge("LintChecker", "{auto_fix: true}");
    let Payload::Control(control) = &signals[0].payload else {
        panic!("{signals:#?}")
    };
    assert!(control.reversible);
    assert_eq!(control.modifications[0].target, "file:new.py");
    assert_eq!(project.read("new.py"), "a = 1\n    b\n");
    let undo = control
        .reason
        .split('`')
        .nth(1)
        .unwrap()
        .strip_prefix("git ")
        .unwrap()
        .to_owned();
    project.git(&undo.split(' ').collect::<Vec<_>>());
    assert_eq!(project.read("new.py"), "a = 1\n\tb\n");
}

#[test]
fn a_linter_that_is_missing_is_told_and_one_that_fails_is_an_error() {
    let project = Project::new(&[(".golangci.yml", "")]).in_git();
    project.write("a.go", "package a\n");
    if ahp::process::installed("golangci-lint").is_none() {
        let signals = project.judge("LintChecker", "");
        let (kind, _, reason) = only(&signals);
        assert_eq!(kind, "linter-missing");
        assert!(reason.contains("golangci-lint"), "{reason}");
    }
    let broken = Project::new(&[("ruff.toml", "")]).in_git();
    broken.write("a.py", "x\n");
    script(
        &broken,
        ".venv/bin/ruff",
        "echo 'error: bad configuration' >&2; exit 2",
    );
    let error = broken
        .judge_event("LintChecker", "", submission(), 10.0)
        .unwrap_err();
    assert!(error.to_string().contains("bad configuration"), "{error}");
    script(&broken, ".venv/bin/ruff", "sleep 30");
    let error = broken
        .judge_event("LintChecker", "", submission(), 1.0)
        .unwrap_err();
    assert!(error.to_string().contains("had not ended"), "{error}");
}

#[test]
fn rustfmt_is_told_the_edition_of_the_package_that_holds_the_file() {
    if !is_here("rustfmt") {
        return;
    }
    // A word of the language in one edition, and a name like any other in an older one.
    let (old, new) = ("fn async() {}\n", "async fn a() {}\n");
    let project = Project::new(&[
        (
            "Cargo.toml",
            "[workspace]\nmembers = [\"*\"]\n[workspace.package]\nedition = \"2021\"\n[workspace.metadata]\nedition = \"none\"\n",
        ),
        ("inherits/Cargo.toml", "[package]\nname = \"i\"\nedition.workspace = true\n"),
        ("says/Cargo.toml", "[package]\nname = \"s\"\nedition = \"2018\"\n"),
        ("silent/Cargo.toml", "[package]\nname = \"q\"\n"),
        (".gitignore", "target\n.ahp\n"),
    ])
    .in_git();
    project.write("inherits/src/lib.rs", new);
    project.write("says/src/deep/a.rs", new);
    project.write("silent/src/lib.rs", old);
    let signals = project.judge("LintChecker", "{linters: [rustfmt]}");
    assert!(signals.is_empty(), "{signals:?}");
    project.write("says/src/deep/a.rs", "async  fn a() {}\n");
    let told = format!("{:?}", project.judge("LintChecker", "{linters: [rustfmt]}"));
    assert!(
        told.contains("says/src/deep/a.rs") && !told.contains("inherits/src"),
        "{told}"
    );
}

#[test]
fn rustfmt_is_really_asked() {
    if !is_here("rustfmt") {
        return;
    }
    let project = Project::new(&[
        (
            "Cargo.toml",
            "[package]\nname = \"a\"\nedition = \"2021\"\n[workspace]\n",
        ),
        (".gitignore", "target\n.ahp\n"),
    ])
    .in_git();
    project.write("src/lib.rs", "pub fn  a( ) {}\n");
    let signals = project.judge("LintChecker", "{linters: [rustfmt]}");
    assert!(
        only(&signals).2.contains("src/lib.rs: it is not formatted"),
        "{}",
        only(&signals).2
    );
    project.judge("LintChecker", "{linters: [rustfmt], auto_fix: true}");
    assert_eq!(project.read("src/lib.rs"), "pub fn a() {}\n");
    assert!(
        project
            .judge("LintChecker", "{linters: [rustfmt]}")
            .is_empty()
    );
}

/// Its findings until then are not all that there are.
#[test]
fn a_linter_that_stopped_half_way_is_not_done() {
    let project = Project::new(&[("ruff.toml", "")]).in_git();
    project.write("a.py", "x\n");
    let found = "echo 'a.py:1:1: F1 bad'";
    for (end, expected) in [
        ("exit 1", &["lint-findings"][..]),
        ("exit 2", &["lint-findings", "linter-failed"]),
        ("kill -9 $$", &["lint-findings", "linter-failed"]),
    ] {
        script(&project, ".venv/bin/ruff", &format!("{found}; {end}"));
        let signals = project.judge("LintChecker", "{linters: [ruff]}");
        let kinds: Vec<_> = signals.iter().map(|s| s.header.kind.as_str()).collect();
        assert_eq!(kinds, expected, "{end}");
    }
}
