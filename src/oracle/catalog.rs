//! Catalog: an oracle's name to its definition.

use std::collections::HashMap;
use std::sync::Arc;

use crate::config::kebab_case;

use super::builtin::BUILTINS;
use super::{Definition, Factory, Oracle, Registered, folded_name};

/// The oracles that a policy can name, beside scripts and external hooks, which are found by their files.
#[derive(Clone, Debug)]
pub struct Catalog {
    by_name: HashMap<String, Arc<dyn Factory>>,
    definitions: Vec<Definition>,
}

impl Default for Catalog {
    fn default() -> Self {
        let mut catalog = Self {
            by_name: HashMap::new(),
            definitions: Vec::new(),
        };
        for definition in BUILTINS {
            catalog.name((*definition).clone());
        }
        catalog.definitions.sort_by_key(|d| d.kebab);
        catalog
    }
}

impl Catalog {
    /// Adds an oracle that takes a configuration, in the place of one of the same name.
    pub fn register(&mut self, definition: Definition) {
        self.definitions.retain(|d| d.kebab != definition.kebab);
        self.name(definition);
        self.definitions.sort_by_key(|d| d.kebab);
    }

    fn name(&mut self, definition: Definition) {
        let factory: Arc<dyn Factory> = Arc::new(definition.clone());
        for name in definition.names() {
            self.by_name.insert(folded_name(name), factory.clone());
        }
        self.definitions.push(definition);
    }

    /// Adds an oracle that takes none.
    pub fn register_oracle(&mut self, name: &str, oracle: Arc<dyn Oracle>) {
        let kebab = kebab_case(name);
        self.by_name
            .insert(folded_name(name), Arc::new(Registered { kebab, oracle }));
    }

    /// Finds an oracle, without regard to case and punctuation.
    pub fn find(&self, name: &str) -> Option<&Arc<dyn Factory>> {
        self.by_name.get(&folded_name(name))
    }

    /// Returns the definitions of all oracles written in Rust that take a configuration, sorted by name.
    pub fn definitions(&self) -> &[Definition] {
        &self.definitions
    }

    /// Returns the names of all oracles, sorted, as they are logged.
    pub fn names(&self) -> Vec<&str> {
        let mut names: Vec<_> = self.by_name.values().map(|f| f.kebab()).collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}
