//! Scripts: hosts that run executables or code of their own in place of a command in a settings file.

use crate::host::HostEvent;
use crate::shell_word::quoted;

use super::Wire;
use super::line::is_there;
use super::places::Patience;

/// The line by which a file of ours is known.
const MARK: &str = "written by `ahp install";

/// Whether a file was written by an installation.
pub(super) fn is_ours(text: &str) -> bool {
    text.lines()
        .take(3)
        .any(|line| line.to_lowercase().contains(MARK))
}

/// How an executable gives a refusal where there is no `ahp`.
const REFUSES: &str = "\n  printf '%s\\n' ";

/// Returns an executable that does nothing but call `ahp`; where there is none, it gives the refusal, or says so and goes on.
pub(super) fn executable(
    host: &str,
    command: &str,
    program: &str,
    refusal: Option<&str>,
) -> String {
    let missing = refusal.map_or_else(
        || "\n  echo 'ahp is not installed: pipx install ahp-hooks' >&2".to_owned(),
        |refusal| format!("{REFUSES}{}", quoted(refusal)),
    );
    let is_there = is_there(program);
    format!(
        "#!/bin/sh\n# {MARK} {host}`; `ahp uninstall {host}` takes it away\n{is_there} || {{{missing}\n  exit 0\n}}\nexec {command}\n"
    )
}

/// Returns the wire of an executable of ours.
pub(super) fn wire(event: &str, text: &str) -> Option<Wire> {
    let command = text.lines().find_map(|line| line.strip_prefix("exec "))?;
    is_ours(text).then(|| Wire {
        closes: text.contains(REFUSES),
        ..Wire::new(event, command)
    })
}

/// Returns OpenCode's plugin for some events.
pub(super) fn opencode_plugin(
    program: &str,
    host_events: &[&HostEvent],
    patience: Patience,
) -> String {
    let limit = patience.host.as_secs();
    let own = limit * 9 / 10;
    let command = format!("{program} hook --host opencode --timeout {own} --event");
    let events: Vec<&str> = host_events.iter().map(|m| m.name()).collect();
    let json = |value: serde_json::Value| value.to_string();
    include_str!("opencode_plugin.js")
        .replace("__COMMAND__", &json(command.into()))
        .replace("__EVENTS__", &json(events.into()))
        .replace("__LIMIT__", &(limit * 1000).to_string())
}

/// Returns the wires of OpenCode's plugin.
pub(super) fn plugin_wires(text: &str) -> Vec<Wire> {
    let read = |head: &str| -> Option<serde_json::Value> {
        let line = text.lines().find_map(|line| line.strip_prefix(head))?;
        serde_json::from_str(line.trim_end_matches(')')).ok()
    };
    let command = read("const command = ");
    let events = read("const events = new Set(");
    let (Some(command), Some(events)) = (
        command.as_ref().and_then(serde_json::Value::as_str),
        events.as_ref().and_then(serde_json::Value::as_array),
    ) else {
        return Vec::new();
    };
    events
        .iter()
        .filter_map(serde_json::Value::as_str)
        .map(|event| Wire {
            // It blocks whatever it gets no answer for.
            closes: true,
            ..Wire::new(event, &format!("{command} {event}"))
        })
        .collect()
}

/// Returns one of git's hooks: `ahp` first, then the hook that was there before.
pub(super) fn git_hook(name: &str, command: &str) -> String {
    // What git says on stdin has to reach both.
    let (input, give) = if name == "pre-push" {
        ("input=$(cat)\n", "printf '%s\\n' \"$input\" | ")
    } else {
        ("", "")
    };
    format!(
        "#!/bin/sh\n# {MARK} git`; `ahp uninstall git` takes it away\n{input}{give}{command} -- \"$@\" || exit $?\n\
         before=\"$0.before-ahp\"\nif [ -x \"$before\" ]; then\n  {give}\"$before\" \"$@\"\nfi\n"
    )
}

/// Returns the command of one of git's hooks of ours.
pub(super) fn git_wire(name: &str, text: &str) -> Option<Wire> {
    let line = text
        .lines()
        .find(|line| line.contains(" hook --host git "))?;
    let line = line.rsplit(" | ").next()?;
    let (command, _) = line.split_once(" -- ")?;
    is_ours(text).then(|| Wire {
        // Git stops at every exit code but 0.
        closes: true,
        ..Wire::new(name, command)
    })
}

/// Returns the `monoco` that stands before the real one in the search path.
pub(super) fn monoco_shim(program: &str) -> String {
    format!(
        "#!/bin/sh\n# {MARK} monoco`; `ahp uninstall monoco` takes it away\n\
         # Runs the next `monoco` of the search path between the hooks of the issue that it acts upon.\n\
         here=$(CDPATH='' cd -- \"$(dirname -- \"$0\")\" && pwd -P)\n\
         real=\n\
         IFS=:\n\
         for dir in $PATH; do\n\
         \x20 [ -n \"$dir\" ] && [ -x \"$dir/monoco\" ] || continue\n\
         \x20 [ \"$(CDPATH='' cd -- \"$dir\" && pwd -P)\" = \"$here\" ] && continue\n\
         \x20 real=$dir/monoco\n\
         \x20 break\n\
         done\n\
         unset IFS\n\
         if [ -z \"$real\" ]; then\n\
         \x20 echo 'monoco: only the shim of ahp is in the search path; install monoco-toolkit' >&2\n\
         \x20 exit 127\n\
         fi\n\
         exec {program} exec -- \"$real\" \"$@\"\n"
    )
}
