//! Places: where the hosts keep their settings, and what a command line there says.

use std::fmt;
use std::path::Path;
use std::path::PathBuf;
use std::time::Duration;

use crate::host::Host;
use crate::host::Moment;

/// Whose settings are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// One person's, for all projects.
    User,
    /// A project's, for everybody who works on it.
    Project,
    /// A project's, for one person: not committed.
    Local,
}

impl Scope {
    /// Every scope.
    pub const ALL: [Self; 3] = [Self::User, Self::Project, Self::Local];

    /// Returns the name as it is written.
    pub const fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
            Self::Local => "local",
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Where things lie on this machine.
#[derive(Clone, Debug)]
pub struct Places {
    /// The person's home.
    pub home: PathBuf,
    /// Where the person's programs keep their configuration: `$XDG_CONFIG_HOME`, else `~/.config`.
    pub config_home: PathBuf,
    /// The person's own `ahp` directory: `$AHP_HOME`, else `~/.ahp`.
    pub ahp_home: PathBuf,
    /// The root of the project.
    pub project: PathBuf,
    /// `$CODEX_HOME`, where it is set.
    pub codex_home: Option<PathBuf>,
    /// `$COPILOT_HOME`, where it is set.
    pub copilot_home: Option<PathBuf>,
    /// The absolute path of the `ahp` program that hosts shall call.
    pub program: PathBuf,
}

impl Places {
    /// Returns Codex's own directory.
    pub fn codex(&self) -> PathBuf {
        self.codex_home
            .clone()
            .unwrap_or_else(|| self.home.join(".codex"))
    }

    /// Returns Copilot's own directory.
    pub fn copilot(&self) -> PathBuf {
        self.copilot_home
            .clone()
            .unwrap_or_else(|| self.home.join(".copilot"))
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
    /// The most that every host takes.
    const MOST: Duration = Duration::from_mins(10);

    /// Returns the patience that bindings of so long a timeout need.
    pub fn for_bindings(longest: Duration) -> Self {
        Self {
            host: (longest + Duration::from_secs(5)).clamp(Self::LEAST, Self::MOST),
        }
    }

    /// Returns the host's limit at a moment: some clamp their last one.
    fn of(self, host: &Host, moment: &Moment) -> Duration {
        let last = moment.trigger == Some(crate::event::Trigger::PostSession);
        match host.name {
            "codex" if last => Duration::from_secs(3),
            "claude-code" if last => self.host.min(Duration::from_mins(1)),
            _ => self.host,
        }
    }

    /// Returns the host's limit in whole seconds.
    pub fn seconds(self, host: &Host, moment: &Moment) -> u64 {
        self.of(host, moment).as_secs()
    }

    /// Returns the deadline of `ahp` itself in seconds: nine tenths of the host's limit, and a second less at least.
    fn own(self, host: &Host, moment: &Moment) -> u64 {
        let limit = self.seconds(host, moment);
        (limit * 9 / 10).min(limit.saturating_sub(1)).max(1)
    }
}

/// Returns the command line that a host shall run at a moment.
pub fn command(places: &Places, host: &Host, moment: &Moment, patience: Patience) -> String {
    format!(
        "{} hook --host {} --event {} --timeout {}",
        quoted(&places.program),
        host.name,
        moment.name(),
        patience.own(host, moment)
    )
}

/// Quotes a path for a shell where it needs it.
pub(super) fn quoted(path: &Path) -> String {
    let text = path.to_string_lossy();
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./+".contains(c);
    if text.chars().all(plain) {
        text.into_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

/// Whether a command line is one of ours for a host, wherever the program lay when it was written and whatever
/// its name was: by hand one writes `ahp hook --host NAME`, an installation all three options.
pub fn is_ours(command: &str, host: &str) -> bool {
    let Some((program, options)) = command.split_once(&format!(" hook --host {host} ")) else {
        return command.ends_with(&format!("ahp hook --host {host}"));
    };
    program.trim_end_matches(['\'', '"']).ends_with("ahp")
        || (options.contains("--event ") && options.contains("--timeout "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_ours_by_what_it_asks_for() {
        for (command, ours) in [
            ("/opt/ahp hook --host codex --event Stop --timeout 54", true),
            (
                "'/my tools/ahp' hook --host codex --event Stop --timeout 54",
                true,
            ),
            (
                "/opt/ahp-1.2 hook --host codex --timeout 54 --event Stop",
                true,
            ),
            ("ahp hook --host codex", true),
            ("ahp hook --host codex --event Stop", true),
            ("ahp hook --host codex-next --event Stop --timeout 5", false),
            ("other hook --host codex -v", false),
            ("./check.sh", false),
        ] {
            assert_eq!(is_ours(command, "codex"), ours, "{command}");
        }
    }
}
