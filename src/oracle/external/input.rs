//! What a HOOK.md hook reads: one JSON object that tells the event.

use serde_json::json;
use serde_json::{Map, Value};

use crate::event::{ToolCall, ToolKind, Trigger, decoded};
use crate::fact::Facts;
use crate::hook_md::{agent_hooks_names, spaced_json};

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
        put("tool_name", canonical_name(facts, tool).into());
        put("tool_input", canonical_input(facts, tool));
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

/// Returns the standard's name of a tool; the host's own where the standard has none.
fn canonical_name<'a>(facts: &Facts, tool: &'a ToolCall) -> &'a str {
    let kind = facts
        .tool()
        .map_or_else(|| ToolKind::of(&tool.name), |view| view.kind);
    agent_hooks_names(kind)
        .first()
        .unwrap_or(&tool.name.as_str())
}

/// Returns a tool's input with the fields by which the standard's hooks know it, whatever the host calls them: `command`,
/// `file_path` and `path`, `files` where there are several, and `content`. What the host gave stays beside them.
pub(super) fn canonical_input(facts: &Facts, tool: &ToolCall) -> Value {
    let given = decoded(&tool.input).unwrap_or_else(|| tool.input.clone());
    let Some(view) = facts.tool() else {
        return given;
    };
    let mut input = match given {
        Value::Object(fields) => fields,
        Value::Null => Map::new(),
        // A text or a list of words is all that the tool is given.
        _ if view.command.is_some() || view.content.is_some() => Map::new(),
        other => return other,
    };
    let mut put = |key: &str, text: &str| {
        if !input.get(key).is_some_and(Value::is_string) {
            input.insert(key.to_owned(), text.into());
        }
    };
    if let Some(command) = &view.command {
        put("command", command);
    }
    if let Some(content) = &view.content {
        put("content", content);
    }
    let paths: Vec<String> = view
        .paths
        .iter()
        .map(|path| facts.project_root().join(path).display().to_string())
        .collect();
    if let Some(first) = paths.first() {
        put("file_path", first);
        put("path", first);
    }
    if paths.len() > 1 && !input.contains_key("files") {
        input.insert("files".to_owned(), paths.into());
    }
    Value::Object(input)
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
