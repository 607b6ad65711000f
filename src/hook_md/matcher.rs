//! Matcher: for which tool calls a hook runs.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::spaced_json;
use crate::event::{ToolCall, ToolKind, ToolView};
use crate::pattern::Pattern;

/// For which tool calls a hook runs: what is given must all match.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Matcher {
    /// A regular expression, searched in the tool's names.
    pub tool: Option<String>,
    /// A regular expression, searched in every text of the tool's input and in the whole input as JSON.
    pub pattern: Option<String>,
}

impl Matcher {
    /// Whether it matches every tool call.
    pub const fn is_empty(&self) -> bool {
        self.tool.is_none() && self.pattern.is_none()
    }

    /// Whether it matches a tool call, whose kinds ([`ToolCall::kinds`]) are asked for only where its name does not tell.
    pub fn matches(&self, call: &ToolCall, kinds: impl FnOnce() -> [ToolKind; 2]) -> bool {
        self.matches_tool(&call.name, kinds) && self.matches_input(call)
    }

    fn matches_tool(&self, name: &str, kinds: impl FnOnce() -> [ToolKind; 2]) -> bool {
        let Some(tool) = &self.tool else { return true };
        // Checked when the hook was read; a cache that holds something else matches nothing.
        let Ok(pattern) = Pattern::new(tool) else {
            return false;
        };
        let names = || kinds().into_iter().flat_map(agent_hooks_names);
        pattern.is_match(name) || names().any(|name| pattern.is_match(name))
    }

    fn matches_input(&self, call: &ToolCall) -> bool {
        let Some(text) = &self.pattern else {
            return true;
        };
        let Ok(pattern) = Pattern::new(text) else {
            return false;
        };
        let input = &call.input;
        // The files of a patch stand in the midst of its text.
        let in_paths = || {
            let anywhere = Path::new("/");
            let is_patch = call.name.contains("patch");
            let view = is_patch.then(|| ToolView::of(call, anywhere, anywhere));
            view.is_some_and(|view| view.paths.iter().any(|path| pattern.is_match(path)))
        };
        any_text(input, &pattern) || pattern.is_match(&spaced_json::to_string(input)) || in_paths()
    }
}

fn any_text(value: &Value, pattern: &Pattern) -> bool {
    match value {
        Value::String(text) => pattern.is_match(text),
        Value::Array(items) => items.iter().any(|item| any_text(item, pattern)),
        Value::Object(map) => map.values().any(|value| any_text(value, pattern)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Returns the names that tools of a kind have in the standard's own documents, the usual one first.
pub(crate) const fn agent_hooks_names(kind: ToolKind) -> &'static [&'static str] {
    match kind {
        ToolKind::Shell => &["Shell"],
        ToolKind::Write => &["WriteFile"],
        ToolKind::Edit => &["StrReplaceFile", "EditFile"],
        ToolKind::Delete => &["DeleteFile"],
        ToolKind::Read => &["ReadFile"],
        ToolKind::Search => &["Grep", "Glob"],
        ToolKind::Fetch => &["FetchURL"],
        ToolKind::Agent => &["Task"],
        ToolKind::Mcp | ToolKind::Other => &[],
    }
}
