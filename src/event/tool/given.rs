//! Given: every text in the input of a tool, however deep it lies and however it is wrapped.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::super::parse_json;
use super::{ToolCall, ToolKind, input, line, names, path};

/// How deep an input is looked through.
const DEPTH: usize = 16;

/// The longest text that is unwrapped where it is JSON, in bytes.
const LONGEST: usize = 1 << 20;

/// A text that a tool is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Given {
    /// The field that it stands in, as the input writes it; that of the list where it stands in one.
    pub(crate) key: String,
    pub(crate) text: String,
    pub(crate) form: Form,
}

/// What a text is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// It stands so in the input.
    Text,
    /// The words of a list, quoted and joined.
    Words,
    /// The input says outright that it is a command line.
    Command,
    /// It is a part of what is written into a file.
    Content,
}

impl ToolCall {
    /// Whether its name tells nothing of what it does with its input: a tool of a server, or one that no known host has.
    pub(crate) fn is_unknown(&self) -> bool {
        let known = names::kind_of(&self.name);
        self.mcp.is_some() || known.is_none_or(|kind| kind == ToolKind::Mcp)
    }

    /// Returns its input, in which texts that are JSON are what they say, and addresses of files are paths.
    pub(crate) fn unwrapped(&self) -> Cow<'_, Value> {
        if is_wrapped(&self.input, DEPTH) {
            Cow::Owned(unwrapped(&self.input, DEPTH))
        } else {
            Cow::Borrowed(&self.input)
        }
    }

    /// Returns the texts that stand beside the command line in the input of a shell: what is none of that line, and not only told
    /// to the person.
    pub(crate) fn beside_command(&self) -> Vec<Given> {
        let decoded = super::view::decoded(&self.input);
        let mut found = Vec::new();
        let Some(fields) = decoded.as_ref().unwrap_or(&self.input).as_object() else {
            return found;
        };
        for (key, value) in fields {
            let explains =
                value.is_string() && self.mcp.is_none() && names::explains(&self.name, key);
            let may_hold = value.is_string() || value.is_array() || value.is_object();
            if may_hold && !explains && !line::is_of_command(fields, key) {
                collect(key, value, false, DEPTH, &mut found);
            }
        }
        found
    }

    /// Returns every text of its input.
    pub(crate) fn given(&self) -> Vec<Given> {
        let mut found = Vec::new();
        let name = self.mcp.as_ref().map_or(&self.name, |mcp| &mcp.tool);
        let writes = !input::paths(&self.input).is_empty() && names::changes_files(name);
        collect("", &self.unwrapped(), writes, DEPTH, &mut found);
        found
    }
}

/// Returns the value that a text holds as JSON: an object or a list.
fn inner(text: &str) -> Option<Value> {
    let begins = text.trim_start().starts_with(['{', '[']);
    (begins && text.len() <= LONGEST)
        .then(|| parse_json(text.as_bytes()).ok())
        .flatten()
}

fn is_wrapped(value: &Value, depth: usize) -> bool {
    match value {
        Value::String(text) => {
            text.trim_start().starts_with(['{', '[']) || text.starts_with("file:")
        }
        Value::Array(items) if depth > 0 => items.iter().any(|item| is_wrapped(item, depth - 1)),
        Value::Object(map) if depth > 0 => map.values().any(|item| is_wrapped(item, depth - 1)),
        _ => false,
    }
}

fn unwrapped(value: &Value, depth: usize) -> Value {
    let Some(less) = depth.checked_sub(1) else {
        return value.clone();
    };
    match value {
        Value::String(text) => match inner(text) {
            Some(inner) => unwrapped(&inner, less),
            None => Value::String(path::local(text).into_owned()),
        },
        Value::Array(items) => items.iter().map(|item| unwrapped(item, less)).collect(),
        Value::Object(map) => {
            let fields = map.iter();
            let fields = fields.map(|(key, value)| (key.clone(), unwrapped(value, less)));
            Value::Object(fields.collect::<Map<_, _>>())
        }
        other => other.clone(),
    }
}

fn collect(key: &str, value: &Value, writes: bool, depth: usize, found: &mut Vec<Given>) {
    let mut push = |text: String, form| {
        let form = match form {
            Form::Text | Form::Words if writes && input::CONTENT.contains(&key) => Form::Content,
            form => form,
        };
        let key = key.to_owned();
        found.push(Given { key, text, form });
    };
    match value {
        Value::String(text) => push(text.clone(), Form::Text),
        Value::Array(items) if depth > 0 => {
            if items.len() > 1 && items.iter().all(Value::is_string) {
                push(line::join(items), Form::Words);
            }
            for item in items {
                collect(key, item, writes, depth - 1, found);
            }
        }
        Value::Object(map) if depth > 0 => {
            if let Some(line) = line::named_command(value) {
                push(line, Form::Command);
            }
            for (key, value) in map {
                collect(key, value, writes, depth - 1, found);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn texts_are_unwrapped_at_any_depth() {
        let call = ToolCall::new(
            "mcp__x__y",
            json!({
                "payload": "{\"at\": [{\"path\": \"file:///p/%2Eahp\"}]}",
                "run": {"program": "sh", "arguments": ["-c", "ls -l"]},
                "broken": "{not json",
            }),
        );
        let found = call.given();
        let has = |key: &str, text: &str, form| {
            let wanted = Given {
                key: key.to_owned(),
                text: text.to_owned(),
                form,
            };
            assert!(found.contains(&wanted), "{wanted:?} {found:?}");
        };
        has("path", "/p/.ahp", Form::Text);
        has("run", "sh -c 'ls -l'", Form::Command);
        has("arguments", "-c 'ls -l'", Form::Words);
        has("broken", "{not json", Form::Text);
    }

    #[test]
    fn what_is_written_into_a_file_is_told_apart() {
        let call = ToolCall::new("mcp__fs__write_file", json!({"path": "a", "content": "ls"}));
        let forms: Vec<_> = call.given().into_iter().map(|given| given.form).collect();
        assert_eq!(forms, [Form::Text, Form::Content]);
    }
}
