//! A small real project in a folder of its own, and one oracle that judges it.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use ahp::config::{Node, parse_yaml};
use ahp::diagnostic::Span;
use ahp::event::{Event, Trigger};
use ahp::fact::{Facts, FactsSeed};
use ahp::oracle::{Catalog, ConfigError, Oracle, OracleConfig, OracleError};
use ahp::signal::{Intensity, Signal};
use ahp::workspace::DiskWorkspace;

use crate::world::{World, context, executable, seed};

/// A project.
pub(super) struct Project(World);

impl Project {
    pub(super) fn new(files: &[(&str, &str)]) -> Self {
        let world = World::new("");
        for (path, content) in files {
            world.write(path, content);
        }
        Self(world)
    }

    /// Makes a repository of it, with everything committed on `main`, and goes to a branch.
    pub(super) fn in_git(self) -> Self {
        self.0.git_init();
        self.git(&["checkout", "-q", "-b", "work"]);
        self
    }

    pub(super) fn root(&self) -> PathBuf {
        self.0.root().canonicalize().unwrap()
    }

    pub(super) fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        self.0.write(path, content);
    }

    pub(super) fn read(&self, path: &str) -> String {
        self.0.read(path)
    }

    pub(super) fn git(&self, arguments: &[&str]) {
        self.0.git(arguments);
    }

    pub(super) fn exists(&self, path: &str) -> bool {
        self.0.path(path).exists()
    }

    /// Makes a file older by some seconds.
    pub(super) fn age(&self, path: &str, seconds: u64) {
        let file = fs::File::options()
            .write(true)
            .open(self.0.path(path))
            .unwrap();
        let time = file.metadata().unwrap().modified().unwrap() - Duration::from_secs(seconds);
        file.set_modified(time).unwrap();
    }

    fn node(config: &str) -> Node {
        let mut faults = Vec::new();
        let node = parse_yaml(config, Span::default().file, &mut faults);
        assert!(faults.is_empty(), "{config}");
        node.unwrap_or(Node::empty_map(Span::default()))
    }

    /// Makes an oracle of its configuration in YAML.
    pub(super) fn oracle(&self, name: &str, config: &str) -> Result<Arc<dyn Oracle>, ConfigError> {
        let config = if config.is_empty() { "{}" } else { config };
        let catalog = Catalog::default();
        let factory = catalog.find(name).unwrap();
        let root = self.root();
        factory.build(&OracleConfig {
            node: &Self::node(config),
            root: &root,
        })
    }

    /// Lets an oracle judge an event, with some seconds of time.
    pub(super) fn judge_event(
        &self,
        name: &str,
        config: &str,
        event: Event,
        timeout: f64,
    ) -> Result<Vec<Signal>, OracleError> {
        let oracle = self.oracle(name, config).unwrap();
        let workspace = DiskWorkspace::new(self.root(), PathBuf::from("Issues"));
        let seed = FactsSeed {
            time: std::time::UNIX_EPOCH
                .elapsed()
                .map(|d| chrono::DateTime::UNIX_EPOCH + d)
                .unwrap(),
            ..seed(event, Arc::new(workspace))
        };
        let timeout = Duration::from_secs_f64(timeout);
        let context = context(Arc::new(Facts::new(seed)), timeout);
        tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap()
            .block_on(oracle.evaluate(&context))
    }

    /// Lets an oracle judge the submission of an issue.
    pub(super) fn judge(&self, name: &str, config: &str) -> Vec<Signal> {
        self.judge_event(name, config, submission(), 120.0).unwrap()
    }
}

/// The submission of FEAT-0001.
pub(super) fn submission() -> Event {
    Event::new(Trigger::PreIssueSubmit).with_issue("FEAT-0001")
}

/// A tool call that has not happened yet.
pub(super) fn tool(name: &str, input: serde_json::Value) -> Event {
    Event::tool_use(name, input)
}

/// Returns the one signal: its kind, its intensity and its words.
pub(super) fn only(signals: &[Signal]) -> (&str, Intensity, &str) {
    match signals {
        [signal] => (
            &signal.header.kind,
            signal.intensity(),
            signal.payload.text(),
        ),
        other => panic!("expected one signal: {other:#?}"),
    }
}

/// The machine's `PATH` with this project's folder before it.
pub(super) fn path_before(project: &Project) -> std::ffi::OsString {
    let machine = std::env::var_os("PATH").unwrap();
    let mut dirs = vec![project.root()];
    dirs.extend(std::env::split_paths(&machine));
    std::env::join_paths(dirs).unwrap()
}

/// Returns the message of a configuration that makes no oracle.
pub(super) fn refused(error: Result<Arc<dyn Oracle>, ConfigError>) -> String {
    match error {
        Ok(oracle) => panic!("expected an error: {oracle:?}"),
        Err(ConfigError(faults)) => faults[0].message.clone(),
    }
}

/// Puts a program of this test's own into the project.
pub(super) fn script(project: &Project, path: &str, body: &str) {
    executable(&project.root().join(path), &format!("#!/bin/sh\n{body}\n"));
}
