//! ahp explain: the policy in force, where each value came from, and why a binding fires or does not.

mod command;
mod values;

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use ahp::config::BindingSpec;
use ahp::engine::State;
use ahp::event::{Event, Trigger};
use ahp::fact::{Fact, Facts};
use ahp::oracle::NotJudged;
use anstyle::Style;
use serde_json::{Map, Value, json};

use crate::command::run::read_event;
use crate::exit_code::Exit;
use crate::output::{self, Format};
use crate::project;
use crate::view::cut;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only this trigger, or `TRIGGER/ID` for one binding
    #[arg(value_name = "TRIGGER[/ID]")]
    place: Option<String>,
    /// Show which bindings an event would fire, and why
    #[arg(long, value_name = "FILE")]
    event: Option<PathBuf>,
    /// Show the programs that this command line would run, the rules that matched or nearly matched, and the verdict
    #[arg(long, value_name = "COMMAND", conflicts_with_all = ["event", "place"])]
    command: Option<String>,
    /// The same for a call of this tool, with `--input`
    #[arg(long, value_name = "NAME", conflicts_with_all = ["event", "place", "command"], requires = "input")]
    tool: Option<String>,
    /// The tool's input
    #[arg(long, value_name = "JSON", requires = "tool")]
    input: Option<String>,
    /// List every fact that a `when` or a script can ask for
    #[arg(long)]
    facts: bool,
    /// List the marks that are counted, and what each counts
    #[arg(long)]
    marks: bool,
    /// The output format
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(crate) fn run(args: &Args) -> Result<Exit, String> {
    if args.marks {
        return values::marks::explain(args.format);
    }
    if args.facts {
        print_facts(args.format);
        let engine = project::engine_at(None)?;
        for spec in engine.state().policy().mark_specs().values() {
            let name = format!("marks.{}", spec.name);
            print_fact(
                args.format,
                &name,
                "integer",
                "How often what this mark counts has happened.",
            );
        }
        return Ok(Exit::Success);
    }
    if let Some(event) = call(args)? {
        return command::explain(event, args.format);
    }
    let (mut only, id) = match args.place.as_deref().map(project::parse_place) {
        Some(place) => place.map(|(trigger, id)| (Some(trigger), id))?,
        None => (None, None),
    };
    let event = args.event.as_deref().map(read_event).transpose()?;
    let engine = project::engine_at(event.as_ref().and_then(|e| e.work_dir.as_deref()))?;
    if project::print_faults(&engine) {
        return Ok(Exit::Failure);
    }
    let state = engine.state();
    let facts = event.map(|event| {
        only = Some(event.trigger);
        engine.facts(&state, Arc::new(event))
    });
    let mut shown: Vec<Value> = state
        .policy()
        .specs()
        .iter()
        .filter(|(trigger, _)| only.is_none_or(|only| only == **trigger))
        .flat_map(|(trigger, specs)| {
            specs
                .iter()
                .filter(|spec| {
                    id.is_none_or(|id| id == spec.id || stands_for(&state, spec) == Some(id))
                })
                .map(|spec| binding(&state, *trigger, spec, facts.as_deref()))
        })
        .collect();
    add_broken(&state, &mut shown, only, id);
    if let (Some(trigger), Some(id), true) = (only, id, shown.is_empty()) {
        return Err(format!(
            "there is no binding `{id}` at `{trigger}`; `ahp explain {trigger}` lists them"
        ));
    }
    let settings = values::of_settings(state.policy());
    let settings = Some(settings).filter(|_| only.is_none());
    match args.format {
        Format::Json => {
            if let Some(settings) = settings {
                output::json(&json!({ "settings": settings }));
            }
            for value in &shown {
                output::json(value);
            }
        }
        Format::Human => {
            if let Some(rows) = settings.filter(|rows| *rows != json!([])) {
                output::line(format!("{BOLD}settings{BOLD:#}{}\n", lines(&rows, false)));
            }
            if shown.is_empty() {
                output::line("nothing is bound here: every such event is accepted");
            }
            for value in &shown {
                output::line(human(value, id.is_some()));
            }
        }
    }
    Ok(Exit::Success)
}

/// Returns the id of the binding beside which another one stands as it was approved.
fn stands_for<'s>(state: &State, spec: &'s BindingSpec) -> Option<&'s str> {
    let (id, _) = spec.id.rsplit_once('@')?;
    state.sources().is_approved(spec.span.file).then_some(id)
}

/// Adds what keeps HOOK.md hooks from running: to those that are bound, and in the place of those that cannot be. One whose
/// trigger cannot be read may be meant for any.
fn add_broken(state: &State, shown: &mut Vec<Value>, only: Option<Trigger>, id: Option<&str>) {
    for broken in state.broken_hooks() {
        let is_meant = only.is_none() || broken.trigger.is_none() || broken.trigger == only;
        if !is_meant || id.is_some_and(|id| id != broken.name) {
            continue;
        }
        let faults = json!(&*broken.faults);
        let trigger = json!(broken.trigger);
        let mut bound = shown.iter_mut();
        match bound.find(|value| value["id"] == *broken.name && value["trigger"] == trigger) {
            Some(value) => value["faults"] = faults,
            None => shown.push(json!({
                "trigger": trigger,
                "id": broken.name,
                "layer": broken.origin.name(),
                "source": broken.dir,
                "faults": faults,
            })),
        }
    }
}

/// Returns the call of a tool that the arguments name.
fn call(args: &Args) -> Result<Option<Event>, String> {
    if let Some(command) = &args.command {
        return Ok(Some(Event::tool_use("Bash", json!({ "command": command }))));
    }
    let Some((tool, input)) = args.tool.as_ref().zip(args.input.as_ref()) else {
        return Ok(None);
    };
    let input: Value =
        serde_json::from_str(input).map_err(|error| format!("`--input` is not JSON: {error}"))?;
    Ok(Some(Event::tool_use(tool, input)))
}

/// Returns what is in force of one binding, with the place of every value.
fn binding(state: &State, trigger: Trigger, spec: &BindingSpec, facts: Option<&Facts>) -> Value {
    let sources = state.sources();
    let mut value = json!({
        "trigger": trigger,
        "id": spec.id,
        "oracle": spec.target.name(),
        "layer": spec.layer,
        "source": sources.line(spec.span),
        "enabled": spec.enabled,
        "locked": spec.locked,
        // Self-protection judges before all that can be written.
        "priority": (spec.priority != i64::MIN).then_some(spec.priority),
        "config": spec.config.to_json(),
        "values": values::of_binding(spec, sources),
    });
    let compiled = state
        .policy()
        .trigger(trigger, state.lookup())
        .and_then(|policy| policy.bindings().find(|(b, _)| *b.id == *spec.id))
        .map(|(binding, _)| binding);
    if let Some(compiled) = compiled {
        let gives = |reason: &NotJudged| {
            let in_place = compiled.in_place(*reason, trigger).name();
            (reason.name().to_owned(), in_place.into())
        };
        let reasons = NotJudged::ALL
            .iter()
            .filter(|r| **r != NotJudged::LayerFaulty)
            // What runs no program waits for nobody's trust.
            .filter(|r| **r != NotJudged::NotTrusted || compiled.runs_programs);
        let table: Map<String, Value> = reasons.map(gives).collect();
        output::put(&mut value, "not_judged", table);
    }
    if let (Some(facts), Some(compiled)) = (facts, compiled) {
        let fires = compiled.enabled && compiled.applies(facts);
        let tests: Vec<Value> = compiled
            .conditions
            .iter()
            .flat_map(|c| c.trace(facts))
            .map(|t| json!({"depth": t.depth, "test": t.text, "found": t.found, "holds": t.holds}))
            .collect();
        output::put(&mut value, "fires", fires);
        output::put(&mut value, "when", tests);
    }
    value
}

/// Writes a binding; its values `whole`, or as much of each as fits.
fn human(value: &Value, whole: bool) -> String {
    let text = |key: &str| value[key].as_str().unwrap_or_default().to_owned();
    let mut out = format!(
        "{BOLD}{}{BOLD:#} {} {DIM}{} layer, {}{}{}{DIM:#}",
        value["trigger"].as_str().unwrap_or("(no trigger)"),
        text("id"),
        text("layer"),
        text("source"),
        if value["locked"] == true {
            ", locked"
        } else {
            ""
        },
        if value["enabled"] == false {
            ", switched off"
        } else {
            ""
        },
    );
    for fault in value["faults"].as_array().into_iter().flatten() {
        let fault = fault.as_str().unwrap_or_default();
        write!(out, "\n    DOES NOT RUN: {fault}").ok();
    }
    out.push_str(&lines(&value["values"], whole));
    let reasons = value["not_judged"].as_object().into_iter().flatten();
    let reasons: Vec<String> = reasons
        .map(|(reason, gives)| format!("{reason}: {}", gives.as_str().unwrap_or_default()))
        .collect();
    if !reasons.is_empty() {
        write!(out, "\n    {DIM}not judged  {}{DIM:#}", reasons.join(" · ")).ok();
    }
    if let Some(fires) = value["fires"].as_bool() {
        write!(
            out,
            "\n    {}",
            if fires { "fires" } else { "does not fire" }
        )
        .ok();
        for line in value["when"].as_array().into_iter().flatten() {
            let indent = line["depth"].as_u64().unwrap_or(0) * 2;
            write!(
                out,
                "\n    {:indent$}{} {}{}",
                "",
                if line["holds"] == true { "✓" } else { "✗" },
                line["test"].as_str().unwrap_or_default(),
                line["found"]
                    .as_str()
                    .map(|found| format!("  {DIM}found: {found}{DIM:#}"))
                    .unwrap_or_default(),
                indent = usize::try_from(indent).unwrap_or(0),
            )
            .ok();
        }
    }
    out.push('\n');
    out
}

/// Writes values one a line: key, value, the place that gave it, the places that it overrides.
fn lines(rows: &Value, whole: bool) -> String {
    let mut out = String::new();
    for row in rows.as_array().into_iter().flatten() {
        // The heading has it already.
        if row["key"] == "id" {
            continue;
        }
        let overrides: Vec<&str> = row["overrides"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let over = if overrides.is_empty() {
            String::new()
        } else {
            format!(", over {}", overrides.join(", "))
        };
        write!(
            out,
            "\n    {:<26} {:<30}  {DIM}{}{over}{DIM:#}",
            row["key"].as_str().unwrap_or_default(),
            on_one_line(&row["value"], whole),
            row["source"].as_str().unwrap_or_default(),
        )
        .ok();
    }
    out
}

/// Writes a value on one line; not `whole`, then no more of it than fits.
fn on_one_line(value: &Value, whole: bool) -> String {
    const MOST: usize = 60;
    let text = match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    if whole { text } else { cut(&text, MOST) }
}

fn print_facts(format: Format) {
    for fact in Fact::ALL {
        let kind = format!("{:?}", fact.value_type()).to_lowercase();
        print_fact(format, fact.name(), &kind, fact.summary());
    }
}

fn print_fact(format: Format, name: &str, kind: &str, summary: &str) {
    match format {
        Format::Json => output::json(&json!({"fact": name, "type": kind, "summary": summary})),
        Format::Human => output::line(format!("{BOLD}{name:<28}{BOLD:#} {kind:<8} {summary}")),
    }
}
