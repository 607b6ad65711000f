//! Cursor: snake-case answers, and events of their own for shell, MCP and reading.

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
    name: "cursor",
    title: "Cursor",
    moments: &[
        Moment::new(&["sessionStart"], Trigger::PreSession).context(),
        Moment::new(&["beforeSubmitPrompt"], Trigger::PreAgentTurn).block(),
        // A shell or MCP call fires this and its own event; only the latter can ask, so it alone is wired for them.
        Moment::new(&["preToolUse", "PreToolUse"], Trigger::PreToolUse)
            .block()
            .rewrite(Rewrite::Replace)
            .context()
            .matcher("^(?!Shell$|MCP:)"),
        Moment::new(&["beforeShellExecution"], Trigger::PreToolUse)
            .block()
            .ask(),
        Moment::new(&["beforeMCPExecution"], Trigger::PreToolUse)
            .block()
            .ask(),
        Moment::new(
            &["beforeReadFile", "beforeTabFileRead"],
            Trigger::PreToolUse,
        )
        .block()
        .unwired(),
        Moment::new(&["postToolUse", "PostToolUse"], Trigger::PostToolUse).context(),
        Moment::new(&["postToolUseFailure"], Trigger::PostToolUseFailure),
        Moment::new(
            &[
                "afterShellExecution",
                "afterMCPExecution",
                "afterFileEdit",
                "afterTabFileEdit",
            ],
            Trigger::PostToolUse,
        )
        .unwired(),
        Moment::new(&["stop"], Trigger::PreAgentTurnStop).block(),
        Moment::new(&["subagentStart"], Trigger::PreSubagent).block(),
        Moment::new(&["subagentStop"], Trigger::PostSubagent).block(),
        Moment::new(&["preCompact"], Trigger::PreContextCompact),
        Moment::new(&["sessionEnd"], Trigger::PostSession),
        Moment::ignored(&["afterAgentResponse", "afterAgentThought", "workspaceOpen"]),
    ],
    timeout: Duration::from_mins(1),
    text_limit: 9_000,
    programs: &["cursor", "cursor-agent"],
    sample: r#"{"hook_event_name":"preToolUse","conversation_id":"$SESSION","generation_id":"canary","workspace_roots":["$DIR"],"cwd":"$DIR","tool_name":"Write","tool_input":{"file_path":"$DIR/.ahp/hooks.yaml","contents":""},"tool_use_id":"canary"}"#,
    blind_spots: &[
        "`://` anywhere in a hook's command makes it drop the whole file without a word",
        "cloud agents run no session, MCP or user hooks; print mode skips the prompt's hook",
        "its question tool and its tab completion call no tool hook",
        "a hook that fails or times out lets the tool run, unless it says `failClosed`",
    ],
    speaks,
    adjust,
    encode,
    obeys,
};

fn speaks(payload: &Payload) -> Certainty {
    Certainty::certain_if(payload.has("conversation_id") && payload.has("generation_id"))
}

fn adjust(event: &str, payload: &mut Payload, _: &mut Trigger) -> bool {
    match event {
        "beforeShellExecution" | "afterShellExecution" => {
            as_tool(payload, "Shell", &["command", "cwd"]);
        }
        "beforeReadFile" | "beforeTabFileRead" => as_tool(payload, "Read", &["file_path"]),
        "afterFileEdit" | "afterTabFileEdit" => as_tool(payload, "Edit", &["file_path", "edits"]),
        "beforeMCPExecution" | "afterMCPExecution" => {
            if let Some(input) = payload.take(&["tool_input"]) {
                payload.put("tool_input", decoded(input));
            }
            let mut mcp = Map::new();
            if let Some(name) = payload.str("tool_name") {
                mcp.insert("tool_name".to_owned(), name.into());
            }
            payload.put("mcp_context", mcp);
        }
        "stop" | "subagentStop" => {
            let again = payload
                .fields
                .get("loop_count")
                .and_then(Value::as_u64)
                .unwrap_or(0)
                > 0;
            payload.put("stop_hook_active", again);
        }
        _ => {}
    }
    true
}

/// Makes a tool call of an event that names no tool.
fn as_tool(payload: &mut Payload, name: &str, fields: &[&str]) {
    let mut input = Map::new();
    for field in fields {
        if let Some(value) = payload.fields.get(*field) {
            input.insert((*field).to_owned(), value.clone());
        }
    }
    for field in fields.iter().filter(|f| **f != "cwd") {
        payload.fields.shift_remove(*field);
    }
    payload.put("tool_name", name);
    payload.put("tool_input", input);
}

fn encode(speech: &Speech<'_>) -> Reply {
    let mut out = Map::new();
    let mut put = |key: &str, value: Value| out.insert(key.to_owned(), value);
    if let Some(objection) = &speech.objection {
        match speech.moment.trigger {
            Some(Trigger::PreAgentTurn) => {
                put("continue", false.into());
                put("user_message", objection.person.as_str().into());
            }
            Some(Trigger::PreAgentTurnStop | Trigger::PostSubagent) => {
                put("followup_message", objection.agent.as_str().into());
            }
            _ => {
                put(
                    "permission",
                    if objection.ask { "ask" } else { "deny" }.into(),
                );
                put("user_message", objection.person.as_str().into());
                put("agent_message", objection.agent.as_str().into());
            }
        }
    }
    if let Some(input) = &speech.input {
        put("updated_input", input.clone());
    }
    if let Some(context) = &speech.context {
        let key = if speech.moment.trigger == Some(Trigger::PreToolUse) {
            "agent_message"
        } else {
            "additional_context"
        };
        put(key, context.as_str().into());
    }
    Reply {
        stdout: Value::Object(out).to_string(),
        ..Reply::nothing()
    }
}

fn obeys(reply: &Reply) -> bool {
    reply.blocks || reply.says("/permission", "deny")
}
