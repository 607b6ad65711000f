//! Respond: answers a signal of the log, as an agent or a person does (spec §5.3).

use std::ops::ControlFlow;

use chrono::DateTime;
use chrono::Utc;
use serde_json::Map;
use serde_json::Value;
use uuid::Uuid;

use super::Body;
use super::LogError;
use super::Reader;
use super::ResponseRecord;
use super::SignalLog;
use super::SignalRecord;
use crate::signal::Action;
use crate::signal::Actor;
use crate::signal::Intensity;
use crate::signal::Response;

/// How many signals a message about an ambiguous id lists.
const MOST_CANDIDATES: usize = 8;
/// A shorter piece of an id says too little.
const SHORTEST_ID: usize = 4;

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
    /// What was given is no id.
    #[error(
        "`{selector}` is no id: expected `last`, a signal's id, or at least {SHORTEST_ID} digits from its beginning or end"
    )]
    NoId {
        /// What was given.
        selector: String,
    },
    /// More than one signal has this id.
    #[error("`{selector}` may mean several signals; give more digits:\n{}", .candidates.join("\n"))]
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

/// Answers a signal and logs the answer.
///
/// `selector` is a signal's id, at least four digits from its beginning or end, or `last`: of the newest evaluation that
/// gave signals, the strongest one that `action` can answer.
///
/// # Errors
/// No such signal, more than one, an action that does not answer it, a block that may not be lifted; a log that cannot be
/// read or written.
pub fn respond(
    log: &SignalLog,
    selector: &str,
    answer: Answer,
    now: DateTime<Utc>,
) -> Result<ResponseRecord, RespondError> {
    let reader = Reader::open(log.path())?;
    let record = if selector == "last" {
        newest(&reader, answer.action)?
    } else {
        by_id(&reader, selector)?
    };
    let header = &record.signal.header;
    if answer.action.answers() != header.intensity {
        return Err(RespondError::NotAllowed {
            action: answer.action,
            intensity: header.intensity,
        });
    }
    let refused = (answer.action == Action::ProceedWithRisk && !record.origin.overridable).then(|| {
        format!(
            "binding `{}` ({}) does not allow its blocks to be overridden; resolve it, or have `override: true` set there",
            record.origin.binding, record.origin.source
        )
    });
    let context = &record.signal.context;
    let response = ResponseRecord {
        response: Response {
            signal_id: header.id,
            consumed_at: now,
            action: answer.action,
            details: answer.details,
            by: answer.by,
            inferred: false,
        },
        hook: Some(context.hook.clone()),
        session_id: record.session_id.clone(),
        binding: Some(record.origin.binding.clone()),
        subject: context.issue_id.clone().or(record.session_id),
        fingerprint: Some(record.fingerprint),
        refused: refused.clone(),
    };
    log.append(vec![Body::Response(Box::new(response.clone()))], now)?;
    match refused {
        Some(reason) => Err(RespondError::Refused { reason }),
        None => Ok(response),
    }
}

/// Finds the signal that `last` means.
fn newest(reader: &Reader, action: Action) -> Result<SignalRecord, RespondError> {
    let mut found: Vec<SignalRecord> = Vec::new();
    reader.newest_first(|_, record| {
        match record.body {
            Body::Signal(signal) => found.push(*signal),
            Body::Evaluation(_) if !found.is_empty() => return ControlFlow::Break(()),
            Body::Evaluation(_) | Body::Response(_) => {}
        }
        ControlFlow::Continue(())
    })?;
    // The newest is first; what cannot be answered so is taken only for the message.
    let wanted = action.answers();
    found.sort_by_key(|r| {
        (
            r.signal.intensity() != wanted,
            std::cmp::Reverse(r.signal.intensity()),
        )
    });
    found.into_iter().next().ok_or(RespondError::Nothing)
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
