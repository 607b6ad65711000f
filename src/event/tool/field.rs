//! Field: where a host keeps what a policy changes in a tool's input under a name of its own.

use std::path::Path;

use serde_json::Value;
use serde_json::json;

use super::patch::Patch;
use super::view::{PATCH, may_be_patch};
use super::{ToolKind, input, line};

/// A place in a tool's input, and what it is set to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Field {
    /// The place as a JSON Pointer; the empty one is the input itself.
    pub(crate) pointer: String,
    /// The value in the form that the host gave.
    pub(crate) updated: Value,
}

impl Field {
    /// Finds the place of the command, the path, the address or the text that is written, as `name` calls it; none where the
    /// input has no such place, or several. A relative path is one of the project at `root`.
    pub(crate) fn find(
        kind: ToolKind,
        input: &Value,
        name: &str,
        updated: &Value,
        root: &Path,
    ) -> Option<Self> {
        match name {
            "command" => Self::command(kind, input, updated),
            "path" | "file_path" | "filePath" => Self::path(kind, input, updated.as_str()?, root),
            // Of several files nobody knows which one a shorter list means.
            "files" => match updated.as_array()?.as_slice() {
                [one] => Self::path(kind, input, one.as_str()?, root),
                _ => None,
            },
            "content" => Self::content(kind, input, updated.as_str()?),
            "url" => Some(Self::only(input, &["url", "urls"])?.set(updated.clone())),
            _ => None,
        }
    }

    fn command(kind: ToolKind, input: &Value, updated: &Value) -> Option<Self> {
        match input {
            Value::String(_) if kind == ToolKind::Shell => Some(Self {
                pointer: String::new(),
                updated: updated.clone(),
            }),
            Value::Object(map) if kind == ToolKind::Shell => {
                let key = line::command_field(map)?;
                Some(Self {
                    pointer: format!("/{key}"),
                    updated: in_form(map.get(key)?, key, updated),
                })
            }
            _ => None,
        }
    }

    fn path(kind: ToolKind, input: &Value, path: &str, root: &Path) -> Option<Self> {
        let place = match patch(kind, input) {
            Some(place) => place,
            None if input::paths(input).len() == 1 => Self::only(input, input::PATH)?,
            None => return None,
        };
        let before = place.updated.as_str()?;
        if may_be_patch(before) {
            let updated = Patch::with_path(before, path)?;
            return Some(place.set(updated.into()));
        }
        // A host that gives whole paths takes nothing else.
        let is_whole = |path: &str| Path::new(path).is_absolute();
        let updated = if is_whole(before) && !is_whole(path) && !path.starts_with('~') {
            root.join(path).to_string_lossy().into_owned()
        } else {
            path.to_owned()
        };
        Some(place.set(updated.into()))
    }

    fn content(kind: ToolKind, input: &Value, content: &str) -> Option<Self> {
        let Some(place) = patch(kind, input) else {
            return Some(Self::only(input, input::CONTENT)?.set(content.into()));
        };
        let before = place.updated.as_str()?;
        if input::content(input, &[before]).is_some() {
            return None;
        }
        let updated = Patch::with_content(before, content)?;
        Some(place.set(updated.into()))
    }

    fn set(self, updated: Value) -> Self {
        Self { updated, ..self }
    }

    /// Returns the one place that has a text under one of the keys, however deep, with that text.
    fn only(input: &Value, keys: &[&str]) -> Option<Self> {
        let mut found = Vec::new();
        places(input, keys, false, &mut String::new(), &mut found);
        let [(pointer, text)] = found.as_slice() else {
            return None;
        };
        Some(Self {
            pointer: pointer.clone(),
            updated: (*text).into(),
        })
    }
}

/// Returns the one place of the patch that an edit is given, with its text.
fn patch(kind: ToolKind, input: &Value) -> Option<Field> {
    if !matches!(kind, ToolKind::Edit | ToolKind::Write | ToolKind::Delete) {
        return None;
    }
    let mut found = Vec::new();
    match input {
        Value::String(text) => found.push((String::new(), text.as_str())),
        _ => places(input, PATCH, false, &mut String::new(), &mut found),
    }
    found.retain(|(_, text)| may_be_patch(text) && Patch::read(text).is_some());
    let [(pointer, text)] = found.as_slice() else {
        return None;
    };
    Some(Field {
        pointer: pointer.clone(),
        updated: (*text).into(),
    })
}

/// Collects each text below one of the keys, with its place.
fn places<'v>(
    value: &'v Value,
    keys: &[&str],
    is_wanted: bool,
    at: &mut String,
    found: &mut Vec<(String, &'v str)>,
) {
    let mut below = |step: &str, value, is_wanted| {
        let length = at.len();
        at.push('/');
        at.push_str(&step.replace('~', "~0").replace('/', "~1"));
        places(value, keys, is_wanted, at, found);
        at.truncate(length);
    };
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                below(key, value, keys.contains(&key.as_str()));
            }
        }
        Value::Array(items) => {
            for (n, item) in items.iter().enumerate() {
                below(&n.to_string(), item, is_wanted);
            }
        }
        Value::String(text) if is_wanted => found.push((at.clone(), text)),
        _ => {}
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
        let changed = |input: &Value| {
            let updated = json!("pwd");
            Field::find(ToolKind::Shell, input, "command", &updated, Path::new("/"))
        };
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
            let found = changed(&input);
            let pointer = pointer.to_owned();
            assert_eq!(found, Some(Field { pointer, updated }), "{input}");
        }
        for input in [json!({}), json!({"command": "git", "args": ["log"]})] {
            let found = changed(&input);
            assert_eq!(found, None, "{input}");
        }
    }

    #[test]
    fn a_path_or_a_text_is_set_where_there_is_one() {
        let find = |input: Value, name, updated: Value| {
            let root = Path::new("/p");
            let found = Field::find(ToolKind::Edit, &input, name, &updated, root)?;
            Some((found.pointer, found.updated))
        };
        let edit = json!({"filePath": "/p/a", "newString": "b"});
        let multi = json!({"file_path": "a", "edits": [{"old_string": "a", "new_string": "b"}]});
        for (input, name, updated, pointer, value) in [
            (&edit, "file_path", json!("x"), "/filePath", json!("/p/x")),
            (&edit, "path", json!("/x"), "/filePath", json!("/x")),
            (&edit, "files", json!(["x"]), "/filePath", json!("/p/x")),
            (&edit, "content", json!("x"), "/newString", json!("x")),
            (&multi, "path", json!("x"), "/file_path", json!("x")),
            (
                &multi,
                "content",
                json!("x"),
                "/edits/0/new_string",
                json!("x"),
            ),
        ] {
            let found = find(input.clone(), name, updated).unwrap();
            assert_eq!(found, (pointer.to_owned(), value), "{input} {name}");
        }
        let moved = json!({"old_path": "a", "new_path": "b"});
        let two = json!({"file_path": "a", "edits": [{"new_string": "a"}, {"new_string": "b"}]});
        for (input, name, updated) in [
            (&moved, "path", json!("x")),
            (&edit, "files", json!(["x", "y"])),
            (&two, "content", json!("x")),
        ] {
            assert_eq!(find(input.clone(), name, updated), None, "{input} {name}");
        }
    }

    #[test]
    fn a_patch_is_written_anew() {
        let patch = "*** Begin Patch\n*** Add File: a.txt\n+one\n+two\n*** End Patch\n";
        let change = |patch: &str, name, updated: &str| {
            let input = json!({"command": patch});
            let (updated, root) = (json!(updated), Path::new("/p"));
            let found = Field::find(ToolKind::Write, &input, name, &updated, root)?;
            assert_eq!(found.pointer, "/command");
            found.updated.as_str().map(str::to_owned)
        };
        let moved = patch.replace("a.txt", "/tmp/b");
        assert_eq!(change(patch, "path", "/tmp/b"), Some(moved));
        let written = patch.replace("+one\n+two\n", "+*** End Patch\n");
        assert_eq!(change(patch, "content", "*** End Patch"), Some(written));
        let edit = "*** Begin Patch\n*** Update File: a.txt\n-one\n+two\n*** End Patch";
        assert_eq!(change(edit, "path", "b"), Some(edit.replace("a.txt", "b")));
        let both = format!("{patch}{}", edit.replace("a.txt", "b.txt"));
        let diff = "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n";
        for (patch, name) in [
            (edit, "content"),
            (&both, "path"),
            (&both, "content"),
            (diff, "path"),
        ] {
            assert_eq!(change(patch, name, "x"), None, "{patch} {name}");
        }
    }
}
