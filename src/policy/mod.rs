//! Policy: the compiled, ready-to-run set of bindings.

mod binding;
mod compile;
mod idle;
mod lazy_oracle;
mod lint;
mod mark;
mod near_miss;
mod schema;
mod select;

pub use self::binding::{Binding, IntensityCeiling};
pub use self::lazy_oracle::LazyOracle;
pub use self::lint::lint;
pub use self::mark::Mark;
pub use self::schema::schema;
pub use self::select::{Selection, TriggerPolicy};

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

use crate::condition::Condition;
use crate::config::{BindingSpec, Config, MarkSpec, Provenance, Settings, Target};
use crate::diagnostic::{Diagnostic, SourceMap};
use crate::event::Trigger;
use crate::fact::{Fact, FactSource, FactValue};
use crate::oracle::{Factory, Kind, Lookup};
use crate::policy::select::Compiled;
use crate::signal::Intensity;

/// All layers merged, checked and made ready to run.
///
/// A binding is compiled when an event first asks for it, so that a process that evaluates one event compiles no
/// others; [`Policy::check`] compiles all and tells every fault.
#[derive(Debug)]
pub struct Policy {
    settings: Settings,
    sources: Arc<SourceMap>,
    root: PathBuf,
    setting_origins: Vec<Provenance>,
    specs: BTreeMap<Trigger, Vec<BindingSpec>>,
    compiled: BTreeMap<Trigger, Compiled>,
    mark_specs: BTreeMap<String, MarkSpec>,
    marks: Arc<[Mark]>,
    asks_age: bool,
    asks_origins: bool,
}

impl Policy {
    /// Makes a policy of merged layers.
    pub fn new(config: Config, sources: Arc<SourceMap>, root: PathBuf) -> Self {
        let compiled = config.bindings.iter();
        let compiled = compiled
            .map(|(&trigger, specs)| (trigger, Compiled::of(specs)))
            .collect();
        Self {
            settings: config.settings,
            sources,
            root,
            setting_origins: config.setting_provenance,
            specs: config.bindings,
            compiled,
            marks: config.marks.values().filter_map(Mark::new).collect(),
            mark_specs: config.marks,
            asks_age: config.asks_age,
            asks_origins: config.asks_origins,
        }
    }

    /// Returns the settings.
    pub const fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Returns where each setting that was given came from; later entries override earlier ones.
    pub fn setting_origins(&self) -> &[Provenance] {
        &self.setting_origins
    }

    /// Returns the files that the policy came from.
    pub const fn sources(&self) -> &Arc<SourceMap> {
        &self.sources
    }

    /// Returns the root of the project.
    pub const fn root(&self) -> &PathBuf {
        &self.root
    }

    /// Returns the bindings as written, by trigger.
    pub const fn specs(&self) -> &BTreeMap<Trigger, Vec<BindingSpec>> {
        &self.specs
    }

    /// Returns the marks as written, by name, those that nothing asks for too.
    pub const fn mark_specs(&self) -> &BTreeMap<String, MarkSpec> {
        &self.mark_specs
    }

    /// Returns the marks that something asks for.
    pub const fn marks(&self) -> &Arc<[Mark]> {
        &self.marks
    }

    /// Whether a condition asks for the age of the session.
    pub const fn asks_age(&self) -> bool {
        self.asks_age
    }

    /// Whether a condition asks where the arguments of a call come from, or whether it goes out.
    pub const fn asks_origins(&self) -> bool {
        self.asks_origins
    }

    /// Returns the triggers of events that must come here: those that have bindings, and those that marks count.
    pub fn wanted(&self) -> BTreeSet<Trigger> {
        let fed = |trigger: &Trigger| self.marks.iter().any(|mark| mark.is_fed_at(*trigger));
        let fed = Trigger::ALL.iter().copied().filter(fed);
        let is_call = |mark: &Mark| {
            mark.is_fed_at(Trigger::PreToolUse) || mark.is_fed_at(Trigger::PostToolUse)
        };
        // With the next prompt of a person nothing is awaited any more.
        let awaited = self.marks.iter().any(is_call);
        let prompt = awaited.then_some(Trigger::PreAgentTurn);
        let taught = [
            Trigger::PreAgentTurn,
            Trigger::PreToolUse,
            Trigger::PostToolUse,
            Trigger::PostToolUseFailure,
        ];
        let taught = taught.into_iter().filter(|_| self.asks_origins);
        let asked = self.triggers().chain(fed);
        asked.chain(prompt).chain(taught).collect()
    }

    /// Returns the triggers at which a binding judges the tasks that an agent keeps in its host: those whose `when` asks for
    /// the type of the issue and is met by a task.
    pub fn wanted_for_tasks(&self) -> BTreeSet<Trigger> {
        let issues = self.specs.iter().filter(|(trigger, _)| trigger.is_issue());
        let judging = issues.filter(|(_, specs)| specs.iter().any(judges_tasks));
        judging.map(|(&trigger, _)| trigger).collect()
    }

    /// Whether a binding may block a call that it has let go, by the time that a person is asked about it: its `when` asks
    /// what the project is like, and another call may have changed that.
    pub fn wants_to_be_asked_again(&self, lookup: &dyn Lookup) -> bool {
        let changes = |fact: &Fact| {
            matches!(
                fact.source(),
                FactSource::Git | FactSource::Issue | FactSource::Tests
            )
        };
        self.gates_of_tools(lookup)
            .any(|binding| binding.facts().iter().any(changes))
    }

    /// Whether a binding judges what a server of tools asks a person for, as if it called this tool of its own: its `when`
    /// asks for the server or for its tool, or names the tool, and is met by that.
    pub fn wants_elicited(&self, tool: &str, lookup: &dyn Lookup) -> bool {
        let of_server = [Fact::ToolMcpServer, Fact::ToolMcpTool];
        self.gates_of_tools(lookup).any(|binding| {
            let asks = binding.facts().iter().any(|fact| of_server.contains(fact));
            (asks || binding.names_tool_of_server(tool))
                && binding.may_meet(Fact::ToolKind, &FactValue::text(Some("mcp")))
                && binding.may_meet(Fact::ToolMcpTool, &FactValue::text(Some(tool)))
        })
    }

    /// Returns the bindings before a tool that somebody wrote and that may block there.
    fn gates_of_tools<'a>(
        &'a self,
        lookup: &'a dyn Lookup,
    ) -> impl Iterator<Item = &'a Arc<Binding>> {
        let written = self.enabled(Trigger::PreToolUse, lookup);
        let written = written.filter(|(_, spec)| spec.is_written());
        written.map(|(binding, _)| binding).filter(|binding| {
            let strongest = binding.strongest();
            !binding.is_async && strongest.is_none_or(|strongest| strongest == Intensity::Block)
        })
    }

    /// Returns the triggers that have bindings.
    pub fn triggers(&self) -> impl Iterator<Item = Trigger> {
        self.specs.keys().copied()
    }

    /// Returns the bindings of a trigger; none where nothing is bound to it.
    pub fn trigger<'a>(
        &'a self,
        trigger: Trigger,
        lookup: &'a dyn Lookup,
    ) -> Option<TriggerPolicy<'a>> {
        Some(TriggerPolicy {
            specs: self.specs.get(&trigger)?,
            compiled: self.compiled.get(&trigger)?,
            policy: self,
            lookup,
        })
    }

    /// Returns the bindings of a trigger that are switched on, compiled, each with what was written of it.
    pub fn enabled<'a>(
        &'a self,
        trigger: Trigger,
        lookup: &'a dyn Lookup,
    ) -> impl Iterator<Item = (&'a Arc<Binding>, &'a BindingSpec)> {
        let trigger = self.trigger(trigger, lookup).into_iter();
        let bindings = trigger.flat_map(TriggerPolicy::bindings);
        bindings.filter(|(binding, _)| binding.enabled)
    }

    /// Returns the faults of what lies outside of a policy that was checked as it is written: scripts, hooks and files that
    /// have changed since, or are gone. A trigger that names none of them is compiled when it is asked for.
    pub fn check_changed(&self, lookup: &dyn Lookup) -> Vec<Diagnostic> {
        let mut faults = Vec::new();
        let mut built_in: HashMap<&str, Option<Arc<dyn Factory>>> = HashMap::new();
        for (trigger, specs) in &self.specs {
            let all_come_along = specs.iter().all(|spec| match &spec.target {
                Target::Oracle(name) => {
                    let found = built_in.entry(name).or_insert_with(|| {
                        let found = lookup.oracle(name, spec.layer, spec.span).ok();
                        found.filter(|factory| factory.kind() == Kind::BuiltIn)
                    });
                    (found.as_ref()).is_some_and(|factory| !factory.reads_files_with(&spec.config))
                }
                Target::Hook(_) | Target::Found { .. } => false,
            });
            if all_come_along {
                continue;
            }
            let Some(policy) = self.trigger(*trigger, lookup) else {
                continue;
            };
            faults.extend(policy.faults());
            for (binding, _) in policy.bindings() {
                if binding.enabled && binding.oracle.may_change() {
                    faults.extend(binding.oracle.check());
                }
            }
        }
        faults
    }

    /// Compiles every binding and oracle, and returns every fault.
    pub fn check(&self, lookup: &dyn Lookup) -> Vec<Diagnostic> {
        let mut faults: Vec<_> = self.marks.iter().flat_map(Mark::faults).collect();
        for trigger in self.triggers() {
            if let Some(policy) = self.trigger(trigger, lookup) {
                faults.extend(policy.faults());
                for (binding, _) in policy.bindings() {
                    faults.extend(binding.oracle.check());
                }
            }
        }
        faults
    }
}

fn judges_tasks(spec: &BindingSpec) -> bool {
    let whens = spec.group_when.iter().chain(&spec.when);
    // What is wrong with one is told when its binding is compiled.
    let conditions = whens.filter_map(|when| Condition::compile(when, &mut Vec::new()));
    let conditions: Vec<Condition> = conditions.collect();
    let task = FactValue::text(Some("task"));
    let asks = |condition: &Condition| condition.facts().contains(&Fact::IssueType);
    spec.enabled
        && conditions.iter().any(asks)
        && conditions
            .iter()
            .all(|condition| condition.may_hold(Fact::IssueType, &task))
}
