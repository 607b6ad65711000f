//! DependencyChecker on manifests, lock files and issues.

use super::project::Project;
use super::project::only;
use super::project::refused;
use crate::world::is_here;

fn reason(project: &Project, config: &str) -> String {
    only(&project.judge("DependencyChecker", config))
        .2
        .to_owned()
}

/// A project with these files, and the issue that is submitted.
fn with_issue(files: &[(&str, &str)]) -> Project {
    let project = Project::new(files);
    let path = "Issues/Features/open/FEAT-0001-t.md";
    project.write(path, "---\nid: FEAT-0001\n---\n");
    project
}

#[test]
fn an_issue_waits_for_those_it_depends_on() {
    let project = Project::new(&[
        ("Issues/Features/open/FEAT-0001-t.md", "---\nid: FEAT-0001\nstatus: open\ndependencies: [FEAT-0002, FEAT-0003, FEAT-0004]\n---\n"),
        ("Issues/Features/open/FEAT-0002-t.md", "---\nid: FEAT-0002\nstatus: open\nstage: doing\n---\n- [ ] one\n"),
        ("Issues/Features/closed/FEAT-0003-t.md", "---\nid: FEAT-0003\nstatus: closed\nstage: done\n---\n"),
    ])
    .in_git();
    let reason = reason(&project, "");
    assert!(reason.starts_with("2 dependencies are not met"), "{reason}");
    assert!(
        reason.contains("FEAT-0002, which is doing, with 1 checklist item open")
            && reason.contains("FEAT-0004, which does not exist"),
        "{reason}"
    );
}

#[test]
fn npm_packages_are_locked_and_installed() {
    let project =
        with_issue(&[("package.json", r#"{"dependencies": {"left": "^1.0.0"}}"#)]).in_git();
    let told = reason(&project, "");
    assert!(
        told.contains("lock file")
            && told.contains("not installed")
            && told.contains("left ^1.0.0"),
        "{told}"
    );
    project.write("package-lock.json", r#"{"lockfileVersion": 3, "packages": {"": {"dependencies": {"left": "^1.0.0"}}, "node_modules/left": {"version": "1.2.0"}}}"#);
    project.write("node_modules/left/package.json", r#"{"version": "1.1.0"}"#);
    assert!(reason(&project, "").contains("left is 1.1.0 and not 1.2.0"));
    project.write("node_modules/left/package.json", r#"{"version": "1.2.0"}"#);
    assert!(project.judge("DependencyChecker", "").is_empty());
    project.write("package.json", r#"{"dependencies": {"left": "^2.0.0"}}"#);
    assert!(reason(&project, "").contains("out of step"));
    project.write("package.json", "{");
    assert!(reason(&project, "").contains("does not parse"));
}

#[test]
fn python_and_go_and_rust_are_asked_in_their_own_way() {
    let python = with_issue(&[
        (
            "requirements.txt",
            "pip\n# comment\n-r more/other.txt\nno-such-package-of-any-kind==1.0\n",
        ),
        (
            "more/other.txt",
            "pip<1\n-r ../requirements.txt\nno-such-in-the-other\n",
        ),
    ])
    .in_git();
    assert!(
        reason(&python, "")
            .contains("not installed of `requirements.txt`: no-such-package-of-any-kind")
    );
    python.write("requirements.txt", "pip\n");
    assert!(python.judge("DependencyChecker", "").is_empty());
    python.write("pyproject.toml", "[project\n");
    assert!(reason(&python, "").contains("`pyproject.toml` does not parse"));

    let go = with_issue(&[(
        "go.mod",
        "module a\n\nrequire (\n\texample.org/b v1.2.0 // indirect\n)\n",
    )])
    .in_git();
    assert!(reason(&go, "").contains("`go.sum` of `go.mod` is missing"));
    go.write("go.sum", "example.org/b v1.2.0/go.mod h1:x=\n");
    assert!(go.judge("DependencyChecker", "").is_empty());
    go.write("go.sum", "");
    assert!(reason(&go, "").contains("example.org/b v1.2.0"));
    go.write(
        "go.mod",
        "module a\n\nrequire example.org/b v1.2.0\n\nreplace (\n\texample.org/b => ../b\n)\n",
    );
    assert!(go.judge("DependencyChecker", "").is_empty());

    let rust = with_issue(&[
        ("Cargo.toml", "[package]\nname = \"a\"\n[workspace]\n"),
        ("src/lib.rs", ""),
    ])
    .in_git();
    assert!(reason(&rust, "").contains("the lock file of `Cargo.toml` is missing"));
    if is_here("cargo") {
        rust.write(
            "Cargo.lock",
            "version = 4\n\n[[package]]\nname = \"a\"\nversion = \"0.0.0\"\n",
        );
        assert!(rust.judge("DependencyChecker", "").is_empty());
        rust.write("Cargo.toml", "[package]\nname = \"a\"\n[workspace]\n[dependencies]\nno-such-crate-of-any-kind = \"1\"\n");
        let told = reason(&rust, "");
        assert!(
            told.contains("out of step") || told.contains("cannot be resolved"),
            "{told}"
        );
    }
    assert!(
        reason(&rust, "{manifest_files: [sub/package.json]}")
            .contains("`sub/package.json` cannot be read")
    );
    assert!(
        refused(rust.oracle("DependencyChecker", "{manifest_files: [pom.xml]}"))
            .contains("pom.xml")
    );
}

#[test]
fn the_issue_itself_is_there_and_what_it_waits_for_was_done() {
    let issue = |id: &str, more: &str| format!("---\nid: {id}\nstatus: closed\n{more}---\n");
    let project = Project::new(&[(
        "Issues/Features/open/FEAT-0002-t.md",
        &issue("FEAT-0002", "solution: cancelled\n"),
    )])
    .in_git();
    assert!(reason(&project, "").contains("no file was found for issue FEAT-0001"));
    let path = "Issues/Features/open/FEAT-0001-t.md";
    project.write(path, issue("FEAT-0001", "dependencies: [FEAT-0002]\n"));
    assert!(reason(&project, "").contains("FEAT-0002, which is given up"));
    project.write(
        "Issues/Features/open/FEAT-0002-t.md",
        issue("FEAT-0002", "solution: implemented\n"),
    );
    assert!(project.judge("DependencyChecker", "").is_empty());
    project.write("Issues/Features/open/FEAT-0002-t.md", "---\nid: [\n---\n");
    assert!(reason(&project, "").contains("cannot be understood"));
}

#[test]
fn lock_files_of_python_name_what_is_declared() {
    let issue = "---\nid: FEAT-0001\n---\n";
    let locked = "[[package]]\nname = \"left-pad\"\nversion = \"1.0\"\n";
    let project = Project::new(&[
        ("Issues/Features/open/FEAT-0001-t.md", issue),
        (
            "pyproject.toml",
            "[tool.poetry.dependencies]\npython = \"^3.11\"\nLeft_Pad = \"^1\"\nright = \"*\"\n",
        ),
    ])
    .in_git();
    assert!(reason(&project, "").contains("`poetry.lock` of `pyproject.toml` is missing"));
    project.write("poetry.lock", locked);
    let told = reason(&project, "");
    assert!(
        told.contains("out of step") && told.contains("does not name right"),
        "{told}"
    );
    assert!(!told.contains("left"), "{told}");
    project.write(
        "poetry.lock",
        format!("{locked}[[package]]\nname = \"right\"\n"),
    );
    assert!(project.judge("DependencyChecker", "").is_empty());
    project.write("poetry.lock", "[[package");
    assert!(reason(&project, "").contains("does not parse"));
}

#[test]
fn a_member_of_an_npm_workspace_has_its_lock_above() {
    let lock = r#"{"lockfileVersion": 3, "packages": {
        "": {"workspaces": ["packages/*"]},
        "packages/a": {"dependencies": {"b": "1.0.0", "left": "^1.0.0"}},
        "node_modules/b": {"resolved": "packages/b", "link": true},
        "node_modules/left": {"version": "1.2.0"}}}"#;
    let project = Project::new(&[
        (
            "Issues/Features/open/FEAT-0001-t.md",
            "---\nid: FEAT-0001\n---\n",
        ),
        ("package.json", r#"{"workspaces": ["packages/*"]}"#),
        ("package-lock.json", lock),
        (
            "packages/a/package.json",
            r#"{"dependencies": {"b": "1.0.0", "left": "^1.0.0"}}"#,
        ),
        ("node_modules/b/package.json", r#"{"version": "1.0.0"}"#),
        ("node_modules/left/package.json", r#"{"version": "1.2.0"}"#),
    ])
    .in_git();
    let config = "{manifest_files: [package.json, packages/a/package.json]}";
    assert!(project.judge("DependencyChecker", config).is_empty());
    project.write(
        "packages/a/package.json",
        r#"{"dependencies": {"b": "1.0.0", "left": "^2.0.0"}}"#,
    );
    assert!(reason(&project, config).contains("out of step"));
}
