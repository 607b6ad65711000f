//! Hooks and oracles of a world, each judging an event without a policy around it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ahp::event::Event;
use ahp::fact::{Facts, FactsSeed};
use ahp::guard::Guards;
use ahp::hook_md::{Hook, Hooks, Places, discover};
use ahp::oracle::external::HookOracle;
use ahp::oracle::{HookContext, Oracle as _, OracleError};
use ahp::place::Roots;
use ahp::signal::{Payload, Signal};
use ahp::signal_log::EmptyHistory;
use ahp::trust::Trust;
use ahp::workspace::{DiskWorkspace, Workspace};

use super::{World, executable, write};

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
        let workspace = DiskWorkspace::new(self.root(), self.path("Issues"));
        let seed = FactsSeed {
            time: "2026-01-15T10:30:00Z".parse().unwrap(),
            home: Some(self.home()),
            ..seed(event.clone(), Arc::new(workspace))
        };
        HookContext {
            state_dir: self.dir.path().join("state").into(),
            trust: self.trust.clone(),
            ..context(Arc::new(Facts::new(seed)), timeout)
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

/// What the facts of an event are made of, where nothing is remembered.
pub(crate) fn seed(event: Event, workspace: Arc<dyn Workspace>) -> FactsSeed {
    FactsSeed {
        event: Arc::new(event),
        workspace,
        history: Arc::new(EmptyHistory),
        environment: "development".to_owned(),
        time: "2026-02-09T10:00:00Z".parse().unwrap(),
        home: None,
        trusted_hosts: Vec::new(),
    }
}

/// What an oracle is given, with some time to judge.
pub(crate) fn context(facts: Arc<Facts>, timeout: Duration) -> HookContext {
    HookContext {
        binding: "test".into(),
        deadline: Instant::now().checked_add(timeout),
        state_dir: facts.project_root().join(".ahp").into(),
        trust: Trust::everything(),
        guards: Guards::new(
            Roots::new(facts.project_root(), facts.home().map(Path::to_owned)),
            Vec::new(),
        )
        .into(),
        outside: false,
        facts,
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

/// Returns the steps of a signal.
pub(crate) fn steps(signal: &Signal) -> &[String] {
    match &signal.payload {
        Payload::Control(_) => &[],
        other => other.steps(),
    }
}
