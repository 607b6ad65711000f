//! Advice: what the findings of a log say should change in the policy, by rules that are data.
//!
//! Each rule counts of how many cases how many speak for a change, and speaks where the lower end of the 95 % interval of
//! that rate reaches what the rule asks for: few cases have a wide interval and give no advice. That nothing was found is
//! never a reason: a guard that had no occasion is no worse for it.

use std::path::Path;

use serde::Serialize;

use super::stats::SLOW_US;
use super::{Fates, Figures, FindingStats, MarkStats, Stats};
use crate::config::{BindingSpec, Ceiling, Config, LayerSource, Node};
use crate::danger::CommandPattern;
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
    /// How many cases there must be.
    pub at_least: u64,
    /// Which rate the lower end of the interval must reach.
    pub rate: f64,
    judge: Judge,
}

/// What a rule looks at, and what it counts there.
#[derive(Clone, Copy, Debug)]
enum Judge {
    /// A rule and one object that breaks it.
    Object(fn(&Case<'_>, &FindingStats) -> Option<Found>),
    /// A rule with all objects that break it.
    Rule(fn(&Case<'_>, &FindingStats) -> Option<Found>),
    /// The binding as a whole.
    Binding(fn(&Case<'_>) -> Option<Found>),
    /// A mark that the policy asks for; of the log, the days that it spans.
    Mark(fn(&MarkStats, i64) -> Option<Found>),
}

/// The rules, in the order in which their advice is given.
pub const RULES: &[Rule] = &[
    Rule {
        name: "allow-command",
        meaning: "People let this one command through nearly each time: allow it, and leave the rule in force for all others.",
        at_least: 8,
        rate: 0.6,
        judge: Judge::Object(allow_command),
    },
    Rule {
        name: "noise",
        meaning: "What this rule warns of is nearly always dismissed or ignored: tell it as an aid, or narrow its `when`.",
        at_least: 20,
        rate: 0.6,
        judge: Judge::Rule(noise),
    },
    Rule {
        name: "overridden",
        meaning: "What this rule blocks is mostly overridden: asking a person would do the same with less friction.",
        at_least: 10,
        rate: 0.4,
        judge: Judge::Rule(overridden),
    },
    Rule {
        name: "blind-spot",
        meaning: "Repairs mostly take half an hour or four tries: say it up front, where the work starts.",
        at_least: 10,
        rate: 0.4,
        judge: Judge::Binding(blind_spot),
    },
    Rule {
        name: "times-out",
        meaning: "Often fails because its timeout is too short: raise it.",
        at_least: 20,
        rate: 0.02,
        judge: Judge::Binding(times_out),
    },
    Rule {
        name: "flaky",
        meaning: "Often fails for other reasons than time: put right what it needs, or it guards nothing.",
        at_least: 20,
        rate: 0.02,
        judge: Judge::Binding(flaky),
    },
    Rule {
        name: "slow",
        meaning: "Keeps the agent waiting for nothing but advice: run it async.",
        at_least: 20,
        rate: 0.4,
        judge: Judge::Binding(slow),
    },
    Rule {
        name: "stale-mark",
        meaning: "Is asked for, and nothing has fed it in a month: either nothing of the kind happened, or its `when` does not fit.",
        at_least: 10,
        rate: 0.6,
        judge: Judge::Mark(stale_mark),
    },
    Rule {
        name: "untold-mark",
        meaning: "Mostly cannot be told when it is asked for: the host does not send the results, or not how commands end.",
        at_least: 10,
        rate: 0.5,
        judge: Judge::Mark(untold_mark),
    },
];

/// What a rule judges.
#[derive(Debug)]
struct Case<'c> {
    figures: &'c Figures,
    trigger: Trigger,
    oracle: &'c str,
    timeout_s: u64,
    /// How many rules of the binding have findings.
    rules: usize,
}

/// What a rule found: so many of so many cases speak for the change.
#[derive(Debug)]
struct Found {
    cases: u64,
    of: u64,
    why: String,
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
    /// One command more is allowed, with exactly its words: people let this one through, and no other.
    Allow {
        /// The command, as `allow_commands` has it.
        command: String,
    },
    /// The same oracle also advises at an earlier trigger.
    Teach {
        /// The trigger.
        trigger: Trigger,
    },
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

/// A rate of a sample, with the 95 % interval (Wilson's) in which the true one lies.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Rate {
    /// How many cases speak for it.
    pub cases: u64,
    /// Of how many.
    pub of: u64,
    /// The lower end of the interval, from 0 to 1.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Rate {
    /// Returns the rate of a sample.
    #[expect(
        clippy::cast_precision_loss,
        reason = "counts of a log are far below 2^52"
    )]
    pub fn of(cases: u64, of: u64) -> Self {
        const Z: f64 = 1.96;
        if of == 0 {
            let (low, high) = (0.0, 1.0);
            return Self {
                cases,
                of,
                low,
                high,
            };
        }
        let n = of as f64;
        let rate = cases.min(of) as f64 / n;
        let centre = rate + Z * Z / (2.0 * n);
        let spread = Z * (rate * (1.0 - rate) / n + Z * Z / (4.0 * n * n)).sqrt();
        let end = |value: f64| (value / (1.0 + Z * Z / n) * 100.0).round() / 100.0;
        Self {
            cases,
            of,
            low: end(centre - spread).max(0.0),
            high: end(centre + spread).min(1.0),
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

/// Whether it is the oracle that knows single commands; all others know nothing smaller than the rule.
fn knows_commands(case: &Case<'_>) -> bool {
    case.oracle == "permission-checker"
}

/// Returns of how many findings it is known what became of them.
const fn ended(fates: &Fates) -> u64 {
    fates.findings.saturating_sub(fates.open())
}

/// Returns so many of so many findings as a sample: what one signal brought at once is one case, not many.
fn sample(fates: &Fates, cases: u64, of: u64) -> (u64, u64) {
    let independent = of.min(fates.occasions);
    match of {
        0 => (0, 0),
        _ => (cases * independent / of, independent),
    }
}

/// Says in how many signals findings came, where several came at once.
fn at_once(fates: &Fates) -> String {
    if fates.occasions < fates.findings {
        format!(" (in {} signals)", fates.occasions)
    } else {
        String::new()
    }
}

fn allow_command(case: &Case<'_>, finding: &FindingStats) -> Option<Found> {
    let object = finding.object.as_ref().filter(|_| knows_commands(case))?;
    let fates = &finding.fates;
    let through = fates.overridden + fates.dismissed;
    // A path is guarded by a rule of its own, which no list of commands lifts; and what is not one command has no exact form.
    let is_path = finding.rule.starts_with("protected_paths");
    let exact = CommandPattern::exactly(object, Path::new(""))
        .ok()
        .filter(|_| !is_path);
    Some(Found {
        cases: through,
        of: ended(fates),
        why: format!(
            "`{object}` was found {} times [{}], overridden {} and dismissed {} times",
            fates.findings, finding.rule, fates.overridden, fates.dismissed
        ),
        change: exact.map(|pattern| Change::Allow {
            command: pattern.text,
        }),
    })
}

/// Returns a ceiling for all that a binding gives, where that is the one rule: of several, the others would be weakened too.
fn ceiling(case: &Case<'_>, strength: &str) -> Option<Change> {
    (case.rules == 1 && !knows_commands(case)).then(|| Change::Set {
        key: "intensity",
        value: strength.to_owned(),
    })
}

fn noise(case: &Case<'_>, finding: &FindingStats) -> Option<Found> {
    let fates = &finding.fates;
    let (cases, of) = sample(fates, fates.dismissed + fates.ignored, ended(fates));
    (finding.signals.block == 0).then(|| Found {
        cases,
        of,
        why: format!(
            "{} findings of `{}`{}, {} dismissed and {} ignored",
            fates.findings,
            finding.rule,
            at_once(fates),
            fates.dismissed,
            fates.ignored
        ),
        change: ceiling(case, "aid"),
    })
}

fn overridden(case: &Case<'_>, finding: &FindingStats) -> Option<Found> {
    let fates = &finding.fates;
    let (cases, of) = sample(fates, fates.overridden, ended(fates));
    (!knows_commands(case)).then(|| Found {
        cases,
        of,
        why: format!(
            "{} findings of `{}`{}, {} overridden",
            fates.findings,
            finding.rule,
            at_once(fates),
            fates.overridden
        ),
        change: ceiling(case, "ask"),
    })
}

fn blind_spot(case: &Case<'_>) -> Option<Found> {
    let figures = case.figures;
    let repair = figures.mean_time_to_repair_s?;
    let tries = figures.mean_tries?;
    let fates = &figures.fates;
    let (cases, of) = sample(fates, figures.hard_repairs, fates.repaired);
    Some(Found {
        cases,
        of,
        why: format!(
            "repaired {} times{}, on average after {} and {tries:.1} tries",
            fates.repaired,
            at_once(fates),
            if repair < 5400.0 {
                format!("{:.0} minutes", repair / 60.0)
            } else if repair < 129_600.0 {
                format!("{:.1} hours", repair / 3600.0)
            } else {
                format!("{:.1} days", repair / 86_400.0)
            }
        ),
        // Only the life of an issue has an earlier moment at which the same can be judged.
        change: (case.trigger.is_issue() && case.trigger != Trigger::PreIssueStart).then_some(
            Change::Teach {
                trigger: Trigger::PostIssueStart,
            },
        ),
    })
}

fn stale_mark(mark: &MarkStats, days: i64) -> Option<Found> {
    (mark.fed == 0 && days >= 30).then(|| Found {
        cases: mark.asked,
        of: mark.asked,
        why: format!(
            "asked for {} times in {days} days, and never fed",
            mark.asked
        ),
        change: None,
    })
}

fn untold_mark(mark: &MarkStats, _: i64) -> Option<Found> {
    (mark.untold > 0).then(|| Found {
        cases: mark.untold,
        of: mark.asked,
        why: format!(
            "asked for {} times, {} could not be told",
            mark.asked, mark.untold
        ),
        change: None,
    })
}

fn times_out(case: &Case<'_>) -> Option<Found> {
    let figures = case.figures;
    (figures.timeouts >= 3).then(|| Found {
        cases: figures.timeouts,
        of: figures.triggered,
        why: format!(
            "{} of {} runs took longer than the timeout of {} s",
            figures.timeouts, figures.triggered, case.timeout_s
        ),
        change: Some(Change::Set {
            key: "timeout",
            value: format!("{}s", (case.timeout_s * 2).max(1)),
        }),
    })
}

fn flaky(case: &Case<'_>) -> Option<Found> {
    let figures = case.figures;
    let errors = figures.errors - figures.timeouts;
    (errors >= 3).then(|| Found {
        cases: errors,
        of: figures.triggered,
        why: format!(
            "{errors} of {} runs failed; `ahp log export --raw` shows why",
            figures.triggered
        ),
        change: None,
    })
}

fn slow(case: &Case<'_>) -> Option<Found> {
    let figures = case.figures;
    let stronger = figures.signals.total() - figures.signals.aid;
    (figures.signals.aid > 0 && stronger == 0).then(|| Found {
        cases: figures.slow_runs,
        of: figures.triggered,
        why: format!(
            "{} of {} runs took {} s or longer, and it gave nothing but {} aids",
            figures.slow_runs,
            figures.triggered,
            SLOW_US / 1_000_000,
            figures.signals.aid
        ),
        change: Some(Change::Set {
            key: "async",
            value: "true".to_owned(),
        }),
    })
}
