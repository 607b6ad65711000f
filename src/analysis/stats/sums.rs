//! Sums: what the records of a log add up to, taken in their order.

use std::collections::BTreeMap;
use std::collections::HashMap;
use std::collections::VecDeque;

use chrono::DateTime;
use chrono::Utc;
use uuid::Uuid;

use super::BindingStats;
use super::GroupStats;
use super::NamedFigures;
use super::Stats;
use super::figures::Counts;
use super::keys::Key;
use super::keys::Keys;
use super::keys::Named;
use crate::analysis::Filter;
use crate::signal::Action;
use crate::signal::Intensity;
use crate::signal_log::Body;
use crate::signal_log::EvaluationRecord;
use crate::signal_log::Line;
use crate::signal_log::ResponseRecord;
use crate::signal_log::SignalRecord;
use crate::verdict::BindingReport;
use crate::verdict::Decision;
use crate::verdict::Outcome;

/// Of how many signals it is remembered where they are counted, so that their answers are counted there.
const REMEMBERED: usize = 1 << 17;

/// Who a binding is.
#[derive(Clone, Debug)]
struct BindingName {
    hook: String,
    id: String,
    oracle: String,
    source: String,
}

/// What is counted of a group: an issue, a host or a day.
#[derive(Clone, Debug, Default)]
struct Group {
    evaluations: u64,
    stopped: u64,
    first: Option<DateTime<Utc>>,
    last: Option<DateTime<Utc>>,
    counts: Counts,
}

/// Where something is counted; not every record has a binding, an issue or a host.
#[derive(Clone, Copy, Debug)]
struct Places {
    binding: Option<usize>,
    issue: Option<usize>,
    host: Option<usize>,
    day: Option<usize>,
}

/// A chain that is not closed: see `signal_log::chain`, whose rules these are.
#[derive(Clone, Copy, Debug, Default)]
struct Open {
    violations: u64,
    since: DateTime<Utc>,
    counted: bool,
}

/// A signal whose answer may come.
#[derive(Clone, Copy, Debug)]
struct Given {
    places: Places,
    /// What was answered, and whether that was concluded.
    answer: Option<(Action, bool)>,
}

/// What has been counted so far.
#[derive(Debug)]
pub(super) struct Sums<'f> {
    filter: &'f Filter,
    keys: Keys,
    records: u64,
    bad_lines: u64,
    evaluations: u64,
    hooks: Named<String, u64>,
    decisions: [u64; 4],
    bindings: Named<BindingName, Counts>,
    issues: Named<String, Group>,
    hosts: Named<String, Group>,
    days: Named<String, Group>,
    open: HashMap<Key, Open>,
    given: HashMap<Uuid, Given>,
    given_in_order: VecDeque<Uuid>,
    first: Option<DateTime<Utc>>,
    last: Option<DateTime<Utc>>,
}

impl<'f> Sums<'f> {
    pub(super) fn new(filter: &'f Filter) -> Self {
        Self {
            filter,
            keys: Keys::default(),
            records: 0,
            bad_lines: 0,
            evaluations: 0,
            hooks: Named::default(),
            decisions: [0; 4],
            bindings: Named::default(),
            issues: Named::default(),
            hosts: Named::default(),
            days: Named::default(),
            open: HashMap::default(),
            given: HashMap::default(),
            given_in_order: VecDeque::new(),
            first: None,
            last: None,
        }
    }

    /// Counts a line that is not a record that counts.
    pub(super) const fn add_bad_line(&mut self) {
        self.bad_lines += 1;
    }

    /// Counts the next record.
    pub(super) fn add(&mut self, line: &Line<'_>) {
        if let Body::Response(answer) = &line.body {
            // An answer is counted where its signal is.
            if self.filter.is_open() {
                self.count_record(line.timestamp);
            }
            return self.answer(answer);
        }
        let Some(hook) = line.trigger().filter(|_| self.filter.admits(line)) else {
            return;
        };
        self.count_record(line.timestamp);
        let keys = &self.keys;
        let name = |list: &mut Named<String, Group>, name: &str| {
            list.place(keys.of(name), || name.to_owned())
        };
        let places = Places {
            binding: None,
            issue: line.issue().map(|issue| name(&mut self.issues, issue)),
            host: line.host().map(|host| name(&mut self.hosts, host)),
            day: Some(name(
                &mut self.days,
                &line.timestamp.format("%F").to_string(),
            )),
        };
        let subject = line.issue().or(line.session()).unwrap_or_default();
        let subject = self.keys.of(subject);
        match &line.body {
            Body::Evaluation(evaluation) => {
                self.add_evaluation(evaluation, places, line.timestamp);
                for report in &evaluation.bindings {
                    if self.filter.admits_binding(&report.id, &report.oracle) {
                        self.add_report(hook, report, subject, places, line.timestamp);
                    }
                }
            }
            Body::Signal(given) => self.add_signal(hook, given, subject, places, line.timestamp),
            Body::Response(_) => {}
        }
    }

    fn count_record(&mut self, time: DateTime<Utc>) {
        self.records += 1;
        self.first.get_or_insert(time);
        self.last = Some(time);
    }

    fn add_evaluation<S: std::ops::Deref<Target = str>, E>(
        &mut self,
        evaluation: &EvaluationRecord<S, E>,
        places: Places,
        time: DateTime<Utc>,
    ) {
        self.evaluations += 1;
        let hook = &*evaluation.hook;
        let trigger = self.hooks.place(self.keys.of(hook), || hook.to_owned());
        if let Some(count) = self.hooks.at(Some(trigger)) {
            *count += 1;
        }
        let decision = evaluation.decision;
        if let Some(count) = self.decisions.get_mut(decision as usize) {
            *count += 1;
        }
        for group in self.groups(places) {
            group.evaluations += 1;
            group.stopped += u64::from(decision >= Decision::Ask);
            group.first.get_or_insert(time);
            group.last = Some(time);
        }
    }

    fn add_report<S: std::ops::Deref<Target = str>>(
        &mut self,
        hook: &str,
        report: &BindingReport<S>,
        subject: Key,
        places: Places,
        time: DateTime<Utc>,
    ) {
        let key = self.keys.of(hook).with(self.keys.of(&report.id));
        let place = self.bindings.place(key, || BindingName {
            hook: hook.to_owned(),
            id: report.id.to_string(),
            oracle: report.oracle.to_string(),
            source: report.source.to_string(),
        });
        let Some((name, counts)) = self.bindings.item(place) else {
            return;
        };
        // The place is the latest.
        if *name.source != *report.source {
            name.source = report.source.to_string();
        }
        let error = report.error.as_deref();
        counts.add_outcome(
            report.outcome,
            error.is_some_and(|error| error.starts_with("timed out")),
        );
        if !matches!(
            report.outcome,
            Outcome::Accepted | Outcome::Signalled | Outcome::Failed
        ) {
            return;
        }
        let duration = u32::try_from(report.duration_us).unwrap_or(u32::MAX);
        counts.durations.add(duration);
        let chain = key.with(subject);
        match report.outcome {
            Outcome::Accepted => {
                if let Some(open) = self.open.remove(&chain)
                    && report.waived.is_empty()
                    && open.violations > 0
                {
                    let took = (time - open.since).num_milliseconds();
                    let took = u64::try_from(took).unwrap_or(0);
                    let binding = Some(place);
                    for counts in self.counts(Places { binding, ..places }) {
                        counts.add_repair(took, open.violations + 1);
                    }
                }
            }
            Outcome::Signalled => {
                if let Some(open) = self.open.get_mut(&chain) {
                    open.counted = false;
                }
            }
            _ => self.open.entry(chain).or_default().counted = true,
        }
    }

    fn add_signal(
        &mut self,
        hook: &str,
        given: &SignalRecord,
        subject: Key,
        places: Places,
        time: DateTime<Utc>,
    ) {
        let (header, origin) = (&given.signal.header, &given.origin);
        let key = self.keys.of(hook).with(self.keys.of(&origin.binding));
        let binding = self.bindings.place(key, || BindingName {
            hook: hook.to_owned(),
            id: origin.binding.clone(),
            oracle: header.source.clone(),
            source: origin.source.clone(),
        });
        let binding = Some(binding);
        let places = Places { binding, ..places };
        for counts in self.counts(places) {
            counts.signals.add(header.intensity);
        }
        let new = Given {
            places,
            answer: None,
        };
        if self.given.insert(header.id, new).is_none() {
            self.given_in_order.push_back(header.id);
            if self.given_in_order.len() > REMEMBERED
                && let Some(oldest) = self.given_in_order.pop_front()
            {
                self.given.remove(&oldest);
            }
        }
        if header.intensity >= Intensity::Prompt {
            let open = self.open.entry(key.with(subject)).or_default();
            if !open.counted {
                open.counted = true;
                open.violations += 1;
                if open.violations == 1 {
                    open.since = time;
                }
            }
        }
    }

    /// Counts an answer where its signal is counted.
    fn answer(&mut self, answer: &ResponseRecord) {
        let (action, inferred) = (answer.response.action, answer.response.inferred);
        let Some(given) = self.given.get_mut(&answer.response.signal_id) else {
            return;
        };
        if !self.filter.is_open() {
            self.records += 1;
        }
        let places = given.places;
        if answer.refused.is_some() {
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

    fn groups(&mut self, places: Places) -> impl Iterator<Item = &mut Group> {
        [
            self.issues.at(places.issue),
            self.hosts.at(places.host),
            self.days.at(places.day),
        ]
        .into_iter()
        .flatten()
    }

    /// Returns all that is counted of what happened at some places.
    fn counts(&mut self, places: Places) -> impl Iterator<Item = &mut Counts> {
        let binding = self.bindings.at(places.binding);
        let groups = [
            self.issues.at(places.issue),
            self.hosts.at(places.host),
            self.days.at(places.day),
        ];
        let groups = groups.into_iter().flatten();
        binding
            .into_iter()
            .chain(groups.map(|group| &mut group.counts))
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
            since: self.first.map(to_milliseconds),
            until: self.last.map(to_milliseconds),
            records: self.records,
            bad_lines: self.bad_lines,
            evaluations: self.evaluations,
            hooks: self.hooks.items.into_iter().collect(),
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
                first: group.first.map(to_milliseconds),
                last: group.last.map(to_milliseconds),
            }
        })
        .collect();
    stats.sort_by(|a, b| a.name.cmp(&b.name));
    stats
}

/// Returns a time as precisely as figures say it.
fn to_milliseconds(time: DateTime<Utc>) -> DateTime<Utc> {
    DateTime::from_timestamp_millis(time.timestamp_millis()).unwrap_or(time)
}
