//! Line: the command line by which a host calls `ahp`: what stands around the call, and whose it is.

use std::path::Path;

use crate::host::HostEvent;
use crate::shell_word::quoted_where_needed;

use super::http;

/// The name by which shared settings call the program.
pub(super) const NAME: &str = "ahp";

/// What makes a shell block where what it called is missing or has died; what ends with 2 has said why itself. Codex passes over
/// a refusal without words.
///
/// `eval`, for Codex runs hooks by the shell of the person, and `$?` alone keeps fish from reading any of the line.
pub(super) const OR_REFUSE: &str = "&& exit 0; eval 'test $? = 2' || echo 'ahp did not answer, so this is refused; to install it: pipx install ahp-hooks' >&2; exit 2";

/// What lets a host go on there, at events that gate nothing.
pub(super) const OR_GO_ON: &str = "&& exit 0; eval 'test $? = 2' && exit 2; echo 'ahp did not answer, so nothing was judged; to install it: pipx install ahp-hooks' >&2; exit 0";

/// What earlier versions wrote in place of the refusal, and before it.
pub(super) const REFUSED_ALOUD: &str = "&& exit 0; echo 'ahp did not let this pass' >&2; exit 2";
pub(super) const REFUSED_SILENTLY: &str = "|| exit 2";
const SAID: &str = "|| echo 'ahp is not installed: pipx install ahp-hooks' >&2; ";

/// What makes a shell let everything pass where what it was asked for is not there.
const OR_PASS: &str = "|| exit 0; ";

/// Says in a command line what a host is answered where there is no `ahp`, or where it has died: most hosts go on where a hook
/// cannot be started, and some refuse whatever a hook failed at. What the event gates is refused, and anything else goes on.
///
/// No braces and no `exec`, so that every shell of a person reads it, and so that a program that was killed blocks as well. One
/// that is optional says nothing and lets pass where there is none, and is like any other where it was killed.
pub(super) fn or_say(
    command: &str,
    program: &str,
    host_event: &HostEvent,
    is_optional: bool,
) -> String {
    if http::is_address(command) {
        return command.to_owned();
    }
    let end = if host_event.gates() {
        OR_REFUSE
    } else {
        OR_GO_ON
    };
    let before = if is_optional {
        before(program, OR_PASS)
    } else {
        String::new()
    };
    format!("{before}{command} {end}")
}

/// Returns what stands in a shell before the call of a program: whether there is one, and what is done where there is none.
fn before(program: &str, otherwise: &str) -> String {
    format!("{} {otherwise}", is_there(program))
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
pub(super) fn refuses(command: &str) -> bool {
    refuses_aloud(command) || command.trim_end().ends_with(REFUSED_SILENTLY)
}

/// Whether a command line blocks with words where there is no `ahp`, or where it has died.
pub(super) fn refuses_aloud(command: &str) -> bool {
    let line = command.trim_end();
    line.ends_with(OR_REFUSE) || line.ends_with(REFUSED_ALOUD)
}

/// Whether a command line lets everything pass where there is no `ahp`.
pub(super) fn is_optional(command: &str) -> bool {
    behind(command.trim(), OR_PASS).is_some()
}

/// Returns the call of a command line, without what speaks, refuses or lets pass where there is no `ahp`.
fn bare(command: &str) -> &str {
    let line = command.trim();
    let ends = [OR_REFUSE, OR_GO_ON, REFUSED_ALOUD, REFUSED_SILENTLY];
    let call = ends.into_iter().find_map(|end| line.strip_suffix(end));
    let line = call.unwrap_or(line);
    let mut befores = [SAID, OR_PASS].into_iter();
    befores
        .find_map(|otherwise| behind(line, otherwise))
        .unwrap_or(line)
}

/// Returns the call behind what an installation writes before it.
fn behind<'l>(line: &'l str, otherwise: &str) -> Option<&'l str> {
    let (_, call) = line.split_once(otherwise)?;
    let (program, _) = call.split_once(" hook --host ")?;
    line.strip_prefix(&before(program, otherwise))
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
            ("ahp CALL REFUSE", true),
            ("ahp CALL GO_ON", true),
            ("command -v ahp >/dev/null || exit 0; ahp CALL GO_ON", true),
            ("true; ahp CALL REFUSE", false),
            ("ahp CALL REFUSE || exit 0", false),
            ("ahp CALL && exit 0; eval 'test $? = 2' || exit 0", false),
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
            let whole = line.replace("CALL", call).replace("REFUSE", OR_REFUSE);
            let whole = whole.replace("GO_ON", OR_GO_ON);
            assert_eq!(is_alone(&whole), alone, "{line}");
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
