//! DependencyChecker on manifests, lock files and issues.

use super::project::{Project, only, refused};
use crate::world::is_here;

pub(crate) fn reason(project: &Project, config: &str) -> String {
    only(&project.judge("DependencyChecker", config))
        .2
        .to_owned()
}

/// A project with these files, and the issue that is submitted.
pub(crate) fn with_issue(files: &[(&str, &str)]) -> Project {
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
fn only_members_of_the_workspace_need_no_lock_and_locked_versions_are_those_that_are_allowed() {
    let npm = |range: &str, version: &str| {
        format!(
            r#"{{"lockfileVersion": 3, "packages": {{"": {{"dependencies": {{"a": "{range}"}}}}, "node_modules/a": {{"version": "{version}"}}}}}}"#
        )
    };
    let wanted = r#"{"dependencies": {"a": "^2.0.0"}}"#;
    let pnpm =
        "importers:\n  .:\n    dependencies:\n      a: {specifier: ^2.0.0, version: 1.5.0}\n";
    let fixture = (
        "tests/fixtures/a/package.json",
        r#"{"name": "a", "version": "2.0.0"}"#,
    );
    let other = ("x.txt", "x");
    for (package, lock, content, more, expected) in [
        (
            wanted,
            "package-lock.json",
            npm("^2.0.0", "1.5.0"),
            other,
            "a is 1.5.0 and not ^2.0.0",
        ),
        (
            wanted,
            "package-lock.json",
            npm("^2.0.0", "2.0.0"),
            fixture,
            "a is 1.5.0 and not 2.0.0",
        ),
        (
            wanted,
            "yarn.lock",
            "# yarn lockfile v1\n".to_owned(),
            fixture,
            "out of step with `package.json`: a",
        ),
        (
            wanted,
            "pnpm-lock.yaml",
            pnpm.to_owned(),
            other,
            "a is 1.5.0 and not ^2.0.0",
        ),
        (
            r#"{"dependencies": {"a": "^2.0.0"}, "overrides": {"a": "1.5.0"}}"#,
            "package-lock.json",
            npm("^2.0.0", "1.5.0"),
            other,
            "",
        ),
        (
            r#"{"dependencies": {"a": "^1.2.0 || ^3"}}"#,
            "package-lock.json",
            npm("^1.2.0 || ^3", "1.5.0"),
            other,
            "",
        ),
        (
            r#"{"dependencies": {"a": "latest"}}"#,
            "package-lock.json",
            npm("latest", "1.5.0"),
            other,
            "",
        ),
    ] {
        let installed = (
            "node_modules/a/package.json",
            r#"{"name": "a", "version": "1.5.0"}"#,
        );
        let files = [
            ("package.json", package),
            (lock, content.as_str()),
            installed,
            more,
        ];
        let project = with_issue(&files).in_git();
        let told = match expected {
            "" => format!("{:?}", project.judge("DependencyChecker", "")),
            _ => reason(&project, ""),
        };
        assert!(
            told == "[]" || !expected.is_empty() && told.contains(expected),
            "{package} {content}: {told}"
        );
    }
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
    // What comes from an address has a name too.
    let address = "https://example.invalid/x.whl";
    python.write(
        "requirements.txt",
        format!("pip @ {address}\n{address}\ngone @ {address} ; python_version < '3'\n"),
    );
    assert!(python.judge("DependencyChecker", "").is_empty());
    python.write("requirements.txt", format!("no-such-package @ {address}\n"));
    assert!(reason(&python, "").contains("`requirements.txt`: no-such-package"));
    // Constraints say which versions will do, and ask for nothing.
    python.write("constraints.txt", "no-such-package-of-any-kind==1.0\n");
    python.write("requirements.txt", "-c constraints.txt\npip\n");
    assert!(python.judge("DependencyChecker", "").is_empty());
    python.write("constraints.txt", "pip<1\n");
    assert!(reason(&python, "").contains("and not <1"));
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
        refused(rust.oracle("DependencyChecker", "{manifest_files: [setup.py]}"))
            .contains("setup.py")
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
    // Whoever archives an issue has no more work on it.
    for over in ["archived", "done", "Completed"] {
        let text = format!("---\nid: FEAT-0002\nstatus: {over}\n---\n- [ ] one\n");
        project.write("Issues/Features/open/FEAT-0002-t.md", text);
        assert!(project.judge("DependencyChecker", "").is_empty(), "{over}");
    }
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

#[test]
fn lock_files_of_every_manager_of_node_are_compared() {
    let manifest = r#"{"name": "p", "dependencies": {"left": "^1.0.0", "b": "1.0.0"}, "devDependencies": {"right": "~2"}}"#;
    let pnpm = "lockfileVersion: '9.0'\n\noverrides:\n  right: 2.0.1\n\nimporters:\n\n  packages/a:\n    dependencies:\n      left:\n        specifier: ^1.0.0\n        version: 1.2.0(peer@3.0.0)\n      b:\n        specifier: 1.0.0\n        version: link:../b\n    devDependencies:\n      right:\n        specifier: 2.0.1\n        version: 2.0.1\n";
    let classic = "# yarn lockfile v1\n\n\nleft@^1.0.0, left@^1.1.0:\n  version \"1.2.0\"\n  resolved \"x\"\n\n\"right@~2\":\n  version \"2.0.1\"\n";
    let berry = "__metadata:\n  version: 8\n\n\"left@npm:^1.0.0, left@npm:^1.1.0\":\n  version: 1.2.0\n  resolution: \"left@npm:1.2.0\"\n\n\"right@npm:~2\":\n  version: 2.0.1\n";
    let bun = r#"{
      "lockfileVersion": 1,
      "workspaces": {
        "packages/a": {"name": "p", "dependencies": {"left": "^1.0.0", "b": "1.0.0"}, "devDependencies": {"right": "~2",},},
      },
      "packages": {"left": ["left@1.2.0", "", {}, "sha512-x"], "right": ["right@2.0.1", "", {}, "sha512-x"],},
    }"#;
    for (name, lock, renew) in [
        ("pnpm-lock.yaml", pnpm, "pnpm install"),
        ("yarn.lock", classic, "yarn install"),
        ("yarn.lock", berry, "yarn install"),
        ("bun.lock", bun, "bun install"),
    ] {
        let project = with_issue(&[
            (name, lock),
            ("package.json", r#"{"workspaces": ["packages/*"]}"#),
            ("packages/a/package.json", manifest),
            (
                "packages/b/package.json",
                r#"{"name": "b", "version": "1.0.0"}"#,
            ),
            ("node_modules/left/package.json", r#"{"version": "1.2.0"}"#),
            ("node_modules/right/package.json", r#"{"version": "2.0.1"}"#),
            ("node_modules/b/package.json", r#"{"version": "1.0.0"}"#),
        ])
        .in_git();
        let config = "{manifest_files: [packages/a/package.json]}";
        let judged = project.judge("DependencyChecker", config);
        assert!(judged.is_empty(), "{name}: {judged:?}");
        let faulty = |path: &str, text: &str, before: &str| {
            project.write(path, text);
            let signals = project.judge("DependencyChecker", config);
            let told = format!("{signals:?}");
            project.write(path, before);
            told
        };
        let newer = manifest.replace("^1.0.0", "^3.0.0");
        let told = faulty("packages/a/package.json", &newer, manifest);
        assert!(
            told.contains(&format!("`{name}` is out of step")) && told.contains("left"),
            "{told}"
        );
        assert!(!told.contains("right") && told.contains(renew), "{told}");
        let more = manifest.replace("\"b\"", "\"c\": \"1\", \"b\"");
        let told = faulty("packages/a/package.json", &more, manifest);
        assert!(
            told.contains("out of step") && told.contains("not installed"),
            "{told}"
        );
        let here = r#"{"version": "1.1.0"}"#;
        let told = faulty(
            "node_modules/left/package.json",
            here,
            r#"{"version": "1.2.0"}"#,
        );
        assert!(
            told.contains("left is 1.1.0 and not 1.2.0"),
            "{name}: {told}"
        );
        let told = faulty(name, "left\n  : {", lock);
        assert!(told.contains("does not parse"), "{name}: {told}");
    }
}

#[test]
fn locked_versions_are_those_that_the_manifest_allows() {
    let of_poetry =
        |left: &str| format!("[tool.poetry.dependencies]\npython = \"^3.11\"\nleft = {left}\n");
    let project = with_issue(&[
        (
            "poetry.lock",
            "[[package]]\nname = \"left\"\nversion = \"1.4.2\"\n",
        ),
        ("pyproject.toml", &of_poetry("\"^1.2\"")),
    ])
    .in_git();
    for allowed in [
        "\"^1.2\"",
        "\"~1.4\"",
        "\"*\"",
        "\"1.4.2\"",
        "\"1.*\"",
        "\">= 1.0, < 2\"",
        "\">=1.0 <2\"",
        "\"^2 || ^1\"",
        "{version = \"^1\", optional = true}",
        "{git = \"https://example.com/left.git\"}",
    ] {
        project.write("pyproject.toml", of_poetry(allowed));
        let judged = project.judge("DependencyChecker", "");
        assert!(judged.is_empty(), "{allowed}: {judged:?}");
    }
    for other in [
        "\"^2\"",
        "\"~1.3\"",
        "\"^0.1\"",
        "\"1.4.1\"",
        "\">=1.5 <2\"",
    ] {
        project.write("pyproject.toml", of_poetry(other));
        let told = reason(&project, "");
        assert!(told.contains("left is locked as 1.4.2"), "{other}: {told}");
    }
    let uv = with_issue(&[
        (
            "uv.lock",
            "version = 1\n[[package]]\nname = \"pip\"\nversion = \"0.1\"\n",
        ),
        (
            "pyproject.toml",
            "[project]\nname = \"p\"\ndependencies = [\"pip>=1\"]\n",
        ),
    ])
    .in_git();
    let told = reason(&uv, "");
    assert!(told.contains("pip is locked as 0.1 and not >=1"), "{told}");
}

#[test]
fn what_the_project_itself_makes_need_not_be_installed() {
    let project = with_issue(&[
        (
            "pyproject.toml",
            "[project]\nname = \"p\"\ndependencies = [\"No_Such.Own==0.1\"]\n",
        ),
        (
            "packaging/pyproject.toml",
            "[project]\nname = \"no-such-own\"\n",
        ),
    ])
    .in_git();
    assert!(project.judge("DependencyChecker", "").is_empty());
    project.write(
        "packaging/pyproject.toml",
        "[project]\nname = \"another\"\n",
    );
    assert!(reason(&project, "").contains("not installed of `pyproject.toml`: No_Such.Own"));
}

#[test]
fn maven_has_its_modules_and_its_dependencies() {
    let parent = r"<project><artifactId>top</artifactId><version>3</version>
        <modules><module>core</module><module>gone</module></modules>
        <properties><left.version>1.2</left.version></properties>
        <dependencyManagement><dependencies>
            <dependency><groupId>org.example</groupId><artifactId>right</artifactId><version>2.0</version></dependency>
        </dependencies></dependencyManagement></project>";
    let core = r"<project><parent><artifactId>top</artifactId><version>3</version></parent><artifactId>core</artifactId>
        <dependencies>
            <dependency><groupId>org.example</groupId><artifactId>left</artifactId><version>${left.version}</version></dependency>
            <dependency><groupId>org.example</groupId><artifactId>right</artifactId></dependency>
            <dependency><groupId>org.example</groupId><artifactId>of-a-bom</artifactId></dependency>
            <dependency><groupId>org.example</groupId><artifactId>top</artifactId><version>${project.version}</version></dependency>
        </dependencies></project>";
    let project = with_issue(&[
        ("pom.xml", parent),
        ("core/pom.xml", core),
        (".mvn/maven.config", "-B -Dmaven.repo.local=kept\n"),
        ("kept/org/example/left/1.2/left-1.2.jar.lastUpdated", ""),
        ("kept/org/example/left/1.1/left-1.1.pom", ""),
    ])
    .in_git();
    let config = "{manifest_files: [pom.xml, core/pom.xml]}";
    let told = reason(&project, config);
    assert!(
        told.contains("modules of `pom.xml` are not there: gone"),
        "{told}"
    );
    assert!(
        told.contains("org.example:left:1.2, org.example:right:2.0 and org.example:of-a-bom")
            || told.contains("org.example:left:1.2, org.example:right:2.0, org.example:of-a-bom"),
        "{told}"
    );
    project.write("pom.xml", parent.replace("<module>gone</module>", ""));
    project.write("kept/org/example/left/1.2/left-1.2.pom", "");
    project.write("kept/org/example/right/2.0/right-2.0.jar", "");
    project.write("kept/org/example/of-a-bom/9/of-a-bom-9.pom", "");
    let judged = project.judge("DependencyChecker", config);
    assert!(judged.is_empty(), "{judged:?}");
    project.write("pom.xml", "<project><artifactId>");
    assert!(reason(&project, config).contains("`pom.xml` does not parse"));
}

#[test]
fn gradle_locks_what_its_script_writes_out() {
    let script = "plugins { id(\"java\") }\ndependencyLocking { lockAllConfigurations() }\ndependencies {\n    // implementation(\"org.example:old:1.0\")\n    implementation(\"org.example:left:1.2\")\n    testImplementation 'org.example:right:2.0@jar'\n    implementation(platform(\"org.example:bom:1.0\"))\n    api(\"org.example:other:$version\")\n    constraints {\n        implementation(\"org.example:unused:1.0\")\n    }\n}\n";
    let project = with_issue(&[("build.gradle.kts", script)]).in_git();
    assert!(reason(&project, "").contains("`gradle.lockfile` of `build.gradle.kts` is missing"));
    let lock = "# This is a Gradle generated file\norg.example:left:1.10=compileClasspath,runtimeClasspath\norg.example:right:2.0=testCompileClasspath\nempty=annotationProcessor\n";
    project.write("gradle.lockfile", lock);
    let judged = project.judge("DependencyChecker", "");
    assert!(judged.is_empty(), "{judged:?}");
    project.write("build.gradle.kts", script.replace(":1.2", ":1.11"));
    assert!(reason(&project, "").contains("org.example:left is locked as 1.10 and not 1.11"));
    project.write("build.gradle.kts", script.replace(":left:", ":new:"));
    let told = reason(&project, "");
    assert!(told.contains("it does not name org.example:new"), "{told}");
    assert!(
        !told.contains("unused") && !told.contains("bom") && !told.contains("old"),
        "{told}"
    );
    project.write(
        "build.gradle.kts",
        "dependencyLocking { lockAllConfigurations() }\ndependencies { implementation 'org.example:one:1.0'; api('org.example:two:1.0') { transitive = false } }\n",
    );
    let told = reason(&project, "");
    assert!(
        told.contains("org.example:one") && told.contains("org.example:two"),
        "{told}"
    );
    project.write("build.gradle.kts", script);
    project.write("gradle/libs.versions.toml", "[versions\n");
    assert!(reason(&project, "").contains("`gradle/libs.versions.toml` does not parse"));
}
