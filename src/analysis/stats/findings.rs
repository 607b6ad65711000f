//! Findings: each from its first signal to what became of it. `docs/signal-log.md` has the definitions.

use std::collections::{HashMap, VecDeque};

use chrono::{DateTime, TimeDelta, Utc};

use super::figures::Fate;
use super::keys::Key;
use crate::signal::{Action, Actor};
use crate::verdict::Outcome;

/// How many findings are followed at once; the oldest of more are counted as open.
const FOLLOWED: usize = 1 << 14;

/// After how long a session of which nothing more was heard is over.
const SILENCE: TimeDelta = TimeDelta::days(1);

/// Where something is counted; not every record has a binding, an issue or a host.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Places {
    pub(super) binding: Option<usize>,
    pub(super) rule: Option<usize>,
    pub(super) object: Option<usize>,
    pub(super) issue: Option<usize>,
    pub(super) host: Option<usize>,
    pub(super) agent: Option<usize>,
    pub(super) session: Option<usize>,
    pub(super) day: Option<usize>,
}

/// A moment in a session.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    pub(super) time: DateTime<Utc>,
    /// How many turns the session had.
    pub(super) turns: u64,
}

/// A finding that was not repaired yet.
#[derive(Debug)]
struct Found {
    places: Places,
    /// The binding and subject, with what the event acted on in which it was found last.
    object: Key,
    first: Moment,
    /// In how many evaluations it was found, and whether the one at hand is counted.
    tries: u64,
    is_counted: bool,
    was_stopped: bool,
    answer: Option<Fate>,
    /// When its object was judged again, with no signal of it since.
    gone: Option<Moment>,
}

/// A finding of which it is known what became of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ended {
    pub(super) places: Places,
    pub(super) fate: Fate,
}

/// The findings of which it is not known yet.
#[derive(Debug, Default)]
pub(super) struct Findings {
    found: HashMap<Key, Found>,
    of_object: HashMap<Key, Vec<Key>>,
    in_order: VecDeque<Key>,
}

impl Findings {
    /// Takes that a binding judged an object; `waived` are the findings that an answer held back.
    pub(super) fn judge(
        &mut self,
        object: Key,
        outcome: Outcome,
        waived: &[Key],
        now: Moment,
    ) -> Vec<Ended> {
        let mut ended = Vec::new();
        let Some(keys) = self.of_object.remove(&object) else {
            return ended;
        };
        let mut standing = Vec::new();
        for key in keys {
            let Some(found) = self.found.get_mut(&key) else {
                continue;
            };
            if found.object != object {
                continue;
            }
            let fate = match (found.gone, outcome) {
                (Some(then), _) => Some(found.repaired(then)),
                (None, Outcome::Failed) => None,
                _ if waived.contains(&key) => {
                    Some(found.answer.unwrap_or(Fate::Dismissed(Actor::Agent)))
                }
                (None, Outcome::Accepted) => Some(found.repaired(now)),
                (None, Outcome::Signalled) => {
                    found.gone = Some(now);
                    found.is_counted = false;
                    None
                }
                _ => None,
            };
            if let Some(fate) = fate {
                let places = found.places;
                ended.push(Ended { places, fate });
                self.found.remove(&key);
            } else {
                standing.push(key);
            }
        }
        if !standing.is_empty() {
            self.of_object.insert(object, standing);
        }
        ended
    }

    /// Whether a finding is followed.
    pub(super) fn has(&self, key: Key) -> bool {
        self.found.contains_key(&key)
    }

    /// Takes a signal of a finding; whether it is the first one, and the finding that ended before it.
    pub(super) fn find(
        &mut self,
        key: Key,
        object: Key,
        places: Places,
        was_stopped: bool,
        now: Moment,
    ) -> (bool, Option<Ended>) {
        let mut ended = None;
        if let Some(found) = self.found.get(&key)
            && let Some(then) = found.gone
            && found.object != object
        {
            // It was gone of one object before it came of another.
            let (places, fate) = (found.places, found.repaired(then));
            ended = Some(Ended { places, fate });
            self.found.remove(&key);
        }
        if let Some(found) = self.found.get_mut(&key) {
            // Of another object, it is another evaluation.
            found.tries += u64::from(!found.is_counted || found.object != object);
            found.is_counted = true;
            found.was_stopped = was_stopped;
            found.gone = None;
            if found.object != object {
                found.object = object;
                self.of_object.entry(object).or_default().push(key);
            }
            return (false, None);
        }
        let found = Found {
            places,
            object,
            first: now,
            tries: 1,
            is_counted: true,
            was_stopped,
            answer: None,
            gone: None,
        };
        self.found.insert(key, found);
        self.of_object.entry(object).or_default().push(key);
        self.in_order.push_back(key);
        if self.in_order.len() > FOLLOWED
            && let Some(oldest) = self.in_order.pop_front()
            && let Some(left) = self.found.remove(&oldest)
        {
            self.of_object.remove(&left.object);
        }
        (true, ended)
    }

    /// Takes that a signal of a finding was answered outright.
    pub(super) fn answer(&mut self, key: Key, action: Action, by: Actor) {
        if let Some(found) = self.found.get_mut(&key) {
            found.answer = match action {
                Action::ProceedWithRisk => Some(Fate::Overridden(by)),
                Action::Acknowledge
                | Action::Dismiss
                | Action::RejectModification
                | Action::SuggestionDeferred => Some(Fate::Dismissed(by)),
                _ => None,
            };
        }
    }

    /// Takes what was concluded of a signal of a finding: it changes nothing but that the operation went on after all.
    pub(super) fn conclude(&mut self, key: Key, action: Action) {
        let goes_on = matches!(action, Action::Dismiss | Action::AcceptModification);
        if let Some(found) = self.found.get_mut(&key).filter(|_| goes_on) {
            found.was_stopped = false;
        }
    }

    /// Ends what was found in a session; what was found of an issue goes on with the issue.
    pub(super) fn end_session(&mut self, session: Option<usize>) -> Vec<Ended> {
        self.end(|found| session.is_some() && found.places.session == session)
    }

    /// Ends what was found in sessions of which nothing has been heard for a day.
    pub(super) fn finish(
        mut self,
        end: DateTime<Utc>,
        last_heard: impl Fn(Option<usize>) -> Option<DateTime<Utc>>,
    ) -> Vec<Ended> {
        let mut ended = self.end(|found| {
            last_heard(found.places.session).is_some_and(|heard| end - heard > SILENCE)
        });
        ended.extend(self.found.into_values().filter_map(|found| {
            let places = found.places;
            let fate = found.gone.map(|then| found.repaired(then));
            let fate = fate.or(found.answer)?;
            Some(Ended { places, fate })
        }));
        ended
    }

    fn end(&mut self, is_over: impl Fn(&Found) -> bool) -> Vec<Ended> {
        let over = self
            .found
            .extract_if(|_, found| found.places.issue.is_none() && is_over(found));
        over.map(|(_, found)| Ended {
            places: found.places,
            fate: found.left(),
        })
        .collect()
    }
}

impl Found {
    fn repaired(&self, then: Moment) -> Fate {
        let took = then.time.timestamp_millis() - self.first.time.timestamp_millis();
        Fate::Repaired {
            milliseconds: u64::try_from(took).unwrap_or(0),
            tries: self.tries + 1,
            turns: then.turns.saturating_sub(self.first.turns),
        }
    }

    /// Returns what became of it when nothing more comes.
    fn left(&self) -> Fate {
        match (self.gone, self.answer) {
            (Some(then), _) => self.repaired(then),
            (None, Some(answered)) => answered,
            (None, None) if self.was_stopped => Fate::Heeded,
            (None, None) => Fate::Ignored,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::keys::Keys;
    use super::*;

    #[test]
    fn a_finding_of_another_object_is_another_try() {
        let keys = Keys::default();
        let (finding, first, second) = (keys.of("f"), keys.of("a.rs"), keys.of("b.rs"));
        let now = Moment {
            time: DateTime::UNIX_EPOCH,
            turns: 0,
        };
        let mut findings = Findings::default();
        // Two signals of one evaluation are one hit.
        for object in [first, first, second] {
            findings.find(finding, object, Places::default(), true, now);
        }
        let ended = findings.judge(second, Outcome::Accepted, &[], now);
        let fates: Vec<_> = ended.iter().map(|ended| ended.fate).collect();
        assert!(
            matches!(fates[..], [Fate::Repaired { tries: 3, .. }]),
            "{fates:?}"
        );
    }
}
