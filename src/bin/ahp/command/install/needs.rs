//! What the policy in force needs of hosts: which events, and how much time.

use ahp::config::Locations;
use ahp::engine::{Engine, State};
use ahp::hook_md::{FrontMatter, Hooks};
use ahp::host::HOSTS;
use ahp::install::{Needs, Patience};
use ahp::oracle::external::command::survey;

use crate::project;

pub(crate) fn needs(engine: &Engine) -> Needs {
    let state = engine.state();
    // Of a broken policy nobody knows what it needs.
    if !state.faults().is_empty() {
        return Needs::All;
    }
    let policy = state.policy();
    let elicited = HOSTS.iter().flat_map(|host| host.events);
    let elicited = elicited.filter_map(|event| event.elicits);
    Needs::Policy {
        triggers: policy.wanted(),
        tasks: policy.wanted_for_tasks(),
        asks_again: policy.wants_to_be_asked_again(state.lookup()),
        elicited: elicited
            .filter(|tool| policy.wants_elicited(tool, state.lookup()))
            .collect(),
    }
}

/// Returns what the policy in force needs to be told for certain: of a broken one, what every policy does.
pub(crate) fn surely(engine: &Engine) -> Needs {
    let is_sound = engine.state().faults().is_empty();
    if is_sound {
        needs(engine)
    } else {
        Needs::none()
    }
}

/// Returns how long hosts must wait for the policy in force.
pub(crate) fn patience(engine: &Engine, locations: &Locations) -> Patience {
    let state = engine.state();
    let default = state.policy().settings().timeout;
    let files = project::bound_hook_files(&state, locations);
    let asked_by_files = files.iter().filter_map(|file| survey(file)?.longest);
    let longest = state
        .policy()
        .specs()
        .values()
        .flatten()
        .filter(|binding| binding.is_written() && binding.enabled && !binding.is_async)
        .map(|binding| binding.timeout.unwrap_or(default))
        .chain(hook_fronts(&state).map(|front| front.timeout))
        .chain(asked_by_files)
        .max();
    Patience::for_bindings(longest.unwrap_or_default())
}

/// Returns what each HOOK.md hook says of itself.
fn hook_fronts(state: &State) -> impl Iterator<Item = &FrontMatter> {
    let hooks = state.hooks().map(Hooks::all).unwrap_or_default();
    hooks.iter().map(|hook| &hook.front)
}
