//! What becomes of one call of a tool: what would run, which rules were near, what was asked, and why it passes or not.

use std::path::Path;

use ahp::danger::{RuleFile, Selection, near};
use ahp::engine::{State, block_on};
use ahp::event::Event;
use ahp::fact::Facts;
use ahp::message;
use ahp::oracle::ProjectKnowledge;
use ahp::shell::Invocation;
use anstyle::Style;
use serde_json::{Value, json};

use crate::exit_code::Exit;
use crate::output;
use crate::output::Format;
use crate::project;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();

/// Explains a call.
pub(super) fn explain(event: Event, format: Format) -> Result<Exit, String> {
    let locations = project::locations(event.work_dir.as_deref());
    let event = match event.work_dir {
        Some(_) => event,
        None => event.with_work_dir(&locations.work_dir),
    };
    let root = locations.project_root.clone();
    let engine = project::engine(locations)
        .without_log()
        .build()
        .map_err(|error| error.to_string())?;
    if project::print_faults(&engine) {
        return Ok(Exit::Failure);
    }
    let state = engine.state();
    let facts = engine.facts(&state, std::sync::Arc::new(event.clone()));
    let told = told(&facts, own_rules(&state, &root));
    let verdict = block_on(engine.evaluate(event));
    match format {
        Format::Json => {
            let mut told = told;
            if let Some(told) = told.as_object_mut() {
                told.insert("verdict".to_owned(), json!(verdict));
            }
            output::json(&told);
        }
        Format::Human => {
            print(&told);
            let why = message::for_person(&verdict);
            output::line(format!(
                "\n{BOLD}{}{BOLD:#}\n{}",
                "the policy in force",
                if why.is_empty() {
                    "  lets it pass: no binding says anything".to_owned()
                } else {
                    indented(&why)
                }
            ));
        }
    }
    Ok(if verdict.stops() {
        Exit::Blocked
    } else {
        Exit::Success
    })
}

/// Returns what would run, the rules that were near, and what was asked of git and the disk.
fn told(facts: &Facts, files: Vec<RuleFile>) -> Value {
    let knowledge = ProjectKnowledge::new(facts);
    let selection = Selection {
        presets: vec!["standard".to_owned()],
        files,
        ..Selection::default()
    };
    let analysis = facts.shell();
    let runs: Vec<Value> = analysis
        .iter()
        .flat_map(|analysis| &analysis.invocations)
        .map(|invocation| run(invocation))
        .collect();
    let doubts: Vec<Value> = analysis
        .iter()
        .flat_map(|analysis| &analysis.doubts)
        .map(|doubt| json!({"kind": format!("{:?}", doubt.kind), "text": doubt.text}))
        .collect();
    let near: Vec<Value> = analysis
        .iter()
        .flat_map(|analysis| near(analysis, &selection, &knowledge))
        .map(|near| {
            json!({
                "command": near.command,
                "rule": near.rule,
                "severity": near.severity,
                "pattern": near.pattern,
                "missing": near.missing,
            })
        })
        .collect();
    let paths = facts
        .tool()
        .map(|tool| tool.paths.clone())
        .unwrap_or_default();
    json!({"runs": runs, "doubts": doubts, "paths": paths, "rules": near, "asked": knowledge.told()})
}

/// Returns the files of rules that the policy in force brings along; `check` tells what is wrong with one.
fn own_rules(state: &State, root: &Path) -> Vec<RuleFile> {
    let specs = state.policy().specs().values().flatten();
    let lists = specs.filter_map(|spec| spec.config.get("rules"));
    let paths = lists.filter_map(|node| serde_json::from_value::<Vec<String>>(node.to_json()).ok());
    let read = |path: String| {
        let path = root.join(path);
        let name = path.file_stem()?.to_string_lossy().into_owned();
        RuleFile::new(&name, &std::fs::read_to_string(&path).ok()?).ok()
    };
    paths.flatten().filter_map(read).collect()
}

fn run(invocation: &Invocation) -> Value {
    json!({
        "command": invocation.display(),
        "through": invocation.wrappers,
        "directory": invocation.work_dir,
        "elsewhere": invocation.remote,
        "by_code": invocation.emulated,
        "uncertain": invocation.uncertain,
    })
}

fn print(told: &Value) {
    let list = |key: &str| told[key].as_array().cloned().unwrap_or_default();
    let text = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
    output::line(format!("{BOLD}would run{BOLD:#}"));
    for run in &list("runs") {
        let through: Vec<&str> = run["through"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let mut notes = Vec::new();
        if !through.is_empty() {
            notes.push(format!("through {}", through.join(", ")));
        }
        for (key, note) in [
            ("elsewhere", "on another machine or in a container"),
            ("by_code", "as the code or the tool does it"),
            ("uncertain", "not understood for certain"),
        ] {
            if run[key] == true {
                notes.push(note.to_owned());
            }
        }
        if run["directory"].is_null() {
            notes.push("where is known only when it runs".to_owned());
        }
        let command = text(run, "command");
        if notes.is_empty() {
            output::line(format!("  {command}"));
        } else {
            output::line(format!("  {command}  {DIM}{}{DIM:#}", notes.join("; ")));
        }
    }
    for path in list("paths") {
        output::line(format!("  file {}", path.as_str().unwrap_or_default()));
    }
    for doubt in &list("doubts") {
        output::line(format!("  not understood: {}", text(doubt, "text")));
    }
    output::line(format!(
        "\n{BOLD}rules that match (✓) or nearly match (✗){BOLD:#}"
    ));
    if list("rules").is_empty() {
        output::line("  none");
    }
    for near in &list("rules") {
        let head = format!(
            "{} {}: `{}`",
            text(near, "rule"),
            text(near, "severity"),
            text(near, "pattern")
        );
        match near["missing"].as_str() {
            None => output::line(format!(
                "  ✓ {head}  {DIM}matches `{}`{DIM:#}",
                text(near, "command")
            )),
            Some(missing) => {
                let says = match missing.strip_prefix("unless: ") {
                    Some(excuse) => format!("does not hold where `{excuse}` does"),
                    None => format!("does not hold: `{missing}`"),
                };
                output::line(format!("  ✗ {head}  {DIM}{says}{DIM:#}"));
            }
        }
    }
    let asked = list("asked");
    if !asked.is_empty() {
        output::line(format!("\n{BOLD}asked{BOLD:#}"));
        for line in asked {
            output::line(format!("  {}", line.as_str().unwrap_or_default()));
        }
    }
}

fn indented(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(|line| format!("  {line}")).collect();
    lines.join("\n")
}
