//! Hooks and oracles of a world, each judging an event without a policy around it.

use std::fs;
use std::io;
use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
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
use ahp::signal::Signal;
use ahp::signal_log::EmptyHistory;
use ahp::workspace::ChangeScope;
use ahp::workspace::Changes;
use ahp::workspace::GitError;
use ahp::workspace::GitState;
use ahp::workspace::Issue;
use ahp::workspace::IssueError;
use ahp::workspace::Workspace;

use super::World;
use super::executable;
use super::write;

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

impl World {
    pub(crate) fn user_hooks(&self) -> PathBuf {
        self.home().join("hooks")
    }

    pub(crate) fn project_hooks(&self) -> PathBuf {
        self.path(".agents/hooks")
    }

    pub(crate) fn hook_places(&self) -> Places {
        Places::new(Some(&self.user_hooks()), &self.root())
    }

    pub(crate) fn hooks(&self) -> Hooks {
        discover(&self.hook_places())
    }

    /// Writes a hook with a shell script.
    pub(crate) fn write_hook(dir: &Path, name: &str, fields: &str, script: &str) {
        let hook = dir.join(name);
        let text = format!("---\nname: {name}\ndescription: A test\n{fields}\n---\n# Words\n");
        write(&hook.join("HOOK.md"), text);
        executable(&hook.join("scripts/run"), &format!("#!/bin/sh\n{script}\n"));
    }

    pub(crate) fn context(&self, event: &Event, timeout: Duration) -> HookContext {
        let facts = Facts::new(FactsSeed {
            event: Arc::new(event.clone()),
            workspace: Arc::new(Bare(self.root())),
            history: Arc::new(EmptyHistory),
            environment: "development".to_owned(),
            time: "2026-01-15T10:30:00Z".parse().unwrap(),
            home: Some(self.home()),
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
    pub(crate) fn run_hook(
        &self,
        hook: &Arc<Hook>,
        event: &Event,
    ) -> Result<Vec<Signal>, OracleError> {
        let context = self.context(event, hook.front.timeout);
        block_on(HookOracle::new(hook.clone()).evaluate(&context))
    }
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
