//! The project that a command works on: where it lies, and the engine of its policy.

use std::io::{BufRead as _, IsTerminal as _};
use std::path::{Path, PathBuf};

use ahp::config::{Approved, Environment, Locations, Node};
use ahp::engine::{Clock as _, Engine, EngineBuilder, State, SystemClock};
use ahp::event::Trigger;
use ahp::trust;

use crate::background;
use crate::output;

/// The project's own layer, as the source map names it.
pub(crate) const PROJECT_FILE: &str = ".ahp/hooks.yaml";

/// Finds the project around a directory; around the current one where none is given.
pub(crate) fn locations(dir: Option<&Path>) -> Locations {
    Locations::find(&Environment::of_process(), dir)
}

/// Whether a person may be taken to sit before this program.
pub(crate) fn at_terminal() -> bool {
    std::io::stdin().is_terminal()
}

/// Refuses what only a person decides where nobody can be asked and nobody has decided before: `--yes` says so.
pub(crate) fn decided(yes: bool, what: &str) -> Result<(), String> {
    if yes || at_terminal() {
        return Ok(());
    }
    Err(format!(
        "{what} is for a person to decide, and this is not a terminal: look at it, then say `--yes`"
    ))
}

/// Lets a person change some files of the project's policy: what she writes there, at a terminal or by her `--yes`, is approved by
/// that. Nothing else is, whoever has written it and whenever: it is told, and waits.
pub(crate) fn approving<T>(
    locations: &Locations,
    yes: bool,
    files: &[PathBuf],
    change: impl FnOnce() -> Result<T, String>,
) -> Result<T, String> {
    if !yes && !at_terminal() {
        return change();
    }
    let waited = Approved::waiting(locations);
    // The programs of the project may run as long as its layers are those that were looked at.
    let trust = engine(locations.clone()).build().ok();
    let trust = trust.map(|engine| engine.state().trust().clone());
    let before = trust.as_ref().and_then(|trust| trust.look().ok());
    let done = change()?;
    let kept = |error| format!("what was approved cannot be kept: {error}");
    Approved::follow(locations, files, &waited).map_err(kept)?;
    if let (Some(trust), Some(before)) = (trust, before) {
        let followed = trust.follow_layers(&before, files, SystemClock.now());
        followed.map_err(kept)?;
    }
    let waits = Approved::waiting(locations);
    if !waits.is_empty() && Approved::read(locations).is_some() {
        let waits: Vec<String> = waits.iter().map(|file| locations.display(file)).collect();
        output::error(format!(
            "notice: {} still waits for approval; `ahp trust` shows and approves all of it",
            waits.join(", ")
        ));
    }
    Ok(done)
}

/// Finds the project around a directory that somebody has named: one that is not there has no policy to speak of.
pub(crate) fn named(dir: Option<&Path>) -> Result<Locations, String> {
    match dir {
        Some(dir) if !dir.is_dir() => Err(format!("`{}` is not a directory", dir.display())),
        dir => Ok(locations(dir)),
    }
}

/// Begins to make the engine of a project, with async bindings in processes of their own.
pub(crate) fn engine(locations: Locations) -> EngineBuilder {
    Engine::builder()
        .locations(locations)
        .background(background::start())
}

/// Ends to make an engine.
pub(crate) fn built(engine: EngineBuilder) -> Result<Engine, String> {
    engine.build().map_err(|error| error.to_string())
}

/// Makes the engine of the project around a directory.
pub(crate) fn engine_at(dir: Option<&Path>) -> Result<Engine, String> {
    built(engine(locations(dir)))
}

/// Makes the engine of a project that writes no log.
pub(crate) fn quiet_engine(locations: Locations) -> Result<Engine, String> {
    built(engine(locations).without_log())
}

/// Prints the faults and warnings of a policy on stderr; returns whether it is broken.
pub(crate) fn print_faults(engine: &Engine) -> bool {
    let state = engine.state();
    for fault in output::diagnostics(state.faults(), state.sources()) {
        output::error(fault);
    }
    !state.faults().is_empty()
}

/// Asks a person at the terminal; anything but a yes is a no.
pub(crate) fn confirmed(question: &str) -> bool {
    output::error(format!("{question} [y/N]"));
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer).is_ok()
        && matches!(answer.trim(), "y" | "Y" | "yes")
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

/// Returns the bindings of files with command hooks: what each names, and the files that this means now.
pub(crate) fn hook_bindings<'s>(
    state: &'s State,
    locations: &'s Locations,
) -> impl Iterator<Item = (&'s Node, Vec<PathBuf>)> {
    let specs = state.policy().specs().values().flatten();
    let enabled = specs.filter(|spec| spec.enabled);
    enabled.filter_map(|spec| {
        let named = spec.config.get("file")?;
        let is_ours = matches!(spec.target.name(), "CommandHooks" | "command-hooks");
        let file = named.as_str().filter(|_| is_ours)?;
        let home = locations.home.as_deref();
        let files = trust::bound_hook_files(file, &locations.project_root, home);
        Some((named, files))
    })
}

/// Returns the files with command hooks that bindings take.
pub(crate) fn bound_hook_files(state: &State, locations: &Locations) -> Vec<PathBuf> {
    let bindings = hook_bindings(state, locations);
    bindings.flat_map(|(_, files)| files).collect()
}
