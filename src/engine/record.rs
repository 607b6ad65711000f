//! The signals of a verdict as records of the log.

use crate::event::Event;
use crate::signal::Signal;
use crate::signal_log::Body;
use crate::signal_log::SignalRecord;
use crate::verdict::Verdict;

/// Returns the records of an event's signals.
pub(super) fn signals(event: &Event, verdict: &Verdict) -> Vec<Body> {
    let record = |signal: &Signal| {
        Body::Signal(Box::new(SignalRecord {
            fingerprint: signal.finding(),
            origin: signal.origin.clone(),
            signal: signal.clone(),
            session_id: event.session_id.clone(),
            host: event.host.clone(),
        }))
    };
    verdict.signals.iter().map(record).collect()
}
