//! What a tool call is to the standard's hooks: its names and its input, whatever its host calls them.

use std::borrow::Cow;
use std::path::Path;

use serde_json::{Map, Value};

use crate::event::{McpTool, ToolCall, ToolKind, ToolView, decoded, standard_names};

/// Returns a tool's names in the standard, the one that hooks are told first; none where the standard has none.
pub(crate) fn canonical_names(call: &ToolCall, view: &ToolView) -> Vec<Cow<'static, str>> {
    if let (Some(server), Some(tool)) = (&view.mcp_server, &view.mcp_tool) {
        return vec![McpTool::common_name(server, tool).into()];
    }
    // Its input may make more of a tool than its name tells: a patch that adds a file writes.
    let kinds = [view.kind, ToolKind::of(&call.name)];
    let names = kinds
        .iter()
        .flat_map(|kind| standard_names(&call.name, *kind).iter().copied());
    let mut names: Vec<Cow<'static, str>> = names.map(Cow::from).collect();
    // A name that is the standard's own stays.
    names.sort_by_key(|name| *name != call.name);
    names
}

/// Returns a tool's input with the fields by which the standard's hooks know it, whatever the host calls them: `command`,
/// `file_path` and `path`, `files` where there are several, and `content`. What the host gave stays beside them.
pub(crate) fn canonical_input(call: &ToolCall, view: &ToolView, root: &Path) -> Value {
    let given = decoded(&call.input).unwrap_or_else(|| call.input.clone());
    let mut input = match given {
        Value::Object(fields) => fields,
        Value::Null => Map::new(),
        // A text or a list of words is all that the tool is given.
        _ if view.command.is_some() || view.content.is_some() => Map::new(),
        other => return other,
    };
    if let Some(command) = &view.command {
        // The host's own field of that name may hold the program alone.
        input.insert("command".to_owned(), command.as_str().into());
    }
    let mut put = |key: &str, text: &str| {
        if !input.get(key).is_some_and(Value::is_string) {
            input.insert(key.to_owned(), text.into());
        }
    };
    if let Some(content) = &view.content {
        put("content", content);
    }
    let paths = view.paths.iter();
    let paths: Vec<String> = paths
        .map(|path| root.join(path).display().to_string())
        .collect();
    if let Some(first) = paths.first() {
        put("file_path", first);
        put("path", first);
    }
    if paths.len() > 1 && !input.contains_key("files") {
        input.insert("files".to_owned(), paths.into());
    }
    Value::Object(input)
}
