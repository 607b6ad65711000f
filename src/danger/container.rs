//! Container: whether a command runs in a container of its own, or on one that its line has started, to which nothing of this
//! machine is given.

use std::sync::Arc;

use crate::program::{self, Fact};
use crate::shell::{Analysis, Invocation, Word, is_loopback};
use crate::words::words;

/// Presets whose rules keep the files and settings of a machine; a container that was made for one command has none to lose.
const OF_THE_MACHINE: &[&str] = &["filesystem", "supply-chain", "system"];

/// Servers that are told by an option at which port they answer, each with its client: alone of all of them these clients ask
/// nobody but this machine where no host is given.
const SERVERS: &[(&str, &str)] = &[
    ("redis-server", "redis-cli"),
    ("valkey-server", "valkey-cli"),
    ("mongod", "mongosh"),
    ("mongod", "mongo"),
];

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
    let before = analysis.part(..at);
    let around = before.iter().rev().find(|run| run.program == *engine);
    around.is_some_and(|run| given_nothing(before, run).is_some() || is_in_started(before, run))
}

/// Whether a store that a client speaks with is one that its line has started: in a container, or at the port of one. A client
/// at a port must say itself that it means this machine, and nothing else may lead it elsewhere.
pub(super) fn is_of_line(analysis: &Analysis, at: usize, client: &Invocation) -> bool {
    if client.remote {
        return is_apart(analysis, at, client);
    }
    let Some(port) = client.value_of(&["-p", "-P", "--port"]) else {
        return false;
    };
    let variables = client.environment.iter().chain(&analysis.assignments);
    let mut names = variables.map(|(name, _)| name.to_ascii_uppercase());
    let leads = |name: String| {
        ["HOST", "HOSTADDR", "URL", "URI", "SERVICE"]
            .iter()
            .any(|end| name.ends_with(end))
    };
    let mut words = client.texts();
    let is_led = names.any(leads)
        || words.any(|text| {
            text.contains("://") || text.contains("host=") || text.contains("service=")
        });
    let is_here = match client.value_of(&["-h", "--host"]) {
        Some(host) => is_loopback(&host.text),
        None => SERVERS.iter().any(|(_, of)| *of == client.program),
    };
    if is_led || !is_here {
        return false;
    }
    let before = analysis.part(..at);
    before.iter().enumerate().any(|(nth, run)| {
        let is_served = |server: &str| {
            run.program == server
                && !run.remote
                && run
                    .value_of(&["-p", "--port"])
                    .is_some_and(|served| served == port)
        };
        if SERVERS
            .iter()
            .any(|(started_by, of)| *of == client.program && is_served(started_by))
        {
            return true;
        }
        let earlier = before.get(..nth).unwrap_or_default();
        let options = given_nothing(earlier, run).unwrap_or_default();
        let publishes = options.windows(2).any(|pair| {
            let [option, value] = pair else {
                return false;
            };
            matches!(option.text.as_str(), "-p" | "--publish")
                && value.text.rsplit(':').nth(1) == Some(port.text.as_str())
        });
        publishes && program::find(&run.program).is(Fact::Mounts)
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
            && given_nothing(before.get(..at).unwrap_or_default(), run).is_some()
    })
}

/// Whether a volume that a container is given holds nothing that is older than the line: it has no name, or is made here.
fn is_new_volume(before: &[Arc<Invocation>], volume: &str) -> bool {
    let Some((name, place)) = volume.split_once(':') else {
        return volume.starts_with('/');
    };
    let is_name = |text: &str| !text.is_empty() && !text.contains(['/', '.', '$', '~']);
    let makes = |i: &Arc<Invocation>| {
        let operands: Vec<&str> = i.operands().map(|word| word.text.as_str()).collect();
        !i.remote && matches!(operands.as_slice(), ["volume", "create", .., made] if *made == name)
    };
    is_name(name) && place.starts_with('/') && before.iter().any(makes)
}

/// Returns the options before the image of a `docker run` that names none but those that give the container nothing; one that
/// is not known may give it something.
fn given_nothing<'a>(before: &[Arc<Invocation>], run: &'a Invocation) -> Option<&'a [Word]> {
    let mut words = run.texts().enumerate();
    if words.find(|(_, word)| *word != "container")?.1 != "run" {
        return None;
    }
    while let Some((at, word)) = words.next() {
        let (option, value) = match word.split_once('=') {
            Some((option, value)) => (option, Some(value)),
            None => (word, None),
        };
        if words!("container-flags").contains(&option) {
            continue;
        }
        if matches!(option, "--net" | "--network") {
            if value.or_else(|| Some(words.next()?.1)) != Some("none") {
                return None;
            }
            continue;
        }
        if matches!(option, "-v" | "--volume") {
            let volume = value.or_else(|| Some(words.next()?.1))?;
            if !is_new_volume(before, volume) {
                return None;
            }
            continue;
        }
        if option == "--mount" {
            let mount = value.or_else(|| Some(words.next()?.1))?;
            let has = |name: &str| {
                mount
                    .split(',')
                    .any(|part| part.split('=').next() == Some(name))
            };
            let is_own = mount.contains("type=tmpfs") || mount.contains("type=volume");
            if !is_own || has("src") || has("source") {
                return None;
            }
            continue;
        }
        if words!("container-settings").contains(&option) {
            if value.is_none() {
                words.next()?;
            }
            continue;
        }
        return run.arguments.get(..at).filter(|_| !option.starts_with('-'));
    }
    None
}
