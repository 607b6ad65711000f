//! Which bindings fire for an event, found without asking those that cannot.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;

use super::Binding;
use super::TriggerPolicy;
use crate::condition::Condition;
use crate::condition::IndexKey;
use crate::event::ToolKind;
use crate::fact::Fact;
use crate::fact::Facts;

/// The bindings of a trigger by a value that an event must have.
#[derive(Debug, Default)]
pub(super) struct Index {
    /// Bindings that must always be asked.
    always: Vec<usize>,
    by_key: HashMap<IndexKey, Vec<usize>, RandomState>,
    /// The facts that occur in the keys, beside the tool.
    facts: Vec<Fact>,
    /// Whether a key names a tool.
    tools: bool,
    /// Bindings that are switched off.
    disabled: Vec<usize>,
}

impl Index {
    pub(super) fn of(bindings: &[Arc<Binding>]) -> Self {
        let mut index = Self::default();
        for (n, binding) in bindings.iter().enumerate() {
            if !binding.enabled {
                index.disabled.push(n);
                continue;
            }
            let keys = binding.conditions.iter().find_map(Condition::index_keys);
            let Some(keys) = keys else {
                index.always.push(n);
                continue;
            };
            for key in keys {
                match &key {
                    IndexKey::ToolName(_) | IndexKey::ToolKind(_) => index.tools = true,
                    IndexKey::Text(fact, _) => {
                        if !index.facts.contains(fact) {
                            index.facts.push(*fact);
                        }
                    }
                }
                index.by_key.entry(key).or_default().push(n);
            }
        }
        index
    }

    /// Returns the bindings that may fire, in the order of the configuration.
    fn candidates(&self, facts: &Facts) -> Vec<usize> {
        let mut found = self.always.clone();
        let mut add = |key: &IndexKey| {
            if let Some(bindings) = self.by_key.get(key) {
                found.extend_from_slice(bindings);
            }
        };
        if self.tools
            && let Some(tool) = &facts.event().tool
        {
            add(&IndexKey::ToolName(tool.name.clone()));
            add(&IndexKey::ToolKind(ToolKind::of(&tool.name)));
        }
        for &fact in &self.facts {
            if let Some(text) = facts.get(fact).as_text() {
                add(&IndexKey::Text(fact, text.into_owned()));
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// The bindings that fire for an event.
#[derive(Debug, Default)]
pub struct Selection {
    /// Those that fire, in the order of the configuration.
    pub selected: Vec<Arc<Binding>>,
    /// Those that are switched off.
    pub disabled: Vec<Arc<Binding>>,
    /// How many there are besides, whose `when` does not hold.
    pub skipped: usize,
}

impl TriggerPolicy {
    /// Returns the bindings that may fire for an event, without computing what only their conditions ask for.
    pub fn candidates(&self, facts: &Facts) -> impl Iterator<Item = &Arc<Binding>> {
        self.index
            .candidates(facts)
            .into_iter()
            .filter_map(|n| self.bindings.get(n))
    }

    /// Selects the bindings that fire for an event.
    pub fn select(&self, facts: &Facts) -> Selection {
        let selected: Vec<_> = self
            .candidates(facts)
            .filter(|binding| binding.applies(facts))
            .cloned()
            .collect();
        let disabled: Vec<_> = self
            .index
            .disabled
            .iter()
            .filter_map(|&n| self.bindings.get(n))
            .cloned()
            .collect();
        Selection {
            skipped: self.bindings.len() - selected.len() - disabled.len(),
            selected,
            disabled,
        }
    }
}
