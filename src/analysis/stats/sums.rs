//! Sums: what the records of a log add up to, taken in their order.

use std::collections::{BTreeMap, HashMap, VecDeque};

use chrono::{DateTime, Datelike as _, Utc};
use uuid::Uuid;

use super::figures::{Counts, Kind};
use super::findings::{Ended, Findings, Moment, Places};
use super::keys::{Key, Keys, Named};
use super::whole::{self, BindingName, FindingName, Group};
use super::{MarkStats, Stats};
use crate::analysis::Filter;
use crate::event::Trigger;
use crate::signal::{Action, Intensity};
use crate::signal_log::{Body, EvaluationRecord, Line, ResponseRecord, SignalRecord};
use crate::verdict::{BindingReport, Decision, Outcome};

/// Of how many signals it is remembered where they are counted, so that their answers are counted there.
const REMEMBERED: usize = 1 << 17;

/// How many different objects are told apart.
const OBJECTS: usize = 1 << 16;

/// What the doings of no subagent are counted by; no kind of agent has spaces and brackets in its name.
const NO_SUBAGENT: &str = "(no subagent)";

/// The evaluation that signals follow.
#[derive(Clone, Debug, Default)]
struct Evaluated {
    was_stopped: bool,
    object: Option<Key>,
    /// The bindings that could not judge: their signals tell of the failure.
    failed: Vec<Key>,
}

/// A signal whose answer may come.
#[derive(Clone, Debug)]
struct Given {
    places: Places,
    /// What was answered, and whether that was concluded.
    answer: Option<(Action, bool)>,
    findings: Vec<Key>,
    /// Whether the filter selects it; else it only tells what became of a finding.
    is_counted: bool,
}

/// What has been counted so far.
#[derive(Debug)]
pub(super) struct Sums<'f> {
    marks: BTreeMap<String, MarkStats>,
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
    agents: Named<String, Group>,
    days: Named<String, Group>,
    /// The day of the last record, in days since the common era, and its place.
    today: Option<(i32, usize)>,
    sessions: Named<String, Group>,
    rules: Named<FindingName, Kind>,
    objects: Named<FindingName, Kind>,
    findings: Findings,
    evaluated: Evaluated,
    given: HashMap<Uuid, Given>,
    given_in_order: VecDeque<Uuid>,
    first: Option<DateTime<Utc>>,
    last: Option<DateTime<Utc>>,
    /// When the last record was written, whether it is counted or not.
    end: Option<DateTime<Utc>>,
}

impl<'f> Sums<'f> {
    pub(super) fn new(filter: &'f Filter) -> Self {
        Self {
            marks: BTreeMap::new(),
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
            agents: Named::default(),
            days: Named::default(),
            today: None,
            sessions: Named::default(),
            rules: Named::default(),
            objects: Named::default(),
            findings: Findings::default(),
            evaluated: Evaluated::default(),
            given: HashMap::default(),
            given_in_order: VecDeque::new(),
            first: None,
            last: None,
            end: None,
        }
    }

    /// Counts a line that is not a record that counts.
    pub(super) const fn add_bad_line(&mut self) {
        self.bad_lines += 1;
    }

    /// Counts the next record.
    pub(super) fn add(&mut self, line: &Line<'_>) {
        self.end = Some(line.timestamp);
        if let Body::Response(answer) = &line.body {
            // An answer is counted where its signal is.
            if self.filter.is_open() {
                self.count_record(line.timestamp);
            }
            return self.answer(answer);
        }
        let Some(hook) = line.trigger() else {
            return;
        };
        if !self.filter.admits(line) {
            return self.follow(line, hook);
        }
        self.count_record(line.timestamp);
        let keys = &self.keys;
        let name = |list: &mut Named<String, Group>, name: &str| {
            list.place(keys.of(name), || name.to_owned())
        };
        let places = Places {
            binding: None,
            rule: None,
            object: None,
            session: line
                .session()
                .map(|session| name(&mut self.sessions, session)),
            issue: line.issue().map(|issue| name(&mut self.issues, issue)),
            host: line.host().map(|host| name(&mut self.hosts, host)),
            agent: Some(name(&mut self.agents, line.agent().unwrap_or(NO_SUBAGENT))),
            day: None,
        };
        let day = Some(self.day(line.timestamp));
        let places = Places { day, ..places };
        let subject = self.subject(line);
        match &line.body {
            Body::Evaluation(evaluation) => {
                for (name, record) in &evaluation.marks {
                    let stats = self.marks.entry(name.clone()).or_default();
                    stats.fed += u64::from(record.fed.is_some());
                    stats.ended += u64::from(record.ended.is_some());
                    stats.asked += u64::from(record.asked.is_some());
                    let is_untold = record.asked.is_some_and(|[least, most]| least != most);
                    stats.untold += u64::from(is_untold);
                }
                self.add_evaluation(evaluation, places, line.timestamp);
                for report in &evaluation.bindings {
                    if self.filter.admits_binding(&report.id, &report.oracle) {
                        self.add_report(hook, report);
                    }
                    self.follow_report(hook, report, subject, places, line.timestamp);
                }
            }
            Body::Signal(given) => self.add_signal(hook, given, subject, places, line.timestamp),
            Body::Response(_) => {}
        }
    }

    /// Takes a record that the filter does not select: it is counted nowhere, and still ends, repairs or renews what was found.
    fn follow(&mut self, line: &Line<'_>, hook: &str) {
        let session = line.session().map(|session| self.keys.of(session));
        let places = Places {
            session: session.and_then(|session| self.sessions.find(session)),
            ..Places::default()
        };
        let subject = self.subject(line);
        match &line.body {
            Body::Evaluation(evaluation) => {
                self.follow_evaluation(evaluation, places, line.timestamp);
                for report in &evaluation.bindings {
                    self.follow_report(hook, report, subject, places, line.timestamp);
                }
            }
            Body::Signal(given) => {
                let key = self.keys.of(hook).with(self.keys.of(&given.origin.binding));
                let chain = key.with(subject);
                let keys = given.identities().map(|id| chain.with(self.keys.of(id)));
                let followed = keys.filter(|key| self.findings.has(*key));
                let findings: Vec<_> = followed.map(|key| (key, places)).collect();
                if !findings.is_empty() {
                    self.remember(given.signal.header.id, places, &findings, false);
                    self.find(given, chain, findings, places, line.timestamp);
                }
            }
            Body::Response(_) => {}
        }
    }

    /// Returns what a record counts for.
    fn subject(&self, line: &Line<'_>) -> Key {
        let subject = line.issue().or(line.session()).unwrap_or_default();
        self.keys.of(subject)
    }

    /// Returns the place of a day; most records are of the same one as those before them.
    fn day(&mut self, time: DateTime<Utc>) -> usize {
        let day = time.num_days_from_ce();
        match self.today {
            Some((today, place)) if today == day => place,
            _ => {
                let name = time.format("%F").to_string();
                let place = self.days.place(self.keys.of(&name), || name.clone());
                self.today = Some((day, place));
                place
            }
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
        self.follow_evaluation(evaluation, places, time);
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

    /// Takes what an evaluation says of its session and of the signals that follow it.
    fn follow_evaluation<S: std::ops::Deref<Target = str>, E>(
        &mut self,
        evaluation: &EvaluationRecord<S, E>,
        places: Places,
        time: DateTime<Utc>,
    ) {
        self.evaluated = Evaluated {
            was_stopped: evaluation.decision >= Decision::Ask,
            object: evaluation.object.as_ref().map(|o| self.keys.of(o)),
            failed: Vec::new(),
        };
        let hook = &*evaluation.hook;
        if let Some(session) = self.sessions.at(places.session) {
            session.heard = Some(time);
            session.turns += u64::from(hook == Trigger::PreAgentTurnStop.name());
        }
        if hook == Trigger::PostSession.name() {
            let ended = self.findings.end_session(places.session);
            self.end(ended);
        }
    }

    fn add_report<S: std::ops::Deref<Target = str>>(
        &mut self,
        hook: &str,
        report: &BindingReport<S>,
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
            !report.waived.is_empty(),
            error.is_some_and(|error| error.starts_with("timed out")),
        );
        if has_judged(report.outcome) {
            let duration = u32::try_from(report.duration_us).unwrap_or(u32::MAX);
            counts.add_duration(duration);
        }
    }

    /// Takes what the judgement of a binding says of what it has found before.
    fn follow_report<S: std::ops::Deref<Target = str>>(
        &mut self,
        hook: &str,
        report: &BindingReport<S>,
        subject: Key,
        places: Places,
        time: DateTime<Utc>,
    ) {
        if !has_judged(report.outcome) {
            return;
        }
        let key = self.keys.of(hook).with(self.keys.of(&report.id));
        let chain = key.with(subject);
        if report.outcome == Outcome::Failed {
            self.evaluated.failed.push(chain);
        }
        let waived = report.waived.iter();
        let waived: Vec<Key> = waived
            .filter_map(|id| self.given.get(id))
            .flat_map(|given| given.findings.iter().copied())
            .collect();
        let now = self.moment(places, time);
        let object = self.acted_on(chain);
        let ended = self.findings.judge(object, report.outcome, &waived, now);
        self.end(ended);
    }

    fn moment(&mut self, places: Places, time: DateTime<Utc>) -> Moment {
        let session = self.sessions.at(places.session);
        let turns = session.map_or(0, |session| session.turns);
        Moment { time, turns }
    }

    /// Returns what the evaluation at hand acts on, for a binding and a subject.
    fn acted_on(&self, chain: Key) -> Key {
        let object = self.evaluated.object;
        object.map_or(chain, |object| chain.with(object))
    }

    fn end(&mut self, ended: Vec<Ended>) {
        for Ended { places, fate } in ended {
            self.counts(places).for_each(|counts| counts.end(fate));
            self.kinds(places).for_each(|kind| kind.end(fate));
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
        let chain = key.with(subject);
        let name = |object: Option<&String>| FindingName {
            binding,
            rule: given.rule().to_owned(),
            object: object.cloned(),
        };
        let of_rule = key.with(self.keys.of(given.rule()));
        let rule = self.rules.place(of_rule, || name(None));
        let places = Places {
            binding: Some(binding),
            rule: Some(rule),
            ..places
        };
        for counts in self.counts(places) {
            counts.signals.add(header.intensity);
        }
        for kind in self.kinds(places) {
            kind.signals.add(header.intensity);
        }
        let mut findings = Vec::new();
        for (identity, object) in given.findings() {
            let identity = self.keys.of(identity);
            let of_object = key.with(identity);
            let is_told_apart = self.objects.items.len() < OBJECTS;
            let object = (is_told_apart || self.objects.has(of_object))
                .then(|| self.objects.place(of_object, || name(object)));
            if let Some(kind) = self.objects.at(object) {
                kind.signals.add(header.intensity);
            }
            findings.push((chain.with(identity), Places { object, ..places }));
        }
        self.remember(header.id, places, &findings, true);
        if let Some(session) = self.sessions.at(places.session) {
            session.heard = Some(time);
        }
        self.find(given, chain, findings, places, time);
    }

    /// Remembers a signal, so that its answer is known as one.
    fn remember(&mut self, id: Uuid, places: Places, findings: &[(Key, Places)], is_counted: bool) {
        let new = Given {
            places,
            answer: None,
            findings: findings.iter().map(|(key, _)| *key).collect(),
            is_counted,
        };
        if self.given.insert(id, new).is_none() {
            self.given_in_order.push_back(id);
            if self.given_in_order.len() > REMEMBERED
                && let Some(oldest) = self.given_in_order.pop_front()
            {
                self.given.remove(&oldest);
            }
        }
    }

    /// Takes that a signal has found something.
    fn find(
        &mut self,
        given: &SignalRecord,
        chain: Key,
        findings: Vec<(Key, Places)>,
        places: Places,
        time: DateTime<Utc>,
    ) {
        let header = &given.signal.header;
        if header.intensity < Intensity::Prompt || self.evaluated.failed.contains(&chain) {
            return;
        }
        let now = self.moment(places, time);
        let object = self.acted_on(chain);
        let was_stopped = self.evaluated.was_stopped;
        let mut is_occasion = false;
        for (finding, places) in findings {
            let followed = &mut self.findings;
            let (is_new, ended) = followed.find(finding, object, places, was_stopped, now);
            self.end(ended.into_iter().collect());
            if is_new {
                for counts in self.counts(places) {
                    counts.fates.findings += 1;
                }
                for kind in self.kinds(places) {
                    kind.fates.findings += 1;
                }
                if let Some(kind) = self.objects.at(places.object) {
                    kind.fates.occasions += 1;
                }
                is_occasion = true;
            }
        }
        if is_occasion {
            for counts in self.counts(places) {
                counts.fates.occasions += 1;
            }
            for kind in self.kinds(places) {
                kind.fates.occasions += 1;
            }
        }
    }

    /// Returns what is counted of a rule and of its object.
    fn kinds(&mut self, places: Places) -> impl Iterator<Item = &mut Kind> {
        let of = [self.rules.at(places.rule), self.objects.at(places.object)];
        of.into_iter().flatten()
    }

    /// Counts an answer where its signal is counted.
    fn answer(&mut self, answer: &ResponseRecord) {
        let (action, inferred) = (answer.response.action, answer.response.inferred);
        let is_said = answer.response.is_said();
        let Some(given) = self.given.get_mut(&answer.response.signal_id) else {
            return;
        };
        let (places, is_counted) = (given.places, given.is_counted);
        if is_counted && !self.filter.is_open() {
            self.records += 1;
        }
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
        for finding in &given.findings {
            if inferred {
                self.findings.conclude(*finding, action);
            }
            if is_said {
                self.findings.answer(*finding, action, answer.response.by);
            }
        }
        if !is_counted {
            return;
        }
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
            self.agents.at(places.agent),
            self.days.at(places.day),
            self.sessions.at(places.session),
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
            self.agents.at(places.agent),
            self.days.at(places.day),
            self.sessions.at(places.session),
        ];
        let groups = groups.into_iter().flatten();
        binding
            .into_iter()
            .chain(groups.map(|group| &mut group.counts))
    }

    /// Puts the figures together.
    pub(super) fn finish(mut self) -> Stats {
        if let Some(end) = self.end {
            let sessions = &self.sessions.items;
            let heard = |session: Option<usize>| sessions.get(session?)?.1.heard;
            let ended = std::mem::take(&mut self.findings).finish(end, heard);
            self.end(ended);
        }
        let bindings_of = &self.bindings.items;
        let rules = whole::kinds(self.rules.items, bindings_of);
        let findings = whole::kinds(self.objects.items, bindings_of);
        let mut sessions = whole::groups(self.sessions.items);
        sessions.sort_by_key(|s| std::cmp::Reverse((s.stopped, s.signals.total())));
        sessions.truncate(whole::SHOWN);
        let (total, bindings, oracles) = whole::bindings(self.bindings.items);
        Stats {
            marks: self.marks,
            since: self.first.map(whole::to_milliseconds),
            until: self.last.map(whole::to_milliseconds),
            records: self.records,
            bad_lines: self.bad_lines,
            evaluations: self.evaluations,
            hooks: self.hooks.items.into_iter().collect(),
            decisions: whole::decisions(self.decisions),
            signals: total.signals,
            responses: total.responses.clone(),
            total,
            bindings,
            oracles,
            issues: whole::groups(self.issues.items),
            hosts: whole::groups(self.hosts.items),
            agents: whole::groups(self.agents.items),
            days: whole::every_day(whole::groups(self.days.items)),
            sessions,
            rules,
            findings,
            gathered: None,
        }
    }
}

/// Whether a binding has judged, or tried to.
const fn has_judged(outcome: Outcome) -> bool {
    matches!(
        outcome,
        Outcome::Accepted | Outcome::Signalled | Outcome::Failed
    )
}
