//! ahp allow: lets one command pass that the policy stops, and no other; with a test case that shows it.

use std::fs;
use std::path::Path;

use ahp::analysis::{Edit, add_to_list};
use ahp::config::{Approved, Config, Locations};
use ahp::danger::CommandPattern;
use ahp::engine::block_on;
use ahp::event::{Event, Trigger};
use ahp::verdict::Verdict;

use crate::exit_code::Exit;
use crate::output;
use crate::project;

/// The project's own layer, as the source map names it.
const PROJECT_FILE: &str = ".ahp/hooks.yaml";
/// The tests of what was allowed.
const TESTS: &str = ".ahp/tests/allowed.yaml";

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The command, as it was stopped: one command, without pipes and variables
    command: String,
    /// Do not ask for confirmation: what is done has been looked at. Required without a terminal
    #[arg(long, short)]
    yes: bool,
}

pub(crate) fn run(args: &Args) -> Exit {
    allow(args).unwrap_or_else(output::failure)
}

fn allow(args: &Args) -> Result<Exit, String> {
    project::decided(args.yes, "to let a command pass")?;
    let command = args.command.trim();
    let pattern = CommandPattern::exactly(command)?;
    let locations = project::locations(None);
    let verdict = judged(&locations, command)?;
    let mut bindings: Vec<&str> = verdict
        .signals
        .iter()
        .filter(|signal| signal.header.kind == "dangerous-command")
        .map(|signal| signal.origin.binding.as_str())
        .collect();
    bindings.dedup();
    if bindings.is_empty() {
        return Err(format!(
            "no rule of the policy in force stops `{command}`; `ahp explain --command` tells what is judged"
        ));
    }
    let was_current = Approved::is_current(&locations);
    let entry = serde_json::to_string(&pattern.text).map_err(|error| error.to_string())?;
    let file = locations.project_root.join(PROJECT_FILE);
    let first = fs::read_to_string(&file).ok();
    for binding in bindings {
        let edit = edit(&locations, binding, &entry)?;
        output::line(edit.diff());
        if !args.yes && !project::confirmed("let it pass from now on?") {
            output::line("nothing was changed");
            return Ok(Exit::Failure);
        }
        write(&file, &edit.after)?;
    }
    let after = judged(&locations, command);
    let still = after.as_ref().ok().and_then(|verdict| {
        let mut signals = verdict.signals.iter();
        signals.find(|signal| signal.header.kind == "dangerous-command")
    });
    if after.is_err() || still.is_some() {
        match first {
            Some(text) => write(&file, &text)?,
            None => fs::remove_file(&file).map_err(|error| error.to_string())?,
        }
        let why = still.map_or_else(
            || "the policy would be broken by it".to_owned(),
            |signal| format!("it would still be stopped: {}", signal.payload.text()),
        );
        return Err(format!("nothing was changed: {why}"));
    }
    add_test(&locations.project_root.join(TESTS), command)?;
    if was_current {
        let approved = Approved::of(&locations, true).write(&locations);
        approved.map_err(|error| format!("what was approved cannot be kept: {error}"))?;
    } else {
        output::line(
            "where the project was approved before, this waits with its other changes for `ahp trust`",
        );
    }
    output::line(format!("`{command}` passes from now on; {TESTS} shows it"));
    Ok(Exit::Success)
}

/// Judges the command as the shell tool of a host would be judged.
fn judged(locations: &Locations, command: &str) -> Result<Verdict, String> {
    let engine = project::engine(locations.clone())
        .without_log()
        .build()
        .map_err(|error| error.to_string())?;
    if project::print_faults(&engine) {
        return Err("the policy is broken; `ahp check` says where".to_owned());
    }
    let input = serde_json::json!({ "command": command });
    let event = Event::tool_use("Bash", input).with_work_dir(&locations.work_dir);
    Ok(block_on(engine.evaluate(event)))
}

fn edit(locations: &Locations, binding: &str, entry: &str) -> Result<Edit, String> {
    let loaded = Config::load(locations);
    let trigger = Trigger::PreToolUse;
    let specs = loaded.config.bindings.get(&trigger);
    let spec = specs.and_then(|specs| specs.iter().find(|spec| spec.id == binding));
    let spec = spec.ok_or_else(|| format!("the binding `{binding}` is not configured"))?;
    if spec.locked {
        return Err(format!(
            "the binding `{binding}` is locked by the {} layer",
            spec.layer
        ));
    }
    add_to_list(
        (trigger, spec),
        &loaded.sources,
        PROJECT_FILE,
        ("allow_commands", entry),
    )
}

/// Adds a test case that shows that the command passes.
fn add_test(file: &Path, command: &str) -> Result<(), String> {
    let quoted = |text: &str| serde_json::to_string(text).map_err(|error| error.to_string());
    let head = "# What a person has allowed, by `ahp allow`.\npolicy: ../hooks.yaml\ntrigger: pre-tool-use\ntests:\n";
    let mut text = fs::read_to_string(file).unwrap_or_else(|_| head.to_owned());
    text.push_str(&format!(
        "  - name: {}\n    command: {}\n    expect: none\n",
        quoted(&format!("allowed: {command}"))?,
        quoted(command)?
    ));
    write(file, &text)
}

fn write(file: &Path, text: &str) -> Result<(), String> {
    let dir = file.parent().unwrap_or(file);
    fs::create_dir_all(dir)
        .and_then(|()| fs::write(file, text))
        .map_err(|error| format!("cannot write `{}`: {error}", file.display()))
}
