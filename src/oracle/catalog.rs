//! Catalog: an oracle's name to its definition.

use std::collections::HashMap;
use std::sync::Arc;

use crate::config::kebab_case;

use super::builtin::BUILTINS;
use super::definition::folds_to;
use super::{Definition, Factory, Oracle, Registered, folded_name};

/// The oracles that a policy can name, beside scripts and external hooks, which are found by their files.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    /// What a host program has added, by each of its names; it comes before the program's own.
    added: HashMap<String, Arc<dyn Factory>>,
    definitions: Vec<Definition>,
}

impl Catalog {
    /// Adds an oracle that takes a configuration, in the place of one of the same name.
    pub fn register(&mut self, definition: Definition) {
        let factory: Arc<dyn Factory> = Arc::new(definition.clone());
        for name in definition.names() {
            self.added.insert(folded_name(name), factory.clone());
        }
        self.definitions.retain(|d| d.kebab != definition.kebab);
        self.definitions.push(definition);
    }

    /// Adds an oracle that takes none.
    pub fn register_oracle(&mut self, name: &str, oracle: Arc<dyn Oracle>) {
        let kebab = kebab_case(name);
        self.added
            .insert(folded_name(name), Arc::new(Registered { kebab, oracle }));
    }

    /// Finds an oracle, without regard to case and punctuation.
    pub fn find(&self, name: &str) -> Option<Arc<dyn Factory>> {
        let folded = folded_name(name);
        self.added.get(&folded).cloned().or_else(|| {
            let mut known = BUILTINS.iter().copied();
            let known = known.find(|known| known.names().any(|own| folds_to(own, &folded)))?;
            Some(Arc::new(known.clone()))
        })
    }

    /// Returns the definitions of all oracles written in Rust that take a configuration, sorted by name.
    pub fn definitions(&self) -> Vec<&Definition> {
        let is_there = |known: &Definition| self.definitions.iter().all(|d| d.kebab != known.kebab);
        let known = BUILTINS.iter().copied().filter(|known| is_there(known));
        let mut all: Vec<&Definition> = known.chain(&self.definitions).collect();
        all.sort_by_key(|d| d.kebab);
        all
    }

    /// Returns the names of all oracles, sorted, as they are logged.
    pub fn names(&self) -> Vec<&str> {
        let added = self.added.values().map(|f| f.kebab());
        let mut names: Vec<_> = BUILTINS.iter().map(|d| d.kebab).chain(added).collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}
