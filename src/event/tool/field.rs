//! Field: where a host keeps what a policy changes in a tool's input under a name of its own.

use serde_json::json;
use serde_json::{Map, Value};

use super::{ToolKind, input};

/// A place in a tool's input, and what it is set to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Field {
    /// The place as a JSON Pointer; the empty one is the input itself.
    pub(crate) pointer: String,
    /// The value in the form that the host gave.
    pub(crate) updated: Value,
}

impl Field {
    /// Finds the place of the command, the path or the text that is written, as `name` calls it; none where the input has no
    /// such place, or several.
    pub(crate) fn find(kind: ToolKind, input: &Value, name: &str, updated: &Value) -> Option<Self> {
        match (name, input) {
            ("command", Value::String(_)) if kind == ToolKind::Shell => Some(Self {
                pointer: String::new(),
                updated: updated.clone(),
            }),
            ("command", Value::Object(map)) if kind == ToolKind::Shell => {
                let key = input::command_field(map)?;
                Some(Self {
                    pointer: format!("/{key}"),
                    updated: in_form(map.get(key)?, key, updated),
                })
            }
            ("path" | "file_path", Value::Object(map)) => Self::only(map, input::PATH, updated),
            ("content", Value::Object(map)) => Self::only(map, input::CONTENT, updated),
            _ => None,
        }
    }

    /// Returns the one place that has a text under one of the keys.
    fn only(map: &Map<String, Value>, keys: &[&str], updated: &Value) -> Option<Self> {
        let mut found = map
            .iter()
            .filter(|(key, value)| value.is_string() && keys.contains(&key.as_str()));
        let (Some((key, _)), None) = (found.next(), found.next()) else {
            return None;
        };
        Some(Self {
            pointer: format!("/{key}"),
            updated: updated.clone(),
        })
    }
}

/// Puts a command line into the form in which the host gave its own: some give a list of lines, or one as JSON in a text.
fn in_form(given: &Value, key: &str, line: &Value) -> Value {
    match (key, given) {
        ("commands", Value::Array(_)) if line.is_string() => json!([line]),
        ("commands", Value::String(text))
            if line.is_string() && serde_json::from_str::<Vec<Value>>(text).is_ok() =>
        {
            json!([line]).to_string().into()
        }
        _ => line.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_set_where_and_as_the_host_keeps_it() {
        for (input, pointer, updated) in [
            (json!({"command": "ls"}), "/command", json!("pwd")),
            (json!({"command_line": "ls"}), "/command_line", json!("pwd")),
            (
                json!({"commands": ["ls", "ls"]}),
                "/commands",
                json!(["pwd"]),
            ),
            (
                json!({"commands": "[\"ls\"]"}),
                "/commands",
                json!("[\"pwd\"]"),
            ),
            (json!("ls"), "", json!("pwd")),
        ] {
            let found = Field::find(ToolKind::Shell, &input, "command", &json!("pwd"));
            let pointer = pointer.to_owned();
            assert_eq!(found, Some(Field { pointer, updated }), "{input}");
        }
        for input in [json!({}), json!({"command": "git", "args": ["log"]})] {
            let found = Field::find(ToolKind::Shell, &input, "command", &json!("pwd"));
            assert_eq!(found, None, "{input}");
        }
    }

    #[test]
    fn a_path_or_a_text_is_set_where_there_is_one() {
        let find = |input: Value, name| {
            Field::find(ToolKind::Edit, &input, name, &json!("x")).map(|found| found.pointer)
        };
        let edit = json!({"filePath": "a", "newString": "b"});
        assert_eq!(find(edit.clone(), "file_path").unwrap(), "/filePath");
        assert_eq!(find(edit, "content").unwrap(), "/newString");
        assert_eq!(
            find(json!({"old_path": "a", "new_path": "b"}), "path"),
            None
        );
    }
}
