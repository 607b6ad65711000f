//! Places: where the hosts keep their settings, and what a command line there says.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::host::{Host, HostEvent};
use crate::place::{Roots, Scope};
use crate::shell_word::quoted_where_needed;

use super::http;

/// The name by which shared settings call the program.
pub(super) const NAME: &str = "ahp";

/// What is said where there is no program to call.
const MISSING: &str = "ahp is not installed: pipx install ahp-hooks";

/// What makes a shell block where what it called is missing or has died. Codex passes over a refusal without words.
const OR_REFUSE: &str = "&& exit 0; echo 'ahp did not let this pass' >&2; exit 2";

/// What earlier versions wrote in its place.
const OR_REFUSE_SILENTLY: &str = "|| exit 2";

/// What makes a shell let everything pass where what it was asked for is not there.
const OR_PASS: &str = "|| exit 0; ";

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

/// Makes a command line block what it was asked about where there is no `ahp`, and say so: most hosts go on where a hook cannot
/// be started, and the shell that says so ends with 127.
///
/// No braces and no `exec`, so that every shell of a person reads it, and so that a program that was killed blocks as well. One
/// that is optional lets pass where there is none, and blocks where it was killed all the same.
pub(super) fn or_refuse(
    command: String,
    program: &str,
    host_event: &HostEvent,
    is_optional: bool,
) -> String {
    if host_event.gates() && !http::is_address(&command) {
        let missing = if is_optional {
            or_pass(program)
        } else {
            or_say(program)
        };
        format!("{missing}{command} {OR_REFUSE}")
    } else {
        command
    }
}

/// Returns what lets pass in a shell where a program is missing, and stands before its call.
fn or_pass(program: &str) -> String {
    format!("{} {OR_PASS}", is_there(program))
}

/// Returns what says in a shell that a program is missing, and stands before its call.
fn or_say(program: &str) -> String {
    format!("{} || echo '{MISSING}' >&2; ", is_there(program))
}

/// Returns what asks in a shell whether there is a program, without starting one.
pub(super) fn is_there(program: &str) -> String {
    if program == NAME {
        format!("command -v {NAME} >/dev/null")
    } else {
        format!("test -x {program}")
    }
}

/// Whether a command line blocks where there is no `ahp`.
fn refuses(command: &str) -> bool {
    refuses_aloud(command) || command.trim_end().ends_with(OR_REFUSE_SILENTLY)
}

/// Whether a command line blocks with words where there is no `ahp`, or where it has died.
pub(super) fn refuses_aloud(command: &str) -> bool {
    command.trim_end().ends_with(OR_REFUSE)
}

/// Whether a command line lets everything pass where there is no `ahp`.
fn is_optional(command: &str) -> bool {
    behind(command.trim(), OR_PASS, or_pass).is_some()
}

/// Returns the call of a command line, without what speaks, refuses or lets pass where there is no `ahp`.
fn bare(command: &str) -> &str {
    let line = command.trim();
    let mut refusals = [OR_REFUSE, OR_REFUSE_SILENTLY].into_iter();
    let line = refusals
        .find_map(|end| line.strip_suffix(end))
        .unwrap_or(line);
    let call = behind(line, " >&2; ", or_say).or_else(|| behind(line, OR_PASS, or_pass));
    call.unwrap_or(line)
}

/// Returns the call behind what an installation writes before it, which ends so.
fn behind<'l>(line: &'l str, end: &str, before: fn(&str) -> String) -> Option<&'l str> {
    let (_, call) = line.split_once(end)?;
    let (program, _) = call.split_once(" hook --host ")?;
    line.strip_prefix(&before(program))
}

/// Returns the program that a command line calls, and by which words a shell would look for the home in it.
pub(super) fn called(command: &str) -> Option<(String, &'static [&'static str])> {
    let (program, _) = bare(command).split_once(" hook --host ")?;
    let within = |quote: char| program.strip_prefix(quote)?.strip_suffix(quote);
    Some(match (within('\''), within('"')) {
        (Some(name), _) => (name.replace(r"'\''", "'"), &[]),
        (None, Some(name)) => (name.to_owned(), &["$HOME/"]),
        (None, None) => (program.to_owned(), &["~/", "$HOME/"]),
    })
}

/// Returns a path as one word of a command line.
pub(super) fn quoted(path: &Path) -> String {
    quoted_where_needed(&path.to_string_lossy())
}

/// Whether a command line, or an address that is asked, is one of ours for a host, wherever the program lay when it was written and whatever
/// its name was: by hand one writes `ahp hook --host NAME`, an installation all three options.
pub fn is_ours(command: &str, host: &str) -> bool {
    if http::is_address(command) {
        return http::is_ours(command, host);
    }
    let Some((program, options)) = command.split_once(&format!(" hook --host {host} ")) else {
        return command.ends_with(&format!("ahp hook --host {host}"));
    };
    program.trim_end_matches(['\'', '"']).ends_with("ahp")
        || (options.contains("--event ") && options.contains("--timeout "))
}

/// Whether nothing stands in a command line of ours but the call, and the refusal where there is no `ahp`: what stands beside it
/// may keep the answer from the host.
pub(super) fn is_alone(command: &str) -> bool {
    let Some((program, options)) = bare(command).split_once(" hook --host ") else {
        return false;
    };
    let plain = |text: &str, further: &str| {
        let is_plain = |c: char| c.is_alphanumeric() || "_-./+~".contains(c) || further.contains(c);
        text.chars().all(is_plain)
    };
    let name = program.trim_matches(['\'', '"']);
    let is_quoted = |quote: char| program == format!("{quote}{name}{quote}");
    let path = name.strip_prefix("$HOME").unwrap_or(name);
    let is_one_word = if is_quoted('\'') {
        // Within quotes no quote stands but one that is written out.
        !name.replace(r"'\''", "").contains(['\'', '\n'])
    } else {
        plain(path, if is_quoted('"') { " " } else { "" }) && (program == name || is_quoted('"'))
    };
    let file = name.rsplit('/').next().unwrap_or_default();
    is_one_word && file.contains("ahp") && plain(options, " =")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_alone_where_nothing_takes_its_answer_away() {
        let call = "hook --host codex --event Stop --timeout 54";
        for (line, alone) in [
            ("/opt/ahp CALL", true),
            ("'/my tools/ahp' CALL", true),
            ("'/it'\\''s/ahp' CALL", true),
            ("\"$HOME/bin/ahp\" CALL", true),
            ("~/bin/ahp-1.2 CALL", true),
            ("ahp CALL || exit 2", true),
            (
                "ahp CALL && exit 0; echo 'ahp did not let this pass' >&2; exit 2",
                true,
            ),
            (
                "true; ahp CALL && exit 0; echo 'ahp did not let this pass' >&2; exit 2",
                false,
            ),
            ("ahp CALL && exit 0; echo 'no' >&2; exit 2", false),
            (
                "command -v ahp >/dev/null || exit 0; ahp CALL && exit 0; echo 'ahp did not let this pass' >&2; exit 2",
                true,
            ),
            (
                "command -v ahp >/dev/null || echo 'ahp is not installed: pipx install ahp-hooks' >&2; ahp CALL || exit 2",
                true,
            ),
            (
                "test -x '/a b/ahp' || echo 'ahp is not installed: pipx install ahp-hooks' >&2; '/a b/ahp' CALL || exit 2",
                true,
            ),
            (
                "test -x /a/ahp || echo '' >&2; /b/ahp CALL || exit 2",
                false,
            ),
            (
                "command -v ahp >/dev/null || exit 0; ahp CALL || exit 2",
                true,
            ),
            (
                "command -v sh >/dev/null || exit 0; ahp CALL || exit 2",
                false,
            ),
            ("test -x /a || exit 0; ahp CALL || exit 2", false),
            ("exit 0 >&2; ahp CALL || exit 2", false),
            ("true # ahp CALL", false),
            ("false && ahp CALL", false),
            ("ahp CALL >/dev/null; exit 0", false),
            ("ahp CALL || true", false),
            ("ahp CALL || exit 0", false),
            ("ahp CALL\nexit 0", false),
            ("ahp CALL | cat", false),
            ("ahp CALL &", false),
            ("$(false)ahp CALL", false),
            ("'true' 'ahp' CALL", false),
            ("true CALL", false),
        ] {
            assert_eq!(is_alone(&line.replace("CALL", call)), alone, "{line}");
        }
    }

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
            (
                "ahp hook --host codex --event Stop --timeout 54 || exit 2",
                true,
            ),
            ("ahp hook --host codex --event Stop", true),
            ("ahp hook --host codex-next --event Stop --timeout 5", false),
            ("other hook --host codex -v", false),
            ("./check.sh", false),
            (
                "http://127.0.0.1:8371/hook/codex?event=Stop&timeout=54",
                true,
            ),
            ("http://localhost:8371/hook/codex", true),
            ("http://[::1]:8371/hook/codex?event=Stop", true),
            ("http://127.0.0.1:8371/hook/codex-next", false),
            ("http://127.0.0.1:8371/other", false),
            (
                "http://example.com:8371/hook/codex?event=Stop&timeout=54",
                false,
            ),
            ("https://127.0.0.1:8371/hook/codex", false),
        ] {
            assert_eq!(is_ours(command, "codex"), ours, "{command}");
        }
    }
}
