//! Past: by what is known of before an event is judged, and what of an event that its host tells of twice is new.

use std::path::Path;
use std::sync::Arc;

use ahp::config::Locations;
use ahp::engine::{EngineBuilder, Keeper};
use ahp::event::Event;
use ahp::host;
use ahp::host::HostEvent;
use ahp::signal_log::{EmptyHistory, History, Repeated, SignalLog};
use ahp::verdict::{Decision, Verdict};

use super::{Deadlines, Judge, Progress, Trouble, one};

/// What an event is judged by.
#[derive(Clone, Debug)]
pub(crate) enum Past {
    /// The log; what the event comes to is logged and counted.
    Log,
    /// This; nothing is logged and nothing is counted.
    Given(Arc<dyn History>),
}

impl Past {
    fn nothing() -> Self {
        Self::Given(Arc::new(EmptyHistory))
    }

    /// Has an engine judge by it.
    pub(crate) fn known_to(self, engine: EngineBuilder) -> EngineBuilder {
        match self {
            Self::Log => engine,
            // What marks have counted by now holds the very call that is judged again: they count nothing here.
            Self::Given(history) => engine
                .without_log()
                .history(history)
                .keeper(Keeper::in_memory()),
        }
    }

    /// Returns what an event is judged by that may be no more than a trial of the wires.
    pub(super) fn of(event: &Event, otherwise: Self) -> Self {
        if host::is_canary(event) {
            Self::nothing()
        } else {
            otherwise
        }
    }
}

/// Judges what a host asks its person about; only a block is an answer there.
pub(super) fn asked_about(
    host_event: &HostEvent,
    event: &Event,
    locations: &Locations,
    judge: &dyn Judge,
    progress: &mut Progress,
    deadlines: Deadlines,
) -> Result<Vec<Verdict>, Trouble> {
    let mut judged = |past: Past| {
        let verdicts = one(
            event,
            locations.clone(),
            (past, false),
            judge,
            progress,
            deadlines,
        )?;
        let blocks = |verdict: &Verdict| verdict.decision == Decision::Block;
        let is_answer = verdicts.iter().any(blocks);
        Ok(if is_answer { verdicts } else { Vec::new() })
    };
    if host_event.elicits.is_some() {
        return judged(Past::Log);
    }
    let repeated = match told_before(host_event, event, locations, judge)? {
        Told::Never => return judged(Past::Log),
        Told::Unknown => None,
        Told::Before(repeated) => Some(repeated),
    };
    let before = repeated.as_ref().map(|repeated| repeated.before.clone());
    let again = judged(before.map_or_else(Past::nothing, Past::Given))?;
    let signals = again.iter().flat_map(|verdict| &verdict.signals);
    let is_known = repeated.is_some_and(|repeated| repeated.has_blocked(event, signals));
    // What blocks only now is a finding of its own.
    if again.is_empty() || is_known {
        Ok(again)
    } else {
        judged(Past::Log)
    }
}

/// Whether a call was judged before its person is asked about it.
enum Told {
    Before(Repeated),
    Never,
    Unknown,
}

fn told_before(
    host_event: &HostEvent,
    event: &Event,
    locations: &Locations,
    judge: &dyn Judge,
) -> Result<Told, Trouble> {
    if host_event.is_settings || event.tool.is_none() || host::is_canary(event) {
        return Ok(Told::Unknown);
    }
    let engine = judge
        .engine(locations.clone(), event.trigger, Past::Log)
        .map_err(Trouble::Event)?;
    let state = engine.state();
    engine.keep_first(&state);
    let log = state.signal_log().map(SignalLog::path);
    if log.is_none_or(|log: &Path| !log.exists()) {
        return Ok(Told::Unknown);
    }
    let history = state.history();
    Ok(Repeated::find(&*history, event).map_or(Told::Never, Told::Before))
}
