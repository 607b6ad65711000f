//! Finds a project's own test runners.

use serde_json::Value;

use super::Runner;
use crate::process::installed;
use crate::words::words;
use crate::workspace::Workspace;

/// Where the runners of the JVM write their JUnit reports.
pub(super) const JVM_REPORTS: &[&str] = words!("jvm-reports");

/// What a project of the JVM, or a part of one, is built by.
pub(super) const JVM_MANIFESTS: &[&str] = &["pom.xml", "build.gradle", "build.gradle.kts"];

/// Finds the runners of every language that the project is written in; `make test` where there is no other.
pub(in crate::oracle) fn find(workspace: &dyn Workspace) -> Vec<Runner> {
    let mut runners: Vec<Runner> = [cargo, python, node, go, maven, gradle]
        .iter()
        .filter_map(|find| find(workspace))
        .collect();
    if runners.is_empty() {
        runners.extend(make(workspace));
    }
    runners
}

fn text(workspace: &dyn Workspace, path: &str) -> Option<String> {
    let text = workspace.text(path)?;
    Some(text.trim_start_matches('\u{feff}').to_owned())
}

fn cargo(workspace: &dyn Workspace) -> Option<Runner> {
    workspace.exists("Cargo.toml").then(|| {
        // A project that configures nextest runs its tests with it.
        let nextest =
            workspace.exists(".config/nextest.toml") && installed("cargo-nextest").is_some();
        Runner::of(if nextest {
            "cargo nextest run --workspace --no-fail-fast"
        } else {
            "cargo test --workspace --no-fail-fast"
        })
    })
}

fn python(workspace: &dyn Workspace) -> Option<Runner> {
    let is_python = words!("python-files")
        .iter()
        .any(|file| workspace.exists(file));
    let mut tests = workspace.list("**/test_*.py");
    tests.extend(workspace.list("**/*_test.py"));
    if !is_python && tests.is_empty() {
        return None;
    }
    let configured = workspace.exists("pytest.ini")
        || workspace.exists("conftest.py")
        || [
            ("pyproject.toml", "[tool.pytest"),
            ("setup.cfg", "[tool:pytest]"),
            ("tox.ini", "[pytest]"),
        ]
        .iter()
        .any(|(file, section)| text(workspace, file).is_some_and(|t| t.contains(section)));
    if tests.is_empty() && !configured {
        return None;
    }
    let (python, has_pytest) = interpreter(workspace);
    let wants_pytest = configured
        || tests.iter().take(50).any(|file| {
            text(workspace, file).is_some_and(|t| {
                t.contains("import pytest") || t.lines().any(|l| l.starts_with("def test_"))
            })
        });
    Some(Runner::of(if has_pytest || wants_pytest {
        format!("{python} -m pytest")
    } else if workspace.exists("tests") && !workspace.exists("tests/__init__.py") {
        format!("{python} -m unittest discover -s tests")
    } else {
        format!("{python} -m unittest discover")
    }))
}

/// Returns how the project's Python is called, and whether it is known to have pytest.
fn interpreter(workspace: &dyn Workspace) -> (String, bool) {
    for dir in [".venv", "venv"] {
        let python = format!("{dir}/bin/python");
        if workspace.root().join(&python).exists() {
            let has_pytest = workspace.root().join(dir).join("bin/pytest").exists();
            return (python, has_pytest);
        }
    }
    if workspace.exists("uv.lock") && installed("uv").is_some() {
        return (
            "uv run python".to_owned(),
            locks(workspace, "uv.lock", "pytest"),
        );
    }
    if workspace.exists("poetry.lock") && installed("poetry").is_some() {
        return (
            "poetry run python".to_owned(),
            locks(workspace, "poetry.lock", "pytest"),
        );
    }
    let python = if installed("python3").is_some() {
        "python3"
    } else {
        "python"
    };
    (python.to_owned(), installed("pytest").is_some())
}

fn locks(workspace: &dyn Workspace, file: &str, package: &str) -> bool {
    text(workspace, file).is_some_and(|t| t.contains(&format!("name = \"{package}\"")))
}

fn node(workspace: &dyn Workspace) -> Option<Runner> {
    let package: Value = serde_json::from_str(&text(workspace, "package.json")?).ok()?;
    let script = package.pointer("/scripts/test")?.as_str()?;
    // What `npm init` writes is not a test.
    if script.contains("no test specified") || script.trim().is_empty() {
        return None;
    }
    let named = package
        .get("packageManager")
        .and_then(Value::as_str)
        .and_then(|name| name.split('@').next());
    let locked = [
        ("pnpm-lock.yaml", "pnpm"),
        ("yarn.lock", "yarn"),
        ("bun.lock", "bun run"),
        ("bun.lockb", "bun run"),
    ]
    .iter()
    .find(|(file, _)| workspace.exists(file))
    .map(|(_, manager)| *manager);
    let manager = match named {
        Some("pnpm") => "pnpm",
        Some("yarn") => "yarn",
        Some("bun") => "bun run",
        Some(_) => "npm",
        None => locked.unwrap_or("npm"),
    };
    Some(Runner::of(format!("{manager} test")))
}

fn go(workspace: &dyn Workspace) -> Option<Runner> {
    workspace
        .exists("go.mod")
        .then(|| Runner::of("go test -json ./..."))
}

fn maven(workspace: &dyn Workspace) -> Option<Runner> {
    workspace.exists("pom.xml").then(|| {
        let program = if workspace.exists("mvnw") {
            "./mvnw"
        } else {
            "mvn"
        };
        Runner::of(format!("{program} -B -fae test"))
    })
}

/// Files by which a project says that it is built by Gradle.
const OF_GRADLE: &[&str] = words!("gradle-files");

/// Whether a project is built by Maven or Gradle.
pub(super) fn is_of_jvm(workspace: &dyn Workspace) -> bool {
    let mut files = OF_GRADLE.iter().chain(&["pom.xml"]);
    files.any(|file| workspace.exists(file))
}

fn gradle(workspace: &dyn Workspace) -> Option<Runner> {
    let is_used = OF_GRADLE.iter().any(|file| workspace.exists(file));
    is_used.then(|| {
        let program = if workspace.exists("gradlew") {
            "./gradlew"
        } else {
            "gradle"
        };
        // `cleanTest`, since Gradle writes no report of tests that it holds for up to date.
        Runner::of(format!("{program} cleanTest test --continue"))
    })
}

fn make(workspace: &dyn Workspace) -> Option<Runner> {
    ["GNUmakefile", "makefile", "Makefile"]
        .iter()
        .filter_map(|file| text(workspace, file))
        .any(|t| {
            t.lines().any(|l| {
                l.strip_prefix("test").is_some_and(|rest| {
                    rest.trim_start().starts_with(':') && !rest.trim_start().starts_with(":=")
                })
            })
        })
        .then(|| Runner::of("make test"))
}
