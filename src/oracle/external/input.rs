//! What a HOOK.md hook reads: one JSON object that tells the event.

use serde_json::json;
use serde_json::{Map, Value};

use crate::event::{ToolCall, Trigger};
use crate::fact::Facts;
use crate::hook_md::{canonical_input, canonical_names, spaced_json};

/// Returns the text that a hook reads; `event_type` is the trigger as the hook itself spells it.
pub(super) fn of(facts: &Facts, event_type: &str) -> String {
    let event = facts.event();
    let mut input = Map::new();
    let mut put = |key: &str, value: Value| input.insert(key.to_owned(), value);
    put("event_type", event_type.into());
    put(
        "timestamp",
        facts
            .time()
            .to_rfc3339_opts(chrono::SecondsFormat::AutoSi, true)
            .into(),
    );
    put(
        "session_id",
        event.session_id.as_deref().unwrap_or_default().into(),
    );
    put("work_dir", facts.work_dir().to_string_lossy().into());
    if let Some(tool) = &event.tool {
        put("tool_name", told_name(facts, tool).into());
        put("tool_input", told_input(facts, tool));
        if event.host.is_some() {
            put("host_tool_name", tool.name.as_str().into());
            put("host_tool_input", tool.input.clone());
        }
        put(
            "tool_use_id",
            tool.use_id.as_deref().unwrap_or_default().into(),
        );
        if !event.trigger.is_pre() {
            put("tool_output", tool.output.clone().unwrap_or_default());
        }
        if event.trigger == Trigger::PostToolUseFailure {
            put("error", tool.error.clone().unwrap_or_default());
        }
    }
    let told = |keys: &[&str]| {
        keys.iter()
            .find_map(|key| event.context.get(*key))
            .cloned()
            .unwrap_or_default()
    };
    match event.trigger {
        Trigger::PreSubagent | Trigger::PostSubagent => {
            let subagent = event.subagent.clone().unwrap_or_default();
            put("subagent_name", subagent.name.into());
            put("subagent_type", subagent.kind.into());
            put("task_description", subagent.task.into());
        }
        Trigger::PreSession => {
            put("model", told(&["model"]));
            let args = match told(&["args"]) {
                Value::Null => json!({"ui": null, "agent": event.host}),
                args => args,
            };
            put("args", args);
        }
        Trigger::PostSession => {
            put("duration_seconds", told(&["duration_seconds"]));
            put("total_steps", told(&["total_steps"]));
            let reason = event.stop.as_ref().and_then(|stop| stop.reason.clone());
            let reason = reason.map(Value::from);
            put(
                "exit_reason",
                reason.unwrap_or_else(|| told(&["exit_reason", "reason"])),
            );
        }
        Trigger::PreAgentTurnStop | Trigger::PostAgentTurnStop => {
            let stop = event.stop.clone().unwrap_or_default();
            let reason = stop.reason.unwrap_or_else(|| "no_tool_calls".to_owned());
            put("stop_reason", reason.into());
            put("step_count", stop.step_count.into());
            let message = stop
                .final_message
                .map(|content| json!({"role": "assistant", "content": content}));
            put("final_message", message.unwrap_or_default());
        }
        Trigger::PreAgentTurn | Trigger::PostAgentTurn => {
            if let Some(prompt) = &event.prompt {
                put("user_prompt", prompt.as_str().into());
            }
        }
        _ => {}
    }
    if event.trigger.is_issue() || event.issue_id.is_some() {
        put("issue_id", event.issue_id.as_deref().into());
        put("issue", issue(facts));
    }
    put("context", Value::Object(event.context.clone()));
    spaced_json::to_string(&Value::Object(input))
}

/// Returns the name by which a hook is told of a tool; the host's own where the standard has none.
fn told_name(facts: &Facts, tool: &ToolCall) -> String {
    let names = facts.tool().map(|view| canonical_names(tool, view));
    let first = names.and_then(|names| names.into_iter().next());
    first.map_or_else(|| tool.name.clone(), Into::into)
}

/// Returns the input of which a hook is told.
pub(super) fn told_input(facts: &Facts, tool: &ToolCall) -> Value {
    let root = facts.project_root();
    facts.tool().map_or_else(
        || tool.input.clone(),
        |view| canonical_input(tool, view, root),
    )
}

/// Returns what is known of the issue; null where there is no such file.
fn issue(facts: &Facts) -> Value {
    let Ok(Some(issue)) = facts.issue() else {
        return Value::Null;
    };
    json!({
        "id": issue.id,
        "type": issue.kind,
        "status": issue.status,
        "stage": issue.stage,
        "title": issue.title,
        "path": issue.path,
    })
}
