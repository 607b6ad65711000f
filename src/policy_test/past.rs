//! What happened before the event that is tested, as the signal log would tell it.

use chrono::{DateTime, TimeDelta, Utc};

use crate::event::Event;
use crate::signal::{Action, Actor, Response};
use crate::signal_log::{Body, EvaluationRecord, Record, ResponseRecord, SignalRecord};
use crate::verdict::Verdict;

/// The records of earlier events.
#[derive(Clone, Debug, Default)]
pub(super) struct Past {
    records: Vec<Record>,
}

impl Past {
    pub(super) fn records(&self) -> Vec<Record> {
        self.records.clone()
    }

    /// Returns a time that is longer the more has happened.
    pub(super) fn age(&self) -> TimeDelta {
        TimeDelta::milliseconds(i64::try_from(self.records.len()).unwrap_or(i64::MAX))
    }

    /// Adds an event with what came of it and, if it was answered, the answers to its signals.
    pub(super) fn add(
        &mut self,
        event: &Event,
        verdict: &Verdict,
        answer: Option<Action>,
        time: DateTime<Utc>,
    ) {
        self.push(
            Body::Evaluation(Box::new(EvaluationRecord::of(event, verdict))),
            time,
        );
        for signal in &verdict.signals {
            let record = SignalRecord::of(event, signal);
            self.push(Body::Signal(Box::new(record)), time);
        }
        let answered = |signal: &&crate::signal::Signal| {
            answer.is_some_and(|a| a.answers() == signal.intensity())
        };
        for signal in verdict.signals.iter().filter(answered) {
            let Some(action) = answer else { continue };
            self.push(
                Body::Response(Box::new(ResponseRecord {
                    response: Response {
                        signal_id: signal.header.id,
                        consumed_at: time,
                        action,
                        details: serde_json::Map::new(),
                        by: Actor::Agent,
                        inferred: false,
                    },
                    hook: Some(event.trigger.name().to_owned()),
                    session_id: event.session_id.clone(),
                    binding: Some(signal.origin.binding.clone()),
                    subject: event.subject().map(str::to_owned),
                    fingerprint: Some(signal.finding()),
                    refused: None,
                    mac: None,
                })),
                time,
            );
        }
    }

    fn push(&mut self, body: Body, timestamp: DateTime<Utc>) {
        self.records.push(Record {
            seq: self.records.len() as u64 + 1,
            timestamp,
            body,
            notice: None,
            prev: String::new(),
            hash: String::new(),
        });
    }
}
