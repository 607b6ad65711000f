//! The project that a command works on: where it lies, and the engine of its policy.

use std::path::Path;

use ahp::config::Environment;
use ahp::config::Locations;
use ahp::engine::Engine;
use ahp::engine::EngineBuilder;
use ahp::event::Trigger;

use crate::background;
use crate::output;

/// Finds the project around a directory; around the current one where none is given.
pub(crate) fn locations(dir: Option<&Path>) -> Locations {
    Locations::find(&Environment::of_process(), dir)
}

/// Finds the project around a directory that somebody has named: one that is not there has no policy to speak of.
pub(crate) fn named(dir: Option<&Path>) -> Result<Locations, String> {
    match dir {
        Some(dir) if !dir.is_dir() => Err(format!("`{}` is no directory", dir.display())),
        dir => Ok(locations(dir)),
    }
}

/// Begins to make the engine of a project, with async bindings in processes of their own.
pub(crate) fn engine(locations: Locations) -> EngineBuilder {
    Engine::builder()
        .locations(locations)
        .background(background::start())
}

/// Makes the engine of the project around a directory.
pub(crate) fn engine_at(dir: Option<&Path>) -> Result<Engine, String> {
    engine(locations(dir)).build().map_err(|e| e.to_string())
}

/// Prints the faults and warnings of a policy on stderr; returns whether it is broken.
pub(crate) fn print_faults(engine: &Engine) -> bool {
    let state = engine.state();
    for fault in state.faults() {
        output::error(output::diagnostic(fault, state.sources()));
    }
    !state.faults().is_empty()
}

/// Reads `TRIGGER[/ID]`.
pub(crate) fn parse_place(place: &str) -> Result<(Trigger, Option<&str>), String> {
    let (trigger, id) = match place.split_once('/') {
        Some((trigger, id)) => (trigger, Some(id)),
        None => (place, None),
    };
    let trigger = trigger.parse::<Trigger>().map_err(|e| e.to_string())?;
    Ok((trigger, id))
}
