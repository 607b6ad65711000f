//! The rules of advice: what each counts, and what it proposes.

use std::path::Path;

use super::Change;
use crate::analysis::stats::SLOW_US;
use crate::analysis::{Fates, Figures, FindingStats, MarkStats};
use crate::danger::CommandPattern;
use crate::event::Trigger;

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
    pub(super) judge: Judge,
}

/// What a rule looks at, and what it counts there.
#[derive(Clone, Copy, Debug)]
pub(super) enum Judge {
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
pub(super) struct Case<'c> {
    pub(super) figures: &'c Figures,
    pub(super) trigger: Trigger,
    pub(super) oracle: &'c str,
    pub(super) timeout_s: u64,
    /// How many rules of the binding have findings.
    pub(super) rules: usize,
}

/// What a rule found: so many of so many cases speak for the change.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) cases: u64,
    pub(super) of: u64,
    pub(super) why: String,
    pub(super) change: Option<Change>,
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

/// Says of how many findings an agent's own answer was the end: of what people want, those tell nothing.
fn aside(fates: &Fates) -> String {
    match fates.by_agent() {
        0 => String::new(),
        n => format!(" (the agent's own answers, {n}, do not count)"),
    }
}

fn allow_command(case: &Case<'_>, finding: &FindingStats) -> Option<Found> {
    let object = finding.object.as_ref().filter(|_| knows_commands(case))?;
    let fates = &finding.fates;
    let through = fates.overridden + fates.dismissed - fates.by_agent();
    // A path is guarded by a rule of its own, which no list of commands lifts; and what is not one command has no exact form.
    let is_path = finding.rule.starts_with("protected_paths");
    let exact = CommandPattern::exactly(object, Path::new(""))
        .ok()
        .filter(|_| !is_path);
    Some(Found {
        cases: through,
        of: ended(fates) - fates.by_agent(),
        why: format!(
            "`{object}` was found {} times [{}], people let it through {through} times{}",
            fates.findings,
            finding.rule,
            aside(fates)
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
    let by_people = fates.overridden - fates.overridden_by_agent;
    let (cases, of) = sample(fates, by_people, ended(fates) - fates.by_agent());
    (!knows_commands(case)).then(|| Found {
        cases,
        of,
        why: format!(
            "{} findings of `{}`{}, {by_people} overridden by people{}",
            fates.findings,
            finding.rule,
            at_once(fates),
            aside(fates)
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
