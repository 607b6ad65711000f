//! ToolCall: a call of a tool, and its view in the one vocabulary of all hosts (spec §4.2).

mod field;
mod given;
mod input;
mod kind;
mod line;
mod mcp;
mod names;
mod patch;
mod path;
mod view;

pub(super) use self::line::quote;

pub(crate) use self::field::Field;
pub(crate) use self::given::{Form, Given};
pub(crate) use self::input::is_path_key;
pub use self::kind::ToolKind;
pub use self::mcp::McpTool;
pub(crate) use self::names::{name_words, standard_names};
pub use self::view::ToolView;
pub(crate) use self::view::decoded;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A call of a tool, as the host tells it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ToolCall {
    /// The host's own name of the tool.
    pub name: String,
    /// The tool's input, as the host gives it.
    #[serde(default)]
    pub input: Value,
    /// The host's id of this call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub use_id: Option<String>,
    /// What the tool gave back, after it ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Value>,
    /// Why it failed, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Value>,
    /// The exit code of what it ran, where the host tells it for certain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i64>,
    /// The MCP tool behind the name, where the host says it outright; else it is read from the name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mcp: Option<McpTool>,
}

impl ToolCall {
    /// Makes a call that has not run yet.
    pub fn new(name: impl Into<String>, input: Value) -> Self {
        Self {
            name: name.into(),
            input,
            ..Self::default()
        }
    }

    /// Whether the input holds more than so many values, or so many bytes of text.
    pub(crate) fn is_larger_than(&self, values: usize, bytes: usize) -> bool {
        input::left_of(&self.input, (values, bytes)).is_none()
    }

    /// Whether the input is so large that judging it may take longer than starting a thread for it.
    pub fn is_long(&self) -> bool {
        self.is_larger_than(512, 64 << 10)
    }

    /// Whether it is given to a shell and says nothing of what is run.
    pub(crate) fn says_nothing(&self) -> bool {
        ToolKind::of(&self.name) == ToolKind::Shell && line::says_nothing(&self.input)
    }

    /// Returns every string of the input, however deep it lies, one a line.
    pub(crate) fn every_text(&self) -> Option<String> {
        line::every_text(&self.input)
    }

    /// Returns every text of the input, with the key that it stands below in lower case.
    pub(crate) fn texts(&self) -> Vec<(String, String)> {
        let unwrapped = self.unwrapped();
        let texts = input::keyed_texts(&unwrapped);
        let owned = |(key, text): (&str, &str)| (key.to_ascii_lowercase(), text.to_owned());
        texts.into_iter().map(owned).collect()
    }

    /// Sets what the tool gave back.
    #[must_use]
    pub fn with_output(mut self, output: Value) -> Self {
        self.output = Some(output);
        self
    }
}
