//! State: all that is known of a scope, and the calls of it that have not ended.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::call::Noted;
use super::tally::{Tally, runs_out};
use super::{Call, CallId, Contribution, Count, Definition, Doubt, Going, Keys, Truth, digest};

/// How many calls may be open; of more the first can no longer be told.
const MOST_OPEN: usize = 32;

/// How much is kept apart behind a call that is open; then it can no longer be told.
const MOST_NOTED: usize = 64;

/// Of how many values a contribution keeps each where its file would grow too large.
const FEW_KEYS: usize = 16;

/// How many calls are remembered that have been seen, so that none counts twice.
const MOST_RECENT: usize = 64;

/// How many marks are kept that are not in force for the event at hand.
const MOST_MARKS: usize = 128;

/// What is known of a scope.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    /// By what the values that marks are counted by are hidden.
    salt: u64,
    /// The latest time that was seen, in milliseconds since 1970.
    latest: i64,
    /// The time of the first event; none where nothing asks for it.
    first: Option<i64>,
    /// Whether what was before this file is lost.
    is_broken: bool,
    tallies: Vec<Tally>,
    /// What came since the oldest call that is open, in order: what a call may have done, it did where it stands.
    noted: Vec<Noted>,
    /// The digests of calls that were seen, oldest first.
    recent: Vec<u64>,
    /// By the digests of marks, what last left one open.
    doubts: Vec<(u64, Doubt)>,
    /// By the digests of marks, what events added that may be of any scope of this kind, as far as it is taken into account
    /// here: how much they counted, and how often they set the mark back.
    anywhere: BTreeMap<u64, (u64, u64)>,
    /// The salt of what such events are noted in, where some of it is lost and that is taken into account here.
    lost: Option<u64>,
}

impl State {
    /// Makes the state of a scope of which nothing has been seen.
    pub fn new(salt: u64) -> Self {
        Self {
            salt,
            latest: i64::MIN,
            first: None,
            is_broken: false,
            tallies: Vec::new(),
            noted: Vec::new(),
            recent: Vec::new(),
            doubts: Vec::new(),
            anywhere: BTreeMap::new(),
            lost: None,
        }
    }

    /// Makes the state of a scope of which what was seen is lost.
    pub fn broken(salt: u64) -> Self {
        Self {
            is_broken: true,
            ..Self::new(salt)
        }
    }

    /// Whether what was before is lost.
    pub const fn is_broken(&self) -> bool {
        self.is_broken
    }

    /// Whether that is news: nothing was seen since.
    pub const fn is_just_broken(&self) -> bool {
        self.is_broken && self.latest == i64::MIN
    }

    /// Returns the digest under which a value of `by` is counted.
    pub fn key(&self, value: &str) -> u64 {
        digest([&self.salt.to_le_bytes()[..], value.as_bytes()])
    }

    /// Returns the time of an event: a clock that was set back stands still.
    pub const fn time(&self, now: i64) -> i64 {
        if now < self.latest { self.latest } else { now }
    }

    /// Returns when the first event was seen; none where that is lost, or nobody asked for it so far.
    pub const fn first(&self) -> Option<i64> {
        self.first
    }

    /// Returns how many calls that have not ended leave a mark open, and what else last did.
    pub fn doubts(&self, definition: &Definition) -> (usize, Option<Doubt>) {
        let is_open = |given: Contribution| given.mark == definition.name && given.is_open();
        let open = self.calls().filter(|call| call.given().any(is_open));
        let mut known = self.doubts.iter();
        let doubt = known.find(|(mark, _)| *mark == definition.name);
        (open.count(), doubt.map(|(_, doubt)| *doubt))
    }

    /// Notes what left a mark open.
    pub fn doubt(&mut self, mark: u64, doubt: Doubt) {
        self.doubts.retain(|(known, _)| *known != mark);
        self.doubts.insert(0, (mark, doubt));
        self.doubts.truncate(MOST_MARKS);
    }

    /// Whether a call has not ended.
    pub fn has_open(&self) -> bool {
        self.calls().next().is_some()
    }

    fn calls(&self) -> impl Iterator<Item = &Call> {
        self.noted.iter().filter_map(Noted::call)
    }

    /// Takes note of an event's time; where `age` is asked for, of the first one too. Returns whether that is news.
    pub fn see(&mut self, now: i64, age: bool) -> bool {
        let is_news = age && self.first.is_none() && !self.is_broken;
        if is_news {
            self.first = Some(now);
        }
        self.latest = self.time(now);
        is_news
    }

    /// Whether what a mark is at this time must not be forgotten, because a clock that is set back would count again what its
    /// window has let go.
    pub fn lets_go(&self, definition: &Definition, now: i64) -> bool {
        let Some(window) = definition.window else {
            return false;
        };
        let tallies = self.tallies.iter();
        let mut own = tallies.filter(|tally| tally.name == definition.name);
        let noted = self.noted.iter().flat_map(Noted::given);
        let mut noted = noted.filter(|(given, _)| given.mark == definition.name);
        own.any(|tally| tally.lets_go(window.within, self.latest, now))
            || noted.any(|(_, time)| runs_out(time, window.within, self.latest, now))
    }

    /// Returns what a mark is at a time, without the call of this id.
    pub fn count(&self, definition: &Definition, key: u64, now: i64, but: Option<CallId>) -> Count {
        let now = self.time(now);
        let tally = self.fitted(definition, now);
        let is_other = |noted: &&Noted| but.is_none() || noted.call().map(|call| call.id) != but;
        let others = self.noted.iter().filter(is_other).flat_map(Noted::given);
        let others = others.filter_map(|(given, time)| Some((given.of(definition)?, time)));
        let others: Vec<(Contribution, i64)> = others.collect();
        let within = definition.window.map(|window| window.within);
        tally.count(
            key,
            within,
            others.iter().map(|(given, time)| (given, *time)),
            now,
        )
    }

    /// Returns the highest that a mark is for any value that it is counted by.
    pub fn highest(&self, definition: &Definition, now: i64) -> Count {
        let tally = self.fitted(definition, self.time(now));
        let noted = self.noted.iter().flat_map(Noted::given);
        let noted = noted.flat_map(|(given, _)| match given.keys {
            Keys::Of(keys) if given.mark == definition.name => keys,
            _ => Vec::new(),
        });
        let keys = tally
            .keys()
            .chain(noted)
            .map(|key| self.count(definition, key, now, None));
        keys.fold(Count::default(), |highest, one| Count {
            least: highest.least.max(one.least),
            most: highest.most.max(one.most),
        })
    }

    /// Whether a call was seen before, under the host's own name for it, at this moment of it.
    pub fn has_seen(&self, id: CallId, moment: &str) -> bool {
        id.is_named && self.recent.contains(&seen(id, moment))
    }

    /// Notes a call that is about to be judged.
    pub fn reserve(&mut self, call: Call, marks: &[Definition]) {
        self.note(call.id, "pre");
        self.noted.push(Noted::Open(call));
        self.fold(marks);
    }

    /// Takes a call that was judged: what it is now, or none where it was stopped.
    pub fn settle(&mut self, id: CallId, settled: Option<Call>, marks: &[Definition]) {
        let is_meant = |call: &Call| call.id == id && call.going == Going::Judged;
        let place = self
            .noted
            .iter()
            .rposition(|noted| noted.call().is_some_and(is_meant));
        let Some(place) = place else {
            return;
        };
        let Noted::Open(judged) = self.noted.remove(place) else {
            return;
        };
        if let Some(call) = settled {
            let time = judged.time;
            let noted = if call.is_open() {
                Noted::Open(Call { time, ..call })
            } else {
                Noted::Done(call.given().collect(), time)
            };
            self.noted.insert(place, noted);
        }
        self.fold(marks);
    }

    /// Ends a call of which the result has come: that it happened is certain now.
    pub fn end(&mut self, id: CallId, marks: &[Definition]) {
        self.note(id, "post");
        let mut calls = self.noted.iter_mut();
        let is_meant = |noted: &&mut Noted| noted.call().is_some_and(|call| call.id == id);
        if let Some(noted) = calls.find(is_meant)
            && let Noted::Open(call) = noted
        {
            *noted = Noted::Done(std::mem::take(&mut call.itself), call.time);
        }
        self.fold(marks);
    }

    /// Gives up on all calls that are open: whether they happened, and what came of them, will not be told any more.
    pub fn give_up(&mut self, marks: &[Definition]) {
        while self.leave_in_doubt() {
            self.fold(marks);
        }
    }

    /// Adds what an event contributes.
    pub fn add(&mut self, given: &[Contribution], time: i64, marks: &[Definition]) {
        self.noted.push(Noted::Done(given.to_vec(), time));
        self.fold(marks);
    }

    /// Notes what an event adds of which it is not known in which scope.
    pub fn add_anywhere(&mut self, given: &Contribution) {
        let (hits, ends) = self.anywhere.entry(given.mark).or_default();
        if given.hit != Truth::No {
            *hits = hits.saturating_add(given.weight.most);
        }
        *ends = ends.saturating_add(u64::from(given.end != Truth::No));
    }

    /// Takes into account what was noted of events that may be of this scope.
    pub fn take_anywhere(&mut self, noted: &Self, marks: &[Definition], now: i64) {
        let is_lost = noted.is_broken && self.lost != Some(noted.salt);
        for mark in marks {
            let of = |state: &Self| state.anywhere.get(&mark.name).copied().unwrap_or_default();
            let ((hits, ends), (hits_before, ends_before)) = (of(noted), of(self));
            if (hits, ends) == (hits_before, ends_before) && !is_lost {
                continue;
            }
            // What was forgotten and begun anew is all new.
            let most = if is_lost {
                u64::MAX
            } else {
                hits.checked_sub(hits_before).unwrap_or(hits)
            };
            let maybe = |is_so: bool| if is_so { Truth::Maybe } else { Truth::No };
            let given = Contribution {
                mark: mark.name,
                meaning: mark.meaning,
                hit: maybe(most > 0),
                end: maybe(ends != ends_before || is_lost),
                keys: Keys::All,
                end_keys: Keys::All,
                weight: Count { least: 0, most },
            };
            let times = mark
                .window
                .map_or(1, |window| most.min(window.ring as u64).max(1));
            for _ in 0..times {
                self.add(std::slice::from_ref(&given), self.time(now), marks);
            }
            self.doubt(mark.name, Doubt::Scope);
            self.anywhere.insert(mark.name, (hits, ends));
        }
        if is_lost {
            self.lost = Some(noted.salt);
        }
    }

    /// Counts what stands before the oldest call that is open.
    fn fold(&mut self, marks: &[Definition]) {
        loop {
            let is_open = |noted: &Noted| noted.call().is_some();
            let end = self.noted.iter().position(is_open);
            let done = self.noted.drain(..end.unwrap_or(self.noted.len()));
            for (given, time) in done.flat_map(|noted| noted.given()).collect::<Vec<_>>() {
                self.apply(&given, time, marks);
            }
            let is_too_much = self.calls().count() > MOST_OPEN || self.noted.len() > MOST_NOTED;
            if !is_too_much || !self.leave_in_doubt() {
                return;
            }
        }
    }

    fn apply(&mut self, given: &Contribution, time: i64, marks: &[Definition]) {
        let mut meant = marks
            .iter()
            .filter_map(|mark| Some((mark, given.of(mark)?)));
        let Some((definition, given)) = meant.next().filter(|(_, given)| given.is_something())
        else {
            return;
        };
        let mut tally = self.fitted(definition, time);
        tally.add(&given, time);
        let mut known = self.tallies.iter_mut();
        match known.find(|tally| tally.name == given.mark) {
            Some(known) => *known = tally,
            None => self.tallies.push(tally),
        }
        if self.tallies.len() > MOST_MARKS {
            let is_in_force = |tally: &Tally| marks.iter().any(|mark| mark.name == tally.name);
            self.tallies.retain(is_in_force);
        }
    }

    /// Makes it smaller, where its file would grow too large: what is given up may be less than is said, never more.
    pub fn shrink(&mut self) {
        for given in self.noted.iter_mut().flat_map(Noted::contributions) {
            let is_long = |keys: &Keys| matches!(keys, Keys::Of(keys) if keys.len() > FEW_KEYS);
            if is_long(&given.keys) || is_long(&given.end_keys) {
                *given = given.doubtful();
                (given.keys, given.end_keys) = (Keys::All, Keys::All);
            }
        }
        let size = |tally: &Tally| postcard::to_allocvec(tally).map_or(0, |bytes| bytes.len());
        let largest = self.tallies.iter_mut().max_by_key(|tally| size(tally));
        if let Some(tally) = largest {
            tally.shrink();
        }
    }

    /// Gives up on the oldest call that is open; whether there is one.
    fn leave_in_doubt(&mut self) -> bool {
        let oldest = self.noted.iter_mut().find(|noted| noted.call().is_some());
        let Some(noted) = oldest else {
            return false;
        };
        let mut unknown = Vec::new();
        if let Noted::Open(call) = noted {
            unknown.extend(call.result.iter().map(|given| given.mark));
            *noted = Noted::Done(call.given().collect(), call.time);
        }
        for mark in unknown {
            self.doubt(mark, Doubt::NoResult);
        }
        true
    }

    fn note(&mut self, id: CallId, moment: &str) {
        if id.is_named {
            self.recent.push(seen(id, moment));
            let over = self.recent.len().saturating_sub(MOST_RECENT);
            self.recent.drain(..over);
        }
    }

    /// Returns the tally of a mark as it counts now.
    fn fitted(&self, definition: &Definition, now: i64) -> Tally {
        let known = self
            .tallies
            .iter()
            .find(|tally| tally.name == definition.name);
        if let Some(tally) = known {
            let mut tally = tally.clone();
            tally.fit(definition, now);
            return tally;
        }
        let before = if self.is_broken { u64::MAX } else { 0 };
        Tally::new(definition, before, now)
    }
}

fn seen(id: CallId, moment: &str) -> u64 {
    digest([&id.digest.to_le_bytes()[..], moment.as_bytes()])
}
