//! Outline: what can be told of an event that cannot be read: who speaks, of which event, in which session.
//!
//! A result may be nested too deeply, be too long or no JSON at all. What it said is then lost, and that must be noted where
//! it belongs.

use serde_json::{Map, Value};

use super::decode::{name_of_event, speaker};
use super::{Decoded, Input, Payload, native};

/// Returns what the top of the input tells, without events; none where it tells of no event.
pub fn outline(input: &Input<'_>) -> Option<Decoded> {
    let payload = Payload {
        fields: top(input.bytes),
    };
    let mut notes = Vec::new();
    let host = speaker(input.host, &payload, &mut notes);
    let event = if host.name == native::HOST.name {
        payload.str("trigger").map(str::to_owned)
    } else {
        name_of_event(host, input.event, &payload)
    }?;
    // Where a subagent speaks, the session that it counts for stands deeper.
    let is_whole = !["parent_agent_id", "parentID", "sessionContext"]
        .iter()
        .any(|name| payload.has(name));
    Some(Decoded {
        host,
        host_event: Some(host.event(&event)?),
        event,
        session_id: payload.session_id().filter(|_| is_whole),
        events: Vec::new(),
        notes,
    })
}

/// Returns the fields of an object as far as it goes: their text, or none in the place of whatever else they hold.
fn top(bytes: &[u8]) -> Map<String, Value> {
    let mut fields = Map::new();
    let mut key: Option<String> = None;
    let (mut depth, mut at) = (0_usize, 0);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b',' if depth == 1 => key = None,
            b'"' => {
                let Some(length) = bytes.get(at..).and_then(string_length) else {
                    break;
                };
                let text = bytes.get(at..at + length).unwrap_or_default();
                if depth == 1
                    && let Ok(text) = serde_json::from_str(&String::from_utf8_lossy(text))
                {
                    if let Some(key) = &key {
                        fields.insert(key.clone(), Value::String(text));
                    } else {
                        fields.insert(text.clone(), Value::Null);
                        key = Some(text);
                    }
                }
                at += length - 1;
            }
            _ => {}
        }
        at += 1;
    }
    fields
}

/// Returns how long a string is with its quotes, which begins with the first byte; none where it does not end.
fn string_length(bytes: &[u8]) -> Option<usize> {
    let mut is_escaped = false;
    let end = bytes.iter().skip(1).position(|byte| {
        let ends = *byte == b'"' && !is_escaped;
        is_escaped = *byte == b'\\' && !is_escaped;
        ends
    });
    end.map(|end| end + 2)
}
