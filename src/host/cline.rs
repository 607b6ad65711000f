//! Cline: exit codes count for nothing; `cancel` in the JSON ends the whole run.

use std::time::Duration;

use serde_json::Map;
use serde_json::Value;

use crate::event::Trigger;

use super::Certainty;
use super::Host;
use super::Moment;
use super::Payload;
use super::Reply;
use super::Rewrite;
use super::Speech;
use super::payload::decoded;

pub(super) static HOST: Host = Host {
    name: "cline",
    title: "Cline",
    moments: &[
        Moment::new(
            &["TaskStart", "TaskResume", "agent_start", "agent_resume"],
            Trigger::PreSession,
        ),
        Moment::new(
            &["UserPromptSubmit", "prompt_submit"],
            Trigger::PreAgentTurn,
        )
        .block()
        .context(),
        Moment::new(&["PreToolUse", "tool_call"], Trigger::PreToolUse)
            .block()
            .rewrite(Rewrite::Replace)
            .context(),
        Moment::new(&["PostToolUse", "tool_result"], Trigger::PostToolUse).context(),
        Moment::new(&["TaskComplete", "agent_end"], Trigger::PostAgentTurnStop),
        Moment::new(&["PreCompact", "pre_compact"], Trigger::PreContextCompact),
        Moment::new(
            &["SessionShutdown", "session_shutdown"],
            Trigger::PostSession,
        ),
        Moment::ignored(&["TaskCancel", "TaskError", "agent_abort", "agent_error"]),
    ],
    timeout: Duration::from_secs(30),
    text_limit: 4_000,
    programs: &["cline"],
    sample: r#"{"clineVersion":"","hookName":"tool_call","taskId":"$SESSION","workspaceRoots":["$DIR"],"tool_call":{"id":"canary","name":"editor","input":{"path":"$DIR/.ahp/hooks.yaml","new_text":""}}}"#,
    blind_spots: &[
        "a refused tool ends the whole run: the reason reaches the person, not the model",
        "a run without a terminal calls no hook for its prompt",
        "a stop cannot be held up",
        "a hook that fails lets the tool run",
        "`--yolo` skips every hook",
    ],
    speaks,
    adjust,
    encode,
    obeys,
};

fn speaks(payload: &Payload) -> Certainty {
    Certainty::certain_if(
        payload.has("clineVersion") || (payload.has("taskId") && payload.has("hookName")),
    )
}

/// Lifts what lies in an object of the event's own name to where the common reader looks.
fn adjust(_: &str, payload: &mut Payload, trigger: &mut Trigger) -> bool {
    for inner in [
        "tool_call",
        "tool_result",
        "preToolUse",
        "postToolUse",
        "turn",
        "userPromptSubmit",
        "taskStart",
        "taskComplete",
    ] {
        let Some(Value::Object(fields)) = payload.take(&[inner]) else {
            continue;
        };
        for (name, value) in fields {
            let name = if name == "parameters" {
                "toolArgs".to_owned()
            } else {
                name
            };
            payload.fields.entry(name).or_insert(value);
        }
    }
    // The same call stands there twice; in the second form its lists are strings.
    if payload.has("name") {
        payload.fields.shift_remove("toolName");
        payload.fields.shift_remove("toolArgs");
        payload.fields.shift_remove("result");
    }
    if let Some(input) = payload.take(&["toolArgs"]) {
        payload.put("toolArgs", decoded(input));
    }
    if *trigger == Trigger::PostToolUse && failed(payload) {
        *trigger = Trigger::PostToolUseFailure;
    }
    true
}

/// Whether every part of the tool's output says that it failed.
fn failed(payload: &Payload) -> bool {
    let no = |part: &Value| part.get("success") == Some(&Value::Bool(false));
    match payload.fields.get("output") {
        Some(Value::Array(parts)) => !parts.is_empty() && parts.iter().all(no),
        Some(part) => no(part),
        None => payload.fields.get("success") == Some(&Value::Bool(false)),
    }
}

fn encode(speech: &Speech<'_>) -> Reply {
    let mut out = Map::new();
    if let Some(objection) = &speech.objection {
        out.insert("cancel".to_owned(), true.into());
        out.insert("errorMessage".to_owned(), objection.agent.as_str().into());
    }
    if let Some(input) = &speech.input {
        out.insert("overrideInput".to_owned(), input.clone());
    }
    if let Some(context) = &speech.context {
        out.insert("contextModification".to_owned(), context.as_str().into());
    }
    Reply::json(out)
}

fn obeys(reply: &Reply) -> bool {
    reply.object().get("cancel") == Some(&Value::Bool(true))
}
