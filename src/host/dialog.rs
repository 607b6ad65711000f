//! Dialog: whether it is a person who answers what a host is told to ask.

use serde_json::Value;

use super::Host;
use crate::event::{Event, Trigger};

/// The modes in which hosts ask their person before a call, by their own names; in others a call runs, or is refused, unasked.
const ASKING_MODES: [&str; 5] = ["default", "plan", "acceptEdits", "auto-edit", "off"];

/// Whether the host of an event puts a question about a call to its person. A program that calls `ahp` itself, not by its
/// settings, asks whom it likes.
pub fn asks_person(event: &Event) -> bool {
    let host = event.host.as_deref().and_then(Host::find);
    let mut events = host
        .filter(|host| host.settings.is_some())
        .into_iter()
        .flat_map(|host| host.events_of(Trigger::PreToolUse));
    let mode = event.context.get("permission_mode").and_then(Value::as_str);
    events.any(|host_event| host_event.ask) && mode.is_none_or(|mode| ASKING_MODES.contains(&mode))
}
