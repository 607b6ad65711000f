//! Session: what happened in a scope before an event, as marks count it: numbers from least to most, kept in a small file.
//!
//! The file of a scope lies in the user's state directory. It holds counts, times and keyed digests, no text of any event.

mod call;
mod file;
mod first_project;
mod origins;
mod own_file;
mod state;
mod tally;

pub use self::call::{Call, CallId, Going};
pub use self::file::{ScopeFault, ScopeFile, Store, Stored};
pub use self::first_project::FirstProject;
pub use self::origins::{Origin, Origins};
pub use self::state::State;
pub use self::tally::{Contribution, Count, Definition, Keys, Window};

use serde::{Deserialize, Serialize};

/// The folder of the files of all scopes, in the state directory.
pub const SESSIONS: &str = "sessions";

/// What three-valued logic says of one thing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Truth {
    /// It is not so.
    #[default]
    No,
    /// It cannot be told.
    Maybe,
    /// It is so.
    Yes,
}

impl Truth {
    /// Makes it of what a condition came to; none where that cannot be told.
    pub const fn of(told: Option<bool>) -> Self {
        match told {
            Some(true) => Self::Yes,
            Some(false) => Self::No,
            None => Self::Maybe,
        }
    }

    /// Returns the word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::No => "no",
            Self::Maybe => "maybe",
            Self::Yes => "yes",
        }
    }
}

/// What left it open whether an event counts, or sets a mark back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Doubt {
    /// What the event tells.
    Event,
    /// The host told no exit code.
    NoExitCode,
    /// The exit code was 0, and would be where a part of the line has failed.
    HiddenFailure,
    /// The result of a call never came.
    NoResult,
    /// In which scope the event was.
    Scope,
}

impl Doubt {
    /// Returns what it says.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Event => "what was seen leaves it open",
            Self::NoExitCode => "the host did not say with which exit code the command ended",
            Self::HiddenFailure => {
                "the exit code of a command line does not tell whether each part of it succeeded (`|`, `;`, `||`, `&` and some programs hide a failure)"
            }
            Self::NoResult => "the result of a call never came",
            Self::Scope => "of an event it is not known to which issue it belongs",
        }
    }
}

/// What an event did to one mark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MarkRecord {
    /// Whether it counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fed: Option<Truth>,
    /// Whether it set the mark back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<Truth>,
    /// What the mark was before it, from least to most, where something asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<[u64; 2]>,
}

/// Whose events are counted together.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// Those of the host's session, with all its subagents.
    #[default]
    Session,
    /// Those about one issue.
    Issue,
    /// All of the project.
    Project,
}

impl Scope {
    /// Every scope, in the order in which their files are locked.
    pub const ALL: [Self; 3] = [Self::Session, Self::Issue, Self::Project];

    /// Returns the word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Issue => "issue",
            Self::Project => "project",
        }
    }
}

/// Returns eight bytes of the SHA-256 of some parts, each with its length, as a number.
pub fn digest<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> u64 {
    use sha2::Digest as _;
    let mut hash = sha2::Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    let bytes = hash.finalize();
    bytes
        .iter()
        .take(8)
        .fold(0, |number, byte| number << 8 | u64::from(*byte))
}
