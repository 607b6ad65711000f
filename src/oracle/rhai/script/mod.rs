//! Script: a rhai script that is compiled and described, ready to be bound (spec §6.2).

mod compile;
mod configure;
mod run;

pub use self::compile::MAX_SOURCE;
pub use self::run::{Run, ScriptOracle};

use std::sync::Arc;

use rhai::{AST, Dynamic, Map};

use super::survey::MisspeltFact;
use super::{names, value};
use crate::config::Node;
use crate::diagnostic::{Code, Diagnostic, Span};
use crate::event::Trigger;
use crate::fact::FactSource;
use crate::oracle::{ConfigError, Factory, Kind, Oracle, OracleConfig};
use crate::signal::Intensity;

/// A script, compiled and described.
#[derive(Debug)]
pub struct Script {
    name: String,
    file: String,
    source: Arc<str>,
    ast: Arc<AST>,
    summary: String,
    page: String,
    defaults: Map,
    choices: Map,
    triggers: Vec<Trigger>,
    intensities: Vec<Intensity>,
    needs: Vec<FactSource>,
    reads_project: bool,
    misspelt: Vec<MisspeltFact>,
}

impl Script {
    /// Returns the name, in kebab-case.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the file, as it is shown.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// Returns the script itself.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Returns the manual page: the `//!` lines at the head of the script, as Markdown.
    pub fn page(&self) -> &str {
        &self.page
    }

    /// Returns the configuration with its defaults, as JSON.
    pub fn defaults(&self) -> serde_json::Value {
        value::to_json(&Dynamic::from_map(self.defaults.clone()))
    }

    /// Returns the values that some keys of the configuration are offered, as JSON.
    pub fn choices(&self) -> serde_json::Value {
        value::to_json(&Dynamic::from_map(self.choices.clone()))
    }

    /// Returns the JSON Schema of the configuration.
    pub fn schema(&self) -> serde_json::Value {
        let mut schema = value::schema(&self.defaults, &self.choices);
        if let Some(object) = schema.as_object_mut() {
            object.insert("description".to_owned(), self.summary.clone().into());
        }
        schema
    }

    /// Returns the facts that the script asks for and that no event can ever have.
    pub fn misspelt_facts(&self) -> &[MisspeltFact] {
        &self.misspelt
    }

    /// Makes the oracle of a configuration.
    ///
    /// # Errors
    /// Every key that the script does not know or whose value does not fit, at its place.
    pub fn oracle(self: &Arc<Self>, config: &Node) -> Result<ScriptOracle, ConfigError> {
        Ok(ScriptOracle::new(self.clone(), self.configure(config)?))
    }
}

impl Factory for Arc<Script> {
    fn kebab(&self) -> &str {
        &self.name
    }

    fn summary(&self) -> &str {
        &self.summary
    }

    fn kind(&self) -> Kind {
        Kind::Script
    }

    fn triggers(&self) -> &[Trigger] {
        &self.triggers
    }

    fn intensities(&self) -> &[Intensity] {
        &self.intensities
    }

    fn needs(&self) -> &[FactSource] {
        &self.needs
    }

    fn reads_project(&self) -> bool {
        self.reads_project
    }

    fn runs_programs(&self) -> bool {
        false
    }

    fn own_file(&self) -> Option<&str> {
        (!self.file.starts_with("ahp:")).then_some(&*self.file)
    }

    fn remarks(&self, named_at: Span) -> Vec<Diagnostic> {
        let remark = |misspelt: &MisspeltFact| {
            let (line, column) = (misspelt.line, misspelt.column);
            let told = if misspelt.name.starts_with("config.") {
                format!(
                    "`{}:{line}:{column}` asks for `{}`, which `DEFAULTS` does not have",
                    self.file, misspelt.name
                )
            } else {
                format!(
                    "`{}:{line}:{column}` asks for a fact `{}`, which no event can have",
                    self.file, misspelt.name
                )
            };
            let warning = Diagnostic::warning(Code::MisspeltFact, told, named_at);
            match &misspelt.nearest {
                Some(near) => warning.help(format!("did you mean `{near}`?")),
                None => warning,
            }
        };
        let unknown = names::unknown(&self.source, &self.ast);
        let unknown = unknown.iter().map(|name| {
            let (line, column) = (name.position.line(), name.position.position());
            let place = format!(
                "{}:{}:{}",
                self.file,
                line.unwrap_or(0),
                column.unwrap_or(0)
            );
            let told = format!("`{place}` cannot run: {}", name.told);
            Diagnostic::error(Code::BadScript, told, named_at)
                .help("a call or a name fails only when the run comes to it; put it right before")
        });
        self.misspelt.iter().map(remark).chain(unknown).collect()
    }

    fn build(&self, config: &OracleConfig<'_>) -> Result<Arc<dyn Oracle>, ConfigError> {
        Ok(Arc::new(self.oracle(config.node)?))
    }
}
