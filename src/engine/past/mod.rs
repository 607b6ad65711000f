//! Past: what was counted before an event, and what the event itself adds to it.
//!
//! An event that adds something is noted under the lock of its scope before it is judged, and is judged by what that
//! reading says; how it ends is noted afterwards. One that adds nothing only reads, and only where it is asked.

mod call;
mod counting;
mod keeper;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use chrono::{DateTime, Utc};

pub use self::counting::MarkNow;
pub use self::keeper::{Keeper, Memory};

use self::call::{asked_word, call_id, is_of_call, is_post_of_call, scope_id};
use self::counting::Begins;
use super::Clock;
use crate::config::ProvenanceSettings;
use crate::event::Trigger;
use crate::fact::{Facts, MarkCount, Past};
use crate::policy::Mark;
use crate::provenance;
use crate::session::{
    Call, CallId, Contribution, Count, Definition, Going, MarkRecord, Origin, Origins, Scope,
    State, Truth, digest,
};

/// What the scope of events is called that may be of any of its kind.
const ANYWHERE: &str = "\0";

/// What was read of one scope.
#[derive(Clone, Debug)]
enum Read {
    Known(Arc<State>),
    Unknown(String),
}

/// The past of one event.
#[derive(Debug)]
pub(super) struct EventPast {
    marks: Arc<[Mark]>,
    asks_age: bool,
    /// Whose results are believed; none where nothing asks where arguments come from.
    provenance: Option<ProvenanceSettings>,
    keeper: Keeper,
    clock: Arc<dyn Clock>,
    /// The time of the event, in milliseconds since 1970.
    now: i64,
    read: Mutex<BTreeMap<Scope, Read>>,
    /// The scopes in which the event was noted, and as which call.
    noted: Mutex<Vec<(Scope, CallId)>>,
    /// Why something cannot be told, each with the scope of which.
    faults: Mutex<Vec<(Scope, String)>>,
    /// The scopes in which what was told hangs on the time: a clock that is set back must not tell something else.
    timed: Mutex<BTreeSet<Scope>>,
    /// What kinds of acts the call is.
    acts: provenance::Acts,
    /// What marks were asked for, and what they were.
    asked: Mutex<BTreeMap<String, Count>>,
}

impl EventPast {
    /// Makes the past of an event; nothing is read yet.
    pub(super) fn new(
        marks: Arc<[Mark]>,
        asks_age: bool,
        provenance: Option<ProvenanceSettings>,
        keeper: Keeper,
        clock: Arc<dyn Clock>,
        now: DateTime<Utc>,
    ) -> Self {
        Self {
            marks,
            asks_age,
            provenance,
            keeper,
            clock,
            now: now.timestamp_millis(),
            read: Mutex::default(),
            noted: Mutex::default(),
            faults: Mutex::default(),
            timed: Mutex::default(),
            acts: provenance::Acts::default(),
            asked: Mutex::default(),
        }
    }

    /// Keeps where the words of an event have stood, where something asks for it.
    fn learn(&self, facts: &Facts, learn: impl FnOnce(&mut Origins, &ProvenanceSettings)) {
        let (Some(settings), Some(session)) = (&self.provenance, facts.event().whole_session())
        else {
            return;
        };
        let opened = self.keeper.origins_to_add(session, salt(&*self.clock));
        let saved = opened.and_then(|mut origins| {
            learn(&mut origins, settings);
            origins.save()
        });
        if let Err(error) = saved {
            let fault = format!("where words come from cannot be kept: {error}");
            lock(&self.faults).push((Scope::Session, fault));
            if let Err(error) = self.keeper.lose_origins(Some(session)) {
                tracing::warn!(%error, "a lost result cannot be noted");
            }
        }
    }

    /// Opens what says where words of the session have stood; none where nothing has taught it, or there is no session.
    fn origins(&self, facts: &Facts) -> io::Result<Option<Origins>> {
        match facts.event().whole_session() {
            Some(session) => self.keeper.origins(session),
            None => Ok(None),
        }
    }

    fn find(&self, name: &str) -> Option<&Mark> {
        self.marks.iter().find(|mark| mark.spec().name == name)
    }

    fn definitions(&self) -> Vec<Definition> {
        self.marks.iter().map(|mark| *mark.definition()).collect()
    }

    fn keep(&self, scope: Scope, read: Read) {
        lock(&self.read).insert(scope, read);
    }

    fn fail(&self, scope: Scope, why: String) {
        lock(&self.faults).push((scope, why.clone()));
        self.keep(scope, Read::Unknown(why));
    }

    /// Reads what was noted of events that may be of a scope; none where each event tells of which it is.
    fn anywhere(&self, scope: Scope) -> Result<Option<State>, String> {
        if scope != Scope::Issue {
            return Ok(None);
        }
        let read = || self.keeper.read(scope, ANYWHERE);
        let known = read().or_else(|_| {
            // What is lost of it is begun anew, and each issue takes that into account.
            let begun = self
                .keeper
                .change(scope, ANYWHERE, || salt(&*self.clock), |_| true);
            begun.map_err(|fault| fault.to_string())?;
            read()
        });
        known.map(Some)
    }

    /// Reads what is known of a scope, with what was noted of events that may be of it.
    fn read(&self, scope: Scope, id: &str) -> Result<State, String> {
        let mut state = self.keeper.read(scope, id)?;
        if let Some(anywhere) = self.anywhere(scope)? {
            state.take_anywhere(&anywhere, &self.definitions(), self.now);
        }
        Ok(state)
    }

    /// Notes what an event adds that may be of any issue: that it sets a mark back, and what happens to an issue of which it is
    /// not known which.
    fn note_anywhere(&self, facts: &Facts) {
        let trigger = facts.event().trigger;
        let is_new = matches!(trigger, Trigger::PreIssueCreate | Trigger::PostIssueCreate);
        let is_of_one = trigger.is_issue() && !is_new;
        let call = self.call(facts, Scope::Issue, &State::new(0));
        let given = call.itself.into_iter().chain(call.result);
        let given = given.filter(|given| is_of_one || given.end != Truth::No);
        let given: Vec<Contribution> = given
            .map(|given| Contribution {
                hit: if is_of_one { given.hit } else { Truth::No },
                ..given
            })
            .collect();
        if given.is_empty() {
            return;
        }
        let note = |state: &mut State| {
            for given in &given {
                state.add_anywhere(given);
            }
            true
        };
        let salt = || salt(&*self.clock);
        if let Err(fault) = self.keeper.change(Scope::Issue, ANYWHERE, salt, note) {
            self.fail(Scope::Issue, fault.to_string());
        }
    }

    /// Returns what is known of a scope, read now where it was not before.
    fn state(&self, scope: Scope, facts: &Facts) -> Result<Arc<State>, String> {
        if let Some(read) = lock(&self.read).get(&scope) {
            return match read {
                Read::Known(state) => Ok(state.clone()),
                Read::Unknown(why) => Err(why.clone()),
            };
        }
        let Some(id) = scope_id(scope, facts) else {
            return Err(format!("the event tells no {}", scope.name()));
        };
        match self.read(scope, &id) {
            Ok(state) => {
                let state = Arc::new(state);
                self.keep(scope, Read::Known(state.clone()));
                Ok(state)
            }
            Err(why) => {
                self.fail(scope, why.clone());
                Err(why)
            }
        }
    }
}

impl Past for EventPast {
    fn begin(&self, facts: &Facts) {
        let trigger = facts.event().trigger;
        if let (Trigger::PreSession, Keeper::Files(store)) = (trigger, &self.keeper) {
            store.remove_old(self.clock.now().into());
        }
        // What a call teaches before it runs is noted once it was let go.
        let teaches_now =
            |settings| trigger != Trigger::PreToolUse && provenance::teaches(facts, settings);
        if self.provenance.as_ref().is_some_and(teaches_now) {
            let asked = asked_word(facts);
            self.learn(facts, |origins, settings| {
                let was_asked = origins.has(Origin::Text, &asked);
                provenance::learn(facts, settings, was_asked, origins);
                if is_post_of_call(trigger) {
                    origins.end_call(call_id(facts));
                }
            });
        }
        for scope in Scope::ALL {
            let begins = Begins {
                age: self.asks_age && scope == Scope::Session,
                gives_up: trigger == Trigger::PreAgentTurn
                    && facts.event().is_by_person()
                    && self.awaits(scope),
            };
            let is_fed = self.fed(trigger).any(|mark| mark.scope() == scope);
            if !is_fed && !begins.gives_up && !begins.age {
                continue;
            }
            let Some(id) = scope_id(scope, facts) else {
                if scope == Scope::Issue && is_fed {
                    self.note_anywhere(facts);
                }
                continue;
            };
            // Most events add nothing, and have only to be read for.
            if !self.call(facts, scope, &State::new(0)).is_something() {
                let ends = begins.gives_up || is_post_of_call(trigger);
                match self.read(scope, &id) {
                    Ok(state) => {
                        let is_seen = !begins.age || state.first().is_some();
                        if is_seen && !(ends && state.has_open()) {
                            self.keep(scope, Read::Known(Arc::new(state)));
                            continue;
                        }
                    }
                    // What is open stays open: nothing is lost with this event.
                    Err(why) if !begins.age => {
                        self.fail(scope, why);
                        continue;
                    }
                    Err(_) => {}
                }
            }
            self.change(scope, &id, facts, begins);
        }
    }

    fn settle(&self, facts: &Facts, going: Option<Going>) {
        if let Some(going) = going.filter(|_| facts.event().trigger == Trigger::PreToolUse) {
            let is_asked = going == Going::Asked;
            let settings = self.provenance.as_ref();
            let is_awaited = settings.is_some_and(|s| provenance::teaches(facts, s));
            if is_asked || is_awaited {
                self.learn(facts, |origins, settings| {
                    if is_awaited {
                        provenance::learn(facts, settings, is_asked, origins);
                        provenance::await_result(origins, call_id(facts), is_asked);
                    }
                    if is_asked {
                        let asked = asked_word(facts);
                        origins.add(Origin::Text, std::iter::once(asked.as_str()));
                    }
                });
            }
        }
        let definitions = self.definitions();
        let noted = std::mem::take(&mut *lock(&self.noted)).into_iter();
        let noted = noted.map(|(scope, call)| (scope, Some(call)));
        let timed = std::mem::take(&mut *lock(&self.timed)).into_iter();
        for (scope, noted) in noted.chain(timed.map(|scope| (scope, None))) {
            let Some(id) = scope_id(scope, facts) else {
                continue;
            };
            let settle = |state: &mut State| {
                if let Some(noted) = noted {
                    let call = going.map(|going| Call {
                        going,
                        ..self.call(facts, scope, state)
                    });
                    state.settle(noted, call, &definitions);
                } else {
                    state.see(self.now, false);
                }
                true
            };
            let settled = self
                .keeper
                .change(scope, &id, || salt(&*self.clock), settle);
            if let Err(fault) = settled {
                self.fail(scope, fault.to_string());
            }
        }
    }

    fn fault(&self) -> Option<(Scope, String)> {
        lock(&self.faults).first().cloned()
    }

    fn record(&self, facts: &Facts, going: Option<Going>) -> BTreeMap<String, MarkRecord> {
        let mut records: BTreeMap<String, MarkRecord> = BTreeMap::new();
        for (name, count) in &*lock(&self.asked) {
            let asked = Some([count.least, count.most]);
            records.entry(name.clone()).or_default().asked = asked;
        }
        let trigger = facts.event().trigger;
        let is_over = !trigger.is_pre() || going == Some(Going::Gone);
        if trigger.is_pre() && going.is_none() {
            return records;
        }
        let nothing = State::new(0);
        let result = (trigger == Trigger::PreToolUse).then(|| facts.of_result());
        for mark in self.marks.iter() {
            let itself = mark.is_fed_at(trigger).then(|| {
                let given = mark.contribution(facts, &nothing);
                if is_over { given } else { given.doubtful() }
            });
            let result = result
                .as_ref()
                .filter(|_| mark.is_fed_at(Trigger::PostToolUse));
            let result = result.map(|facts| mark.contribution(facts, &nothing).doubtful());
            for given in itself.into_iter().chain(result) {
                if given.is_something() {
                    let record = records.entry(mark.spec().name.clone()).or_default();
                    let told = |truth: Truth| (truth != Truth::No).then_some(truth);
                    record.fed = record.fed.max(told(given.hit));
                    record.ended = record.ended.max(told(given.end));
                }
            }
        }
        records
    }

    fn mark(&self, name: &str, facts: &Facts) -> MarkCount {
        let but = is_of_call(facts.event().trigger).then(|| call_id(facts));
        let counted = self.counted(name, facts, |mark, state| {
            let one = |key| state.count(mark.definition(), key, self.now, but);
            if state.lets_go(mark.definition(), self.now) {
                lock(&self.timed).insert(mark.scope());
            }
            mark.count(facts, one, state)
        });
        lock(&self.asked).insert(name.to_owned(), counted.count);
        counted
    }

    fn highest(&self, name: &str, facts: &Facts) -> MarkCount {
        self.counted(name, facts, |mark, state| {
            state.highest(mark.definition(), self.now)
        })
    }

    fn arguments_from(&self, facts: &Facts) -> Option<Vec<String>> {
        facts.event().whole_session()?;
        provenance::come_from(facts, self.origins(facts).ok()?.as_ref(), &self.acts)
    }

    fn told_by_others(&self, facts: &Facts) -> Vec<String> {
        let origins = self.origins(facts).ok().flatten();
        let told = origins.map(|origins| provenance::told_by_others(facts, &origins));
        told.unwrap_or_default()
    }

    fn outward(&self, facts: &Facts) -> Option<bool> {
        provenance::outward(facts, self.origins(facts).ok()?.as_ref())
    }

    fn asked(&self, facts: &Facts) -> Option<bool> {
        provenance::is_asked(facts, self.origins(facts).ok()?.as_ref(), &self.acts)
    }

    fn injection_score(&self, facts: &Facts) -> Option<u8> {
        facts.event().whole_session()?;
        let origins = self.origins(facts).ok()?;
        Some(provenance::injection_score(facts, origins.as_ref()))
    }

    fn age(&self, facts: &Facts) -> Option<f64> {
        let state = self.state(Scope::Session, facts).ok()?;
        let first = state.first()?;
        if self.now > state.time(first) {
            lock(&self.timed).insert(Scope::Session);
        }
        #[expect(
            clippy::cast_precision_loss,
            reason = "milliseconds are far below 2^52"
        )]
        let seconds = state.time(self.now).saturating_sub(first) as f64 / 1000.0;
        Some(seconds)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns a number that nobody can guess, by which a new file hides the values that it counts by.
fn salt(clock: &dyn Clock) -> u64 {
    digest([clock.new_id().as_bytes().as_slice()])
}
