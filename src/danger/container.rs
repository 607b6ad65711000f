//! Container: whether a command runs in a container of its own, or on one that its line has started, to which nothing of this
//! machine is given.

use std::sync::Arc;

use super::words::words;
use crate::program;
use crate::program::Fact;
use crate::shell::{Analysis, Invocation, is_loopback};

/// Presets whose rules keep the files and settings of a machine; a container that was made for one command has none to lose.
const OF_THE_MACHINE: &[&str] = &["filesystem", "system"];

/// Whether the rules of a preset say nothing of a command, as all that it can change goes with its container.
pub(super) fn excuses(
    preset: &str,
    analysis: &Analysis,
    at: usize,
    invocation: &Invocation,
) -> bool {
    invocation.remote && OF_THE_MACHINE.contains(&preset) && is_apart(analysis, at, invocation)
}

fn is_apart(analysis: &Analysis, at: usize, invocation: &Invocation) -> bool {
    // A shell stays where it is; `ssh` inside leads to another machine.
    let mut wrappers = invocation.wrappers.iter().rev();
    let engine = wrappers.find(|wrapper| !program::find(wrapper).is(Fact::Shell));
    let Some(engine) = engine.filter(|engine| program::find(engine).is(Fact::Mounts)) else {
        return false;
    };
    let before = analysis.invocations.get(..at).unwrap_or_default();
    let around = before.iter().rev().find(|run| run.program == *engine);
    around.is_some_and(|run| gives_nothing(run) || is_in_started(before, run))
}

/// Whether a store that a client speaks with is one that its line has started: in a container, or at the port of one.
pub(super) fn is_of_line(analysis: &Analysis, at: usize, client: &Invocation) -> bool {
    if client.remote {
        return is_apart(analysis, at, client);
    }
    let host = client.value_of(&["-h", "--host"]);
    let is_here = host.is_none_or(|host| is_loopback(&host.text));
    let Some(port) = client.value_of(&["-p", "-P", "--port"]).filter(|_| is_here) else {
        return false;
    };
    let before = analysis.invocations.get(..at).unwrap_or_default();
    before.iter().any(|run| {
        let mut options = run.arguments.windows(2);
        let publishes = options.any(|pair| {
            let [option, value] = pair else {
                return false;
            };
            matches!(option.text.as_str(), "-p" | "--publish")
                && value.text.rsplit(':').nth(1) == Some(port.text.as_str())
        });
        publishes && program::find(&run.program).is(Fact::Mounts) && gives_nothing(run)
    })
}

/// Whether `docker exec` names a container that this line has started, to which it gives nothing.
fn is_in_started(before: &[Arc<Invocation>], exec: &Invocation) -> bool {
    let mut words = exec.arguments.iter();
    if words
        .find(|word| word.text != "container")
        .map(|word| word.text.as_str())
        != Some("exec")
    {
        return false;
    }
    let target = loop {
        let Some(word) = words.next() else {
            return false;
        };
        if !word.is_option() {
            break word;
        }
        if words!("container-settings").contains(&word.text.as_str()) {
            words.next();
        }
    };
    before.iter().enumerate().any(|(at, run)| {
        let is_named = || {
            run.value_of(&["--name"])
                .is_some_and(|name| name.text == target.text)
        };
        run.program == exec.program
            && (target.made_by.contains(&at) || is_named())
            && gives_nothing(run)
    })
}

/// Whether `docker run` names none but options that give the container nothing; one that is not known may give it something.
fn gives_nothing(run: &Invocation) -> bool {
    let mut words = run.arguments.iter().map(|word| word.text.as_str());
    if words.find(|word| *word != "container") != Some("run") {
        return false;
    }
    while let Some(word) = words.next() {
        let (option, value) = match word.split_once('=') {
            Some((option, value)) => (option, Some(value)),
            None => (word, None),
        };
        if words!("container-flags").contains(&option) {
            continue;
        }
        if words!("container-settings").contains(&option) {
            if value.or_else(|| words.next()).is_none() {
                return false;
            }
            continue;
        }
        return !option.starts_with('-');
    }
    false
}
