//! Install: wires hosts to `ahp` in their own settings files, and takes the wires out again.

mod change;
mod installer;
mod json_hooks;
mod json_text;
mod places;
mod scripts;
mod toml_hooks;
mod wire;

pub use self::change::Change;
pub use self::change::backup_of;
pub use self::installer::Installer;
pub use self::json_text::JsonText;
pub use self::json_text::JsonTextError;
pub use self::places::Patience;
pub use self::places::Places;
pub use self::places::Scope;
pub use self::places::command;
pub use self::places::is_ours;
pub use self::wire::Wire;

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::event::Trigger;
use crate::host::Host;
use crate::host::Moment;

/// Why a host cannot be wired.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InstallError {
    /// A file cannot be read.
    #[error("cannot read `{path}`: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A settings file is not JSON.
    #[error("`{path}` is not JSON, {fault}: mend it first, nothing was changed")]
    Json {
        /// The file.
        path: PathBuf,
        /// Where and what.
        fault: JsonTextError,
    },
    /// A settings file is not TOML.
    #[error("the settings file is not TOML: {0}")]
    Toml(String),
    /// The place where hooks stand is something else.
    #[error("{place} is not {wanted}: mend it first, nothing was changed")]
    Shape {
        /// The place in the settings file.
        place: String,
        /// What it has to be.
        wanted: &'static str,
    },
    /// `hooks` is written inline.
    #[error("`hooks` is not written as `[[hooks]]` tables: rewrite it so, nothing was changed")]
    InlineHooks,
    /// A file of somebody else's is in the way.
    #[error(
        "`{0}` is there already and is not ours: move it away, or call `ahp` from it; nothing was changed"
    )]
    InTheWay(PathBuf),
    /// The host has no settings of that scope.
    #[error("{host} has no {scope} settings{}", .other.map(|s| format!("; use --{s}")).unwrap_or_default())]
    NoScope {
        /// The host.
        host: &'static str,
        /// What was asked for.
        scope: Scope,
        /// What it has.
        other: Option<Scope>,
    },
    /// A host whose command would be dropped.
    #[error("{0} drops a hooks file with `://` in a command; the path of `ahp` has it")]
    Address(&'static str),
    /// There is no repository.
    #[error("`{0}` is in no git repository")]
    NoRepository(PathBuf),
}

/// Which of a host's events are wired.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Needs {
    /// All that mean anything.
    All,
    /// Those that give one of these triggers, and what belongs to them.
    Triggers(BTreeSet<Trigger>),
}

impl Needs {
    /// Returns the moments of a host that have to be wired.
    ///
    /// Before a tool is always one of them: there the policy's own files are protected, and there
    /// an issue command that an agent runs in its shell is seen. Where no words can be said then, the moments that
    /// carry them later belong to it.
    pub fn moments(&self, host: &'static Host) -> Vec<&'static Moment> {
        let mut wanted = match self {
            Self::All => return wired(host).collect(),
            Self::Triggers(triggers) => triggers.clone(),
        };
        if wanted.iter().any(|t| t.is_issue() && !t.is_pre()) {
            wanted.insert(Trigger::PostToolUse);
        }
        wanted.insert(Trigger::PreToolUse);
        if !host.moments_of(Trigger::PreToolUse).any(|m| m.context) {
            let carriers = [Trigger::PostToolUse, Trigger::PreAgentTurn];
            let carries = |t: &Trigger| host.moments_of(*t).any(|m| m.context);
            wanted.extend(carriers.into_iter().filter(carries));
        }
        wired(host)
            .filter(|m| m.trigger.is_some_and(|t| wanted.contains(&t)))
            .collect()
    }
}

fn wired(host: &'static Host) -> impl Iterator<Item = &'static Moment> {
    host.moments
        .iter()
        .filter(|m| m.wired && m.trigger.is_some())
}
