//! Known: the answers that were given lately, so that an event that comes twice is judged once.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// For how long the same event gets the same answer.
const REMEMBERED: Duration = Duration::from_mins(10);

/// Of how many events the answers are remembered.
const MOST_REMEMBERED: usize = 1024;

/// What makes two events one: the source and the event's id.
type Key = (String, String);
type Answer = Arc<OnceLock<Option<String>>>;

/// The answers that were given lately: a harness may ask twice, and is logged once.
#[derive(Debug, Default)]
pub(super) struct Known(Mutex<Remembered>);

#[derive(Debug, Default)]
struct Remembered {
    answers: HashMap<Key, Answer>,
    order: VecDeque<(Instant, Key)>,
}

impl Known {
    /// Returns the answer to an event, which is found once; who asks meanwhile waits for it.
    pub(super) fn answer(&self, key: Key, find: impl FnOnce() -> Option<String>) -> Option<String> {
        let answer = self.of(key);
        answer.get_or_init(find).clone()
    }

    fn of(&self, key: Key) -> Answer {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        known.forget(|_, since| now.duration_since(since) > REMEMBERED);
        if let Some(answer) = known.answers.get(&key) {
            return answer.clone();
        }
        // Only for a new one: the oldest may be what is asked for.
        known.forget(|count, _| count >= MOST_REMEMBERED);
        let answer = Answer::default();
        known.answers.insert(key.clone(), answer.clone());
        known.order.push_back((now, key));
        answer
    }
}

impl Remembered {
    /// Forgets the oldest for as long as something holds of how many there are and when it was given.
    fn forget(&mut self, holds: impl Fn(usize, Instant) -> bool) {
        while let Some((since, _)) = self.order.front()
            && holds(self.order.len(), *since)
        {
            if let Some((_, oldest)) = self.order.pop_front() {
                self.answers.remove(&oldest);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_is_forgotten_for_a_new_one_alone() {
        let known = Known::default();
        let ask = |n: usize| {
            let mut is_new = false;
            known.answer((String::new(), n.to_string()), || {
                is_new = true;
                None
            });
            is_new
        };
        assert!((0..MOST_REMEMBERED).all(ask));
        assert!(!ask(0), "it is known");
        assert!(ask(MOST_REMEMBERED));
        assert!(ask(0), "there was no room for it");
    }
}
