//! What becomes of one call of a tool: what would run, which rules were near, what was asked, and why it passes or not.

use std::path::Path;

use ahp::config::{BindingSpec, Node};
use ahp::danger::{CommandPattern, RuleFile, Selection, near};
use ahp::engine::{State, block_on};
use ahp::event::Event;
use ahp::fact::Facts;
use ahp::message;
use ahp::oracle::{ProjectKnowledge, allows_deed, folded_name, judged};
use ahp::shell::Invocation;
use ahp::verdict::Decision;
use anstyle::Style;
use serde_json::{Value, json};

use crate::exit_code::Exit;
use crate::output::{self, Format};
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
    let engine = project::quiet_engine(locations)?;
    if project::print_faults(&engine) {
        return Ok(Exit::Failure);
    }
    let state = engine.state();
    let facts = engine.facts(&state, std::sync::Arc::new(event.clone()));
    let mut told = told(&facts, &selections(&state, &facts, &root));
    let verdict = block_on(engine.evaluate(event));
    match format {
        Format::Json => {
            output::put(&mut told, "verdict", json!(verdict));
            output::json(&told);
        }
        Format::Human => {
            print(&told);
            let why = message::for_person(&verdict);
            let decision = match verdict.decision {
                Decision::Block => "blocks it",
                Decision::Ask => "asks a person first",
                Decision::Allow | Decision::None if why.is_empty() => {
                    "lets it pass: no binding says anything"
                }
                Decision::Allow | Decision::None => "lets it pass, and says",
            };
            output::line(format!(
                "\n{BOLD}the policy in force {decision}{BOLD:#}\n{}",
                indented(&why)
            ));
        }
    }
    Ok(Exit::of(&verdict))
}

/// Returns what would run, the rules that were near by each selection of the policy, and what was asked of git and the disk.
fn told(facts: &Facts, selections: &[Selection]) -> Value {
    let knowledge = ProjectKnowledge::new(facts);
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
    let mut rules: Vec<Value> = Vec::new();
    for selection in selections {
        for one in judged(facts) {
            let shown = one.shown.as_ref();
            let mut entries = selection.allowed.iter();
            let from = facts.work_dir();
            let allowing =
                shown.and_then(|shown| entries.find(|e| allows_deed(&e.text, shown, from, facts)));
            for near in near(&one.analysis, selection, &knowledge) {
                let of_entry = || Some(format!("allow_commands: {}", allowing?.text));
                let rule = json!({
                    "command": shown.unwrap_or(&near.command),
                    "rule": near.rule,
                    "severity": near.severity,
                    "pattern": near.pattern,
                    "missing": near.missing.or_else(of_entry),
                });
                if !rules.contains(&rule) {
                    rules.push(rule);
                }
            }
        }
    }
    let paths = facts
        .tool()
        .map(|tool| tool.paths.clone())
        .unwrap_or_default();
    json!({"runs": runs, "doubts": doubts, "paths": paths, "rules": rules, "asked": knowledge.told()})
}

/// Returns what each binding in force that judges commands by rules selects of them; `check` tells what is wrong with a file.
fn selections(state: &State, facts: &Facts, root: &Path) -> Vec<Selection> {
    let trigger = facts.event().trigger;
    let Some(policy) = state.policy().trigger(trigger, state.lookup()) else {
        return Vec::new();
    };
    let fires = |spec: &&BindingSpec| {
        let mut bindings = policy.bindings();
        bindings.any(|(b, _)| *b.id == *spec.id && b.enabled && b.applies(facts))
    };
    let read = |path: &String| {
        let path = root.join(path);
        let name = path.file_stem()?.to_string_lossy().into_owned();
        RuleFile::new(&name, &std::fs::read_to_string(&path).ok()?).ok()
    };
    let specs = state.policy().specs().get(&trigger).into_iter().flatten();
    specs
        .filter(|spec| folded_name(spec.target.name()) == "permissionchecker")
        .filter(fires)
        .map(|spec| {
            let texts = |key: &str| match spec.config.get(key).map(Node::to_json) {
                Some(Value::String(text)) => vec![text],
                Some(list) => serde_json::from_value(list).unwrap_or_default(),
                None => Vec::new(),
            };
            let patterns = |key| {
                texts(key)
                    .iter()
                    .map(|text| CommandPattern::new(text))
                    .collect()
            };
            let presets = match texts("preset") {
                none if none.is_empty() => vec!["standard".to_owned()],
                presets => presets,
            };
            Selection {
                presets,
                files: texts("rules").iter().filter_map(read).collect(),
                dangerous: patterns("dangerous_commands"),
                allowed: patterns("allow_commands"),
            }
        })
        .collect()
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
                    None => match missing.strip_prefix("allow_commands: ") {
                        Some(entry) => format!("`allow_commands` has `{entry}`"),
                        None => format!("does not hold: `{missing}`"),
                    },
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
