//! Inferred responses: what an agent answered by what it did next, without saying it.

use chrono::DateTime;
use chrono::Utc;
use serde_json::Map;

use super::Body;
use super::History;
use super::ResponseRecord;
use crate::event::Event;
use crate::signal::Action;
use crate::signal::Actor;
use crate::signal::Intensity;
use crate::signal::Response;
use crate::verdict::Outcome;
use crate::verdict::Verdict;

/// Concludes from a verdict how the open signals of its bindings were answered; to be logged with the verdict.
///
/// | open signal | its finding is gone | its finding is still there |
/// |---|---|---|
/// | block | `retry_after_fix` | – (tried again without a fix) |
/// | control | `accept_modification` | `accept_modification` (it was applied) |
/// | prompt | `apply_suggestion` | `dismiss`, where the operation had not been stopped |
///
/// Inferred answers count in statistics and waive nothing.
pub fn inferred_responses(
    history: &dyn History,
    event: &Event,
    verdict: &Verdict,
    now: DateTime<Utc>,
) -> Vec<Body> {
    let subject = event.subject().unwrap_or_default();
    let mut bodies = Vec::new();
    for report in &verdict.bindings {
        if !matches!(report.outcome, Outcome::Accepted | Outcome::Signalled) {
            continue;
        }
        let chain = history.chain(event.trigger, &report.id, subject);
        if chain.open.is_empty() {
            continue;
        }
        let signalled = verdict
            .signals
            .iter()
            .filter(|s| s.origin.binding == report.id)
            .map(crate::signal::Signal::finding);
        let waived = chain
            .waivers
            .iter()
            .filter(|w| report.waived.contains(&w.signal_id))
            .map(|w| w.fingerprint.clone());
        let found: Vec<String> = signalled.chain(waived).collect();
        let was_stopped = history.stopped(event.trigger, subject) > 0;
        for open in chain.open {
            let is_gone = !found.contains(&open.fingerprint);
            let action = match open.intensity {
                Intensity::Block if is_gone => Action::RetryAfterFix,
                Intensity::Control => Action::AcceptModification,
                Intensity::Prompt if is_gone => Action::ApplySuggestion,
                Intensity::Prompt if !was_stopped => Action::Dismiss,
                Intensity::Block | Intensity::Prompt | Intensity::Aid => continue,
            };
            bodies.push(Body::Response(Box::new(ResponseRecord {
                response: Response {
                    signal_id: open.id,
                    consumed_at: now,
                    action,
                    details: Map::new(),
                    by: Actor::Agent,
                    inferred: true,
                },
                hook: Some(event.trigger.name().to_owned()),
                session_id: event.session_id.clone(),
                binding: Some(report.id.clone()),
                subject: event.subject().map(str::to_owned),
                fingerprint: Some(open.fingerprint),
                refused: None,
            })));
        }
    }
    bodies
}
