//! Clock: the time and the ids that signals get; fixed in tests.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::random;

/// Where the engine gets the time and new ids from.
pub trait Clock: fmt::Debug + Send + Sync {
    /// Returns the time.
    fn now(&self) -> DateTime<Utc>;

    /// Returns a new id, a UUID v7.
    fn new_id(&self) -> Uuid;
}

/// The clock of the machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the one reader of the clock"
    )]
    fn now(&self) -> DateTime<Utc> {
        Utc::now()
    }

    fn new_id(&self) -> Uuid {
        random::id_at(self.now())
    }
}

/// A clock that stands still and counts its ids, so that tests get the same verdict each time.
#[derive(Debug)]
pub struct FixedClock {
    now: DateTime<Utc>,
    next: AtomicU64,
}

impl FixedClock {
    /// Makes a clock that always tells one time.
    pub const fn new(now: DateTime<Utc>) -> Self {
        Self {
            now,
            next: AtomicU64::new(1),
        }
    }
}

impl Clock for FixedClock {
    fn now(&self) -> DateTime<Utc> {
        self.now
    }

    fn new_id(&self) -> Uuid {
        let n = self.next.fetch_add(1, Ordering::Relaxed);
        let millis = u64::try_from(self.now.timestamp_millis()).unwrap_or_default();
        let mut random = [0; 10];
        for (to, from) in random.iter_mut().rev().zip(n.to_le_bytes()) {
            *to = from;
        }
        uuid::Builder::from_unix_timestamp_millis(millis, &random).into_uuid()
    }
}
