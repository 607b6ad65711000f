//! Install: wires hosts to `ahp` in their own settings files, and takes the wires out again.

mod change;
mod disarming;
mod http;
mod installer;
mod json_hooks;
mod kept_hooks;
mod line;
mod places;
mod plugin;
mod scripts;
mod toml_hooks;
mod wire;

pub use self::change::{Change, backup_of};
pub use self::disarming::{Disarming, code_in};
pub use self::installer::Installer;
pub use self::kept_hooks::KeptHooks;
pub use self::line::is_ours;
pub use self::places::{ByName, Patience, Places, command};
pub use self::wire::Wire;

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use crate::event::Trigger;
use crate::host::{Host, HostEvent};
use crate::place::Scope;

/// The longest file of settings that is read, in bytes.
const MAX_SETTINGS: u64 = 64 << 20;

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
    /// A fault of a settings file.
    #[error("`{path}`: {fault}")]
    In {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        fault: Box<Self>,
    },
    /// A settings file is not JSON.
    #[error("`{path}` is not JSON; line {line}, column {column}: {fault}. Fix the file first")]
    Json {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// Counted from 1, in characters.
        column: usize,
        /// What is wrong there.
        fault: String,
    },
    /// A settings file is not TOML.
    #[error("it is not TOML: {0}")]
    Toml(String),
    /// The place where hooks stand is something else.
    #[error("{place} is not {wanted}: fix it first")]
    Shape {
        /// The place in the settings file.
        place: String,
        /// What it has to be.
        wanted: &'static str,
    },
    /// `hooks` is written inline.
    #[error("`hooks` is not written as `[[hooks]]` tables: rewrite it so; it was not changed")]
    InlineHooks,
    /// A file of somebody else's is in the way.
    #[error(
        "`{0}` is there already and is not ours: move it away, or call `ahp` from it; it was not changed"
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
    /// The host cannot be told to run no other hooks.
    #[error("{0} has no setting by which only the hooks of the machine run; leave `--only` out")]
    NotOnly(&'static str),
    /// Nobody knows where the person's settings lie.
    #[error(
        "`HOME` is not set to an absolute path, so it is not known where the hosts keep their settings"
    )]
    NoHome,
    /// A host whose command would be dropped.
    #[error("{0} drops a hooks file with `://` in a command; the path of `ahp` has it")]
    Address(&'static str),
    /// A host that lets everything run where no server answers.
    #[error("{0} lets every call run where no server answers: it is not wired over HTTP")]
    OpenOverHttp(&'static str),
    /// Settings that others read too, whose judge listens elsewhere.
    #[error(
        "{0} settings are read by others, who have judges of their own: HTTP is wired with --user or --local"
    )]
    SharedHttp(Scope),
    /// An address that other machines reach.
    #[error("`{0}` is reached by other machines: expected `127.0.0.1:PORT` or `[::1]:PORT`")]
    NotLoopback(SocketAddr),
    /// A host that starts its hooks by no shell.
    #[error("the hooks of {0} cannot be optional: it starts them without a shell")]
    NotOptional(&'static str),
    /// Settings of one machine, whose `ahp` is there.
    #[error(
        "only the hooks of a project can be optional, not those of {0} settings: the project is shared with machines that have no `ahp`"
    )]
    OptionalElsewhere(Scope),
    /// There is no repository.
    #[error("`{0}` is in no git repository; `git init` makes one")]
    NoRepository(PathBuf),
}

impl InstallError {
    /// Says of which file it is, where it does not say so itself.
    fn in_file(self, path: &Path) -> Self {
        match self {
            Self::Toml(_) | Self::Shape { .. } | Self::InlineHooks => Self::In {
                path: path.to_owned(),
                fault: Box::new(self),
            },
            other => other,
        }
    }
}

/// Which of a host's events are wired.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Needs {
    /// All that mean anything.
    All,
    /// Those that a policy asks for, and what belongs to them.
    Policy {
        /// The triggers that it has to be told of.
        triggers: BTreeSet<Trigger>,
        /// Those of which it judges the tasks of a host as well.
        tasks: BTreeSet<Trigger>,
        /// Whether it may judge a call otherwise by the time that the person is asked about it.
        asks_again: bool,
        /// What servers of tools ask the person for, and it judges.
        elicited: BTreeSet<&'static str>,
    },
}

impl Needs {
    /// What belongs to every policy.
    pub fn none() -> Self {
        Self::Policy {
            triggers: BTreeSet::new(),
            tasks: BTreeSet::new(),
            asks_again: false,
            elicited: BTreeSet::new(),
        }
    }

    /// Returns the events of a host that have to be wired.
    ///
    /// Before a tool is always one of them: there the policy's own files are protected, and there
    /// an issue command that an agent runs in its shell is seen. Where no words can be said then, the events that
    /// carry them later belong to it.
    pub fn host_events(&self, host: &'static Host) -> Vec<&'static HostEvent> {
        let Self::Policy {
            triggers,
            tasks,
            asks_again,
            elicited,
        } = self
        else {
            return wired(host).collect();
        };
        let mut wanted = triggers.clone();
        if wanted.iter().any(|t| t.is_issue() && !t.is_pre()) {
            wanted.insert(Trigger::PostToolUse);
        }
        let derived = host
            .after_stop()
            .filter_map(|host_event| host_event.trigger);
        if derived.into_iter().any(|trigger| wanted.contains(&trigger)) {
            wanted.insert(Trigger::PreAgentTurnStop);
        }
        wanted.insert(Trigger::PreToolUse);
        if !host.events_of(Trigger::PreToolUse).any(|m| m.context) {
            let carriers = [Trigger::PostToolUse, Trigger::PreAgentTurn];
            let carries = |t: &Trigger| host.events_of(*t).any(|m| m.context);
            wanted.extend(carriers.into_iter().filter(carries));
        }
        wired(host)
            .filter(|m| match m.elicits {
                Some(tool) => elicited.contains(tool),
                // The call itself is told of before.
                None => m.is_settings || !m.is_permission || *asks_again,
            })
            .filter(|m| {
                let wanted = if m.is_task { tasks } else { &wanted };
                m.trigger.is_some_and(|t| wanted.contains(&t))
            })
            .collect()
    }
}

fn wired(host: &'static Host) -> impl Iterator<Item = &'static HostEvent> {
    host.events
        .iter()
        .filter(|m| m.wired && m.trigger.is_some())
}
