//! Strength: what a policy may write for the force of a signal, with `ask` between block and control.

use serde::{Deserialize, Serialize};

use super::Intensity;

/// How strongly a policy lets a signal intervene. The order is the order of force, weakest first.
///
/// It is [`Intensity`] with one step more: asking is a prompt that somebody must answer before the operation goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Strength {
    /// Advice that changes nothing.
    Aid,
    /// A warning that may be answered.
    Prompt,
    /// The operation goes on with changed parameters.
    Control,
    /// The operation waits for an answer.
    Ask,
    /// The operation does not go on.
    Block,
}

impl Strength {
    /// All of them, strongest first.
    pub const ALL: [Self; 5] = [
        Self::Block,
        Self::Ask,
        Self::Control,
        Self::Prompt,
        Self::Aid,
    ];

    /// Returns the name as it is written.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Block => "block",
            Self::Ask => "ask",
            Self::Control => "control",
            Self::Prompt => "prompt",
            Self::Aid => "aid",
        }
    }

    /// Finds one by its name.
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.name() == name)
    }

    /// Returns the intensity of a signal of this strength.
    pub const fn intensity(self) -> Intensity {
        match self {
            Self::Block => Intensity::Block,
            Self::Control => Intensity::Control,
            Self::Ask | Self::Prompt => Intensity::Prompt,
            Self::Aid => Intensity::Aid,
        }
    }
}

impl From<Intensity> for Strength {
    fn from(intensity: Intensity) -> Self {
        match intensity {
            Intensity::Block => Self::Block,
            Intensity::Control => Self::Control,
            Intensity::Prompt => Self::Prompt,
            Intensity::Aid => Self::Aid,
        }
    }
}
