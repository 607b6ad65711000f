//! A user, a project and its hooks in a folder of their own.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use ahp::event::Event;
use ahp::fact::Fact;
use ahp::fact::FactValue;
use ahp::fact::Facts;
use ahp::fact::FactsSeed;
use ahp::hook_md::Hook;
use ahp::hook_md::Hooks;
use ahp::hook_md::Places;
use ahp::hook_md::discover;
use ahp::oracle::HookContext;
use ahp::oracle::Oracle as _;
use ahp::oracle::OracleError;
use ahp::oracle::external::HookOracle;
use ahp::process::find_program;
use ahp::signal::Signal;
use ahp::signal_log::EmptyHistory;
use ahp::trust::Trust;
use ahp::workspace::ChangeScope;
use ahp::workspace::Changes;
use ahp::workspace::GitError;
use ahp::workspace::GitState;
use ahp::workspace::Issue;
use ahp::workspace::IssueError;
use ahp::workspace::Workspace;

/// A project without git and issues.
#[derive(Debug)]
struct Bare(PathBuf);

impl Workspace for Bare {
    fn root(&self) -> &Path {
        &self.0
    }
    fn read(&self, path: &str) -> io::Result<Arc<[u8]>> {
        fs::read(self.0.join(path)).map(Into::into)
    }
    fn exists(&self, path: &str) -> bool {
        self.0.join(path).exists()
    }
    fn list(&self, _: &str) -> Vec<String> {
        Vec::new()
    }
    fn issue(&self, _: &str) -> Result<Option<Arc<Issue>>, IssueError> {
        Ok(None)
    }
    fn changes(&self, _: ChangeScope) -> Result<Arc<Changes>, GitError> {
        Err(GitError::NoRepository("here".to_owned()))
    }
    fn git(&self) -> Result<Arc<GitState>, GitError> {
        Err(GitError::NoRepository("here".to_owned()))
    }
    fn test_figure(&self, _: Fact) -> FactValue<'_> {
        FactValue::Absent
    }
    fn is_on_disk(&self) -> bool {
        true
    }
}

/// A user and a project.
pub(crate) struct World {
    pub(crate) dir: tempfile::TempDir,
    pub(crate) trust: Trust,
}

impl World {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        for sub in ["user", "project/.agents/hooks", "cache"] {
            fs::create_dir_all(dir.path().join(sub)).unwrap();
        }
        Self {
            dir,
            trust: Trust::everything(),
        }
    }

    pub(crate) fn user(&self) -> PathBuf {
        self.dir.path().join("user")
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.dir.path().join("project")
    }

    pub(crate) fn project_hooks(&self) -> PathBuf {
        self.project().join(".agents/hooks")
    }

    pub(crate) fn places(&self) -> Places {
        Places::new(Some(&self.user()), &self.project())
    }

    pub(crate) fn hooks(&self) -> Hooks {
        discover(&self.places())
    }

    /// Writes a hook with a shell script.
    pub(crate) fn write(dir: &Path, name: &str, fields: &str, script: &str) {
        let hook = dir.join(name);
        fs::create_dir_all(hook.join("scripts")).unwrap();
        let text = format!("---\nname: {name}\ndescription: A test\n{fields}\n---\n# Words\n");
        fs::write(hook.join("HOOK.md"), text).unwrap();
        let run = hook.join("scripts/run");
        fs::write(&run, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&run, fs::Permissions::from_mode(0o755)).unwrap();
    }

    pub(crate) fn context(&self, event: &Event, timeout: std::time::Duration) -> HookContext {
        let facts = Facts::new(FactsSeed {
            event: Arc::new(event.clone()),
            workspace: Arc::new(Bare(self.project())),
            history: Arc::new(EmptyHistory),
            environment: "development".to_owned(),
            time: "2026-01-15T10:30:00Z".parse().unwrap(),
            home: Some(self.user()),
        });
        HookContext {
            facts: Arc::new(facts),
            binding: "test".into(),
            deadline: Instant::now().checked_add(timeout),
            state_dir: self.dir.path().join("state"),
            trust: self.trust.clone(),
        }
    }

    /// Runs one hook for an event.
    pub(crate) fn run(&self, hook: &Arc<Hook>, event: &Event) -> Result<Vec<Signal>, OracleError> {
        let context = self.context(event, hook.front.timeout);
        block_on(HookOracle::new(hook.clone()).evaluate(&context))
    }
}

/// Copies a folder with all that is in it.
pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::write(&to, fs::read(entry.path()).unwrap()).unwrap();
            let mode = entry.metadata().unwrap().permissions().mode();
            fs::set_permissions(&to, fs::Permissions::from_mode(mode)).unwrap();
        }
    }
}

/// Whether a program is here; says so where it is not.
pub(crate) fn is_here(program: &str) -> bool {
    let found = find_program(program, std::env::var_os("PATH").as_deref()).is_some();
    if !found {
        eprintln!("skipped: there is no `{program}` here");
    }
    found
}

/// Waits for a future that never waits.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match std::pin::pin!(future).poll(&mut context) {
        std::task::Poll::Ready(output) => output,
        std::task::Poll::Pending => panic!("the future waits"),
    }
}

/// Reads an event from YAML.
pub(crate) fn event(yaml: &str) -> Event {
    serde_yaml::from_str(yaml).unwrap()
}
