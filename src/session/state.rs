//! State: all that is known of a scope, and the calls of it that have not ended.

use serde::{Deserialize, Serialize};

use super::tally::Tally;
use super::{Contribution, Count, Definition, digest};

/// How many calls may be open; of more the first can no longer be told.
const MOST_OPEN: usize = 32;

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
    open: Vec<Call>,
    /// The digests of calls that were seen, oldest first.
    recent: Vec<u64>,
}

/// By what a call is known again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallId {
    /// The digest of what the host calls it, else of the tool and its input.
    pub digest: u64,
    /// Whether the host has a name for it, so that it is one call however often it is told of.
    pub is_named: bool,
}

/// How far a call has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Going {
    /// It is judged, or whoever judged it died over it.
    Judged,
    /// A person is asked about it.
    Asked,
    /// It was let go.
    Gone,
}

/// A call that has not ended, as far as is known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// By what it is known again.
    pub id: CallId,
    /// When it came, in milliseconds since 1970.
    pub time: i64,
    /// How far it has come.
    pub going: Going,
    /// What it adds if it happens.
    pub itself: Vec<Contribution>,
    /// What its result may add.
    pub result: Vec<Contribution>,
}

impl Call {
    /// Whether it adds anything, by itself or by its result.
    pub fn is_something(&self) -> bool {
        !self.itself.is_empty() || !self.result.is_empty()
    }
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
            open: Vec::new(),
            recent: Vec::new(),
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

    /// Returns how many calls have not ended.
    pub fn open_calls(&self) -> usize {
        self.open.len()
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

    /// Returns what a mark is at a time, without the call of this id.
    pub fn count(&self, definition: &Definition, key: u64, now: i64, but: Option<CallId>) -> Count {
        let now = self.time(now);
        let tally = self.fitted(definition, now);
        let others = self.open.iter().filter(|call| Some(call.id) != but);
        let open: Vec<(Contribution, i64)> = others
            .flat_map(|call| {
                let given = call.itself.iter().chain(&call.result);
                given.map(|given| (given.doubtful(), call.time))
            })
            .filter(|(given, _)| given.mark == definition.name)
            .collect();
        let within = definition.window.map(|window| window.within);
        tally.count(
            key,
            within,
            open.iter().map(|(given, time)| (given, *time)),
            now,
        )
    }

    /// Returns the highest that a mark is for any value that it is counted by.
    pub fn highest(&self, definition: &Definition, now: i64) -> Count {
        let tally = self.fitted(definition, self.time(now));
        let keys = tally
            .keys()
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
        self.open.push(call);
        while self.open.len() > MOST_OPEN {
            let first = self.open.remove(0);
            self.leave_in_doubt(&first, marks);
        }
    }

    /// Takes a call that was judged: what it is now, or none where it was stopped.
    pub fn settle(&mut self, id: CallId, settled: Option<Call>, marks: &[Definition]) {
        let place = self
            .open
            .iter()
            .rposition(|call| call.id == id && call.going == Going::Judged);
        if let Some(place) = place {
            self.open.remove(place);
        }
        let Some(mut call) = settled else {
            return;
        };
        if call.going == Going::Gone {
            let given = std::mem::take(&mut call.itself);
            self.add(&given, call.time, marks);
        }
        if !call.itself.is_empty() || !call.result.is_empty() {
            self.open.push(call);
        }
    }

    /// Ends a call of which the result has come: that it happened is certain now.
    pub fn end(&mut self, id: CallId, marks: &[Definition]) {
        self.note(id, "post");
        if let Some(place) = self.open.iter().position(|call| call.id == id) {
            let call = self.open.remove(place);
            self.add(&call.itself, call.time, marks);
        }
    }

    /// Gives up on all calls that are open: whether they happened, and what came of them, will not be told any more.
    pub fn give_up(&mut self, marks: &[Definition]) {
        for call in std::mem::take(&mut self.open) {
            self.leave_in_doubt(&call, marks);
        }
    }

    /// Adds what an event contributes.
    pub fn add(&mut self, given: &[Contribution], time: i64, marks: &[Definition]) {
        for given in given.iter().filter(|given| given.is_something()) {
            let Some(definition) = marks.iter().find(|mark| mark.name == given.mark) else {
                continue;
            };
            let tally = self.fitted(definition, time);
            let place = self
                .tallies
                .iter()
                .position(|tally| tally.name == given.mark);
            let mut tally = tally;
            tally.add(given, time);
            match place.and_then(|place| self.tallies.get_mut(place)) {
                Some(known) => *known = tally,
                None => self.tallies.push(tally),
            }
        }
        if self.tallies.len() > MOST_MARKS {
            let is_in_force = |tally: &Tally| marks.iter().any(|mark| mark.name == tally.name);
            self.tallies.retain(is_in_force);
        }
    }

    /// Makes it smaller, where its file would grow too large: what is given up may be less than is said, never more.
    pub fn shrink(&mut self) {
        let size = |tally: &Tally| postcard::to_allocvec(tally).map_or(0, |bytes| bytes.len());
        let largest = self.tallies.iter_mut().max_by_key(|tally| size(tally));
        if let Some(tally) = largest {
            tally.shrink();
        }
        self.open.truncate(MOST_OPEN);
    }

    fn leave_in_doubt(&mut self, call: &Call, marks: &[Definition]) {
        let given = call.itself.iter().chain(&call.result);
        let given: Vec<_> = given.map(Contribution::doubtful).collect();
        self.add(&given, call.time, marks);
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
