//! Sums: what the slices of a log add up to, taken in the order of the log.

use std::collections::BTreeMap;
use std::collections::HashMap;
use std::collections::VecDeque;

use chrono::DateTime;

use super::BindingStats;
use super::GroupStats;
use super::NamedFigures;
use super::Stats;
use super::figures::Counts;
use super::keys::ByKey;
use super::keys::Key;
use super::keys::Keys;
use super::slice::BindingName;
use super::slice::Group;
use super::slice::NONE;
use super::slice::Named;
use super::slice::Ordered;
use super::slice::Slice;
use crate::signal::Action;
use crate::verdict::Decision;
use crate::verdict::Outcome;

/// Of how many answered signals it is remembered that they were: a second answer takes the place of the first.
const REMEMBERED: usize = 1 << 16;

/// A chain that is not closed: see `signal_log::chain`, whose rules these are.
#[derive(Clone, Copy, Debug, Default)]
struct Open {
    violations: u64,
    since_ms: i64,
    counted: bool,
}

/// What has been counted so far.
#[derive(Debug, Default)]
pub(super) struct Sums {
    records: u64,
    bad_lines: u64,
    evaluations: u64,
    hooks: BTreeMap<String, u64>,
    decisions: [u64; 4],
    bindings: Named<BindingName, Counts>,
    issues: Named<String, Group>,
    hosts: Named<String, Group>,
    days: Named<String, Group>,
    open: HashMap<Key, Open, ByKey>,
    answered: HashMap<Key, (Action, bool), ByKey>,
    answered_in_order: VecDeque<Key>,
    first_ms: Option<i64>,
    last_ms: Option<i64>,
}

impl Sums {
    /// Adds what the next lines add up to.
    pub(super) fn add(&mut self, slice: Slice, keys: &Keys) {
        self.records += slice.records;
        self.bad_lines += slice.bad_lines;
        self.evaluations += slice.evaluations;
        for (hook, count) in slice.hooks.items {
            *self.hooks.entry(hook).or_default() += count;
        }
        for (sum, count) in self.decisions.iter_mut().zip(slice.decisions) {
            *sum += count;
        }
        self.first_ms = self.first_ms.or(slice.first_ms);
        self.last_ms = slice.last_ms.or(self.last_ms);
        let mut bindings = Vec::with_capacity(slice.bindings.items.len());
        for (name, (counts, durations)) in slice.bindings.items {
            let key = keys.of(&name.hook).with(keys.of(&name.id));
            let place = self.bindings.place(key, || name.clone());
            bindings.push(place);
            let known = usize::try_from(place).ok();
            if let Some((known, sum)) = known.and_then(|p| self.bindings.items.get_mut(p)) {
                // The place is the latest; an answer knows no oracle.
                if !name.source.is_empty() {
                    known.source = name.source;
                }
                if !name.oracle.is_empty() {
                    known.oracle = name.oracle;
                }
                sum.merge(&counts);
                for duration in durations {
                    sum.durations.add(duration);
                }
            }
        }
        let issues = merge_groups(&mut self.issues, slice.issues, keys);
        merge_groups(&mut self.hosts, slice.hosts, keys);
        let days = merge_groups(&mut self.days, slice.days, keys);
        for event in slice.ordered {
            self.follow(event, &bindings, &issues, &days);
        }
    }

    /// Takes what depends on the order of the records.
    fn follow(&mut self, event: Ordered, bindings: &[u32], issues: &[u32], days: &[u32]) {
        let global = |places: &[u32], place: u32| {
            usize::try_from(place)
                .ok()
                .and_then(|p| places.get(p))
                .copied()
                .unwrap_or(NONE)
        };
        match event {
            Ordered::Judged {
                chain,
                binding,
                issue,
                outcome,
                waived,
                ms,
            } => match outcome {
                Outcome::Accepted => {
                    let Some(open) = self.open.remove(&chain) else {
                        return;
                    };
                    if waived || open.violations == 0 {
                        return;
                    }
                    let took = u64::try_from(ms - open.since_ms).unwrap_or(0);
                    let tries = open.violations + 1;
                    if let Some(counts) = self.bindings.at(global(bindings, binding)) {
                        counts.add_repair(took, tries);
                    }
                    if let Some(group) = self.issues.at(global(issues, issue)) {
                        group.counts.add_repair(took, tries);
                    }
                }
                Outcome::Signalled => {
                    if let Some(open) = self.open.get_mut(&chain) {
                        open.counted = false;
                    }
                }
                Outcome::Failed => self.open.entry(chain).or_default().counted = true,
                Outcome::Skipped | Outcome::NotRun | Outcome::Disabled | Outcome::Started => {}
            },
            Ordered::Violated { chain, ms } => {
                let open = self.open.entry(chain).or_default();
                if !open.counted {
                    open.counted = true;
                    open.violations += 1;
                    if open.violations == 1 {
                        open.since_ms = ms;
                    }
                }
            }
            Ordered::Answered {
                signal,
                binding,
                issue,
                day,
                action,
                inferred,
            } => {
                let before = self.answered.get(&signal).copied();
                // What was said is not undone by what is concluded later.
                if before.is_some_and(|(_, was_inferred)| inferred && !was_inferred) {
                    return;
                }
                self.answered.insert(signal, (action, inferred));
                if before.is_none() {
                    self.answered_in_order.push_back(signal);
                    if self.answered_in_order.len() > REMEMBERED
                        && let Some(oldest) = self.answered_in_order.pop_front()
                    {
                        self.answered.remove(&oldest);
                    }
                }
                for counts in [
                    self.bindings.at(global(bindings, binding)),
                    self.issues.at(global(issues, issue)).map(|g| &mut g.counts),
                    self.days.at(global(days, day)).map(|g| &mut g.counts),
                ]
                .into_iter()
                .flatten()
                {
                    if let Some((action, was_inferred)) = before {
                        if let Some(count) = counts.responses.get_mut(&action) {
                            *count = count.saturating_sub(1);
                        }
                        counts.inferred -= u64::from(was_inferred && counts.inferred > 0);
                    }
                    *counts.responses.entry(action).or_default() += 1;
                    counts.inferred += u64::from(inferred);
                }
            }
        }
    }

    /// Puts the figures together; of one oracle only where the answers, which know no oracle, are not to be counted by
    /// themselves.
    pub(super) fn finish(self, of_one_oracle: bool) -> Stats {
        let mut total = Counts::default();
        let mut oracles: BTreeMap<String, Counts> = BTreeMap::new();
        let mut bindings = Vec::with_capacity(self.bindings.items.len());
        for (name, counts) in self.bindings.items {
            if of_one_oracle && name.oracle.is_empty() {
                continue;
            }
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
        let total = total.figures();
        let names = [
            Decision::None,
            Decision::Allow,
            Decision::Ask,
            Decision::Block,
        ];
        Stats {
            since: self.first_ms.and_then(DateTime::from_timestamp_millis),
            until: self.last_ms.and_then(DateTime::from_timestamp_millis),
            records: self.records,
            bad_lines: self.bad_lines,
            evaluations: self.evaluations,
            hooks: self.hooks,
            decisions: names
                .into_iter()
                .zip(self.decisions)
                .map(|(decision, count)| (decision.name(), count))
                .collect(),
            signals: total.signals,
            responses: total.responses.clone(),
            total,
            bindings,
            oracles: oracles
                .into_iter()
                .map(|(name, counts)| NamedFigures {
                    name,
                    figures: counts.figures(),
                })
                .collect(),
            issues: groups(self.issues),
            hosts: groups(self.hosts),
            days: groups(self.days),
        }
    }
}

/// Adds the groups of a slice; returns the place of each in the sums.
fn merge_groups(
    sums: &mut Named<String, Group>,
    slice: Named<String, Group>,
    keys: &Keys,
) -> Vec<u32> {
    let mut places = Vec::with_capacity(slice.items.len());
    for (name, group) in slice.items {
        let place = sums.place(keys.of(&name), || name);
        places.push(place);
        if let Some(sum) = sums.at(place) {
            sum.evaluations += group.evaluations;
            sum.stopped += group.stopped;
            sum.counts.merge(&group.counts);
            sum.first_ms = sum.first_ms.or(group.first_ms);
            sum.last_ms = group.last_ms.or(sum.last_ms);
        }
    }
    places
}

fn groups(groups: Named<String, Group>) -> Vec<GroupStats> {
    let mut stats: Vec<GroupStats> = groups
        .items
        .into_iter()
        .map(|(name, group)| {
            let figures = group.counts.figures();
            GroupStats {
                name,
                evaluations: group.evaluations,
                stopped: group.stopped,
                signals: figures.signals,
                answered: figures.answered,
                repaired: figures.repaired,
                mean_time_to_repair_s: figures.mean_time_to_repair_s,
                first: group.first_ms.and_then(DateTime::from_timestamp_millis),
                last: group.last_ms.and_then(DateTime::from_timestamp_millis),
            }
        })
        // A session that was answered in stands among the issues until here.
        .filter(|group| group.evaluations > 0 || group.signals.total() > 0)
        .collect();
    stats.sort_by(|a, b| a.name.cmp(&b.name));
    stats
}
