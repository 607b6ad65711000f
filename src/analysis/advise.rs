//! Advise: what the figures say should change in the policy, as rules that are data.

use serde::Serialize;

use super::Figures;
use super::Stats;
use crate::config::BindingSpec;
use crate::config::Ceiling;
use crate::config::Config;
use crate::config::LayerSource;
use crate::diagnostic::SourceMap;
use crate::event::Trigger;
use crate::signal::Strength;

/// One rule: what it looks for, and what it proposes.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// Its name.
    pub name: &'static str,
    /// What it means, for people.
    pub meaning: &'static str,
    /// How many of what it counts there must be: little evidence gives no advice.
    pub at_least: u64,
    judge: fn(&Case<'_>) -> Option<Finding>,
}

/// The rules, in the order in which their advice is given.
pub const RULES: &[Rule] = &[
    Rule {
        name: "noise",
        meaning: "Fires often and is mostly dismissed or acknowledged without effect: weaken it to an aid, or narrow its `when`.",
        at_least: 20,
        judge: noise,
    },
    Rule {
        name: "overridden",
        meaning: "Its blocks are mostly overridden: a prompt would do the same with less friction.",
        at_least: 10,
        judge: overridden,
    },
    Rule {
        name: "blind-spot",
        meaning: "Fires often and takes long or many tries to repair: say it up front, where the work starts.",
        at_least: 10,
        judge: blind_spot,
    },
    Rule {
        name: "stale",
        meaning: "Never ran although its trigger came often: its `when` never holds, so switch it off or mend it.",
        at_least: 100,
        judge: stale,
    },
    Rule {
        name: "times-out",
        meaning: "Often fails because its timeout is too short: raise it.",
        at_least: 20,
        judge: times_out,
    },
    Rule {
        name: "flaky",
        meaning: "Often fails for other reasons than time: mend what it needs, or it guards nothing.",
        at_least: 20,
        judge: flaky,
    },
    Rule {
        name: "slow",
        meaning: "Keeps the agent waiting for nothing but advice: run it async.",
        at_least: 20,
        judge: slow,
    },
];

/// What a rule judges.
#[derive(Debug)]
struct Case<'c> {
    rule: &'c Rule,
    figures: &'c Figures,
    /// How often the trigger came.
    events: u64,
    trigger: Trigger,
    timeout_s: Option<u64>,
}

/// What a rule found.
#[derive(Debug)]
struct Finding {
    why: String,
    confidence: f64,
    change: Option<Change>,
}

/// A change of one binding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// A key of the binding gets a value, as YAML.
    Set {
        /// The key.
        key: &'static str,
        /// The value.
        value: String,
    },
    /// The same oracle also advises at an earlier trigger.
    Teach {
        /// The trigger.
        trigger: Trigger,
    },
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
    /// Its oracle, as the log writes it.
    pub oracle: String,
    /// The layer in which it stands, where the binding is still configured.
    pub layer: Option<LayerSource>,
    /// `file:line` of it.
    pub place: String,
    /// The figures behind the proposal, in words.
    pub why: String,
    /// How sure it is, from 0 to 1, by the size of the sample.
    pub confidence: f64,
    /// What would be changed; none where a person must find out.
    pub change: Option<Change>,
    /// Whether the binding is locked, so that only its own layer can change it.
    pub locked: bool,
    /// The figures.
    pub figures: Figures,
}

/// Returns what the figures of a log propose for the policy in force, by rule and activity.
pub fn advise(stats: &Stats, config: &Config, sources: &SourceMap) -> Vec<Proposal> {
    let nothing = Figures::default();
    let mut proposals = Vec::new();
    let bindings = config
        .bindings
        .iter()
        .flat_map(|(trigger, specs)| specs.iter().map(move |spec| (*trigger, spec)));
    for (trigger, spec) in bindings {
        // What is switched off says nothing, and what the program itself brings is not the user's to change.
        if !spec.enabled || spec.layer == LayerSource::BuiltIn {
            continue;
        }
        let known = stats
            .bindings
            .iter()
            .find(|b| b.hook == trigger.name() && b.id == spec.id);
        let figures = known.map_or(&nothing, |known| &known.figures);
        for rule in RULES {
            let case = Case {
                rule,
                figures,
                events: stats.hooks.get(trigger.name()).copied().unwrap_or(0),
                trigger,
                timeout_s: Some(spec.timeout.unwrap_or(config.settings.timeout).as_secs()),
            };
            if let Some(found) = (rule.judge)(&case)
                && !found
                    .change
                    .as_ref()
                    .is_some_and(|change| is_made(change, spec, config))
            {
                proposals.push(Proposal {
                    rule: rule.name,
                    binding: spec.id.clone(),
                    hook: trigger,
                    oracle: known.map_or_else(|| oracle_name(spec), |known| known.oracle.clone()),
                    layer: Some(spec.layer),
                    place: sources.line(spec.span),
                    why: found.why,
                    confidence: (found.confidence * 100.0).round() / 100.0,
                    change: found.change,
                    locked: spec.locked,
                    figures: figures.clone(),
                });
            }
        }
    }
    let order = |p: &Proposal| RULES.iter().position(|r| r.name == p.rule);
    proposals.sort_by(|a, b| {
        order(a)
            .cmp(&order(b))
            .then_with(|| b.confidence.total_cmp(&a.confidence))
    });
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
            _ => false,
        },
        Change::Set { key: "async", .. } => spec.is_async,
        Change::Set { .. } => false,
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

fn oracle_name(spec: &BindingSpec) -> String {
    spec.target.name().to_owned()
}

fn noise(case: &Case<'_>) -> Option<Finding> {
    const MOSTLY: f64 = 0.6;
    let figures = case.figures;
    let signals = figures.signals.prompt + figures.signals.control + figures.signals.aid;
    let rate = figures.waved_through_rate?;
    let sure = at_least_rate(rate, signals);
    // An aid can hardly be weakened: it can be narrowed.
    let only_aids = figures.signals.prompt + figures.signals.control == 0;
    (signals >= case.rule.at_least && sure >= MOSTLY && figures.signals.block == 0).then(|| {
        Finding {
            why: format!(
                "{signals} signals, {:.0}% of them dismissed or acknowledged without effect",
                rate * 100.0
            ),
            confidence: sure,
            change: (!only_aids).then(|| Change::Set {
                key: "intensity",
                value: "aid".to_owned(),
            }),
        }
    })
}

fn overridden(case: &Case<'_>) -> Option<Finding> {
    const MOSTLY: f64 = 0.4;
    let blocks = case.figures.signals.block;
    let rate = case.figures.override_rate?;
    let sure = at_least_rate(rate, blocks);
    (blocks >= case.rule.at_least && sure >= MOSTLY).then(|| Finding {
        why: format!("{blocks} blocks, {:.0}% of them overridden", rate * 100.0),
        confidence: sure,
        change: Some(Change::Set {
            key: "intensity",
            value: "prompt".to_owned(),
        }),
    })
}

fn blind_spot(case: &Case<'_>) -> Option<Finding> {
    const LONG_S: f64 = 1800.0;
    const MANY: f64 = 3.5;
    let figures = case.figures;
    let repair = figures.mean_time_to_repair_s?;
    let tries = figures.mean_tries?;
    let is_slow = repair >= LONG_S || tries >= MANY;
    (figures.repaired >= case.rule.at_least && is_slow).then(|| Finding {
        why: format!(
            "repaired {} times, on average after {} and {tries:.1} tries",
            figures.repaired,
            if repair < 5400.0 {
                format!("{:.0} minutes", repair / 60.0)
            } else if repair < 129_600.0 {
                format!("{:.1} hours", repair / 3600.0)
            } else {
                format!("{:.1} days", repair / 86_400.0)
            }
        ),
        confidence: by_size(figures.repaired),
        // Only the life of an issue has an earlier moment at which the same can be judged.
        change: (case.trigger.is_issue() && case.trigger != Trigger::PreIssueStart).then_some(
            Change::Teach {
                trigger: Trigger::PostIssueStart,
            },
        ),
    })
}

fn stale(case: &Case<'_>) -> Option<Finding> {
    (case.figures.triggered == 0 && case.events >= case.rule.at_least).then(|| Finding {
        why: format!(
            "`{}` came {} times and it never ran",
            case.trigger, case.events
        ),
        confidence: by_size(case.events),
        change: Some(Change::Set {
            key: "enabled",
            value: "false".to_owned(),
        }),
    })
}

fn times_out(case: &Case<'_>) -> Option<Finding> {
    const OFTEN: f64 = 0.05;
    let figures = case.figures;
    let rate = part(figures.timeouts, figures.triggered)?;
    let enough = figures.triggered >= case.rule.at_least && figures.timeouts >= 3;
    (enough && rate >= OFTEN).then(|| Finding {
        why: format!(
            "{} of {} runs took longer than the timeout{}",
            figures.timeouts,
            figures.triggered,
            case.timeout_s
                .map_or_else(String::new, |s| format!(" of {s} s"))
        ),
        confidence: by_size(figures.triggered),
        change: case.timeout_s.map(|seconds| Change::Set {
            key: "timeout",
            value: format!("{}s", (seconds * 2).max(1)),
        }),
    })
}

fn flaky(case: &Case<'_>) -> Option<Finding> {
    const OFTEN: f64 = 0.05;
    let figures = case.figures;
    let errors = figures.errors - figures.timeouts;
    let rate = part(errors, figures.triggered)?;
    let enough = figures.triggered >= case.rule.at_least && errors >= 3;
    (enough && rate >= OFTEN).then(|| Finding {
        why: format!(
            "{errors} of {} runs failed; `ahp log export --raw` shows why",
            figures.triggered
        ),
        confidence: by_size(figures.triggered),
        change: None,
    })
}

fn slow(case: &Case<'_>) -> Option<Finding> {
    const LONG_US: u64 = 2_000_000;
    let figures = case.figures;
    let p50 = figures.p50_us?;
    let stronger = figures.signals.total() - figures.signals.aid;
    let only_advises = figures.signals.aid > 0 && stronger == 0;
    let enough = figures.triggered >= case.rule.at_least;
    (enough && p50 >= LONG_US && only_advises).then(|| Finding {
        why: format!(
            "half of its {} runs took longer than {} ms, and it gave nothing but {} aids",
            figures.triggered,
            p50 / 1000,
            figures.signals.aid
        ),
        confidence: by_size(figures.triggered),
        change: Some(Change::Set {
            key: "async",
            value: "true".to_owned(),
        }),
    })
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counts of a log are far below 2^52"
)]
fn part(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// Returns the lower bound of the Wilson score interval (95 %): what the rate is at least, for all that the sample says.
#[expect(
    clippy::cast_precision_loss,
    reason = "counts of a log are far below 2^52"
)]
fn at_least_rate(rate: f64, of: u64) -> f64 {
    const Z: f64 = 1.96;
    if of == 0 {
        return 0.0;
    }
    let n = of as f64;
    let centre = rate + Z * Z / (2.0 * n);
    let spread = Z * (rate * (1.0 - rate) / n + Z * Z / (4.0 * n * n)).sqrt();
    ((centre - spread) / (1.0 + Z * Z / n)).max(0.0)
}

/// Returns how sure a mean over a sample is: half at 10, nine tenths at 90.
fn by_size(of: u64) -> f64 {
    part(of, of + 10).unwrap_or(0.0)
}
