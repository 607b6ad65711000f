//! Payload: what a signal of each intensity carries.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Intensity, MOST_STEPS, cut};

/// What a signal says: one variant for each intensity, each with its own fields alone.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Payload {
    /// The operation does not go on.
    Block(Block),
    /// The operation goes on with changed parameters.
    Control(Control),
    /// A warning that may be answered.
    Prompt(Prompt),
    /// Advice.
    Aid(Aid),
}

impl Payload {
    /// Adds behind what it says what this is about in particular.
    pub fn add_detail(&mut self, detail: &str) {
        let text = match self {
            Self::Block(block) => &mut block.reason,
            Self::Control(control) => &mut control.reason,
            Self::Prompt(prompt) => &mut prompt.message,
            Self::Aid(aid) => &mut aid.context_info,
        };
        *text = format!("{text}: {detail}");
    }
}

/// The content of a block.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Block {
    /// Why, in words for the agent.
    pub reason: String,
    /// Whether the agent itself can do something about it.
    pub resolvable: bool,
    /// The steps that resolve it, in order.
    pub resolution_path: Vec<String>,
}

/// The content of a control.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Control {
    /// Why.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// What is changed, in order.
    pub modifications: Vec<Modification>,
    /// Whether the change can be taken back.
    pub reversible: bool,
}

/// One changed parameter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Modification {
    /// A JSON Pointer or dotted path into the tool's input (`tool.input.command`), or a parameter's name (`batch_size`).
    pub target: String,
    /// The value before.
    pub original: Value,
    /// The value after.
    pub updated: Value,
    /// Why this value.
    #[serde(default)]
    pub reason: String,
}

/// How many items of a list are told one by one.
const MOST_ITEMS: usize = 20;

impl Modification {
    /// Whether it changes a tool's input, not another parameter of the operation.
    pub(crate) fn is_of_input(&self) -> bool {
        self.target.starts_with('/') || self.target.starts_with("tool.")
    }

    /// Returns the value before, in words: of a long list the first items and how many more there are.
    pub fn original_in_words(&self) -> String {
        in_words(&self.original)
    }

    /// Returns the value after, in words: of a long list the first items and how many more there are.
    pub fn updated_in_words(&self) -> String {
        in_words(&self.updated)
    }
}

fn in_words(value: &Value) -> String {
    let items = match value {
        Value::Array(items) if items.len() > MOST_ITEMS => items,
        other => return other.to_string(),
    };
    let first: Vec<String> = items
        .iter()
        .take(MOST_ITEMS)
        .map(Value::to_string)
        .collect();
    format!(
        "[{}, … and {} more]",
        first.join(","),
        items.len() - MOST_ITEMS
    )
}

/// The content of a prompt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Prompt {
    /// How grave it is.
    pub severity: Severity,
    /// The warning.
    pub message: String,
    /// What could be done.
    pub suggestions: Vec<String>,
    /// Whether the operation may go on before somebody has answered.
    pub continue_allowed: bool,
}

/// The content of an aid.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Aid {
    /// The information.
    pub context_info: String,
    /// Practices that help here.
    #[serde(default)]
    pub best_practices: Vec<String>,
    /// What could be done next.
    #[serde(default)]
    pub follow_ups: Vec<String>,
}

/// How grave a prompt or a finding is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[derive(schemars::JsonSchema)]
pub enum Severity {
    /// Worth knowing.
    Low,
    /// Needs an answer.
    #[default]
    Medium,
    /// Important enough to stop.
    High,
    /// Cannot be undone: no ceiling can lower it below a question.
    Critical,
}

impl Severity {
    /// All of them, the least grave first.
    pub const ALL: [Self; 4] = [Self::Low, Self::Medium, Self::High, Self::Critical];

    /// Returns the name as it is written.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Critical => "critical",
        }
    }
}

impl Payload {
    /// Returns every text that it says.
    pub(crate) fn texts_mut(&mut self) -> Vec<&mut String> {
        match self {
            Self::Block(block) => {
                let steps = block.resolution_path.iter_mut();
                std::iter::once(&mut block.reason).chain(steps).collect()
            }
            Self::Control(control) => {
                let reasons = control.modifications.iter_mut().map(|m| &mut m.reason);
                std::iter::once(&mut control.reason)
                    .chain(reasons)
                    .collect()
            }
            Self::Prompt(prompt) => {
                let steps = prompt.suggestions.iter_mut();
                std::iter::once(&mut prompt.message).chain(steps).collect()
            }
            Self::Aid(aid) => {
                let more = aid.best_practices.iter_mut().chain(&mut aid.follow_ups);
                std::iter::once(&mut aid.context_info).chain(more).collect()
            }
        }
    }

    /// Returns the intensity that this content belongs to.
    pub const fn intensity(&self) -> Intensity {
        match self {
            Self::Block(_) => Intensity::Block,
            Self::Control(_) => Intensity::Control,
            Self::Prompt(_) => Intensity::Prompt,
            Self::Aid(_) => Intensity::Aid,
        }
    }

    /// Returns the one text that says what the matter is.
    pub fn text(&self) -> &str {
        match self {
            Self::Block(block) => &block.reason,
            Self::Control(control) => &control.reason,
            Self::Prompt(prompt) => &prompt.message,
            Self::Aid(aid) => &aid.context_info,
        }
    }

    /// Returns what it says; of a control that says nothing, what it changes.
    pub fn said(&self) -> Cow<'_, str> {
        let control = match self {
            Self::Control(control) if control.reason.trim().is_empty() => control,
            _ => return Cow::Borrowed(self.text()),
        };
        let changes = control.modifications.iter();
        let changes = changes.map(|m| format!("`{}` becomes {}", m.target, m.updated_in_words()));
        let changes: Vec<String> = changes.collect();
        Cow::Owned(if changes.is_empty() {
            "parameters are changed".to_owned()
        } else {
            format!("parameters are changed: {}", changes.join(", "))
        })
    }

    /// Returns the steps, suggestions or follow-ups.
    pub fn steps(&self) -> &[String] {
        match self {
            Self::Block(block) => &block.resolution_path,
            Self::Control(_) => &[],
            Self::Prompt(prompt) => &prompt.suggestions,
            Self::Aid(aid) => &aid.follow_ups,
        }
    }

    /// Says the same with another force (a ceiling weakens, an escalation strengthens).
    ///
    /// A control can be weakened but nothing can become one: there would be nothing to change.
    /// Asked for that, it becomes a block.
    #[must_use]
    pub fn with_intensity(self, intensity: Intensity) -> Self {
        if self.intensity() == intensity {
            return self;
        }
        let mut text = self.text().to_owned();
        let mut steps = self.steps().to_vec();
        if let Self::Control(control) = &self {
            for m in &control.modifications {
                steps.push(format!("set `{}` to {}", m.target, m.updated_in_words()));
            }
            steps = cut(steps, MOST_STEPS);
            if text.is_empty() {
                "parameters should be changed".clone_into(&mut text);
            }
        }
        match intensity {
            Intensity::Block | Intensity::Control => Self::Block(Block {
                reason: text,
                resolvable: true,
                resolution_path: steps,
            }),
            Intensity::Prompt => Self::Prompt(Prompt {
                severity: match self {
                    Self::Block(_) => Severity::High,
                    Self::Aid(_) => Severity::Low,
                    Self::Control(_) | Self::Prompt(_) => Severity::Medium,
                },
                message: text,
                suggestions: steps,
                continue_allowed: true,
            }),
            Intensity::Aid => Self::Aid(Aid {
                context_info: text,
                best_practices: Vec::new(),
                follow_ups: steps,
            }),
        }
    }
}
