//! LazyOracle: a binding's oracle, built when it is first needed.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use crate::condition;
use crate::config::Node;
use crate::diagnostic::Diagnostic;
use crate::fact::Facts;
use crate::oracle::{ConfigError, Factory, Kind, Oracle, OracleConfig};

/// A binding's oracle, built when it is first needed, and built again for each event where its configuration
/// depends on facts.
#[derive(Debug)]
pub struct LazyOracle {
    factory: Arc<dyn Factory>,
    config: Node,
    root: PathBuf,
    varies: bool,
    built: OnceLock<Result<Arc<dyn Oracle>, ConfigError>>,
}

impl LazyOracle {
    /// Makes the oracle of a factory and a configuration.
    pub fn new(factory: Arc<dyn Factory>, config: Node, root: PathBuf) -> Self {
        Self {
            varies: condition::has_by(&config),
            factory,
            config,
            root,
            built: OnceLock::new(),
        }
    }

    /// Returns the factory.
    pub fn factory(&self) -> &dyn Factory {
        &*self.factory
    }

    /// Returns where the oracle comes from.
    pub fn kind(&self) -> Kind {
        self.factory.kind()
    }

    /// Whether it may have changed although the policy is as it was: only a built-in one comes along.
    pub fn may_change(&self) -> bool {
        self.kind() != Kind::BuiltIn || self.factory.reads_files_with(&self.config)
    }

    /// Whether the configuration depends on facts.
    pub const fn varies(&self) -> bool {
        self.varies
    }

    /// Returns the configuration as written.
    pub const fn config(&self) -> &Node {
        &self.config
    }

    /// Returns the oracle for an event.
    ///
    /// # Errors
    /// Every fault of the configuration.
    pub fn oracle(&self, facts: &Facts) -> Result<Arc<dyn Oracle>, ConfigError> {
        if self.varies {
            return self.build(&condition::resolve(&self.config, facts));
        }
        self.built.get_or_init(|| self.build(&self.config)).clone()
    }

    /// Builds the oracle for every case of its configuration, and returns every fault.
    pub fn check(&self) -> Vec<Diagnostic> {
        if !self.varies {
            return match self.built.get_or_init(|| self.build(&self.config)) {
                Ok(_) => Vec::new(),
                Err(ConfigError(faults)) => faults.clone(),
            };
        }
        match condition::variants(&self.config) {
            Ok(variants) => {
                let mut faults: Vec<Diagnostic> = Vec::new();
                for fault in variants
                    .iter()
                    .filter_map(|variant| self.build(variant).err())
                    .flat_map(|ConfigError(faults)| faults)
                {
                    let known = faults.iter().any(|f| {
                        f.message == fault.message
                            && f.label.as_ref().map(|l| l.span)
                                == fault.label.as_ref().map(|l| l.span)
                    });
                    if !known {
                        faults.push(fault);
                    }
                }
                faults
            }
            Err(faults) => faults,
        }
    }

    fn build(&self, node: &Node) -> Result<Arc<dyn Oracle>, ConfigError> {
        self.factory.build(&OracleConfig {
            node,
            root: &self.root,
        })
    }
}
