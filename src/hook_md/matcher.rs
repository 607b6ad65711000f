//! Matcher: for which tool calls a hook runs.

use std::borrow::Cow;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{canonical_input, canonical_names, spaced_json};
use crate::event::{ToolCall, ToolView};
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

    /// Whether it matches a tool call of the project at `root`: as its host tells it, or as hooks are told of it.
    pub fn matches(&self, call: &ToolCall, view: &ToolView, root: &Path) -> bool {
        self.matches_tool(call, view) && self.matches_input(call, view, root)
    }

    fn matches_tool(&self, call: &ToolCall, view: &ToolView) -> bool {
        let Some(tool) = &self.tool else { return true };
        // Checked when the hook was read; a cache that holds something else matches nothing.
        let Ok(pattern) = Pattern::new(tool) else {
            return false;
        };
        let is_named = |name: &Cow<'_, str>| pattern.is_match(name);
        pattern.is_match(&call.name) || canonical_names(call, view).iter().any(is_named)
    }

    fn matches_input(&self, call: &ToolCall, view: &ToolView, root: &Path) -> bool {
        let Some(text) = &self.pattern else {
            return true;
        };
        let Ok(pattern) = Pattern::new(text) else {
            return false;
        };
        let is_in = |input: &Value| {
            any_text(input, &pattern) || pattern.is_match(&spaced_json::to_string(input))
        };
        is_in(&call.input)
            || is_in(&canonical_input(call, view, root))
            || view
                .paths
                .iter()
                .chain(&view.command)
                .any(|text| pattern.is_match(text))
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
