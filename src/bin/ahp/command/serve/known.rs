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
        let Remembered { answers, order } = &mut *known;
        let now = Instant::now();
        while let Some((since, _)) = order.front()
            && (order.len() >= MOST_REMEMBERED || now.duration_since(*since) > REMEMBERED)
        {
            if let Some((_, oldest)) = order.pop_front() {
                answers.remove(&oldest);
            }
        }
        if let Some(answer) = answers.get(&key) {
            return answer.clone();
        }
        let answer = Answer::default();
        answers.insert(key.clone(), answer.clone());
        order.push_back((now, key));
        answer
    }
}
