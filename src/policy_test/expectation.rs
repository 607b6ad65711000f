//! Expectation: what must come of an event, as written.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::config::{DecodeError, Node, decode};

/// What must come of an event; what is not said may be anything.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Expectation {
    /// `none`, `allow`, `ask` or `block`.
    pub decision: Option<String>,
    /// The signals, all of them, in the order of the policy.
    pub signals: Option<Vec<ExpectedSignal>>,
    /// The tool's input after every control.
    pub modified_input: Option<Value>,
    /// What became of bindings, by their ids: `accepted`, `signalled`, `skipped`, …
    pub bindings: BTreeMap<String, String>,
    /// A part of the fault that keeps the policy from loading.
    pub fault: Option<String>,
}

/// What a signal must be; what is not said may be anything.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ExpectedSignal {
    /// `block`, `control`, `prompt` or `aid`.
    pub intensity: Option<String>,
    /// The type of the finding.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// The reason, message or information; after `~ ` a regular expression that is found in it.
    pub text: Option<String>,
    /// The steps, suggestions or follow-ups.
    pub steps: Option<Vec<String>>,
    /// The files concerned.
    pub files: Option<Vec<String>>,
    /// The binding.
    pub binding: Option<String>,
    /// The oracle.
    pub source: Option<String>,
    /// The severity of a prompt.
    pub severity: Option<String>,
    /// Whether somebody must answer first.
    pub asks: Option<bool>,
    /// The changes of a control, by their targets.
    pub changes: Option<BTreeMap<String, Value>>,
}

impl Expectation {
    /// Reads an expectation: a decision alone, or a map.
    pub(super) fn read(node: &Node) -> Result<Self, DecodeError> {
        match node.as_str() {
            Some(decision) => Ok(Self {
                decision: Some(decision.to_owned()),
                ..Self::default()
            }),
            None => decode(node),
        }
    }

    /// Whether nothing but the decision is said.
    pub(super) fn is_decision_alone(&self) -> bool {
        self.signals.is_none()
            && self.modified_input.is_none()
            && self.bindings.is_empty()
            && self.fault.is_none()
    }
}
