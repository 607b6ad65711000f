//! DependencyChecker on workspaces, and on lock files that are older than their manifest or those of another project.

use super::dependency_checker::{reason, with_issue};

/// Files that are well, and for each fault the file that brings it and what is told then.
struct Case {
    well: &'static [(&'static str, &'static str)],
    faults: &'static [(&'static str, &'static str, &'static str)],
}

const UV_ROOT: &str = "[project]\nname = \"root\"\ndependencies = []\n\
     [tool.uv.workspace]\nmembers = [\"packages/*\"]\nexclude = [\"packages/old\"]\n";
const UV_LOCK: &str = "[[package]]\nname = \"root\"\nsource = { virtual = \".\" }\n\
     [[package]]\nname = \"a\"\nsource = { editable = \"packages/a\" }\n\
     [package.metadata]\nrequires-dist = [{ name = \"pip\" }]\n\
     [[package]]\nname = \"b\"\nsource = { editable = \"packages/b\" }\n\
     [[package]]\nname = \"pip\"\nversion = \"24.0\"\n";

const CASES: &[Case] = &[
    // uv: one lock file for all members.
    Case {
        well: &[
            ("pyproject.toml", UV_ROOT),
            ("uv.lock", UV_LOCK),
            (
                "packages/a/pyproject.toml",
                "[project]\nname = \"a\"\ndependencies = [\"pip\"]\n[tool.uv]\n",
            ),
            (
                "packages/b/pyproject.toml",
                "[project]\nname = \"b\"\n[tool.uv.sources]\na = { workspace = true }\n",
            ),
            (
                "packages/old/pyproject.toml",
                "[project]\nname = \"old\"\ndependencies = [\"no-such-package\"]\n[tool.uv]\n",
            ),
        ],
        faults: &[
            (
                "packages/b/pyproject.toml",
                "[project]\nname = \"b\"\ndependencies = [\"pip\"]\n",
                "`uv.lock` is out of step with `packages/b/pyproject.toml`: it does not know that b needs pip",
            ),
            (
                "packages/a/pyproject.toml",
                "[project]\nname = \"a\"\n",
                "it still has pip for a",
            ),
            (
                "packages/a/pyproject.toml",
                "[project]\nname = \"a\"\ndependencies = [\"pip\"]\n[dependency-groups]\ndev = [\"right\"]\n",
                "it does not name right",
            ),
            (
                "packages/c/pyproject.toml",
                "[project]\nname = \"c\"\n",
                "it does not know the project c",
            ),
            (
                "uv.lock",
                "[[package]]\nname = \"other\"\n",
                "it does not know the project root",
            ),
        ],
    },
    // Poetry: groups are locked too.
    Case {
        well: &[
            (
                "pyproject.toml",
                "[tool.poetry]\nname = \"a\"\n[tool.poetry.group.dev.dependencies]\nleft = \"*\"\n",
            ),
            ("poetry.lock", "[[package]]\nname = \"left\"\n"),
        ],
        faults: &[(
            "poetry.lock",
            "[[package]]\nname = \"right\"\n",
            "it does not name left",
        )],
    },
    // pip-compile: what is named in the source is named in what is made of it.
    Case {
        well: &[
            ("requirements.in", "# ours\npip\n"),
            ("requirements.txt", "pip\n"),
        ],
        faults: &[(
            "requirements.in",
            "pip\nno-such-package\n",
            "`requirements.txt` is out of step with `requirements.in`: it does not name no-such-package",
        )],
    },
    // Go: the modules of a workspace need no sums of each other, and share `go.work.sum`.
    Case {
        well: &[
            (
                "go.work",
                "go 1.22\n\nuse (\n\t./a\n\t./b // the other\n)\n",
            ),
            (
                "a/go.mod",
                "module example.org/a\n\nrequire (\n\texample.org/b v0.0.0\n\texample.org/c v1.0.0\n)\n",
            ),
            ("b/go.mod", "module example.org/b\n"),
            ("go.work.sum", "example.org/c v1.0.0/go.mod h1:x=\n"),
        ],
        faults: &[
            (
                "go.work",
                "use (\n\t./a\n\t./b\n\t./d\n)\n",
                "`go.work` uses modules that are not there: ./d",
            ),
            ("go.work.sum", "", "example.org/c v1.0.0"),
            (
                "b/go.mod",
                "module example.org/b\nrequire example.org/d v1.1.0\n",
                "`go.sum` is out of step with `b/go.mod`: example.org/d v1.1.0",
            ),
            (
                "go.work",
                "use ./a\n",
                "`go.sum` is out of step with `a/go.mod`: example.org/b v0.0.0",
            ),
            // What stands in the place of a module has a sum, unless it is a directory.
            (
                "b/go.mod",
                "module example.org/b\nrequire example.org/d v1.1.0\nreplace example.org/d => example.org/fork v1.2.0\n",
                "example.org/fork v1.2.0",
            ),
        ],
    },
    // npm: the members of a workspace are looked at from its root.
    Case {
        well: &[
            ("package.json", r#"{"workspaces": ["packages/*"]}"#),
            (
                "package-lock.json",
                r#"{"packages": {"": {}, "packages/a": {"dependencies": {"left": "^1.0.0"}}, "node_modules/left": {"version": "1.2.0"}}}"#,
            ),
            (
                "packages/a/package.json",
                r#"{"name": "a", "dependencies": {"left": "^1.0.0"}}"#,
            ),
            ("node_modules/left/package.json", r#"{"version": "1.2.0"}"#),
        ],
        faults: &[
            (
                "packages/a/package.json",
                r#"{"name": "a", "dependencies": {"left": "^2.0.0"}}"#,
                "out of step with `packages/a/package.json`: left",
            ),
            (
                "packages/b/package.json",
                r#"{"name": "b", "dependencies": {"left": "^1.0.0"}}"#,
                "does not know `packages/b/package.json`",
            ),
            // It repeats what is declared, and holds nothing of it.
            (
                "package-lock.json",
                r#"{"packages": {"": {}, "packages/a": {"dependencies": {"left": "^1.0.0"}}}}"#,
                "out of step with `packages/a/package.json`: left",
            ),
            // Version 1.
            (
                "package-lock.json",
                r#"{"dependencies": {"right": {"version": "1.0.0"}}}"#,
                "out of step with `packages/a/package.json`: left",
            ),
        ],
    },
    // pnpm and Yarn.
    Case {
        well: &[
            ("package.json", "{}"),
            (
                "pnpm-workspace.yaml",
                "packages: ['packages/*', '!packages/old']\n",
            ),
            (
                "pnpm-lock.yaml",
                "importers:\n  packages/a:\n    dependencies:\n      left: {specifier: ^1.0.0, version: 1.2.0}\n",
            ),
            (
                "packages/a/package.json",
                r#"{"name": "a", "dependencies": {"left": "^1.0.0"}}"#,
            ),
            (
                "packages/old/package.json",
                r#"{"name": "old", "dependencies": {"gone": "^1.0.0"}}"#,
            ),
            ("node_modules/left/package.json", r#"{"version": "1.2.0"}"#),
        ],
        faults: &[(
            "pnpm-lock.yaml",
            "importers:\n  packages/other: {}\n",
            "does not know `packages/a/package.json`",
        )],
    },
    Case {
        well: &[
            ("package.json", r#"{"workspaces": {"packages": ["a"]}}"#),
            ("yarn.lock", "left@^1.0.0:\n  version \"1.2.0\"\n"),
            (
                "a/package.json",
                r#"{"name": "a", "dependencies": {"left": "^1.0.0"}}"#,
            ),
            ("node_modules/left/package.json", r#"{"version": "1.2.0"}"#),
        ],
        faults: &[(
            "yarn.lock",
            "left@^2.0.0:\n  version \"2.0.0\"\n",
            "out of step with `a/package.json`: left",
        )],
    },
    // Gradle: each project has its lock file; the older form has one for each configuration.
    Case {
        well: &[
            (
                "settings.gradle.kts",
                "include(\":app\",\n    \":libs:core\")\n",
            ),
            (
                "build.gradle.kts",
                "allprojects {\n  dependencyLocking { lockAllConfigurations() }\n}\n",
            ),
            ("gradle.lockfile", "empty=\n"),
            (
                "app/build.gradle.kts",
                "dependencies {\n  implementation(\"g:n:1.0\")\n}\n",
            ),
            ("app/gradle.lockfile", "g:n:1.0=compileClasspath\n"),
            (
                "libs/core/build.gradle.kts",
                "dependencies {\n  implementation(\"g:m:1.0\")\n}\n",
            ),
            (
                "libs/core/gradle/dependency-locks/compileClasspath.lockfile",
                "# made\ng:m:1.0\n",
            ),
        ],
        faults: &[
            (
                "app/gradle.lockfile",
                "g:other:1.0=compileClasspath\n",
                "out of step with `app/build.gradle.kts`: it does not name g:n",
            ),
            (
                "libs/core/gradle/dependency-locks/compileClasspath.lockfile",
                "g:m:0.9\n",
                "g:m is locked as 0.9 and not 1.0",
            ),
        ],
    },
    // Maven: the modules of a project are a part of it.
    Case {
        well: &[
            (
                "pom.xml",
                "<project><artifactId>a</artifactId><modules><module>b</module></modules></project>",
            ),
            ("b/pom.xml", "<project><artifactId>b</artifactId></project>"),
        ],
        faults: &[(
            "b/pom.xml",
            "<project><artifactId>b</artifactId><modules><module>c</module></modules></project>",
            "modules of `b/pom.xml` are not there: c",
        )],
    },
];

#[test]
fn members_of_workspaces_are_held_to_their_lock_file() {
    for Case { well, faults } in CASES {
        let project = with_issue(well).in_git();
        let found = project.judge("DependencyChecker", "");
        assert!(found.is_empty(), "{}: {found:?}", well[0].0);
        for (path, text, told) in *faults {
            let project = with_issue(well).in_git();
            project.write(path, text);
            let said = reason(&project, "");
            assert!(said.contains(told), "{path}: {text}\n{said}");
        }
    }
}
