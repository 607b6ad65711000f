//! Which bindings fire for an event, found without compiling or asking those that cannot.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, OnceLock};

use foldhash::fast::RandomState;

use super::{Binding, Policy, compile};
use crate::condition::{Condition, IndexKey};
use crate::config::BindingSpec;
use crate::diagnostic::Diagnostic;
use crate::event::ToolKind;
use crate::fact::{Fact, FactValue, Facts};
use crate::oracle::Lookup;

/// The numbers of bindings by a text.
type ByText = HashMap<String, Vec<usize>, RandomState>;

/// The bindings of a trigger by a value that an event must have.
#[derive(Debug, Default)]
struct Index {
    /// Bindings that must always be asked.
    always: Vec<usize>,
    by_tool: ByText,
    by_kind: HashMap<ToolKind, Vec<usize>, RandomState>,
    by_fact: BTreeMap<Fact, ByText>,
    /// Bindings that are switched off.
    disabled: Vec<usize>,
}

impl Index {
    fn of(specs: &[BindingSpec]) -> Self {
        let mut index = Self::default();
        for (n, spec) in specs.iter().enumerate() {
            if !spec.enabled {
                index.disabled.push(n);
                continue;
            }
            let mut conditions = spec.group_when.iter().chain(&spec.when);
            let Some(keys) = conditions.find_map(Condition::index_keys) else {
                index.always.push(n);
                continue;
            };
            for key in keys {
                index.under(key).push(n);
            }
        }
        index
    }

    /// Returns the bindings under a key, to add one.
    fn under(&mut self, key: IndexKey) -> &mut Vec<usize> {
        match key {
            IndexKey::ToolName(name) => self.by_tool.entry(name).or_default(),
            IndexKey::ToolKind(kind) => self.by_kind.entry(kind).or_default(),
            IndexKey::Text(fact, text) => self
                .by_fact
                .entry(fact)
                .or_default()
                .entry(text)
                .or_default(),
        }
    }

    /// Returns the bindings that may fire, in the order of the configuration.
    fn candidates(&self, facts: &Facts) -> Vec<usize> {
        let mut found = self.always.clone();
        let mut add = |bindings: Option<&Vec<usize>>| found.extend(bindings.into_iter().flatten());
        if let Some(tool) = &facts.event().tool {
            add(self.by_tool.get(&tool.name));
            if !self.by_kind.is_empty() {
                for kind in facts.tool_kinds().into_iter().flatten() {
                    add(self.by_kind.get(&kind));
                }
            }
        }
        for (fact, by_text) in &self.by_fact {
            match facts.get(*fact) {
                FactValue::List(texts) => texts.iter().for_each(|text| add(by_text.get(text))),
                one => add(one.as_text().and_then(|text| by_text.get(&*text))),
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// A binding after compiling, or every fault of it; no fault where it is switched off and is left out.
type Compilation = OnceLock<Result<Arc<Binding>, Vec<Diagnostic>>>;

/// What was made of a trigger's bindings so far.
#[derive(Debug)]
pub(super) struct Compiled {
    index: OnceLock<Index>,
    slots: Vec<Compilation>,
}

impl Compiled {
    pub(super) fn of(specs: &[BindingSpec]) -> Self {
        Self {
            index: OnceLock::new(),
            slots: specs.iter().map(|_| OnceLock::new()).collect(),
        }
    }
}

/// The bindings of one trigger, in the order of the configuration; each is compiled when it is first asked for.
#[derive(Clone, Copy)]
pub struct TriggerPolicy<'a> {
    pub(super) policy: &'a Policy,
    pub(super) lookup: &'a dyn Lookup,
    pub(super) specs: &'a [BindingSpec],
    pub(super) compiled: &'a Compiled,
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
    /// What is wrong with those that may fire: where the policy was checked when it was loaded, nothing.
    pub faults: Vec<Diagnostic>,
}

impl<'a> TriggerPolicy<'a> {
    /// Returns every valid binding, with what was written of it.
    pub fn bindings(self) -> impl Iterator<Item = (&'a Arc<Binding>, &'a BindingSpec)> {
        let all = self.specs.iter().enumerate();
        all.filter_map(move |(n, spec)| Some((self.compile(n)?.ok()?, spec)))
    }

    /// Returns every fault of the bindings.
    pub fn faults(self) -> impl Iterator<Item = Diagnostic> {
        let all = 0..self.specs.len();
        all.filter_map(move |n| self.compile(n)?.err())
            .flatten()
            .cloned()
    }

    /// Returns the bindings that may fire for an event, without computing what only their conditions ask for.
    pub fn candidates(self, facts: &Facts) -> impl Iterator<Item = &'a Arc<Binding>> {
        let candidates = self.index().candidates(facts).into_iter();
        candidates.filter_map(move |n| self.compile(n)?.ok())
    }

    /// Selects the bindings that fire for an event.
    pub fn select(self, facts: &Facts) -> Selection {
        let index = self.index();
        let mut selection = Selection::default();
        let mut left_out = 0;
        for n in index.candidates(facts) {
            match self.compile(n) {
                Some(Ok(binding)) if binding.applies(facts) => {
                    selection.selected.push(binding.clone());
                }
                Some(Err(faults)) => {
                    left_out += 1;
                    selection.faults.extend_from_slice(faults);
                }
                Some(Ok(_)) | None => {}
            }
        }
        let disabled = index.disabled.iter();
        let disabled = disabled.filter_map(|&n| self.compile(n)?.ok().cloned());
        selection.disabled.extend(disabled);
        let asked = selection.selected.len() + left_out + index.disabled.len();
        selection.skipped = self.specs.len() - asked;
        selection
    }

    fn index(self) -> &'a Index {
        self.compiled.index.get_or_init(|| Index::of(self.specs))
    }

    /// Returns a binding by its number, or its faults.
    fn compile(self, n: usize) -> Option<Result<&'a Arc<Binding>, &'a Vec<Diagnostic>>> {
        let (slot, spec) = (self.compiled.slots.get(n)?, self.specs.get(n)?);
        let compiled = slot
            .get_or_init(|| compile::binding(n + 1, spec, self.policy, self.lookup).map(Arc::new));
        Some(compiled.as_ref())
    }
}

impl fmt::Debug for TriggerPolicy<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.specs).finish()
    }
}
