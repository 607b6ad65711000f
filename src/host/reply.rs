//! Reply: what a hook command writes and ends with.

use serde_json::{Map, Value};

/// The answer of a hook command: one JSON object or nothing on stdout, words on stderr, and 0 or 2.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// One JSON object, or nothing.
    pub stdout: String,
    /// Words, for hosts that read them there.
    pub stderr: String,
    /// Whether to end with 2, which is a block wherever exit codes count; else with 0.
    pub blocks: bool,
}

impl Reply {
    /// Makes the reply that says nothing.
    pub fn nothing() -> Self {
        Self::default()
    }

    /// Makes a reply of one JSON object; an empty one is written as nothing.
    pub(super) fn json(object: Map<String, Value>) -> Self {
        Self {
            stdout: if object.is_empty() {
                String::new()
            } else {
                Value::Object(object).to_string()
            },
            ..Self::default()
        }
    }

    /// Makes a block by exit code 2 with the reason on stderr, which is the one form that most hosts share.
    pub fn block(reason: &str) -> Self {
        let reason = reason.trim();
        Self {
            stdout: String::new(),
            stderr: if reason.is_empty() {
                "blocked by ahp".to_owned()
            } else {
                reason.to_owned()
            },
            blocks: true,
        }
    }

    /// Returns the exit code.
    pub const fn exit_code(&self) -> u8 {
        if self.blocks { 2 } else { 0 }
    }

    /// Returns stdout as JSON; null where there is none.
    pub fn object(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or(Value::Null)
    }

    /// Whether the JSON has this text at a pointer.
    pub(super) fn says(&self, pointer: &str, text: &str) -> bool {
        self.object().pointer(pointer).and_then(Value::as_str) == Some(text)
    }
}
