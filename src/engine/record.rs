//! A verdict as records of the log.

use sha2::Digest as _;

use crate::config::LogEvents;
use crate::fact::Facts;
use crate::signal_log::Body;
use crate::signal_log::EvaluationRecord;
use crate::signal_log::SignalRecord;
use crate::verdict::Outcome;
use crate::verdict::Verdict;

/// Returns the records of an evaluated event: the evaluation, then its signals.
pub(super) fn bodies(
    facts: &Facts,
    verdict: &Verdict,
    skipped: usize,
    events: LogEvents,
) -> Vec<Body> {
    let event = facts.event();
    let text = serde_json::to_vec(event).unwrap_or_default();
    let mut digest = crate::signal::hex(&sha2::Sha256::digest(&text));
    digest.truncate(16);
    let mut bodies = Vec::with_capacity(1 + verdict.signals.len());
    bodies.push(Body::Evaluation(Box::new(EvaluationRecord {
        hook: event.trigger.name().to_owned(),
        decision: verdict.decision,
        host: event.host.clone(),
        session_id: event.session_id.clone(),
        issue_id: event.issue_id.clone(),
        tool: event.tool.as_ref().map(|t| t.name.clone()),
        digest,
        event: (events != LogEvents::None)
            .then(|| serde_json::to_value(event).ok())
            .flatten(),
        bindings: verdict
            .bindings
            .iter()
            .filter(|b| b.outcome != Outcome::Skipped)
            .cloned()
            .collect(),
        skipped: u64::try_from(skipped).unwrap_or(u64::MAX),
        duration_us: verdict.duration_us,
        note: None,
    })));
    for signal in &verdict.signals {
        bodies.push(Body::Signal(Box::new(SignalRecord {
            fingerprint: signal.finding(),
            origin: signal.origin.clone(),
            signal: signal.clone(),
            session_id: event.session_id.clone(),
            host: event.host.clone(),
        })));
    }
    bodies
}
