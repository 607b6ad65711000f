//! Cursor: snake-case answers, and events of their own for shell, MCP and reading.

use std::time::Duration;

use serde_json::{Map, Value};

use crate::event::Trigger;
use crate::place::{Place, Scope};

use super::payload::decoded;
use super::{
    Certainty, Form, Host, HostEvent, HostResponse, MachineSettings, Payload, Reply, Rewrite,
    Settings, Shape, Switches,
};

pub(super) static HOST: Host = Host {
    name: "cursor",
    aliases: &["cursor-agent"],
    title: "Cursor",
    events: &[
        HostEvent::new(&["sessionStart"], Trigger::PreSession).context(),
        HostEvent::new(&["beforeSubmitPrompt"], Trigger::PreAgentTurn).block(),
        // A shell or MCP call fires this and its own event; only the latter can ask, so it alone is wired for them.
        HostEvent::new(&["preToolUse", "PreToolUse"], Trigger::PreToolUse)
            .block()
            .rewrite(Rewrite::Replace)
            .context()
            .matcher("^(?!Shell$|MCP:)"),
        HostEvent::new(&["beforeShellExecution"], Trigger::PreToolUse)
            .block()
            .ask(),
        HostEvent::new(&["beforeMCPExecution"], Trigger::PreToolUse)
            .block()
            .ask(),
        HostEvent::new(
            &["beforeReadFile", "beforeTabFileRead"],
            Trigger::PreToolUse,
        )
        .block()
        .unwired(),
        HostEvent::new(&["postToolUse", "PostToolUse"], Trigger::PostToolUse).context(),
        HostEvent::new(&["postToolUseFailure"], Trigger::PostToolUseFailure),
        HostEvent::new(
            &[
                "afterShellExecution",
                "afterMCPExecution",
                "afterFileEdit",
                "afterTabFileEdit",
            ],
            Trigger::PostToolUse,
        )
        .unwired(),
        HostEvent::new(&["stop"], Trigger::PreAgentTurnStop).block(),
        HostEvent::new(&["subagentStart"], Trigger::PreSubagent).block(),
        HostEvent::new(&["subagentStop"], Trigger::PostSubagent).block(),
        HostEvent::new(&["preCompact"], Trigger::PreContextCompact),
        HostEvent::new(&["sessionEnd"], Trigger::PostSession),
        HostEvent::ignored(&["afterAgentResponse", "afterAgentThought", "workspaceOpen"]),
    ],
    timeout: Duration::from_mins(1),
    text_limit: 9_000,
    programs: &["cursor", "cursor-agent"],
    project_dir: Some("CURSOR_PROJECT_DIR"),
    settings: Some(Settings {
        form: Form::Json(Shape::Cursor),
        files: &[
            (Scope::User, Place::home(".cursor/hooks.json")),
            (Scope::Project, Place::project(".cursor/hooks.json")),
        ],
        machine: Some(&MachineSettings {
            form: Form::Json(Shape::Cursor),
            file: Place::machine_or_mac(
                "/etc/cursor/hooks.json",
                "/Library/Application Support/Cursor/hooks.json",
            ),
            only: None,
        }),
    }),
    places: &[
        Place::machine("/etc/cursor"),
        Place::machine("/Library/Application Support/Cursor"),
    ],
    switches: Switches {
        starts: &[".cursor/mcp.json"],
        ..Switches::NONE
    },
    sample: r#"{"hook_event_name":"preToolUse","conversation_id":"$SESSION","generation_id":"canary","workspace_roots":["$DIR"],"cwd":"$DIR","tool_name":"Shell","tool_input":{"command":"$COMMAND"},"tool_use_id":"canary"}"#,
    trial: None,
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

fn encode(response: &HostResponse<'_>) -> Reply {
    let mut out = Map::new();
    let mut put = |key: &str, value: Value| out.insert(key.to_owned(), value);
    if let Some(objection) = &response.objection {
        match response.host_event.trigger {
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
    if let Some(input) = &response.input {
        put("updated_input", input.clone());
    }
    if let Some(context) = &response.context {
        let key = if response.host_event.trigger == Some(Trigger::PreToolUse) {
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
