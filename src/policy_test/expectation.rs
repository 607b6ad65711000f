//! Expectation: what must come of an event, as written.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::config::{DecodeError, Node, decode};
use crate::signal::{Intensity, Severity};
use crate::verdict::{Decision, Outcome};

/// What must come of an event; what is not said may be anything.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Expectation {
    /// `none`, `allow`, `ask` or `block`.
    #[serde(deserialize_with = "name::<_, Decision>")]
    pub decision: Option<String>,
    /// The signals, all of them, in the order of the policy.
    pub signals: Option<Vec<ExpectedSignal>>,
    /// The tool's input after every control.
    pub modified_input: Option<Value>,
    /// What became of bindings, by their ids: `accepted`, `signalled`, `skipped`, …
    #[serde(deserialize_with = "names::<_, Outcome>")]
    pub bindings: BTreeMap<String, String>,
    /// A part of the fault that keeps the policy from loading.
    pub fault: Option<String>,
}

/// What a signal must be; what is not said may be anything.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ExpectedSignal {
    /// `block`, `control`, `prompt` or `aid`.
    #[serde(deserialize_with = "name::<_, Intensity>")]
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
    #[serde(deserialize_with = "name::<_, Severity>")]
    pub severity: Option<String>,
    /// Whether somebody must answer first.
    pub asks: Option<bool>,
    /// The changes of a control, by their targets.
    pub changes: Option<BTreeMap<String, Value>>,
}

impl Expectation {
    /// Reads an expectation: a decision alone, or a map.
    pub(super) fn read(node: &Node) -> Result<Self, DecodeError> {
        if node.as_str().is_none() {
            return decode(node);
        }
        let decision: Decision = decode(node)?;
        Ok(Self {
            decision: Some(decision.name().to_owned()),
            ..Self::default()
        })
    }

    /// Whether nothing but the decision is said.
    pub(super) fn is_decision_alone(&self) -> bool {
        self.signals.is_none()
            && self.modified_input.is_none()
            && self.bindings.is_empty()
            && self.fault.is_none()
    }
}

/// Reads a word that must be one of `T`: a misspelt one could never come.
fn name<'de, D, T>(deserializer: D) -> Result<Option<String>, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned + Serialize,
{
    let word = Option::<T>::deserialize(deserializer)?;
    word.map(|word| written(&word)).transpose()
}

/// Reads words that must each be one of `T`.
fn names<'de, D, T>(deserializer: D) -> Result<BTreeMap<String, String>, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned + Serialize,
{
    let words = BTreeMap::<String, T>::deserialize(deserializer)?;
    let words = words.into_iter();
    words.map(|(id, word)| Ok((id, written(&word)?))).collect()
}

fn written<T: Serialize, E: serde::de::Error>(word: &T) -> Result<String, E> {
    match serde_json::to_value(word) {
        Ok(Value::String(text)) => Ok(text),
        _ => Err(E::custom("expected a word")),
    }
}
