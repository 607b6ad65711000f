//! Decode: bytes on stdin become events, whichever host wrote them.

use std::path::Path;

use crate::event::{Event, ToolCall, ToolKind, Trigger};

use super::{Certainty, HOSTS, Host, HostEvent, Payload, agent_hooks, git, native};

/// The most bytes that are read from a host.
pub const MOST_BYTES: usize = 32 << 20;

/// What a hook command is given.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// What came on stdin.
    pub bytes: &'a [u8],
    /// The host that the command was written for, if it says so.
    pub host: Option<&'static Host>,
    /// The host's event that the command was written for, if it says so.
    pub event: Option<&'a str>,
    /// Further arguments; git's hooks have some.
    pub arguments: &'a [String],
    /// The directory in which the command runs, for hosts that tell none.
    pub work_dir: &'a Path,
}

/// What a host told.
#[derive(Clone, Debug)]
pub struct Decoded {
    /// Who told it, which is also whose form the reply takes.
    pub host: &'static Host,
    /// The event, as the host spelled it.
    pub event: String,
    /// The host's row for it; none where it is not known.
    pub host_event: Option<&'static HostEvent>,
    /// The session, if the host tells one.
    pub session_id: Option<String>,
    /// What it means here; empty where no policy can be about it.
    pub events: Vec<Event>,
    /// What was odd about it, for the record.
    pub notes: Vec<String>,
}

/// The error of input that tells no event.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// Too much input.
    #[error("the host's event is larger than {} MiB", MOST_BYTES >> 20)]
    TooLarge,
    /// Not an object.
    #[error("the host's event on stdin is not JSON: {0}")]
    NotJson(String),
    /// It does not tell which event it is.
    #[error(
        "the host's event names no trigger: expected a field such as `hook_event_name`, or `ahp hook --event NAME`"
    )]
    NoEvent,
    /// The hook's own command names an event that the host does not have.
    #[error("{0}")]
    UnknownEvent(String),
    /// A tool event without a tool.
    #[error("the event `{0}` tells of no tool call that can be read")]
    NoTool(String),
    /// The input of a tool is larger than can be judged in time.
    #[error("the input of `{0}` is too large to be judged: say it in several smaller calls")]
    TooMuch(String),
    /// AHP's own form, misspelt.
    #[error("the event is not in AHP's own form: {0}")]
    NotNative(String),
}

/// The most values that the input of a tool may hold before it runs, and the most bytes of text, of a shell and of any
/// other: no agent writes as much, and judging it would take longer than a host waits.
const MOST_VALUES: usize = 10_000;
const MOST_COMMAND: usize = 2 << 20;
const MOST_TEXT: usize = 8 << 20;

/// Reads what a host told.
pub fn decode(input: &Input<'_>) -> Result<Decoded, DecodeError> {
    let decoded = read(input)?;
    let is_too_much = |call: &ToolCall| {
        let is_shell = ToolKind::of(&call.name) == ToolKind::Shell;
        let bytes = if is_shell { MOST_COMMAND } else { MOST_TEXT };
        call.is_larger_than(MOST_VALUES, bytes)
    };
    let to_judge = decoded.events.iter().filter(|event| event.trigger.is_pre());
    let mut calls = to_judge.filter_map(|event| event.tool.as_ref());
    match calls.find(|call| is_too_much(call)) {
        Some(call) => Err(DecodeError::TooMuch(call.name.clone())),
        None => Ok(decoded),
    }
}

fn read(input: &Input<'_>) -> Result<Decoded, DecodeError> {
    if input.bytes.len() > MOST_BYTES {
        return Err(DecodeError::TooLarge);
    }
    if input.host.is_some_and(|host| host.name == git::HOST.name) {
        return git::decode(input);
    }
    let payload = match Payload::read(input.bytes) {
        Ok(payload) => payload,
        Err(why) => return decode_result(input).ok_or(DecodeError::NotJson(why)),
    };
    let mut notes = Vec::new();
    let host = speaker(input.host, &payload, &mut notes);
    if host.name == native::HOST.name {
        return native::decode(input.bytes, notes);
    }
    let event = name_of_event(host, input.event, &payload).ok_or(DecodeError::NoEvent)?;
    let session_id = payload.session_id();
    let known = host.event(&event);
    if known.is_none() && input.event == Some(event.as_str()) {
        return Err(DecodeError::UnknownEvent(host.no_event(&event)));
    }
    // A call is a call, whatever a host names the moment before it.
    let as_call = || host.events_of(Trigger::PreToolUse).next();
    let asks = known.is_none() && payload.asks_for_tool();
    let Some(host_event) = known.or_else(|| asks.then(as_call).flatten()) else {
        notes.push(format!(
            "{} has an unknown event `{event}`: passed",
            host.name
        ));
        return Ok(Decoded {
            host,
            event,
            host_event: None,
            session_id,
            events: Vec::new(),
            notes,
        });
    };
    if known.is_none() {
        notes.push(format!(
            "{} has an unknown event `{event}` with a tool call: judged as `{}`",
            host.name,
            host_event.name()
        ));
    }
    let events = match host_event.trigger {
        // No agent's call is told of, and no policy but our own is about it.
        Some(_) if host_event.is_settings => Vec::new(),
        Some(mut trigger) => {
            let mut payload = payload;
            if (host.adjust)(&event, &mut payload, &mut trigger) {
                let mut events = payload.events(host.name, trigger, input.work_dir);
                for event in &mut events {
                    event.is_task = host_event.is_task;
                }
                if events.is_empty() {
                    return Err(DecodeError::NoTool(event));
                }
                events
            } else {
                Vec::new()
            }
        }
        None => Vec::new(),
    };
    Ok(Decoded {
        host,
        event,
        host_event: Some(host_event),
        session_id,
        events,
        notes,
    })
}

/// Reads what a host told of something that has happened, with bytes in it that are not text: they part words. What has not
/// happened yet must be judged as it stands.
fn decode_result(input: &Input<'_>) -> Option<Decoded> {
    std::str::from_utf8(input.bytes).err()?;
    let text = String::from_utf8_lossy(input.bytes);
    let bytes = text.as_bytes();
    let mut decoded = decode(&Input { bytes, ..*input }).ok()?;
    let is_pre = |event: &Event| event.trigger.is_pre();
    if decoded.events.is_empty() || decoded.events.iter().any(is_pre) {
        return None;
    }
    let note = "the event holds bytes that are not text; they are left out";
    decoded.notes.push(note.to_owned());
    Some(decoded)
}

/// Says who speaks: whom the command was written for, unless the payload can only be somebody else's.
///
/// Hosts read each other's settings files, so that a command written for one is run by another.
pub(super) fn speaker(
    written_for: Option<&'static Host>,
    payload: &Payload,
    notes: &mut Vec<String>,
) -> &'static Host {
    // Whoever else might speak so, it is the one that the command was written for.
    let is_it =
        |host: &Host| host.name == native::HOST.name || (host.speaks)(payload) != Certainty::No;
    if let Some(host) = written_for.filter(|host| is_it(host)) {
        return host;
    }
    let best = HOSTS
        .iter()
        .copied()
        .max_by_key(|host| (host.speaks)(payload))
        .unwrap_or(&agent_hooks::HOST);
    let certainty = (best.speaks)(payload);
    match written_for {
        None if certainty == Certainty::No => &native::HOST,
        None => best,
        Some(host) if certainty == Certainty::Certain => {
            notes.push(format!(
                "wired for {}, but {} speaks: answered in its form",
                host.name, best.name
            ));
            best
        }
        Some(host) => host,
    }
}

/// Returns the event's name: the payload's own, else what the command was written for, else what its fields tell.
pub(super) fn name_of_event(host: &Host, hint: Option<&str>, payload: &Payload) -> Option<String> {
    let told = payload
        .event_name()
        .or_else(|| payload.str("type").filter(|t| host.event(t).is_some()));
    if let Some(name) = told
        && (host.event(name).is_some() || hint.is_none())
    {
        return Some(name.to_owned());
    }
    if let Some(hint) = hint {
        return Some(hint.to_owned());
    }
    // The camel-case dialect of Copilot names no event: its fields do.
    let fields: &[(&str, &str)] = &[
        ("toolResult", "postToolUse"),
        ("toolArgs", "preToolUse"),
        ("stopReason", "agentStop"),
        ("prompt", "userPromptSubmitted"),
        ("initialPrompt", "sessionStart"),
    ];
    fields
        .iter()
        .find(|(field, event)| payload.has(field) && host.event(event).is_some())
        .map(|(_, event)| (*event).to_owned())
}
