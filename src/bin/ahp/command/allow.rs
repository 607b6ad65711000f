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
use serde_json::{Value, json};

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

/// What the tools of hosts do that are no shells, as messages say it: the tool, and the field for what it is done to.
const DEEDS: &[(&str, &str, &str)] = &[
    ("read", "Read", "file_path"),
    ("write", "Write", "file_path"),
    ("edit", "Edit", "file_path"),
    ("delete", "Delete", "file_path"),
    ("search", "Grep", "path"),
    ("search", "Grep", "glob"),
    ("search", "Glob", "pattern"),
    ("fetch", "WebFetch", "url"),
];

/// A call that was stopped.
#[derive(Debug)]
struct Call {
    tool: &'static str,
    input: Value,
    /// The entry of `allow_commands` that means it.
    entry: String,
}

/// Returns the calls that may be meant by the words of a message, the likeliest first.
fn calls(locations: &Locations, command: &str) -> Result<Vec<Call>, String> {
    let root = &locations.project_root;
    let here = locations.work_dir.strip_prefix(root);
    let own = |path: &str| {
        let path = locations.work_dir.join(path);
        let inner = path.strip_prefix(root).unwrap_or(&path);
        inner.to_string_lossy().into_owned()
    };
    let (word, about) = command.split_once(' ').unwrap_or((command, ""));
    let deeds = DEEDS.iter().filter(|(deed, ..)| *deed == word);
    let mut calls: Vec<Call> = deeds
        .map(|(_, tool, field)| {
            let about = if field.ends_with("path") {
                own(about)
            } else {
                about.to_owned()
            };
            Call {
                tool,
                entry: format!("={word} {about}"),
                input: json!({ (*field): about }),
            }
        })
        .collect();
    match CommandPattern::exactly(command, here.unwrap_or(Path::new(""))) {
        Ok(pattern) => calls.push(Call {
            tool: "Bash",
            entry: pattern.text,
            input: json!({ "command": command }),
        }),
        Err(why) if calls.is_empty() => return Err(why),
        Err(_) => {}
    }
    Ok(calls)
}

pub(crate) fn run(args: &Args) -> Result<Exit, String> {
    project::decided(args.yes, "to let a command pass")?;
    let command = args.command.trim();
    let locations = project::locations(None);
    let mut judged = Vec::new();
    for call in calls(&locations, command)? {
        judged.push((verdict(&locations, &call)?, call));
    }
    let stopped = judged
        .iter()
        .position(|(verdict, _)| !stopping(verdict).is_empty());
    let (verdict, call) = judged.swap_remove(stopped.unwrap_or(judged.len() - 1));
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
    let stopped = stopping(&self::verdict(&tried, &call)?);
    if stopped.is_empty() {
        return Err(format!(
            "the project's files let `{command}` pass already, but a change of them waits for approval: `ahp trust` shows and approves it"
        ));
    }
    let mut diffs = Vec::new();
    for (binding, _) in &stopped {
        let edit = edit(&tried, binding, &call.entry)?;
        diffs.push(edit.diff());
        let file = locations.project_root.join(&edit.file);
        tried.drafts.insert(file, edit.after);
    }
    if let Some((_, text)) = stopping(&self::verdict(&tried, &call)?).first() {
        return Err(format!(
            "nothing was changed: with `{}` in `allow_commands` it would still be stopped: {text}",
            call.entry
        ));
    }
    for diff in diffs {
        output::line(diff);
        if !args.yes && !project::confirmed("let it pass from now on?") {
            output::line("nothing was changed");
            return Ok(Exit::Failure);
        }
    }
    let mut new = tried.drafts.clone();
    new.retain(|file, text| fs::read_to_string(file).unwrap_or_default() != *text);
    let written: Vec<PathBuf> = new.keys().cloned().collect();
    project::approving(&locations, args.yes, &written, || {
        new.iter().try_for_each(|(file, text)| write(file, text))
    })?;
    let shown = if stands_alone(&tried) {
        add_test(&locations.project_root.join(TESTS), &call)?;
        format!("; {TESTS} shows it")
    } else {
        String::new()
    };
    if stopping(&self::verdict(&locations, &call)?).is_empty() {
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

/// Judges a call as that of a host would be judged.
fn verdict(locations: &Locations, call: &Call) -> Result<Verdict, String> {
    let engine = project::quiet_engine(locations.clone())?;
    if project::print_faults(&engine) {
        return Err("the policy is broken; `ahp check` says where".to_owned());
    }
    let event = Event::tool_use(call.tool, call.input.clone());
    // The paths of the other tools are told from the root.
    let dir = match call.tool {
        "Bash" => &locations.work_dir,
        _ => &locations.project_root,
    };
    let event = event.with_work_dir(dir);
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

/// Adds a test case that shows that the call passes.
fn add_test(file: &Path, call: &Call) -> Result<(), String> {
    let quoted = |text: &str| serde_json::to_string(text).map_err(|error| error.to_string());
    let head = "# What a person has allowed, by `ahp allow`.\npolicy: ../hooks.yaml\ntrigger: pre-tool-use\ntests:\n";
    let mut text = fs::read_to_string(file).unwrap_or_else(|_| head.to_owned());
    let allowed = call.entry.trim_start_matches('=');
    let event = match call.tool {
        "Bash" => format!("command: {}", quoted(allowed)?),
        tool => format!("event: {{tool: {{name: {tool}, input: {}}}}}", call.input),
    };
    text.push_str(&format!(
        "  - name: {}\n    {event}\n    expect: none\n",
        quoted(&format!("allowed: {allowed}"))?
    ));
    write(file, &text)
}

fn write(file: &Path, text: &str) -> Result<(), String> {
    let dir = file.parent().unwrap_or(file);
    fs::create_dir_all(dir)
        .and_then(|()| fs::write(file, text))
        .map_err(|error| format!("cannot write `{}`: {error}", file.display()))
}
