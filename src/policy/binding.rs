//! Binding: one oracle with its configuration and conditions, ready to run.

use std::sync::Arc;
use std::time::Duration;

use crate::condition::{By, Condition};
use crate::config::{Escalation, LayerSource, Node, OnError};
use crate::diagnostic::Span;
use crate::event::{ToolCall, Trigger};
use crate::fact::{Fact, FactSource, FactValue, Facts};
use crate::hook_md::Matcher;
use crate::oracle::{InPlace, Kind, Mode, NotJudged, Standing};
use crate::policy::LazyOracle;
use crate::signal::{Intensity, Severity, Signal, Strength};

/// One oracle with its configuration and conditions, ready to run.
#[derive(Debug)]
pub struct Binding {
    /// Its place among the bindings of its trigger, from 1.
    pub place: usize,
    /// Unique in its trigger.
    pub id: Arc<str>,
    /// The oracle's name as it is logged.
    pub oracle_name: Arc<str>,
    /// The oracle.
    pub oracle: LazyOracle,
    /// All of these must hold.
    pub conditions: Vec<Condition>,
    /// For which tool calls it is, where it is a HOOK.md hook that says so.
    pub matcher: Matcher,
    /// The stage.
    pub priority: i64,
    /// Whether it runs at all.
    pub enabled: bool,
    /// Whether its result is not waited for.
    pub is_async: bool,
    /// How long its oracle may take.
    pub timeout: Duration,
    /// Whether that was written for it, and not for all.
    pub says_timeout: bool,
    /// What it gives where it does not judge, whatever the reason; where it does not say, [`NotJudged::gives`] does.
    pub on_error: Option<OnError>,
    /// What the settings say that a failure gives.
    pub on_failure: Option<OnError>,
    /// The ceiling of what it gives.
    pub ceiling: Option<IntensityCeiling>,
    /// How repeated violations grow stronger.
    pub escalate: Option<Escalation>,
    /// Whether `proceed_with_risk` may lift its block.
    pub overridable: bool,
    /// Whether what it starts runs outside of a shield.
    pub outside: bool,
    /// Whether later layers may not touch it.
    pub locked: bool,
    /// The layer that named it first.
    pub layer: LayerSource,
    /// Whether it runs programs; those that the project brings need trust.
    pub runs_programs: bool,
    /// Whether any value of it came with the project.
    pub is_of_project: bool,
    /// Where it stands.
    pub span: Span,
    /// `file:line` of where it stands.
    pub source: Arc<str>,
}

/// The ceiling of what a binding gives.
#[derive(Clone, Debug)]
pub enum IntensityCeiling {
    /// One for all contexts.
    Fixed(Strength),
    /// One by a fact; the node is a checked `by:` map.
    By(Node),
    /// One by the severity of what was found; the node is a checked `by:` map.
    BySeverity(Node),
}

impl IntensityCeiling {
    /// Returns the ceiling for what was found at an event; none where the map chooses nothing.
    pub fn of(&self, facts: &Facts, found: &Signal) -> Option<Strength> {
        match self {
            Self::Fixed(intensity) => Some(*intensity),
            Self::By(node) => {
                let by = By::read(node).ok()??;
                Strength::find(by.choose(facts)?.as_str()?)
            }
            Self::BySeverity(node) => {
                let severity = found.severity.map_or("default", Severity::name);
                let chosen = node.get(severity).or_else(|| node.get("default"));
                Strength::find(chosen?.as_str()?)
            }
        }
    }
}

impl Binding {
    /// Whether all conditions hold for an event.
    pub fn applies(&self, facts: &Facts) -> bool {
        let tool = facts.event().tool.as_ref();
        let root = facts.project_root();
        let meets = |call: &ToolCall| {
            let view = facts.tool();
            view.is_none_or(|view| self.matcher.matches(call, view, root))
        };
        tool.is_none_or(|call| self.matcher.is_empty() || meets(call))
            // A task is an issue only for those who say that they mean tasks too.
            && (!facts.is_task() || self.asks(Fact::IssueType))
            && self.conditions.iter().all(|c| c.holds(facts))
    }

    /// Returns every fact that its conditions may ask for.
    pub fn facts(&self) -> Vec<Fact> {
        self.conditions.iter().flat_map(Condition::facts).collect()
    }

    /// Returns the names of the marks that its conditions may ask for.
    pub fn marks(&self) -> impl Iterator<Item = &str> {
        self.conditions.iter().flat_map(Condition::marks)
    }

    /// Whether one of its conditions asks for a fact.
    pub fn asks(&self, fact: Fact) -> bool {
        self.facts().contains(&fact)
    }

    /// Whether one of its conditions names the tool of a server that is called so.
    pub fn names_tool_of_server(&self, tool: &str) -> bool {
        let mut conditions = self.conditions.iter();
        conditions.any(|condition| condition.names_tool_of_server(tool))
    }

    /// Whether its conditions can hold for an event of which one fact is known and nothing else.
    pub fn may_meet(&self, fact: Fact, value: &FactValue<'_>) -> bool {
        let mut conditions = self.conditions.iter();
        conditions.all(|condition| condition.may_hold(fact, value))
    }

    /// Returns the strongest that can come of it; none where that is not known.
    pub fn strongest(&self) -> Option<Intensity> {
        let own = self.oracle.factory().intensities().iter().max().copied()?;
        let escalated = self.escalate.as_ref();
        let escalated = escalated.and_then(|e| e.steps.iter().max().copied());
        let given = escalated.unwrap_or(own.into());
        Some(match &self.ceiling {
            Some(IntensityCeiling::Fixed(ceiling)) => given.min(*ceiling).intensity(),
            _ => given.intensity(),
        })
    }

    /// Returns what of it decides what takes the place of its judgement.
    pub fn standing(&self, trigger: Trigger) -> Standing {
        let is_hook = self.oracle.factory().is_hook();
        let is_weakened = matches!(
            self.ceiling,
            Some(IntensityCeiling::Fixed(ceiling)) if ceiling < Strength::Block
        );
        let strongest = self.strongest();
        let can_block = !is_weakened && strongest.is_none_or(|s| s == Intensity::Block);
        let holds = !is_hook || self.locked || self.on_error == Some(OnError::Block);
        Standing {
            trigger,
            gates: trigger.is_pre() && !self.is_async && can_block && holds,
            locked: self.locked,
            is_hook,
        }
    }

    /// Returns what takes the place of its judgement: as it says itself, else for failures as the settings say, else as
    /// the table of [`NotJudged::gives`] says.
    pub fn in_place(&self, reason: NotJudged, trigger: Trigger) -> InPlace {
        let settings = self.on_failure.filter(|_| reason.is_failure());
        match self.on_error.or(settings) {
            Some(OnError::Allow) => InPlace::Warn,
            Some(OnError::Prompt) => InPlace::Prompt,
            Some(OnError::Block) => InPlace::Block,
            None => reason.gives(self.standing(trigger)),
        }
    }

    /// Whether it asks for a judgement even where what it runs is not there.
    pub fn insists(&self) -> bool {
        let said = self.on_error.or(self.on_failure);
        self.locked || said.is_some_and(|said| said != OnError::Allow)
    }

    /// Whether a block that its oracle finds is one, whatever was answered before.
    pub const fn blocks_as_found(&self) -> bool {
        let is_full = matches!(
            &self.ceiling,
            None | Some(IntensityCeiling::Fixed(Strength::Block))
        );
        is_full && self.escalate.is_none() && !self.overridable
    }

    /// Whether it must see what will really run, also where a later binding has changed it: what is locked, and hooks
    /// that no layer names.
    pub fn judges_what_runs(&self) -> bool {
        !self.is_async && (self.locked || self.oracle.kind() == Kind::External)
    }

    /// Whether asking it for an event only computes: its conditions need nothing but the event and the log, and where
    /// they hold, its oracle is a built-in one that is judged in place.
    pub fn only_computes(&self, facts: &Facts) -> bool {
        self.judges_by(facts, || {
            self.oracle.kind() == Kind::BuiltIn
                && (self.oracle.oracle(facts)).is_ok_and(|oracle| oracle.mode() == Mode::Inline)
        })
    }

    /// Whether it can be asked about an event of the past: it only computes, or is a script that asks for nothing of the
    /// project, which is not what it was then.
    pub fn can_judge_the_past(&self, facts: &Facts) -> bool {
        let factory = self.oracle.factory();
        let is_script = || {
            factory.kind() == Kind::Script
                && !factory.reads_project()
                && factory.needs().iter().all(|source| is_at_hand(*source))
        };
        self.only_computes(facts) || self.judges_by(facts, is_script)
    }

    /// Whether its conditions need nothing but the event and the log, and its oracle is such a one where they hold.
    fn judges_by(&self, facts: &Facts, is_such: impl Fn() -> bool) -> bool {
        let mut asked = self.conditions.iter().flat_map(Condition::facts);
        if !asked.all(|fact| is_at_hand(fact.source())) {
            return false;
        }
        let is_fixed =
            !self.oracle.varies() && !matches!(self.ceiling, Some(IntensityCeiling::By(_)));
        !self.applies(facts) || (!self.is_async && is_fixed && is_such())
    }
}

/// Whether what a fact comes from is the event or the log: neither a file of the project nor a program is needed.
const fn is_at_hand(source: FactSource) -> bool {
    !matches!(
        source,
        FactSource::Issue | FactSource::Git | FactSource::Tests
    )
}
