//! Whole: what was counted, put together in the order in which it is shown.

use std::collections::BTreeMap;

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};

use super::figures::{Counts, Kind};
use super::{BindingStats, Figures, FindingStats, GroupStats, NamedFigures};
use crate::verdict::Decision;

/// How many objects and sessions are shown.
pub(super) const SHOWN: usize = 1000;

/// All decisions, in the order of their strength.
pub(super) const DECISIONS: [Decision; 4] = [
    Decision::None,
    Decision::Allow,
    Decision::Ask,
    Decision::Block,
];

/// A longer time without records is left out of the days: a clock was wrong.
const LONGEST_GAP: TimeDelta = TimeDelta::days(400);

/// Who a binding is.
#[derive(Clone, Debug)]
pub(super) struct BindingName {
    pub(super) hook: String,
    pub(super) id: String,
    pub(super) oracle: String,
    pub(super) source: String,
}

/// Which rule of which binding it is, and what broke it.
#[derive(Clone, Debug)]
pub(super) struct FindingName {
    pub(super) binding: usize,
    pub(super) rule: String,
    pub(super) object: Option<String>,
}

/// What is counted of a group: an issue, a host, a session or a day.
#[derive(Clone, Debug, Default)]
pub(super) struct Group {
    /// How many times the agent wanted to stop.
    pub(super) turns: u64,
    pub(super) evaluations: u64,
    pub(super) stopped: u64,
    pub(super) first: Option<DateTime<Utc>>,
    pub(super) last: Option<DateTime<Utc>>,
    /// When anything of it was heard last, whether it is counted or not.
    pub(super) heard: Option<DateTime<Utc>>,
    pub(super) counts: Counts,
}

/// Returns how often each decision was made; the counts are in the order of their strength.
pub(super) fn decisions(counts: [u64; 4]) -> BTreeMap<&'static str, u64> {
    DECISIONS
        .into_iter()
        .zip(counts)
        .map(|(decision, count)| (decision.name(), count))
        .collect()
}

/// Returns the figures of all bindings together, of each one, the most active first, and of each oracle.
pub(super) fn bindings(
    counted: Vec<(BindingName, Counts)>,
) -> (Figures, Vec<BindingStats>, Vec<NamedFigures>) {
    let mut total = Counts::default();
    let mut oracles: BTreeMap<String, Counts> = BTreeMap::new();
    let mut bindings = Vec::with_capacity(counted.len());
    for (name, counts) in counted {
        total.merge(&counts);
        oracles
            .entry(name.oracle.clone())
            .or_default()
            .merge(&counts);
        bindings.push(BindingStats {
            id: name.id,
            hook: name.hook,
            oracle: name.oracle,
            source: name.source,
            figures: counts.figures(),
        });
    }
    bindings.sort_by(|a, b| {
        let activity = |s: &BindingStats| (s.figures.signals.total(), s.figures.triggered);
        activity(b)
            .cmp(&activity(a))
            .then_with(|| (&a.hook, &a.id).cmp(&(&b.hook, &b.id)))
    });
    let oracles = oracles.into_iter().map(|(name, counts)| NamedFigures {
        name,
        figures: counts.figures(),
    });
    (total.figures(), bindings, oracles.collect())
}

/// Returns groups by their names.
pub(super) fn groups(groups: Vec<(String, Group)>) -> Vec<GroupStats> {
    let mut stats: Vec<GroupStats> = groups
        .into_iter()
        .map(|(name, group)| {
            let figures = group.counts.figures();
            GroupStats {
                name,
                evaluations: group.evaluations,
                stopped: group.stopped,
                signals: figures.signals,
                answered: figures.answered,
                fates: figures.fates,
                mean_time_to_repair_s: figures.mean_time_to_repair_s,
                mean_turns: figures.mean_turns,
                first: group.first.map(to_milliseconds),
                last: group.last.map(to_milliseconds),
            }
        })
        .collect();
    stats.sort_by(|a, b| a.name.cmp(&b.name));
    stats
}

/// Returns rules or their objects, those with most findings first.
pub(super) fn kinds(
    kinds: Vec<(FindingName, Kind)>,
    bindings: &[(BindingName, Counts)],
) -> Vec<FindingStats> {
    let mut stats: Vec<FindingStats> = kinds
        .into_iter()
        .filter_map(|(name, kind)| {
            let (binding, _) = bindings.get(name.binding)?;
            let [mean_time_to_repair_s, mean_tries, mean_turns] =
                kind.repairs.means(kind.fates.repaired);
            Some(FindingStats {
                binding: binding.id.clone(),
                hook: binding.hook.clone(),
                rule: name.rule,
                object: name.object,
                signals: kind.signals,
                fates: kind.fates,
                mean_time_to_repair_s,
                mean_tries,
                mean_turns,
            })
        })
        .collect();
    stats.sort_by(|a, b| {
        let weight = |s: &FindingStats| (s.fates.findings, s.signals.total());
        let name = |s: &FindingStats| (s.binding.clone(), s.rule.clone(), s.object.clone());
        weight(b)
            .cmp(&weight(a))
            .then_with(|| name(a).cmp(&name(b)))
    });
    stats.truncate(SHOWN);
    stats
}

/// Puts the days in between that have no records among those that have.
pub(super) fn every_day(days: Vec<GroupStats>) -> Vec<GroupStats> {
    let mut all: Vec<GroupStats> = Vec::with_capacity(days.len());
    for day in days {
        let date = |name: &str| name.parse::<NaiveDate>().ok();
        let next = |last: &GroupStats| date(&last.name)?.succ_opt().map(|day| day.to_string());
        let is_near = all
            .last()
            .and_then(|last| Some(date(&day.name)? - date(&last.name)?))
            .is_some_and(|gap| gap <= LONGEST_GAP);
        while is_near
            && let Some(name) = all.last().and_then(next)
            && name < day.name
        {
            all.push(GroupStats {
                name,
                ..GroupStats::default()
            });
        }
        all.push(day);
    }
    all
}

/// Returns a time as precisely as figures say it.
pub(super) fn to_milliseconds(time: DateTime<Utc>) -> DateTime<Utc> {
    DateTime::from_timestamp_millis(time.timestamp_millis()).unwrap_or(time)
}
