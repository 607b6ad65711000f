//! The real `monoco` 0.4.2: it is installed below `target/` once, and then used as an agent uses it.
//!
//! Without a network, or without python3, these tests say that they are skipped, and pass.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use ahp::process::{Exit, Finished, Program};
use ahp::workspace::{DiskWorkspace, Issue, ItemState, Workspace as _};

const REQUIREMENT: &str = "monoco-toolkit==0.4.2";

/// An installed `monoco`.
#[derive(Clone, Debug)]
pub(crate) struct Monoco {
    /// The folder of its program.
    bin: PathBuf,
}

/// A project whose issues `monoco` keeps: FEAT-0001 is started, on a branch of its own.
#[derive(Debug)]
pub(crate) struct Project {
    dir: tempfile::TempDir,
    monoco: Monoco,
}

impl Monoco {
    /// Installs it, if that was not done before; says that the test is skipped where it cannot be had.
    pub(crate) fn get() -> Option<Self> {
        static INSTALLED: OnceLock<Result<Monoco, String>> = OnceLock::new();
        match INSTALLED.get_or_init(Self::install) {
            Ok(monoco) => Some(monoco.clone()),
            Err(why) => {
                eprintln!("SKIPPED: the real monoco cannot be had here: {why}");
                None
            }
        }
    }

    fn install() -> Result<Self, String> {
        let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("monoco-0.4.2");
        let stamp = dir.join("installed");
        let bin = dir.join("bin");
        std::fs::create_dir_all(env!("CARGO_TARGET_TMPDIR")).map_err(|e| e.to_string())?;
        // Test processes that run side by side install it one after the other.
        let lock = std::fs::File::create(dir.with_extension("lock")).map_err(|e| e.to_string())?;
        lock.lock().map_err(|e| e.to_string())?;
        let dir = dir.display().to_string();
        // Python's environments name their place in themselves: one that was moved with `target/` is made anew.
        let installed = format!("{REQUIREMENT} at {dir}");
        if std::fs::read_to_string(&stamp).ok().as_ref() != Some(&installed) {
            run(
                &["python3", "-m", "venv", "--clear", &dir],
                Duration::from_mins(1),
            )?;
            let pip = bin.join("pip").display().to_string();
            run(
                &[
                    &pip,
                    "install",
                    "--quiet",
                    "--disable-pip-version-check",
                    "--retries=1",
                    "--timeout=15",
                    REQUIREMENT,
                ],
                Duration::from_mins(5),
            )?;
            std::fs::write(&stamp, installed).map_err(|e| e.to_string())?;
        }
        Ok(Self { bin })
    }

    /// Makes a project with an issue that only lacks its last task.
    pub(crate) fn project(&self) -> Project {
        // Made once, and copied: each call of `monoco` takes the better part of a second.
        static TEMPLATE: OnceLock<Project> = OnceLock::new();
        let template = TEMPLATE.get_or_init(|| self.make_project());
        let project = Project {
            dir: tempfile::tempdir().unwrap(),
            monoco: self.clone(),
        };
        let (from, to) = (template.dir.path().join("."), project.dir.path());
        let (from, to) = (from.display().to_string(), to.display().to_string());
        run(&["cp", "-a", &from, &to], Duration::from_mins(1)).unwrap();
        project
    }

    fn make_project(&self) -> Project {
        let project = Project {
            dir: tempfile::tempdir().unwrap(),
            monoco: self.clone(),
        };
        std::fs::create_dir_all(project.root()).unwrap();
        std::fs::create_dir_all(project.dir.path().join("home")).unwrap();
        project.write("README.md", "# Example\n");
        project.ok(&["git", "init", "-q", "-b", "main", "."]);
        project.ok(&[
            "monoco",
            "init",
            "--name",
            "Example",
            "--key",
            "EX",
            "--author",
            "Tess",
            "--no-telemetry",
        ]);
        // Its own hook would lint every commit.
        std::fs::remove_file(project.root().join(".git/hooks/pre-commit")).ok();
        project.commit("init");
        project.ok(&[
            "monoco",
            "issue",
            "create",
            "epic",
            "--title",
            "Public interface",
        ]);
        project.ok(&[
            "monoco",
            "issue",
            "create",
            "feature",
            "--title",
            "API 文档",
            "--parent",
            "EPIC-0001",
        ]);
        project.commit("issues");
        project.ok(&["monoco", "issue", "start", "FEAT-0001"]);
        project.edit_issue(|text| {
            let (head, _) = text.split_once("## Objective").unwrap();
            format!(
                "{head}## Objective\nThe interface is described.\n\n## Acceptance Criteria\n- [x] Each endpoint is listed\n\n\
                 ## Technical Tasks\n- [x] Write the handler\n- [ ] API docs\n\n## Review Comments\n- [x] Read by Tess\n"
            )
        });
        project.write("src/api.py", "print('api')\n");
        project.commit("feat: answer requests");
        project.ok(&["monoco", "issue", "sync-files", "FEAT-0001"]);
        project.commit("chore: sync");
        project
    }
}

impl Project {
    pub(crate) fn root(&self) -> PathBuf {
        self.dir.path().join("project")
    }

    pub(crate) fn write(&self, path: &str, content: &str) {
        let path = self.root().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    /// Runs a program of the project, `monoco` and `ahp` among them.
    pub(crate) fn run(&self, argv: &[&str]) -> Finished {
        self.run_with(argv, "")
    }

    /// Runs a program with something to read.
    pub(crate) fn run_with(&self, argv: &[&str], input: &str) -> Finished {
        let ahp = Path::new(env!("CARGO_BIN_EXE_ahp")).parent().unwrap();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let dirs = [
            self.root().join(".ahp/bin"),
            self.monoco.bin.clone(),
            ahp.to_owned(),
        ];
        let path = std::env::join_paths(dirs.into_iter().chain(std::env::split_paths(&path)));
        let home = self.dir.path().join("home");
        Program::new(argv.iter().map(|&word| word.to_owned()).collect())
            .dir(self.root())
            .env("PATH", path.unwrap())
            .env("HOME", &home)
            .env("AHP_HOME", home.join(".ahp"))
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_AUTHOR_NAME", "Tess")
            .env("GIT_AUTHOR_EMAIL", "tess@example.org")
            .env("GIT_COMMITTER_NAME", "Tess")
            .env("GIT_COMMITTER_EMAIL", "tess@example.org")
            .env("NO_COLOR", "1")
            .stdin(input)
            .deadline(Some(Instant::now() + Duration::from_mins(1)))
            .run()
            .unwrap()
    }

    /// Runs a program that must succeed; returns its output.
    pub(crate) fn ok(&self, argv: &[&str]) -> String {
        let finished = self.run(argv);
        let (out, err) = (finished.stdout_text(), finished.stderr_text());
        assert!(finished.exit.is_success(), "{argv:?}: {out}\n{err}");
        out
    }

    pub(crate) fn commit(&self, subject: &str) {
        self.ok(&["git", "add", "-A"]);
        self.ok(&["git", "commit", "-q", "--allow-empty", "-m", subject]);
    }

    /// Reads FEAT-0001 as oracles do.
    pub(crate) fn issue(&self) -> Issue {
        let workspace = DiskWorkspace::new(self.root(), self.root().join("Issues"));
        Issue::clone(&workspace.issue("FEAT-0001").unwrap().unwrap())
    }

    /// Changes the text of FEAT-0001.
    pub(crate) fn edit_issue(&self, change: impl Fn(&str) -> String) {
        let path = self.root().join(self.issue().path);
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(path, change(&text)).unwrap();
    }

    /// Does the last task.
    pub(crate) fn complete(&self) {
        self.edit_issue(|text| text.replace("- [ ] API docs", "- [x] API docs"));
        self.commit("docs: describe the interface");
    }
}

fn run(argv: &[&str], limit: Duration) -> Result<(), String> {
    let finished = Program::new(argv.iter().map(|&word| word.to_owned()).collect())
        .deadline(Some(Instant::now() + limit))
        .run()
        .map_err(|error| error.to_string())?;
    if finished.exit.is_success() {
        return Ok(());
    }
    let said = finished.stderr_text();
    let last = said.lines().last().unwrap_or_default();
    Err(format!("{argv:?} ended with {:?}: {last}", finished.exit))
}

/// The gate of the worked example: the checklist, before an issue is submitted.
const GATE: &str = "hooks:\n  pre-issue-submit:\n    - oracle: ChecklistValidator\n";

#[test]
fn an_issue_is_read_at_every_step_of_its_life() {
    let Some(monoco) = Monoco::get() else { return };
    let project = monoco.project();
    let issue = project.issue();
    assert_eq!(issue.path, "Issues/Features/open/FEAT-0001-api-文档.md");
    assert_eq!(issue.title.as_deref(), Some("API 文档"));
    assert_eq!(issue.kind.as_deref(), Some("feature"));
    assert_eq!(
        (issue.status.as_deref(), issue.stage.as_deref()),
        (Some("open"), Some("doing"))
    );
    assert_eq!(issue.parent.as_deref(), Some("EPIC-0001"));
    assert!(
        issue.files.contains(&"src/api.py".to_owned()),
        "{:?}",
        issue.files
    );
    assert_eq!(issue.progress(), (4, 3));
    let open = issue
        .items()
        .find(|item| item.state == ItemState::Open)
        .unwrap();
    assert_eq!(
        (open.id.as_str(), open.text.as_str()),
        ("chk-003", "API docs")
    );

    project.complete();
    project.ok(&["monoco", "issue", "submit", "FEAT-0001"]);
    assert_eq!(project.issue().stage.as_deref(), Some("review"));
    project.commit("chore: submitted");
    project.ok(&["git", "checkout", "-q", "main"]);
    project.ok(&[
        "monoco",
        "issue",
        "close",
        "FEAT-0001",
        "--solution",
        "implemented",
    ]);
    let issue = project.issue();
    assert_eq!(issue.path, "Issues/Features/closed/FEAT-0001-api-文档.md");
    assert_eq!(issue.solution.as_deref(), Some("implemented"));
    assert!(issue.closed_at.is_some() && issue.is_finished());
}

#[test]
fn exec_gates_the_real_submit() {
    let Some(monoco) = Monoco::get() else { return };
    let project = monoco.project();
    project.write(".ahp/hooks.yaml", GATE);
    let submit = [
        "ahp",
        "exec",
        "--",
        "monoco",
        "issue",
        "submit",
        "FEAT-0001",
    ];
    let blocked = project.run(&submit);
    assert_eq!(blocked.exit, Exit::Code(2), "{}", blocked.stderr_text());
    let said = blocked.stderr_text();
    assert!(
        said.contains("chk-003") && said.contains("API docs"),
        "{said}"
    );
    assert_eq!(project.issue().stage.as_deref(), Some("doing"));

    let bypass = [&submit[..], &["--no-hooks"]].concat();
    let refused = project.run(&bypass);
    assert_eq!(refused.exit, Exit::Code(2), "{}", refused.stderr_text());
    assert!(
        refused.stderr_text().contains("--no-hooks"),
        "{}",
        refused.stderr_text()
    );
    assert_eq!(project.issue().stage.as_deref(), Some("doing"));

    project.complete();
    let passed = project.run(&submit);
    assert!(
        passed.exit.is_success(),
        "{}\n{}",
        passed.stdout_text(),
        passed.stderr_text()
    );
    assert_eq!(project.issue().stage.as_deref(), Some("review"));
}

#[test]
fn the_hook_of_an_agent_gates_the_real_submit() {
    let Some(monoco) = Monoco::get() else { return };
    let project = monoco.project();
    project.write(".ahp/hooks.yaml", GATE);
    let event = serde_json::json!({
        "hook_event_name": "PreToolUse",
        "session_id": "s1",
        "cwd": project.root(),
        "tool_name": "Bash",
        "tool_input": {"command": "cd . && MONOCO=1 monoco issue submit FEAT-0001"},
        "tool_use_id": "t1",
    })
    .to_string();
    let ask = || project.run_with(&["ahp", "hook", "--host", "claude-code"], &event);
    let blocked = ask();
    let said = format!("{}\n{}", blocked.stdout_text(), blocked.stderr_text());
    assert!(said.contains("chk-003"), "{said}");
    assert!(
        said.contains("deny") || blocked.exit == Exit::Code(2),
        "{said}"
    );
    project.complete();
    let passed = ask();
    let said = format!("{}\n{}", passed.stdout_text(), passed.stderr_text());
    assert!(passed.exit.is_success() && !said.contains("deny"), "{said}");
}

#[test]
fn the_shim_gates_the_real_submit() {
    let Some(monoco) = Monoco::get() else { return };
    let project = monoco.project();
    project.write(".ahp/hooks.yaml", GATE);
    project.ok(&["ahp", "install", "monoco"]);
    let blocked = project.run(&["monoco", "issue", "submit", "FEAT-0001"]);
    let said = blocked.stderr_text();
    assert_eq!(blocked.exit, Exit::Code(2), "{said}");
    assert!(said.contains("chk-003"), "{said}");
    assert_eq!(project.issue().stage.as_deref(), Some("doing"));
    project.complete();
    project.ok(&["monoco", "issue", "submit", "FEAT-0001"]);
    assert_eq!(project.issue().stage.as_deref(), Some("review"));
}
