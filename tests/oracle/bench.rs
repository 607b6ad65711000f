//! A bench on which one oracle judges one event.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use std::time::Instant;

use ahp::config::parse_yaml;
use ahp::diagnostic::Diagnostic;
use ahp::diagnostic::SourceMap;
use ahp::event::Event;
use ahp::event::ToolCall;
use ahp::event::Trigger;
use ahp::fact::Facts;
use ahp::fact::FactsSeed;
use ahp::oracle::Catalog;
use ahp::oracle::ConfigError;
use ahp::oracle::HookContext;
use ahp::oracle::Oracle;
use ahp::oracle::OracleConfig;
use ahp::oracle::OracleError;
use ahp::signal::Payload;
use ahp::signal::Signal;
use ahp::signal_log::EmptyHistory;
use ahp::signal_log::History;
use ahp::trust::Trust;
use ahp::workspace::Change;
use ahp::workspace::ChangedFile;
use ahp::workspace::Changes;
use ahp::workspace::Workspace;

/// An event in a project.
#[derive(Clone, Debug)]
pub(crate) struct Bench {
    workspace: Arc<dyn Workspace>,
    event: Event,
    history: Arc<dyn History>,
    state_dir: PathBuf,
    time: &'static str,
}

impl Bench {
    /// Makes an event of `trigger` in a project.
    pub(crate) fn new(trigger: Trigger, workspace: impl Workspace + 'static) -> Self {
        Self {
            state_dir: workspace.root().join(".ahp"),
            workspace: Arc::new(workspace),
            event: Event::new(trigger),
            history: Arc::new(EmptyHistory),
            time: "2026-02-09T10:00:00Z",
        }
    }

    pub(crate) fn issue(mut self, id: &str) -> Self {
        self.event.issue_id = Some(id.to_owned());
        self
    }

    pub(crate) fn tool(mut self, name: &str, input: serde_json::Value) -> Self {
        self.event.tool = Some(ToolCall {
            name: name.to_owned(),
            input,
            ..ToolCall::default()
        });
        self
    }

    pub(crate) fn history(mut self, history: impl History + 'static) -> Self {
        self.history = Arc::new(history);
        self
    }

    /// Lets an oracle judge the event; its configuration is YAML.
    pub(crate) fn judge(&self, oracle: &str, config: &str) -> Vec<Signal> {
        self.try_judge(oracle, config).unwrap()
    }

    pub(crate) fn try_judge(&self, oracle: &str, config: &str) -> Result<Vec<Signal>, OracleError> {
        let oracle = build(oracle, config).unwrap_or_else(|e| panic!("{config}: {e:?}"));
        let context = HookContext {
            facts: Arc::new(Facts::new(FactsSeed {
                event: Arc::new(self.event.clone()),
                workspace: self.workspace.clone(),
                history: self.history.clone(),
                environment: "development".to_owned(),
                time: self.time.parse().unwrap(),
                home: None,
            })),
            binding: "test".into(),
            deadline: Some(Instant::now() + Duration::from_secs(30)),
            state_dir: self.state_dir.clone(),
            trust: Trust::everything(),
        };
        tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap()
            .block_on(oracle.evaluate(&context))
    }
}

fn build(oracle: &str, config: &str) -> Result<Arc<dyn Oracle>, ConfigError> {
    let file = SourceMap::default().add("hooks.yaml", config);
    let mut diagnostics = Vec::new();
    let node = parse_yaml(config, file, &mut diagnostics).ok_or(ConfigError(diagnostics))?;
    let catalog = Catalog::default();
    let definition = catalog.find(oracle).unwrap();
    definition.build(&OracleConfig {
        node: &node,
        root: "/project".as_ref(),
    })
}

/// Returns what is wrong with a configuration, as `line:column message`.
pub(crate) fn config_error(oracle: &str, config: &str) -> String {
    let Err(ConfigError(diagnostics)) = build(oracle, config) else {
        panic!("{config} is accepted");
    };
    let shown = |diagnostic: &Diagnostic| {
        let mut sources = SourceMap::default();
        sources.add("hooks.yaml", config);
        let place = sources.position(diagnostic.label.as_ref().unwrap().span);
        format!("{place} {}", diagnostic.message)
    };
    diagnostics.iter().map(shown).collect::<Vec<_>>().join("\n")
}

/// Returns the steps of a signal.
pub(crate) fn steps(signal: &Signal) -> &[String] {
    match &signal.payload {
        Payload::Block(block) => &block.resolution_path,
        Payload::Prompt(prompt) => &prompt.suggestions,
        Payload::Aid(aid) => &aid.follow_ups,
        Payload::Control(_) => &[],
    }
}

/// Makes a change of some files, one line each.
pub(crate) fn changes<S: AsRef<str>>(paths: impl IntoIterator<Item = S>) -> Changes {
    let files = paths.into_iter().map(|path| ChangedFile {
        path: path.as_ref().to_owned(),
        old_path: None,
        change: Change::Modified,
        added_lines: Some(1),
        removed_lines: Some(0),
    });
    Changes::of(files.collect(), None)
}
