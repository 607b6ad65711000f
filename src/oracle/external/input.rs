//! What a HOOK.md hook reads: one JSON object that tells the event.

use serde_json::Map;
use serde_json::Value;
use serde_json::json;

use crate::event::ToolKind;
use crate::event::Trigger;
use crate::fact::Facts;
use crate::hook_md::agent_hooks_names;
use crate::hook_md::spaced_json;

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
        let known = event.host.is_some();
        let name = agent_hooks_names(ToolKind::of(&tool.name))
            .first()
            .filter(|_| !known);
        put(
            "tool_name",
            name.map_or(tool.name.as_str(), |name| name).into(),
        );
        put("tool_input", tool.input.clone());
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
            put("exit_reason", told(&["exit_reason", "reason"]));
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
