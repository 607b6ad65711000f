//! ahp allow: lets one command pass that the policy stops, and no other; with a test case that shows it.

use std::fs;
use std::path::{Path, PathBuf};

use ahp::analysis::{Edit, allow_command};
use ahp::config::{Config, LayerSource, Locations};
use ahp::danger::CommandPattern;
use ahp::engine::block_on;
use ahp::event::{Event, Trigger};
use ahp::signal::Intensity;
use ahp::verdict::Verdict;

use crate::exit_code::Exit;
use crate::output;
use crate::project;
use crate::project::PROJECT_FILE;

/// The tests of what was allowed.
const TESTS: &str = ".ahp/tests/allowed.yaml";

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The command, as it was stopped: one command without variables, or what a tool does: 'read .env'
    command: String,
    /// Do not ask for confirmation, because a person has checked what is done. Required without a terminal
    #[arg(long, short)]
    yes: bool,
}

pub(crate) fn run(args: &Args) -> Exit {
    allow(args).unwrap_or_else(output::failure)
}

fn allow(args: &Args) -> Result<Exit, String> {
    project::decided(args.yes, "to let a command pass")?;
    let command = args.command.trim();
    let locations = project::locations(None);
    let here = locations.work_dir.strip_prefix(&locations.project_root);
    let here = here.ok().filter(|_| read_by_tool(command).is_none());
    let pattern = CommandPattern::exactly(command, here.unwrap_or(Path::new("")))?;
    let verdict = verdict(&locations, command)?;
    if stopping(&verdict).is_empty() {
        let other = verdict
            .signals
            .iter()
            .find(|signal| signal.asks() || signal.intensity() == Intensity::Block);
        return Err(match other {
            Some(signal) => format!(
                "no rule for commands stops `{command}`, but `{}` does, which no entry lifts: {}",
                signal.origin.binding.trim_matches(['(', ')']),
                signal.payload.text()
            ),
            None => format!(
                "no rule of the policy in force stops `{command}`; `ahp explain --command` tells what is judged"
            ),
        });
    }
    // The policy as it will be once it is approved; until then what was approved before stands beside it.
    let mut tried = locations.clone();
    let file = locations.project_root.join(PROJECT_FILE);
    let text = fs::read_to_string(&file).unwrap_or_default();
    tried.drafts.insert(file, text);
    let stopped = stopping(&self::verdict(&tried, command)?);
    if stopped.is_empty() {
        return Err(format!(
            "the project's files let `{command}` pass already, but a change of them waits for approval: `ahp trust` shows and approves it"
        ));
    }
    for (binding, _) in &stopped {
        let edit = edit(&tried, binding, &pattern.text)?;
        output::line(edit.diff());
        if !args.yes && !project::confirmed("let it pass from now on?") {
            output::line("nothing was changed");
            return Ok(Exit::Failure);
        }
        let file = locations.project_root.join(&edit.file);
        tried.drafts.insert(file, edit.after);
    }
    if let Some((_, text)) = stopping(&self::verdict(&tried, command)?).first() {
        return Err(format!(
            "nothing was changed: it would still be stopped: {text}"
        ));
    }
    let mut new = tried.drafts.clone();
    new.retain(|file, text| fs::read_to_string(file).unwrap_or_default() != *text);
    let written: Vec<PathBuf> = new.keys().cloned().collect();
    project::approving(&locations, args.yes, &written, || {
        new.iter().try_for_each(|(file, text)| write(file, text))
    })?;
    let shown = if stands_alone(&tried) {
        let allowed = pattern.text.trim_start_matches('=');
        add_test(&locations.project_root.join(TESTS), allowed)?;
        format!("; {TESTS} shows it")
    } else {
        String::new()
    };
    if stopping(&self::verdict(&locations, command)?).is_empty() {
        output::line(format!("`{command}` passes from now on{shown}"));
        return Ok(Exit::Success);
    }
    let held = Config::load(&locations).held;
    output::line(format!(
        "the project's files let `{command}` pass now{shown}, but this is not in force yet: other changes of the project wait for approval, and nothing is approved with them unseen; `ahp trust` shows and approves all of it: {}",
        held.join(", ")
    ));
    Ok(Exit::Success)
}

/// Judges the command as the shell tool of a host would be judged.
fn verdict(locations: &Locations, command: &str) -> Result<Verdict, String> {
    let engine = project::engine(locations.clone())
        .without_log()
        .build()
        .map_err(|error| error.to_string())?;
    if project::print_faults(&engine) {
        return Err("the policy is broken; `ahp check` says where".to_owned());
    }
    let event = match read_by_tool(command) {
        Some(path) => Event::tool_use("Read", serde_json::json!({ "file_path": path })),
        None => Event::tool_use("Bash", serde_json::json!({ "command": command })),
    };
    let event = event.with_work_dir(&locations.work_dir);
    Ok(block_on(engine.evaluate(event)))
}

/// Returns each binding that stops it by a rule, and what it says.
fn stopping(verdict: &Verdict) -> Vec<(String, String)> {
    let signals = verdict.signals.iter();
    let mut stopping: Vec<(String, String)> = signals
        .filter(|signal| signal.header.kind == "dangerous-command")
        .map(|signal| {
            let said = signal.payload.text().to_owned();
            (signal.origin.binding.clone(), said)
        })
        .collect();
    stopping.dedup_by(|one, other| one.0 == other.0);
    stopping
}

/// Returns the file that a tool for reading is given, where that is what was stopped: messages show it as `read .env`.
fn read_by_tool(command: &str) -> Option<&str> {
    command.strip_prefix("read ").map(str::trim)
}

fn edit(locations: &Locations, binding: &str, pattern: &str) -> Result<Edit, String> {
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
    allow_command((trigger, spec), &loaded.sources, PROJECT_FILE, pattern)
}

/// Whether the project's file can be tested by itself: where it changes a binding of the user's, only both together are a policy.
fn stands_alone(locations: &Locations) -> bool {
    let file = locations.project_root.join(PROJECT_FILE);
    let text = locations.drafts.get(&file).map_or("", String::as_str);
    let layer = [(LayerSource::Project, PROJECT_FILE, text)];
    let dir = file.parent().unwrap_or(&locations.project_root);
    !Config::from_layers(&layer, dir).is_broken()
}

/// Adds a test case that shows that the command passes.
fn add_test(file: &Path, command: &str) -> Result<(), String> {
    let quoted = |text: &str| serde_json::to_string(text).map_err(|error| error.to_string());
    let head = "# What a person has allowed, by `ahp allow`.\npolicy: ../hooks.yaml\ntrigger: pre-tool-use\ntests:\n";
    let mut text = fs::read_to_string(file).unwrap_or_else(|_| head.to_owned());
    let event = match read_by_tool(command) {
        Some(path) => {
            let path = quoted(path)?;
            format!("event: {{tool: {{name: Read, input: {{file_path: {path}}}}}}}")
        }
        None => format!("command: {}", quoted(command)?),
    };
    text.push_str(&format!(
        "  - name: {}\n    {event}\n    expect: none\n",
        quoted(&format!("allowed: {command}"))?
    ));
    write(file, &text)
}

fn write(file: &Path, text: &str) -> Result<(), String> {
    let dir = file.parent().unwrap_or(file);
    fs::create_dir_all(dir)
        .and_then(|()| fs::write(file, text))
        .map_err(|error| format!("cannot write `{}`: {error}", file.display()))
}
