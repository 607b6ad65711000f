//! Definition: an oracle's name, docs, triggers, config schema and builder.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use crate::config::{BindingSpec, LayerSource, Node, Value, former_names};
use crate::diagnostic::{Code, Diagnostic, Span};
use crate::event::Trigger;
use crate::fact::FactSource;
use crate::hook_md::FrontMatter;
use crate::oracle::{ConfigError, Oracle, OracleConfig};
use crate::signal::Intensity;

/// Where an oracle comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Written in Rust, in this crate.
    BuiltIn,
    /// Registered by the host program.
    Registered,
    /// A rhai script.
    Script,
    /// A program: HOOK.md or a command hook.
    External,
}

/// When an oracle runs programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Programs {
    /// Never.
    None,
    /// Whatever its configuration says.
    Always,
    /// Where one of these keys is configured.
    WithKeys(&'static [&'static str]),
}

/// Makes a ready oracle of its configuration.
pub type Build = fn(&OracleConfig<'_>) -> Result<Arc<dyn Oracle>, ConfigError>;

/// All that is known of an oracle without running it.
#[derive(Clone, Debug)]
pub struct Definition {
    /// The name as it is written in a policy: `ChecklistValidator`.
    pub name: &'static str,
    /// The name as it is logged and shown: `checklist-validator`.
    pub kebab: &'static str,
    /// One line on what it does.
    pub summary: &'static str,
    /// Where it makes sense; empty: everywhere.
    pub triggers: &'static [Trigger],
    /// What it can give, strongest first.
    pub intensities: &'static [Intensity],
    /// What it must ask beside the event.
    pub needs: &'static [FactSource],
    /// When it runs programs, so that a project's own binding of it needs trust.
    pub programs: Programs,
    /// The key of its configuration that names files which it reads when it is made, and what else the key may name.
    pub file_key: Option<(&'static str, &'static [&'static str])>,
    /// The schema of its `config:`; the schema's description is the oracle's manual page.
    pub schema: fn() -> schemars::Schema,
    /// Makes it ready.
    pub build: Build,
}

/// Makes oracles of one name, whatever they are written in.
///
/// A policy knows oracles by this alone: [`Definition`]s of Rust oracles, scripts and external hooks are factories.
pub trait Factory: fmt::Debug + Send + Sync {
    /// Returns the name as it is logged and shown.
    fn kebab(&self) -> &str;

    /// Returns one line on what the oracle does.
    fn summary(&self) -> &str;

    /// Returns where it comes from.
    fn kind(&self) -> Kind;

    /// Returns where it makes sense; empty: everywhere.
    fn triggers(&self) -> &[Trigger] {
        &[]
    }

    /// Returns what it can give, strongest first; empty: not known.
    fn intensities(&self) -> &[Intensity] {
        &[]
    }

    /// Returns what it must ask beside the event.
    fn needs(&self) -> &[FactSource] {
        &[]
    }

    /// Whether it may read files of the project, or look at the change of it, whatever it says that it needs.
    fn reads_project(&self) -> bool {
        true
    }

    /// Whether it runs programs, so that a project's own binding of it needs trust.
    fn runs_programs(&self) -> bool;

    /// Whether it runs programs when it is configured so.
    fn runs_programs_with(&self, _config: &Node) -> bool {
        self.runs_programs()
    }

    /// Returns what its `HOOK.md` says, where it is a hook: a binding of it inherits what it does not give.
    fn front_matter(&self) -> Option<&FrontMatter> {
        None
    }

    /// Whether it cannot be made without files that its configuration names: they may be gone although the policy is as
    /// it was.
    fn reads_files_with(&self, _config: &Node) -> bool {
        false
    }

    /// Whether the value of a key is a file that it takes its orders from: by two files it does two things.
    fn is_file_key(&self, _key: &str) -> bool {
        false
    }

    /// Whether it runs hooks of a standard by which what fails lets the operation go on.
    fn is_hook(&self) -> bool {
        self.kind() == Kind::External
    }

    /// Returns the file that it was read from, as it is shown; none for what comes with a program.
    fn own_file(&self) -> Option<&str> {
        None
    }

    /// Returns the folder whose program it runs, where it is a hook.
    fn folder(&self) -> Option<&Path> {
        None
    }

    /// Returns what is odd in the oracle itself, as warnings at the place that names it.
    fn remarks(&self, _named_at: Span) -> Vec<Diagnostic> {
        Vec::new()
    }

    /// Makes an oracle ready.
    ///
    /// # Errors
    /// Every fault of the configuration, at its place.
    fn build(&self, config: &OracleConfig<'_>) -> Result<Arc<dyn Oracle>, ConfigError>;
}

impl Factory for Definition {
    fn kebab(&self) -> &str {
        self.kebab
    }

    fn summary(&self) -> &str {
        self.summary
    }

    fn kind(&self) -> Kind {
        Kind::BuiltIn
    }

    fn triggers(&self) -> &[Trigger] {
        self.triggers
    }

    fn intensities(&self) -> &[Intensity] {
        self.intensities
    }

    fn needs(&self) -> &[FactSource] {
        self.needs
    }

    fn runs_programs(&self) -> bool {
        self.programs != Programs::None
    }

    fn runs_programs_with(&self, config: &Node) -> bool {
        match self.programs {
            Programs::None => false,
            Programs::Always => true,
            Programs::WithKeys(keys) => keys.iter().any(|key| config.get(key).is_some()),
        }
    }

    fn is_hook(&self) -> bool {
        self.kebab == "command-hooks"
    }

    fn reads_files_with(&self, config: &Node) -> bool {
        self.file_key.is_some_and(|(key, others)| {
            let named = config.get(key);
            named.is_some_and(|node| names_another(node, others))
        })
    }

    fn is_file_key(&self, key: &str) -> bool {
        self.file_key.is_some_and(|(known, _)| known == key)
    }

    fn build(&self, config: &OracleConfig<'_>) -> Result<Arc<dyn Oracle>, ConfigError> {
        (self.build)(config)
    }
}

/// Whether a text of a value is none of these.
fn names_another(node: &Node, known: &[&str]) -> bool {
    match &node.value {
        Value::Str(text) => !known.contains(&text.as_str()),
        Value::Seq(items) => items.iter().any(|item| names_another(item, known)),
        Value::Map(entries) => (entries.iter()).any(|(_, value)| names_another(value, known)),
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) => false,
    }
}

/// An oracle that a host program made itself, and that takes no configuration.
#[derive(Clone, Debug)]
pub struct Registered {
    /// The name as it is logged and shown.
    pub kebab: String,
    /// The oracle.
    pub oracle: Arc<dyn Oracle>,
}

impl Factory for Registered {
    fn kebab(&self) -> &str {
        &self.kebab
    }

    fn summary(&self) -> &str {
        "An oracle of the host program."
    }

    fn kind(&self) -> Kind {
        Kind::Registered
    }

    fn runs_programs(&self) -> bool {
        false
    }

    fn build(&self, config: &OracleConfig<'_>) -> Result<Arc<dyn Oracle>, ConfigError> {
        match config.node.entries().first() {
            None => Ok(self.oracle.clone()),
            Some((key, _)) => Err(ConfigError(vec![Diagnostic::error(
                Code::UnknownKey,
                format!(
                    "unknown key `{}`: `{}` takes no configuration",
                    key.name, self.kebab
                ),
                key.span,
            )])),
        }
    }
}

/// Finds the factory of an oracle that a policy names.
pub trait Lookup {
    /// Finds an oracle by its name or a script's path; `named_by` is the layer that names it. A script that comes with
    /// a project never stands in for one that another layer may mean.
    ///
    /// # Errors
    /// No oracle has the name, or its script cannot be read or compiled.
    fn oracle(
        &self,
        name: &str,
        named_by: LayerSource,
        at: Span,
    ) -> Result<Arc<dyn Factory>, Box<Diagnostic>>;

    /// Finds the HOOK.md hook that a binding means.
    ///
    /// # Errors
    /// No hook has the name, it is not valid, or the binding may not touch it.
    fn hook(&self, bound_by: &BindingSpec) -> Result<Arc<dyn Factory>, Box<Diagnostic>>;
}

/// Returns a name without case and punctuation, by which names are compared.
pub fn folded_name(name: &str) -> String {
    if name.is_ascii() {
        let letters = name.bytes().filter(u8::is_ascii_alphanumeric);
        return letters
            .map(|b| char::from(b.to_ascii_lowercase()))
            .collect();
    }
    name.chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}

/// Whether an oracle's own name, which is in kebab-case, is a folded one.
pub(super) fn folds_to(own: &str, folded: &str) -> bool {
    own.bytes().filter(|byte| *byte != b'-').eq(folded.bytes())
}

impl Definition {
    /// Whether `name` is one of this oracle's names, without regard to case and punctuation.
    pub fn is_named(&self, name: &str) -> bool {
        let folded = folded_name(name);
        self.names().any(|own| folds_to(own, &folded))
    }

    /// Returns the oracle's name and its former ones, in kebab-case.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        std::iter::once(self.kebab).chain(former_names(self.kebab))
    }
}
