//! The marks in force: what each counts, and where that is written.

use ahp::config::{MarkSpec, Node};
use ahp::engine::State;
use serde_json::{Value, json};

use crate::command::explain::{BOLD, DIM};
use crate::exit_code::Exit;
use crate::output::{self, Format};
use crate::project;

/// Prints every mark that a layer declares.
pub(in crate::command::explain) fn explain(format: Format) -> Result<Exit, String> {
    let engine = project::engine_at(None)?;
    if project::print_faults(&engine) {
        return Ok(Exit::Failure);
    }
    let state = engine.state();
    let specs = state.policy().mark_specs();
    for spec in specs.values() {
        let value = told(&state, spec);
        match format {
            Format::Json => output::json(&value),
            Format::Human => output::line(human(&value)),
        }
    }
    if specs.is_empty() {
        output::error("no layer declares a mark");
    }
    Ok(Exit::Success)
}

fn told(state: &State, spec: &MarkSpec) -> Value {
    let json = |node: &Option<Node>| node.as_ref().map(Node::to_json);
    let until: Vec<Value> = spec
        .until
        .iter()
        .flatten()
        .map(|end| json!({"on": end.on, "when": json(&end.when)}))
        .collect();
    json!({
        "mark": spec.name,
        "layer": spec.layer,
        "source": state.sources().line(spec.span),
        "on": spec.on,
        "when": json(&spec.when),
        "until": until,
        "within_s": spec.within.map(|within| within.as_secs_f64()),
        "by": spec.by,
        "add": spec.add,
        "per": spec.scope(),
        "locked": spec.locked.is_some(),
        "asked": spec.asked.is_some(),
    })
}

fn human(value: &Value) -> String {
    let text = |key: &str| value[key].as_str().unwrap_or_default().to_owned();
    let mut out = format!(
        "{BOLD}marks.{}{BOLD:#} {DIM}{} layer, {}{}{DIM:#}",
        text("mark"),
        text("layer"),
        text("source"),
        if value["asked"] == true {
            ""
        } else {
            ", not counted: nothing asks for it"
        },
    );
    for key in ["on", "when", "until", "within_s", "by", "add", "per"] {
        let told = &value[key];
        if !told.is_null() && *told != json!([]) {
            out.push_str(&format!("\n    {key:<10} {told}"));
        }
    }
    out.push('\n');
    out
}
