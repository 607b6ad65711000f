//! Places: where the hosts keep their settings, where the program lies, and how long a host waits for it.

use std::path::PathBuf;
use std::time::Duration;

use crate::host::{Host, HostEvent};
use crate::place::{Roots, Scope};

use super::line::{NAME, called, is_optional, quoted, refuses};

/// Where things lie on this machine.
#[derive(Clone, Debug)]
pub struct Places {
    /// The directories below which the hosts keep their settings.
    pub roots: Roots,
    /// The absolute path of the `ahp` program that hosts shall call.
    pub program: PathBuf,
    /// Where the search path leads by the name `ahp`.
    pub by_name: ByName,
}

/// Where the search path leads by the name `ahp`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ByName {
    /// To this program, or to the launcher of the npm package that brought it.
    This,
    /// To another program.
    Other(PathBuf),
    /// Nowhere.
    Nowhere,
}

impl Places {
    /// Whether a command line calls this very program by a path, or by its name the one that the search path leads to.
    pub(super) fn calls_us(&self, command: &str) -> bool {
        let Some((name, homes)) = called(command) else {
            return false;
        };
        if name == NAME {
            return match self.by_name {
                ByName::This => true,
                ByName::Other(_) => false,
                ByName::Nowhere => refuses(command) && !is_optional(command),
            };
        }
        let below_home = homes.iter().find_map(|home| name.strip_prefix(home));
        let path = match (below_home, self.roots.home.as_deref()) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => PathBuf::from(&name),
        };
        // In which folder a host would look for a relative path cannot be told.
        let found = path.canonicalize().ok().filter(|_| path.is_absolute());
        found.is_some() && found == self.program.canonicalize().ok()
    }

    /// Returns how the settings of a scope call `ahp`: by its path, but by its name in what a project shares with other
    /// machines, whatever that name leads to here.
    pub(super) fn program(&self, scope: Scope) -> String {
        if scope == Scope::Project {
            NAME.to_owned()
        } else {
            quoted(&self.program)
        }
    }
}

/// How long a host shall wait for a hook, and how long `ahp` takes at most: it answers before it is cut off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// What is written as the host's own limit.
    pub host: Duration,
}

impl Patience {
    /// The least that is written: a hook that is cut off lets everything pass in most hosts.
    const LEAST: Duration = Duration::from_mins(1);
    /// The longest: the most that every host takes.
    pub(super) const LONGEST: Self = Self {
        host: Duration::from_mins(10),
    };

    /// Returns the patience that bindings of so long a timeout need.
    pub fn for_bindings(longest: Duration) -> Self {
        Self {
            // Nine tenths of it are ours.
            host: (longest * 10 / 9 + Duration::from_secs(5))
                .clamp(Self::LEAST, Self::LONGEST.host),
        }
    }

    /// Returns the host's limit at an event in whole seconds.
    pub fn seconds(self, host_event: &HostEvent) -> u64 {
        let most = host_event.most.unwrap_or(self.host);
        self.host.min(most).as_secs()
    }

    /// Returns the deadline of `ahp` itself in seconds: nine tenths of the host's limit, and a second less at least.
    pub fn own(self, host_event: &HostEvent) -> u64 {
        let limit = self.seconds(host_event);
        (limit * 9 / 10).min(limit.saturating_sub(1)).max(1)
    }
}

/// Returns the command line that a host shall run at an event; `program` is how `ahp` is called.
pub fn command(program: &str, host: &Host, host_event: &HostEvent, patience: Patience) -> String {
    format!(
        "{program} hook --host {} --event {} --timeout {}",
        host.name,
        host_event.name(),
        patience.own(host_event)
    )
}

#[cfg(test)]
mod tests {
    use super::super::line::{OR_GO_ON, OR_REFUSE, REFUSED_ALOUD, REFUSED_SILENTLY};
    use super::*;

    #[test]
    fn a_call_leads_to_this_program_or_is_a_strangers() {
        let dir = tempfile::tempdir().unwrap();
        let program = dir.path().join("it's/ahp");
        std::fs::create_dir(dir.path().join("it's")).unwrap();
        std::fs::write(&program, "").unwrap();
        let places = |by_name| Places {
            roots: Roots::new(dir.path().join("project"), Some(dir.path().join("it's"))),
            program: program.clone(),
            by_name,
        };
        let by_path = quoted(&program);
        let (this, other) = (ByName::This, ByName::Other("/bin/ahp".into()));
        let nowhere = ByName::Nowhere;
        for (call, by_name, end, leads) in [
            (&*by_path, &nowhere, "", true),
            ("ahp", &this, "", true),
            ("ahp", &other, OR_REFUSE, false),
            // It blocks, and nobody else is asked.
            ("ahp", &nowhere, OR_REFUSE, true),
            ("ahp", &nowhere, REFUSED_ALOUD, true),
            ("ahp", &nowhere, REFUSED_SILENTLY, true),
            ("ahp", &nowhere, OR_GO_ON, false),
            ("ahp", &nowhere, "", false),
            ("'ahp'", &nowhere, "", false),
            ("~/ahp", &nowhere, "", true),
            ("$HOME/ahp", &nowhere, "", true),
            ("\"$HOME/ahp\"", &nowhere, "", true),
            ("\"~/ahp\"", &nowhere, "", false),
            ("'~/ahp'", &nowhere, "", false),
            ("'$HOME/ahp'", &nowhere, "", false),
            ("/nowhere/ahp", &this, OR_REFUSE, false),
            ("./ahp", &this, "", false),
        ] {
            let command = format!("{call} hook --host codex --event Stop --timeout 54 {end}");
            let leads_to_us = places(by_name.clone()).calls_us(&command);
            assert_eq!(leads_to_us, leads, "{command}");
        }
    }
}
