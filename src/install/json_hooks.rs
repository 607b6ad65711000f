//! Hooks in JSON settings: the shapes in which hosts list them, found and written.

use std::path::{Path, PathBuf};
use std::time::Duration;

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstNode, CstObject, CstObjectProp, CstRootNode};
use serde_json::{Value, json};

use crate::host::{HostEvent, Shape};

use super::line::is_ours;
use super::places::Patience;
use super::{InstallError, Wire, http};

/// Returns a hook as it is written.
fn entry(shape: Shape, host_event: &HostEvent, command: &str, patience: Patience) -> Value {
    let seconds = patience.seconds(host_event);
    let mut entry = match shape {
        Shape::GroupsClosing if http::is_address(command) => {
            json!({"hooks": [http::handler(command, seconds)]})
        }
        Shape::GroupsClosing if host_event.gates() => json!({"hooks": [
            {"type": "command", "command": command, "timeout": seconds, "onFailure": "block"}
        ]}),
        Shape::Groups | Shape::GroupsClosing => {
            json!({"hooks": [{"type": "command", "command": command, "timeout": seconds}]})
        }
        Shape::GroupsMillis => {
            json!({"hooks": [{"type": "command", "command": command, "timeout": seconds * 1000}]})
        }
        Shape::Copilot => json!({"type": "command", "bash": command, "timeoutSec": seconds}),
        Shape::Cursor if host_event.gates() => {
            json!({"command": command, "timeout": seconds, "failClosed": true})
        }
        Shape::Cursor => json!({"command": command, "timeout": seconds}),
        Shape::Windsurf => json!({"command": command, "show_output": false}),
    };
    if let (Some(matcher), Value::Object(map)) = (host_event.matcher, &mut entry) {
        map.insert("matcher".to_owned(), matcher.into());
    }
    entry
}

/// Returns the hooks that an entry of an event's list holds.
fn wires_of(shape: Shape, event: &str, entry: &Value) -> Vec<Wire> {
    let handlers = match entry.get("hooks") {
        Some(Value::Array(handlers)) => handlers.iter().collect(),
        _ => vec![entry],
    };
    let matcher = entry.get("matcher").and_then(Value::as_str);
    let wire = |handler: &Value| {
        let wire = Wire::new(event, command_of(handler)?).matching(matcher);
        let text = |key| handler.get(key).and_then(Value::as_str).map(str::to_owned);
        Some(Wire {
            rule: text("if"),
            kind: text("type"),
            timeout: timeout_of(shape, handler),
            is_async: handler.get("async") == Some(&Value::Bool(true)),
            closes: handler.get("onFailure").and_then(Value::as_str) == Some("block")
                || handler.get("failClosed") == Some(&Value::Bool(true)),
            ..wire
        })
    };
    handlers.into_iter().filter_map(wire).collect()
}

fn timeout_of(shape: Shape, handler: &Value) -> Option<Duration> {
    let (key, unit) = match shape {
        Shape::Copilot => ("timeoutSec", 1.0),
        Shape::GroupsMillis => ("timeout", 1000.0),
        Shape::Groups | Shape::GroupsClosing | Shape::Cursor => ("timeout", 1.0),
        Shape::Windsurf => return None,
    };
    let limit = handler.get(key)?.as_f64()?;
    Duration::try_from_secs_f64(limit / unit).ok()
}

const fn has_version(shape: Shape) -> bool {
    matches!(shape, Shape::Copilot | Shape::Cursor)
}

/// A settings file with its comments and its form, which every edit leaves as they are where it can.
#[derive(Debug)]
pub(super) struct JsonHooks {
    path: PathBuf,
    root: CstRootNode,
    /// The mark of byte order at the start, where there is one.
    mark: &'static str,
}

impl JsonHooks {
    /// Reads a settings file; an empty one is an empty object.
    pub(super) fn read(path: &Path, text: &str) -> Result<Self, InstallError> {
        let (mark, text) = match text.strip_prefix('\u{feff}') {
            Some(rest) => ("\u{feff}", rest),
            None => ("", text),
        };
        let text = if text.trim().is_empty() { "{}\n" } else { text };
        let options = ParseOptions {
            allow_comments: true,
            allow_trailing_commas: true,
            allow_bare_decimal_point_numbers: false,
            allow_extended_string_escapes: false,
            allow_hexadecimal_numbers: false,
            allow_loose_object_property_names: false,
            allow_missing_commas: false,
            allow_non_finite_numbers: false,
            allow_single_quoted_strings: false,
            allow_unary_plus_numbers: false,
        };
        let root = CstRootNode::parse(text, &options).map_err(|fault| InstallError::Json {
            path: path.to_owned(),
            line: fault.line_display(),
            column: fault.column_display(),
            fault: fault.kind().to_string(),
        })?;
        let path = path.to_owned();
        Ok(Self { path, root, mark })
    }

    fn misshapen(&self, place: &str, wanted: &'static str) -> InstallError {
        let place = place.to_owned();
        InstallError::Shape { place, wanted }.in_file(&self.path)
    }

    /// Returns the text.
    pub(super) fn text(&self) -> String {
        format!("{}{}", self.mark, self.root)
    }

    /// Returns the whole as a value, without its comments.
    pub(super) fn value(&self) -> Value {
        self.root.to_serde_value().unwrap_or(Value::Null)
    }

    /// Returns every hook with the event that it stands at.
    pub(super) fn wires(&self, shape: Shape) -> Vec<Wire> {
        let value = self.value();
        let events = value.get("hooks").and_then(Value::as_object);
        let mut found = Vec::new();
        for (event, entries) in events.into_iter().flatten() {
            for entry in entries.as_array().into_iter().flatten() {
                found.extend(wires_of(shape, event, entry));
            }
        }
        found
    }

    /// Adds the wires of some events.
    pub(super) fn add(
        &self,
        shape: Shape,
        wanted: &[(&HostEvent, String)],
        patience: Patience,
    ) -> Result<(), InstallError> {
        let whole = self.whole()?;
        if has_version(shape) && member(&whole, "version").is_none() {
            whole.append("version", CstInputValue::Number("1".to_owned()));
        }
        let hooks = match member(&whole, "hooks") {
            Some(hooks) => hooks.object_value(),
            None => whole.object_value_or_create("hooks"),
        };
        let hooks = hooks.ok_or_else(|| self.misshapen("`hooks`", "an object"))?;
        for (host_event, command) in wanted {
            let event = host_event.name();
            let entries = match member(&hooks, event) {
                Some(entries) => entries.array_value(),
                None => hooks.array_value_or_create(event),
            };
            let entries =
                entries.ok_or_else(|| self.misshapen(&format!("`hooks.{event}`"), "a list"))?;
            entries.append(input(&entry(shape, host_event, command, patience)));
        }
        Ok(())
    }

    /// Sets a key of the whole.
    pub(super) fn set(&self, key: &str, value: &Value) -> Result<(), InstallError> {
        let whole = self.whole()?;
        match member(&whole, key) {
            Some(_) if self.value().get(key) == Some(value) => {}
            Some(there) => there.set_value(input(value)),
            None => {
                whole.append(key, input(value));
            }
        }
        Ok(())
    }

    /// Gives a key of the whole the value that it had in what a person had written, or takes it out.
    pub(super) fn set_back(&self, key: &str, written: &Value) -> Result<(), InstallError> {
        if let Some(value) = written.get(key) {
            return self.set(key, value);
        }
        if let Some(there) = member(&self.whole()?, key) {
            there.remove();
        }
        Ok(())
    }

    fn whole(&self) -> Result<CstObject, InstallError> {
        let whole = self.root.value().and_then(|value| value.as_object());
        whole.ok_or_else(|| self.misshapen("the whole of it", "an object"))
    }

    /// Takes our hooks out; containers that hold nothing then go with them, but for those of what a person had written.
    pub(super) fn remove(&self, host: &str, written: &Value) {
        let is_ours = |handler: &CstNode| {
            let handler = handler.to_serde_value().unwrap_or_default();
            command_of(&handler).is_some_and(|command| is_ours(command, host))
        };
        let hooks = self.root.object_value();
        let Some(hooks) = hooks.and_then(|whole| member(&whole, "hooks")) else {
            return;
        };
        let events = hooks.object_value().map(|events| events.properties());
        let mut are_changed = false;
        for event in events.into_iter().flatten() {
            let Some(entries) = event.array_value() else {
                continue;
            };
            let there = entries.elements().len();
            for entry in entries.elements() {
                let handlers = entry.as_object().and_then(|group| member(&group, "hooks"));
                let Some(handlers) = handlers.and_then(|handlers| handlers.array_value()) else {
                    if is_ours(&entry) {
                        entry.remove();
                    }
                    continue;
                };
                let ours: Vec<CstNode> = handlers.elements().into_iter().filter(is_ours).collect();
                let is_empty = !ours.is_empty() && ours.len() == handlers.elements().len();
                if is_empty && entry.as_object().is_some_and(|group| is_bare(&group)) {
                    entry.remove();
                } else {
                    ours.into_iter().for_each(CstNode::remove);
                }
            }
            let left = entries.elements().len();
            let name = event.decoded_name().unwrap_or_default();
            if left == 0 && there > 0 && written["hooks"].get(name).is_none() {
                event.remove();
                are_changed = true;
            }
        }
        let left = hooks.object_value().map(|events| events.properties().len());
        if are_changed && left == Some(0) && written.get("hooks").is_none() {
            hooks.remove();
        }
    }
}

/// Returns the member of a name; where it stands twice, the last one counts, as it does to every reader.
fn member(object: &CstObject, name: &str) -> Option<CstObjectProp> {
    let mut members = object.properties().into_iter().rev();
    members.find(|member| member.decoded_name().as_deref() == Some(name))
}

/// Whether a group says nothing but which tools its hooks are for.
fn is_bare(group: &CstObject) -> bool {
    let names = group
        .properties()
        .into_iter()
        .map(|member| member.decoded_name());
    names
        .flatten()
        .all(|name| matches!(name.as_str(), "hooks" | "matcher"))
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(map) => {
            let members = map.iter().map(|(name, value)| (name.clone(), input(value)));
            CstInputValue::Object(members.collect())
        }
    }
}

/// Whether the wires that are there are those of some events, as they would be written.
pub(super) fn are(
    there: &[Wire],
    shape: Shape,
    wanted: &[(&HostEvent, String)],
    patience: Patience,
) -> bool {
    let written = |(host_event, command): &(&HostEvent, String)| {
        let entry = entry(shape, host_event, command, patience);
        wires_of(shape, host_event.name(), &entry)
    };
    let wanted: Vec<Wire> = wanted.iter().flat_map(written).collect();
    there.len() == wanted.len() && wanted.iter().all(|wire| there.contains(wire))
}

fn command_of(handler: &Value) -> Option<&str> {
    ["command", "bash", "url"]
        .iter()
        .find_map(|key| handler.get(*key).and_then(Value::as_str))
}
