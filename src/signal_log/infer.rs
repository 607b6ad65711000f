//! Inferred responses: what an agent answered by what it did next, without saying it.

use chrono::{DateTime, Utc};
use serde_json::Map;

use super::asked::call_of;
use super::{Body, History, ResponseRecord, Waiver};
use crate::event::{Event, Trigger};
use crate::signal::{Action, Actor, Intensity, Response, digest};
use crate::verdict::{Outcome, Verdict};

/// Concludes from a verdict how the open signals of its bindings for the same object were answered; to be logged with the verdict.
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
    let object = event.object();
    let judged = object.as_ref().map(|object| digest([object]));
    let mut bodies = Vec::new();
    for report in &verdict.bindings {
        if !matches!(report.outcome, Outcome::Accepted | Outcome::Signalled) {
            continue;
        }
        let mut chain = history.chain(event.trigger, &report.id, subject);
        chain.open.retain(|open| open.object == judged);
        if chain.open.is_empty() {
            continue;
        }
        let found: Vec<String> = verdict
            .signals
            .iter()
            .filter(|s| s.origin.binding == report.id)
            .flat_map(|s| s.identities(object.as_deref()))
            .collect();
        let waived = chain
            .waivers
            .iter()
            .filter(|w| report.waived.contains(&w.signal_id));
        let waived: Vec<_> = waived.collect();
        let was_stopped = history.stopped(event.trigger, subject) > 0;
        for open in chain.open {
            let is_waived = |identity: &String| {
                let holds = |w: &&Waiver| {
                    w.fingerprint == open.fingerprint || w.identities.contains(identity)
                };
                waived.iter().any(holds)
            };
            let mut identities = open.identities.iter();
            let is_gone = identities.all(|i| !found.contains(i) && !is_waived(i));
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
                mac: None,
            })));
        }
    }
    bodies
}

/// Concludes from a call that has run how the question about it was answered; to be logged with its event.
///
/// A call runs after a question only with a yes: of the person, where `asks_person` says that the host puts questions to her now
/// and it did so then. Where nobody was asked, the question was passed over.
pub fn answers_of_host(
    history: &dyn History,
    event: &Event,
    asks_person: bool,
    now: DateTime<Utc>,
) -> Vec<Body> {
    let has_run = matches!(
        event.trigger,
        Trigger::PostToolUse | Trigger::PostToolUseFailure
    );
    let session = event.session_id.as_deref().filter(|_| has_run);
    let Some((session, call)) = session.and_then(|session| Some((session, call_of(event)?))) else {
        return Vec::new();
    };
    let questions = history.questions(session, &call).into_iter();
    let answers = questions.filter_map(|question| {
        let is_by_person = asks_person && question.about.person;
        let action = match question.intensity {
            Intensity::Control => Action::AcceptModification,
            Intensity::Prompt if is_by_person => Action::Acknowledge,
            Intensity::Prompt => Action::Dismiss,
            Intensity::Block | Intensity::Aid => return None,
        };
        let mut details = Map::new();
        if let (true, Some(host)) = (is_by_person, &event.host) {
            details.insert("asked_by".to_owned(), host.as_str().into());
        }
        Some(Body::Response(Box::new(ResponseRecord {
            response: Response {
                signal_id: question.id,
                consumed_at: now,
                action,
                details,
                by: if is_by_person {
                    Actor::Human
                } else {
                    Actor::Agent
                },
                inferred: true,
            },
            hook: Some(Trigger::PreToolUse.name().to_owned()),
            session_id: event.session_id.clone(),
            binding: Some(question.binding),
            subject: question.subject,
            fingerprint: Some(question.fingerprint),
            refused: None,
            mac: None,
        })))
    });
    answers.collect()
}
