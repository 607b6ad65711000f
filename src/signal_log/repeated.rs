//! Repeated: a call that its host tells of a second time, found again in the log, with what was found the first time.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Body, History, MemoryHistory, Record};
use crate::event::Event;
use crate::signal::{Intensity, Signal, digest};

/// What a log knows of a call that was judged before.
#[derive(Debug)]
pub struct Repeated {
    /// What was known when it was judged: to be judged the same, it must not meet itself.
    pub before: Arc<dyn History>,
    /// What blocked it then, each by its binding and the identity of the finding.
    found: BTreeSet<(String, String)>,
}

impl Repeated {
    /// Finds the last time that the call of an event was judged: what acts on the same in the same session. None where the
    /// log does not have it.
    pub fn find(history: &dyn History, event: &Event) -> Option<Self> {
        let object = digest([event.object()?]);
        let session = event.session_id.as_deref()?;
        let is_it = |record: &Record| match &record.body {
            Body::Evaluation(judged) => {
                judged.hook == event.trigger.name()
                    && judged.session_id.as_deref() == Some(session)
                    && judged.object.as_deref() == Some(&object)
            }
            Body::Signal(_) | Body::Response(_) => false,
        };
        let mut before = history.records(session);
        let place = before.iter().rposition(is_it)?;
        // The signals of an evaluation follow it, and then the steps of issues that the call brings along.
        let is_other = |record: &Record| {
            let judged = matches!(record.body, Body::Evaluation(_));
            judged && record.trigger() == Some(event.trigger.name())
        };
        let after = before.split_off(place).into_iter().skip(1);
        let signals =
            after
                .take_while(|record| !is_other(record))
                .filter_map(|record| match record.body {
                    Body::Signal(given) => Some(given),
                    Body::Evaluation(_) | Body::Response(_) => None,
                });
        let blocks = signals.filter(|given| given.signal.intensity() == Intensity::Block);
        Some(Self {
            found: blocks
                .flat_map(|given| {
                    let found = given.identities().map(str::to_owned);
                    let found = found.map(|identity| (given.origin.binding.clone(), identity));
                    found.collect::<Vec<_>>()
                })
                .collect(),
            before: Arc::new(MemoryHistory::new(before)),
        })
    }

    /// Whether all that blocks the call now has blocked it before.
    pub fn has_blocked<'a>(
        &self,
        event: &Event,
        mut signals: impl Iterator<Item = &'a Signal>,
    ) -> bool {
        let object = event.object();
        signals.all(|signal| {
            // A step of an issue has no object of its own.
            let is_found = |identity| {
                let found = (signal.origin.binding.clone(), identity);
                self.found.contains(&found)
            };
            let mut objects = [object.as_deref(), None].into_iter();
            signal.intensity() != Intensity::Block
                || objects.any(|o| signal.identities(o).into_iter().all(is_found))
        })
    }
}
