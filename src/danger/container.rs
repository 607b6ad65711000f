//! Container: whether a command runs in a container of its own, to which nothing of this machine is given.

use super::words::words;
use crate::program;
use crate::program::Fact;
use crate::shell::{Analysis, Invocation};

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
    let run = before.iter().rev().find(|run| run.program == *engine);
    run.is_some_and(|run| gives_nothing(run))
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
