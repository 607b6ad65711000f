//! Intensity: Block, Control, Prompt, Aid, in order of force.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How strongly a signal intervenes (S4 §4.1). The order is the order of force, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[derive(schemars::JsonSchema)]
pub enum Intensity {
    /// Advice that changes nothing.
    Aid,
    /// A warning that may be answered.
    Prompt,
    /// The operation goes on with changed parameters.
    Control,
    /// The operation does not go on.
    Block,
}

impl Intensity {
    /// All intensities, strongest first.
    pub const ALL: [Self; 4] = [Self::Block, Self::Control, Self::Prompt, Self::Aid];

    /// Returns the name as it is written.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Block => "block",
            Self::Control => "control",
            Self::Prompt => "prompt",
            Self::Aid => "aid",
        }
    }

    /// Finds an intensity by its name.
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|i| i.name() == name)
    }
}

impl fmt::Display for Intensity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
