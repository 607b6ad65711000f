//! Advice: what the findings of a log say should change in the policy, by rules that are data.
//!
//! Each rule counts of how many cases how many speak for a change, and speaks where the lower end of the 95 % interval of
//! that rate reaches what the rule asks for: few cases have a wide interval and give no advice. That nothing was found is
//! never a reason: a guard that had no occasion is no worse for it.

mod rate;
mod rules;

pub use self::rate::Rate;
pub use self::rules::{RULES, Rule};

use serde::Serialize;

use self::rules::{Case, Found, Judge};
use super::{FindingStats, Stats};
use crate::config::{BindingSpec, Ceiling, Config, LayerSource, Node};
use crate::diagnostic::SourceMap;
use crate::event::Trigger;
use crate::signal::Strength;

/// A change of one binding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// A key of the binding gets a value, as YAML.
    Set { key: &'static str, value: String },
    /// One command more is allowed, with exactly its words: people let this one through, and no other.
    Allow { command: String },
    /// The same oracle also advises at an earlier trigger.
    Teach { trigger: Trigger },
}

impl Change {
    /// Whether it is made so that what was found is judged otherwise.
    pub fn is_of_judgement(&self) -> bool {
        match self {
            Self::Allow { .. } => true,
            Self::Set { key, .. } => *key == "intensity",
            Self::Teach { .. } => false,
        }
    }
}

/// One proposal.
#[derive(Clone, Debug, Serialize)]
pub struct Proposal {
    /// The rule.
    pub rule: &'static str,
    /// The binding.
    pub binding: String,
    /// Its trigger.
    pub hook: Trigger,
    /// Its oracle.
    pub oracle: String,
    /// Which finding of the binding it is about: the rule that is broken, and what breaks it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finding: Option<(String, Option<String>)>,
    /// The layer in which it stands.
    pub layer: LayerSource,
    /// `file:line` of it.
    pub place: String,
    /// The figures behind the proposal, in words.
    pub why: String,
    /// How many cases speak for it, with the interval.
    pub confidence: Rate,
    /// What would be changed; none where a person must find out.
    pub change: Option<Change>,
    /// Whether the binding is locked, so that only its own layer can change it.
    pub locked: bool,
}

/// Returns what the figures of a log propose for the policy in force, by rule, the surest first.
pub fn advise(stats: &Stats, config: &Config, sources: &SourceMap) -> Vec<Proposal> {
    let mut proposals = Vec::new();
    for known in &stats.bindings {
        let Some(trigger) = Trigger::find(&known.hook) else {
            continue;
        };
        let specs = config.bindings.get(&trigger).map_or(&[][..], Vec::as_slice);
        // What is switched off says nothing, and what the program itself brings is not the user's to change.
        let Some(spec) = specs
            .iter()
            .find(|s| s.id == known.id && s.enabled && s.layer != LayerSource::BuiltIn)
        else {
            continue;
        };
        let is_of = |f: &&FindingStats| f.binding == known.id && f.hook == known.hook;
        let case = Case {
            figures: &known.figures,
            trigger,
            oracle: &known.oracle,
            timeout_s: spec.timeout.unwrap_or(config.settings.timeout).as_secs(),
            rules: stats.rules.iter().filter(is_of).count(),
        };
        for rule in RULES {
            let of_finding = |found: Found, finding: &FindingStats| {
                let finding = (finding.rule.clone(), finding.object.clone());
                (found, Some(finding))
            };
            let found: Vec<_> = match rule.judge {
                Judge::Binding(judge) => judge(&case).map(|f| (f, None)).into_iter().collect(),
                Judge::Rule(judge) => {
                    let of = stats.rules.iter().filter(is_of);
                    of.filter_map(|f| Some(of_finding(judge(&case, f)?, f)))
                        .collect()
                }
                Judge::Object(judge) => {
                    let of = stats.findings.iter().filter(is_of);
                    of.filter_map(|f| Some(of_finding(judge(&case, f)?, f)))
                        .collect()
                }
                Judge::Mark(_) => Vec::new(),
            };
            for (found, finding) in found {
                let confidence = Rate::of(found.cases, found.of);
                let is_made = |change: &Change| is_made(change, spec, config);
                if found.of < rule.at_least
                    || confidence.low < rule.rate
                    || found.change.as_ref().is_some_and(is_made)
                {
                    continue;
                }
                proposals.push(Proposal {
                    rule: rule.name,
                    binding: spec.id.clone(),
                    hook: trigger,
                    oracle: known.oracle.clone(),
                    finding,
                    layer: spec.layer,
                    place: sources.line(spec.span),
                    why: found.why,
                    confidence,
                    change: found.change,
                    locked: spec.locked,
                });
            }
        }
    }
    proposals.extend(advise_on_marks(stats, config, sources));
    let order = |p: &Proposal| RULES.iter().position(|r| r.name == p.rule);
    proposals.sort_by(|a, b| {
        let sure = b.confidence.low.total_cmp(&a.confidence.low);
        order(a).cmp(&order(b)).then(sure)
    });
    proposals
}

/// Returns what the figures say of the marks that the policy asks for; what to change a person must find out.
fn advise_on_marks(stats: &Stats, config: &Config, sources: &SourceMap) -> Vec<Proposal> {
    let mut proposals = Vec::new();
    let days = match (stats.since, stats.until) {
        (Some(since), Some(until)) => (until - since).num_days(),
        _ => 0,
    };
    for mark in config.marks.values().filter(|mark| mark.asked.is_some()) {
        let (Some(known), Some(hook)) = (stats.marks.get(&mark.name), mark.on.first()) else {
            continue;
        };
        for rule in RULES {
            let Judge::Mark(judge) = rule.judge else {
                continue;
            };
            let Some(found) = judge(known, days) else {
                continue;
            };
            let confidence = Rate::of(found.cases, found.of);
            if found.of >= rule.at_least && confidence.low >= rule.rate {
                proposals.push(Proposal {
                    rule: rule.name,
                    binding: format!("marks.{}", mark.name),
                    hook: *hook,
                    oracle: String::new(),
                    finding: None,
                    layer: mark.layer,
                    place: sources.line(mark.span),
                    why: found.why,
                    confidence,
                    change: None,
                    locked: mark.locked.is_some(),
                });
            }
        }
    }
    proposals
}

/// Whether a policy has a change already: its figures are of the time before, and stay in the log.
fn is_made(change: &Change, spec: &BindingSpec, config: &Config) -> bool {
    match change {
        Change::Set {
            key: "intensity",
            value,
        } => match &spec.intensity {
            Some(Ceiling::Fixed(ceiling)) => {
                Strength::find(value).is_some_and(|wanted| *ceiling <= wanted)
            }
            Some(_) => true,
            None => false,
        },
        Change::Set { key: "async", .. } => spec.is_async,
        Change::Set { .. } => false,
        Change::Allow { command } => {
            let wide = command.trim_start_matches('=');
            let list = allowed(spec);
            list.iter()
                .any(|entry| entry.trim_start_matches('=') == wide)
        }
        Change::Teach { trigger } => config
            .bindings
            .get(trigger)
            .is_some_and(|there| there.iter().any(|b| b.id == up_front_id(spec))),
    }
}

/// Returns the id of what says up front what a binding will ask for.
pub(super) fn up_front_id(spec: &BindingSpec) -> String {
    format!("{}-up-front", spec.id)
}

/// The key of PermissionChecker for commands that are let through.
pub(super) const ALLOW_COMMANDS: &str = "allow_commands";

/// Returns the commands that a binding lets through.
pub(super) fn allowed(spec: &BindingSpec) -> Vec<String> {
    let list = spec.config.get(ALLOW_COMMANDS).map(Node::to_json);
    list.and_then(|list| serde_json::from_value(list).ok())
        .unwrap_or_default()
}
