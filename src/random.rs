//! Random: bytes that nobody can guess, and ids that no two things share.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use chrono::{DateTime, Utc};
use rustix::time::{ClockId, clock_gettime};
use sha2::{Digest as _, Sha256};
use uuid::{Builder, Uuid};

/// Fills bytes with random ones that the system makes, fit for keys.
///
/// # Errors
/// The system makes none.
pub fn fill(bytes: &mut [u8]) -> io::Result<()> {
    // The call itself: a static program that goes by the C library opens `/dev/urandom`, which an empty root does not have.
    #[cfg(target_os = "linux")]
    {
        let mut at = 0;
        while let Some(rest) = bytes.get_mut(at..).filter(|rest| !rest.is_empty()) {
            match rustix::rand::getrandom(rest, rustix::rand::GetRandomFlags::empty()) {
                Ok(count) => at += count,
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
    #[cfg(not(target_os = "linux"))]
    {
        use io::Read as _;
        std::fs::File::open("/dev/urandom")?.read_exact(bytes)
    }
}

/// Returns a new id (UUID version 4).
pub fn id() -> Uuid {
    Builder::from_random_bytes(few()).into_uuid()
}

/// Returns a new id that says its time (UUID version 7); those of one process are in the order in which they were made.
pub fn id_at(now: DateTime<Utc>) -> Uuid {
    /// The last time, in milliseconds, and behind it twelve bits that count what was made within it (RFC 9562 §6.2).
    static LAST: AtomicU64 = AtomicU64::new(0);
    let now = u64::try_from(now.timestamp_millis()).unwrap_or_default() << 12;
    let next = |last: u64| last.saturating_add(1).max(now);
    let last = LAST.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| {
        Some(next(last))
    });
    let made = last.map_or(now, next);
    let [.., high, low] = (made & 0xfff).to_be_bytes();
    let mut bytes = [0; 10];
    for (to, from) in bytes.iter_mut().zip([high, low].into_iter().chain(few())) {
        *to = from;
    }
    Builder::from_unix_timestamp_millis(made >> 12, &bytes).into_uuid()
}

/// Returns bytes for an id: random ones, or where the system makes none, others than any that were made before.
fn few() -> [u8; 16] {
    let mut bytes = [0; 16];
    if fill(&mut bytes).is_err() {
        bytes = unlike();
    }
    bytes
}

/// Returns bytes that no other call gives, made of time, process and a counter.
fn unlike() -> [u8; 16] {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let now = clock_gettime(ClockId::Realtime);
    let parts = (now.tv_sec, now.tv_nsec, std::process::id());
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let hash = Sha256::digest(format!("{parts:?} {count}"));
    let mut bytes = [0; 16];
    for (to, from) in bytes.iter_mut().zip(hash) {
        *to = from;
    }
    bytes
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn ids_are_apart_also_where_the_system_makes_nothing_random() {
        let all: BTreeSet<_> = (0..1000).map(|_| unlike()).collect();
        assert_eq!(all.len(), 1000);
        let all: BTreeSet<_> = (0..1000).map(|_| id()).collect();
        assert_eq!(all.len(), 1000);
        assert!(all.iter().all(|id| id.get_version_num() == 4));
    }

    #[test]
    fn ids_that_say_their_time_are_in_order() {
        let now = DateTime::from_timestamp_millis(1_800_000_000_000).unwrap();
        // More than the counter can tell apart within a millisecond.
        let all: Vec<_> = (0..10_000).map(|_| id_at(now)).collect();
        assert!(all.is_sorted_by(|a, b| a < b));
        let earlier = id_at(DateTime::from_timestamp_millis(5).unwrap());
        assert!(all.iter().all(|id| *id < earlier), "the clock was set back");
        assert!(all.iter().all(|id| id.get_version_num() == 7));
    }
}
