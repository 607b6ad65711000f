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
        Project::new(&[("package.json", r#"{"dependencies": {"left": "^1.0.0"}}"#)]).in_git();
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
    let python = Project::new(&[(
        "requirements.txt",
        "pip\n# comment\n-r other.txt\nno-such-package-of-any-kind==1.0\n",
    )])
    .in_git();
    assert!(
        reason(&python, "")
            .contains("not installed of `requirements.txt`: no-such-package-of-any-kind")
    );
    python.write("requirements.txt", "pip\n");
    assert!(python.judge("DependencyChecker", "").is_empty());
    python.write("pyproject.toml", "[project\n");
    assert!(reason(&python, "").contains("`pyproject.toml` does not parse"));

    let go = Project::new(&[(
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

    let rust = Project::new(&[
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
