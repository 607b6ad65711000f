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
use super::slice::Places;
use super::slice::Slice;
use crate::analysis::Filter;
use crate::signal::Action;
use crate::verdict::Decision;
use crate::verdict::Outcome;

/// Of how many signals it is remembered where they are counted, so that their answers are counted there.
const REMEMBERED: usize = 1 << 17;

/// A chain that is not closed: see `signal_log::chain`, whose rules these are.
#[derive(Clone, Copy, Debug, Default)]
struct Open {
    violations: u64,
    since_ms: i64,
    counted: bool,
}

/// A signal whose answer may come.
#[derive(Clone, Copy, Debug)]
struct Given {
    places: Places,
    /// What was answered, and whether that was concluded.
    answer: Option<(Action, bool)>,
}

/// Where the names of a slice stand in the sums.
struct Known {
    bindings: Vec<u32>,
    issues: Vec<u32>,
    hosts: Vec<u32>,
    days: Vec<u32>,
}

impl Known {
    fn places(&self, of_slice: Places) -> Places {
        let known = |places: &[u32], place: u32| {
            let place = usize::try_from(place).ok();
            place.and_then(|p| places.get(p)).copied().unwrap_or(NONE)
        };
        Places {
            binding: known(&self.bindings, of_slice.binding),
            issue: known(&self.issues, of_slice.issue),
            host: known(&self.hosts, of_slice.host),
            day: known(&self.days, of_slice.day),
        }
    }
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
    issues: Named<String, (Group, Counts)>,
    hosts: Named<String, (Group, Counts)>,
    days: Named<String, (Group, Counts)>,
    open: HashMap<Key, Open, ByKey>,
    given: HashMap<Key, Given, ByKey>,
    given_in_order: VecDeque<Key>,
    /// Whether a filter leaves records out: of the answers, those to signals that are left out.
    of_some: bool,
    first_ms: Option<i64>,
    last_ms: Option<i64>,
}

impl Sums {
    pub(super) fn new(filter: &Filter) -> Self {
        Self {
            of_some: !filter.is_open(),
            ..Self::default()
        }
    }

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
                // The place is the latest.
                if !name.source.is_empty() {
                    known.source = name.source;
                }
                sum.merge(&counts);
                for duration in durations {
                    sum.durations.add(duration);
                }
            }
        }
        let known = Known {
            bindings,
            issues: merge_groups(&mut self.issues, slice.issues, keys),
            hosts: merge_groups(&mut self.hosts, slice.hosts, keys),
            days: merge_groups(&mut self.days, slice.days, keys),
        };
        for event in slice.ordered {
            self.follow(event, &known);
        }
    }

    /// Takes what depends on the order of the records.
    fn follow(&mut self, event: Ordered, known: &Known) {
        match event {
            Ordered::Judged {
                chain,
                places,
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
                    for counts in self.counts(known.places(places)) {
                        counts.add_repair(took, tries);
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
            Ordered::Given { signal, places } => {
                let given = Given {
                    places: known.places(places),
                    answer: None,
                };
                if self.given.insert(signal, given).is_none() {
                    self.given_in_order.push_back(signal);
                    if self.given_in_order.len() > REMEMBERED
                        && let Some(oldest) = self.given_in_order.pop_front()
                    {
                        self.given.remove(&oldest);
                    }
                }
            }
            Ordered::Answered {
                signal,
                action,
                inferred,
                refused,
            } => self.answer(signal, action, inferred, refused),
        }
    }

    /// Counts an answer where its signal is counted.
    fn answer(&mut self, signal: Key, action: Action, inferred: bool, refused: bool) {
        let Some(given) = self.given.get_mut(&signal) else {
            return;
        };
        if self.of_some {
            self.records += 1;
        }
        let places = given.places;
        if refused {
            if let Some(counts) = self.bindings.at(places.binding) {
                counts.refused += 1;
            }
            return;
        }
        // What was said is not undone by what is concluded later.
        if given
            .answer
            .is_some_and(|(_, was_inferred)| inferred && !was_inferred)
        {
            return;
        }
        let before = given.answer.replace((action, inferred));
        for counts in self.counts(places) {
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

    /// Returns all that is counted of what happened at some places.
    fn counts(&mut self, places: Places) -> impl Iterator<Item = &mut Counts> {
        [
            self.bindings.at(places.binding),
            self.issues.at(places.issue).map(|(_, counts)| counts),
            self.hosts.at(places.host).map(|(_, counts)| counts),
            self.days.at(places.day).map(|(_, counts)| counts),
        ]
        .into_iter()
        .flatten()
    }

    /// Puts the figures together.
    pub(super) fn finish(self) -> Stats {
        let mut total = Counts::default();
        let mut oracles: BTreeMap<String, Counts> = BTreeMap::new();
        let mut bindings = Vec::with_capacity(self.bindings.items.len());
        for (name, counts) in self.bindings.items {
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
    sums: &mut Named<String, (Group, Counts)>,
    slice: Named<String, Group>,
    keys: &Keys,
) -> Vec<u32> {
    let mut places = Vec::with_capacity(slice.items.len());
    for (name, group) in slice.items {
        let place = sums.place(keys.of(&name), || name);
        places.push(place);
        if let Some((sum, _)) = sums.at(place) {
            sum.evaluations += group.evaluations;
            sum.stopped += group.stopped;
            sum.signals.merge(&group.signals);
            sum.first_ms = sum.first_ms.or(group.first_ms);
            sum.last_ms = group.last_ms.or(sum.last_ms);
        }
    }
    places
}

fn groups(groups: Named<String, (Group, Counts)>) -> Vec<GroupStats> {
    let mut stats: Vec<GroupStats> = groups
        .items
        .into_iter()
        .map(|(name, (group, counts))| {
            let figures = counts.figures();
            GroupStats {
                name,
                evaluations: group.evaluations,
                stopped: group.stopped,
                signals: group.signals,
                answered: figures.answered,
                repaired: figures.repaired,
                mean_time_to_repair_s: figures.mean_time_to_repair_s,
                first: group.first_ms.and_then(DateTime::from_timestamp_millis),
                last: group.last_ms.and_then(DateTime::from_timestamp_millis),
            }
        })
        .collect();
    stats.sort_by(|a, b| a.name.cmp(&b.name));
    stats
}
