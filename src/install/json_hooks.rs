//! Hooks in JSON settings: the shapes in which hosts list them, found and written.

use std::time::Duration;

use serde_json::Map;
use serde_json::Value;
use serde_json::json;

use crate::host::Host;
use crate::host::Moment;

use super::InstallError;
use super::JsonText;
use super::Wire;
use super::places::Patience;
use super::places::is_ours;

/// How a host writes one hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// `{"hooks": [{"type": "command", "command": …, "timeout": seconds}]}`.
    Groups,
    /// The same with milliseconds.
    GroupsMillis,
    /// `{"type": "command", "bash": …, "timeoutSec": seconds}`, in a file with a version.
    Copilot,
    /// `{"command": …, "timeout": seconds}`, in a file with a version.
    Cursor,
    /// `{"command": …}`.
    Windsurf,
}

impl Shape {
    fn entry(self, host: &Host, moment: &Moment, command: &str, patience: Patience) -> Value {
        let seconds = patience.seconds(host, moment);
        let mut entry = match self {
            Self::Groups => {
                json!({"hooks": [{"type": "command", "command": command, "timeout": seconds}]})
            }
            Self::GroupsMillis => {
                json!({"hooks": [{"type": "command", "command": command, "timeout": seconds * 1000}]})
            }
            Self::Copilot => json!({"type": "command", "bash": command, "timeoutSec": seconds}),
            Self::Cursor => json!({"command": command, "timeout": seconds}),
            Self::Windsurf => json!({"command": command, "show_output": false}),
        };
        if let (Some(matcher), Value::Object(map)) = (moment.matcher, &mut entry) {
            map.insert("matcher".to_owned(), matcher.into());
        }
        entry
    }

    /// Returns the hooks that an entry of an event's list holds.
    fn wires_of(self, event: &str, entry: &Value) -> Vec<Wire> {
        let handlers = match entry.get("hooks") {
            Some(Value::Array(handlers)) => handlers.iter().collect(),
            _ => vec![entry],
        };
        let matcher = entry.get("matcher").and_then(Value::as_str);
        let wire = |handler: &Value| {
            let wire = Wire::new(event, command_of(handler)?).matching(matcher);
            Some(Wire {
                timeout: self.timeout_of(handler),
                is_async: handler.get("async") == Some(&Value::Bool(true)),
                ..wire
            })
        };
        handlers.into_iter().filter_map(wire).collect()
    }

    fn timeout_of(self, handler: &Value) -> Option<Duration> {
        let (key, unit) = match self {
            Self::Copilot => ("timeoutSec", 1.0),
            Self::GroupsMillis => ("timeout", 1000.0),
            Self::Groups | Self::Cursor => ("timeout", 1.0),
            Self::Windsurf => return None,
        };
        let limit = handler.get(key)?.as_f64()?;
        Duration::try_from_secs_f64(limit / unit).ok()
    }

    const fn has_version(self) -> bool {
        matches!(self, Self::Copilot | Self::Cursor)
    }
}

/// Returns every hook of a settings file with the event that it stands at.
pub(super) fn wires(text: &JsonText, shape: Shape) -> Vec<Wire> {
    let value = text.value();
    let events = value.get("hooks").and_then(Value::as_object);
    let mut found = Vec::new();
    for (event, entries) in events.into_iter().flatten() {
        for entry in entries.as_array().into_iter().flatten() {
            found.extend(shape.wires_of(event, entry));
        }
    }
    found
}

/// Whether the wires that are there are those of some moments, as they would be written.
pub(super) fn are(
    there: &[Wire],
    shape: Shape,
    host: &Host,
    wanted: &[(&Moment, String)],
    patience: Patience,
) -> bool {
    let written = |(moment, command): &(&Moment, String)| {
        shape.wires_of(moment.name(), &shape.entry(host, moment, command, patience))
    };
    let wanted: Vec<Wire> = wanted.iter().flat_map(written).collect();
    there.len() == wanted.len() && wanted.iter().all(|wire| there.contains(wire))
}

fn command_of(handler: &Value) -> Option<&str> {
    ["command", "bash"]
        .iter()
        .find_map(|key| handler.get(*key).and_then(Value::as_str))
}

fn misshapen(place: &str, wanted: &'static str) -> InstallError {
    let place = place.to_owned();
    InstallError::Shape { place, wanted }
}

/// Adds the wires of some moments.
pub(super) fn add(
    text: &mut JsonText,
    shape: Shape,
    host: &Host,
    wanted: &[(&Moment, String)],
    patience: Patience,
) -> Result<(), InstallError> {
    let value = text.value();
    if !value.is_object() {
        return Err(misshapen("the whole of it", "an object"));
    }
    if value.get("hooks").is_some_and(|hooks| !hooks.is_object()) {
        return Err(misshapen("`hooks`", "an object"));
    }
    if shape.has_version() && value.get("version").is_none() {
        text.add(&[], Some("version"), &json!(1));
    }
    if value.get("hooks").is_none() {
        text.add(&[], Some("hooks"), &Value::Object(Map::new()));
    }
    for (moment, command) in wanted {
        let event = moment.name();
        let entry = shape.entry(host, moment, command, patience);
        let added = if text
            .value()
            .pointer("/hooks")
            .and_then(|h| h.get(event))
            .is_some()
        {
            text.add(&["hooks", event], None, &entry)
        } else {
            text.add(&["hooks"], Some(event), &json!([entry]))
        };
        if !added {
            return Err(misshapen(&format!("`hooks.{event}`"), "a list"));
        }
    }
    Ok(())
}

/// Takes our hooks out; containers that hold nothing then go with them.
pub(super) fn remove(text: &mut JsonText, host: &str) {
    while let Some(path) = first_of_ours(&text.value(), host) {
        let steps: Vec<&str> = path.iter().map(String::as_str).collect();
        if !text.remove(&steps) {
            return;
        }
        prune(text, &steps);
    }
}

/// Takes empty lists and objects on the way to what was removed out, from the inside.
fn prune(text: &mut JsonText, removed: &[&str]) {
    for depth in (1..removed.len()).rev() {
        let Some(parent) = removed.get(..depth) else {
            return;
        };
        let mut at = &text.value();
        for step in parent {
            let next = match at {
                Value::Object(map) => map.get(*step),
                Value::Array(items) => step.parse::<usize>().ok().and_then(|n| items.get(n)),
                _ => None,
            };
            match next {
                Some(next) => at = next,
                None => return,
            }
        }
        let empty = match at {
            Value::Array(items) => items.is_empty(),
            Value::Object(map) => map.is_empty() || is_bare_group(map),
            _ => false,
        };
        if !empty || !text.remove(parent) {
            return;
        }
    }
}

/// Whether a matcher group has lost its last hook.
fn is_bare_group(map: &Map<String, Value>) -> bool {
    map.keys().all(|key| key == "matcher")
}

fn first_of_ours(value: &Value, host: &str) -> Option<Vec<String>> {
    let events = value.get("hooks")?.as_object()?;
    let ours = |handler: &Value| command_of(handler).is_some_and(|c| is_ours(c, host));
    for (event, entries) in events {
        for (n, entry) in entries.as_array().into_iter().flatten().enumerate() {
            let path = |rest: &[String]| {
                let mut path = vec!["hooks".to_owned(), event.clone(), n.to_string()];
                path.extend_from_slice(rest);
                path
            };
            match entry.get("hooks") {
                Some(Value::Array(handlers)) => {
                    if let Some(m) = handlers.iter().position(ours) {
                        return Some(path(&["hooks".to_owned(), m.to_string()]));
                    }
                }
                _ if ours(entry) => return Some(path(&[])),
                _ => {}
            }
        }
    }
    None
}
