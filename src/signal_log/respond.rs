//! Respond: answers a signal of the log, as an agent or a person does (spec §5.3).

use std::ops::ControlFlow;

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Map, Value};
use uuid::Uuid;

use super::{Body, LogError, Reader, ResponseRecord, SignalLog, SignalRecord};
use crate::signal::{Action, Actor, Intensity, Response};

/// How many signals a message about an ambiguous id lists.
const MOST_CANDIDATES: usize = 8;
/// A shorter piece of an id says too little.
const SHORTEST_ID: usize = 4;
/// Sessions that were told something within this time may all mean their own by `last`.
const AT_ONCE: TimeDelta = TimeDelta::minutes(10);

/// An answer that is to be given.
#[derive(Clone, Debug)]
pub struct Answer {
    /// What is done about the signal.
    pub action: Action,
    /// Whatever else is said.
    pub details: Map<String, Value>,
    /// Who answers.
    pub by: Actor,
}

/// Why a signal could not be answered so.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RespondError {
    /// The log could not be read or written.
    #[error(transparent)]
    Log(#[from] LogError),
    /// The log has no signals.
    #[error("the log has no signal to answer")]
    Nothing,
    /// No signal has this id.
    #[error("no signal has the id `{selector}`; `ahp log show` lists them")]
    Unknown {
        /// What was given.
        selector: String,
    },
    /// What was given is not an id.
    #[error(
        "`{selector}` is not an id: expected `last`, a signal's id, or at least {SHORTEST_ID} digits from its beginning or end"
    )]
    NoId {
        /// What was given.
        selector: String,
    },
    /// More than one signal has this id.
    #[error("`{selector}` may mean several signals; give the id of one:\n{}", .candidates.join("\n"))]
    Ambiguous {
        /// What was given.
        selector: String,
        /// The signals, one a line.
        candidates: Vec<String>,
    },
    /// Signals of this intensity are answered otherwise.
    #[error("`{action}` does not answer a signal of intensity `{intensity}`: expected {}", list(*.intensity))]
    NotAllowed {
        /// What was given.
        action: Action,
        /// What the signal is.
        intensity: Intensity,
    },
    /// The binding does not let its blocks be lifted; the attempt is in the log.
    #[error("refused, and logged: {reason}")]
    Refused {
        /// Why.
        reason: String,
    },
}

fn list(intensity: Intensity) -> String {
    let names: Vec<_> = Action::for_intensity(intensity)
        .map(|a| format!("`{a}`"))
        .collect();
    names.join(", ")
}

/// Answers a signal and logs the answer; returns what was logged, at least one record.
///
/// `selector` is a signal's id, at least four digits from its beginning or end, or `last`: of the newest evaluation that
/// gave signals, all that `action` can answer and nobody has answered, the strongest first; a risk is taken with that one
/// alone. Where another session was told something at about the same time, `last` may mean either and is refused.
///
/// # Errors
/// No such signal, more than one, an action that does not answer it, a block that may not be lifted; a log that cannot be
/// read or written.
pub fn respond(
    log: &SignalLog,
    selector: &str,
    answer: Answer,
    now: DateTime<Utc>,
) -> Result<Vec<ResponseRecord>, RespondError> {
    let reader = Reader::open(log.place())?;
    let given = Response {
        signal_id: Uuid::nil(),
        consumed_at: now,
        action: answer.action,
        details: answer.details,
        by: answer.by,
        inferred: false,
    };
    let records = if selector == "last" {
        newest(&reader, given.action)?
    } else {
        vec![by_id(&reader, selector)?]
    };
    let answered: Vec<ResponseRecord> = records
        .into_iter()
        .map(|record| answered(record, &given))
        .collect::<Result<_, _>>()?;
    let bodies = answered.iter().cloned().map(Box::new).map(Body::Response);
    log.append(bodies.collect(), now)?;
    match answered.iter().find_map(|record| record.refused.clone()) {
        Some(reason) => Err(RespondError::Refused { reason }),
        None => Ok(answered),
    }
}

/// Returns the answer to one signal as it is logged.
fn answered(record: SignalRecord, given: &Response) -> Result<ResponseRecord, RespondError> {
    let header = &record.signal.header;
    if given.action.answers() != header.intensity {
        return Err(RespondError::NotAllowed {
            action: given.action,
            intensity: header.intensity,
        });
    }
    let refused = (given.action == Action::ProceedWithRisk && !record.origin.overridable).then(|| {
        format!(
            "binding `{}` ({}) does not allow its blocks to be overridden; resolve it, or have `override: true` set there",
            record.origin.binding, record.origin.source
        )
    });
    let context = &record.signal.context;
    Ok(ResponseRecord {
        response: Response {
            signal_id: header.id,
            ..given.clone()
        },
        hook: Some(context.hook.clone()),
        session_id: record.session_id.clone(),
        binding: Some(record.origin.binding.clone()),
        subject: context.issue_id.clone().or(record.session_id),
        fingerprint: Some(record.fingerprint),
        refused,
        mac: None,
    })
}

/// Finds the signals that `last` means: those that nobody has answered, if there are any.
fn newest(reader: &Reader, action: Action) -> Result<Vec<SignalRecord>, RespondError> {
    let wanted = action.answers();
    let mut found: Vec<SignalRecord> = Vec::new();
    // What asks for nothing is not meant by an answer to something else.
    let mut aids: Vec<SignalRecord> = Vec::new();
    let is_beside = |signal: &SignalRecord| {
        signal.signal.intensity() == Intensity::Aid && wanted != Intensity::Aid
    };
    let mut elsewhere: Vec<SignalRecord> = Vec::new();
    let mut answered: Vec<Uuid> = Vec::new();
    let mut is_whole = false;
    reader.newest_first(|_, record| {
        let time = record.timestamp;
        match record.body {
            Body::Signal(signal) if is_beside(&signal) => aids.push(*signal),
            Body::Signal(signal) if !is_whole => found.push(*signal),
            Body::Signal(signal) => elsewhere.push(*signal),
            Body::Evaluation(_) => is_whole |= !found.is_empty(),
            Body::Response(answer) => {
                if answer.refused.is_none() && !answer.response.inferred {
                    answered.push(answer.response.signal_id);
                }
            }
        }
        let newest = found.first().map(|newest| newest.signal.header.timestamp);
        match newest {
            Some(newest) if is_whole && newest - time > AT_ONCE => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    })?;
    if found.is_empty() {
        aids.truncate(1);
        found = aids;
    }
    let is_open = |record: &SignalRecord| !answered.contains(&record.signal.header.id);
    // Whoever answers may mean what another session was told at the same time.
    let session = found.first().and_then(|newest| newest.session_id.clone());
    let of_others = elsewhere.iter().find(|record| {
        record.session_id != session && record.signal.intensity() == wanted && is_open(record)
    });
    if let (Some(other), Some(newest)) = (of_others, found.first()) {
        return Err(RespondError::Ambiguous {
            selector: "last".to_owned(),
            candidates: vec![describe(newest), describe(other)],
        });
    }
    // What cannot be answered so is taken only for the message.
    let rank = |r: &SignalRecord| (r.signal.intensity() != wanted, !is_open(r));
    found.sort_by_key(|r| (rank(r), std::cmp::Reverse(r.signal.intensity())));
    let best = found.first().map(rank).ok_or(RespondError::Nothing)?;
    // A risk is taken one at a time.
    let is_all = best == (false, false) && action != Action::ProceedWithRisk;
    let mut found = found.into_iter();
    Ok(if is_all {
        found.take_while(|r| rank(r) == best).collect()
    } else {
        found.next().into_iter().collect()
    })
}

/// Returns the session of each signal that a selector may mean as the log is now.
pub(super) fn sessions_meant(
    reader: &Reader,
    selector: &str,
) -> Result<Vec<Option<String>>, RespondError> {
    if selector != "last" {
        return by_id(reader, selector).map(|record| vec![record.session_id]);
    }
    // Those of one evaluation are of one session.
    let mut session = None;
    reader.newest_first(|_, record| match record.body {
        Body::Signal(signal) => {
            session = Some(signal.session_id);
            ControlFlow::Break(())
        }
        _ => ControlFlow::Continue(()),
    })?;
    Ok(session.into_iter().collect())
}

/// Finds the one signal with an id, or with digits from its beginning or end.
fn by_id(reader: &Reader, selector: &str) -> Result<SignalRecord, RespondError> {
    let digits = selector.replace('-', "").to_ascii_lowercase();
    let is_id = digits.len() >= SHORTEST_ID
        && digits.len() <= 32
        && digits.bytes().all(|b| b.is_ascii_hexdigit());
    if !is_id {
        return Err(RespondError::NoId {
            selector: selector.to_owned(),
        });
    }
    let mut found: Vec<SignalRecord> = Vec::new();
    let is_whole = digits.len() == 32;
    reader.newest_first(|_, record| {
        if let Body::Signal(record) = record.body
            && matches(record.signal.header.id, &digits)
        {
            found.push(*record);
        }
        if found.len() > MOST_CANDIDATES || (is_whole && !found.is_empty()) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    })?;
    if found.len() > 1 {
        let candidates = found.iter().take(MOST_CANDIDATES).map(describe).collect();
        return Err(RespondError::Ambiguous {
            selector: selector.to_owned(),
            candidates,
        });
    }
    found.pop().ok_or_else(|| RespondError::Unknown {
        selector: selector.to_owned(),
    })
}

fn matches(id: Uuid, digits: &str) -> bool {
    let mut buffer = [0; 32];
    let text = id.simple().encode_lower(&mut buffer);
    text.starts_with(digits) || text.ends_with(digits)
}

fn describe(record: &SignalRecord) -> String {
    let header = &record.signal.header;
    format!(
        "  {} {} {} {}",
        header.id, header.intensity, record.origin.binding, header.kind
    )
}
