//! A bench on which one oracle judges one event.

use std::sync::Arc;
use std::time::Duration;

use ahp::config::parse_yaml;
use ahp::diagnostic::{Diagnostic, SourceMap};
use ahp::event::{Event, ToolCall, Trigger};
use ahp::fact::{Facts, FactsSeed};
use ahp::oracle::{Catalog, ConfigError, Oracle, OracleConfig, OracleError};
use ahp::signal::Signal;
use ahp::signal_log::{EmptyHistory, History};
use ahp::workspace::{Change, ChangedFile, Changes, Workspace};

use crate::world::{context, seed};

/// An event in a project.
#[derive(Clone, Debug)]
pub(crate) struct Bench {
    workspace: Arc<dyn Workspace>,
    event: Event,
    history: Arc<dyn History>,
}

impl Bench {
    /// Makes an event of `trigger` in a project.
    pub(crate) fn new(trigger: Trigger, workspace: impl Workspace + 'static) -> Self {
        Self {
            workspace: Arc::new(workspace),
            event: Event::new(trigger),
            history: Arc::new(EmptyHistory),
        }
    }

    pub(crate) fn issue(mut self, id: &str) -> Self {
        self.event.issue_id = Some(id.to_owned());
        self
    }

    pub(crate) fn tool(mut self, name: &str, input: serde_json::Value) -> Self {
        self.event.tool = Some(ToolCall::new(name, input));
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
        let facts = Facts::new(FactsSeed {
            history: self.history.clone(),
            ..seed(self.event.clone(), self.workspace.clone())
        });
        let context = context(Arc::new(facts), Duration::from_secs(30));
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
