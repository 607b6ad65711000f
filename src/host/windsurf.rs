//! Windsurf: an event for each sort of tool, and exit code 2 as the one answer.

use std::time::Duration;

use serde_json::Value;

use crate::event::Trigger;
use crate::place::{Place, Scope};

use super::{
    Certainty, Form, Host, HostEvent, MachineSettings, Payload, Settings, Shape, Switches, kimi_cli,
};

pub(super) static HOST: Host = Host {
    name: "windsurf",
    aliases: &[],
    title: "Windsurf",
    events: &[
        HostEvent::new(&["pre_user_prompt"], Trigger::PreAgentTurn).block(),
        HostEvent::new(&["pre_run_command"], Trigger::PreToolUse).block(),
        HostEvent::new(&["pre_write_code"], Trigger::PreToolUse).block(),
        HostEvent::new(&["pre_read_code"], Trigger::PreToolUse).block(),
        HostEvent::new(&["pre_mcp_tool_use"], Trigger::PreToolUse).block(),
        HostEvent::new(&["post_run_command"], Trigger::PostToolUse),
        HostEvent::new(&["post_write_code"], Trigger::PostToolUse),
        HostEvent::new(&["post_read_code"], Trigger::PostToolUse),
        HostEvent::new(&["post_mcp_tool_use"], Trigger::PostToolUse),
        HostEvent::new(&["post_cascade_response"], Trigger::PostAgentTurn),
        HostEvent::ignored(&[
            "post_cascade_response_with_transcript",
            "post_setup_worktree",
        ]),
    ],
    timeout: Duration::from_mins(1),
    text_limit: 4_000,
    programs: &["windsurf"],
    project_dir: None,
    settings: Some(Settings {
        form: Form::Json(Shape::Windsurf),
        files: &[
            (Scope::User, Place::home(".codeium/windsurf/hooks.json")),
            (Scope::Project, Place::project(".windsurf/hooks.json")),
        ],
        machine: Some(&MachineSettings {
            form: Form::Json(Shape::Windsurf),
            file: Place::machine_or_mac(
                "/etc/windsurf/hooks.json",
                "/Library/Application Support/Windsurf/hooks.json",
            ),
            only: None,
        }),
    }),
    places: &[
        Place::home(".codeium/hooks.json"),
        Place::machine("/etc/windsurf"),
        Place::machine("/Library/Application Support/Windsurf"),
    ],
    switches: Switches {
        starts: &[".codeium/windsurf/mcp_config.json"],
        ..Switches::NONE
    },
    sample: r#"{"agent_action_name":"pre_run_command","trajectory_id":"$SESSION","tool_info":{"command_line":"$COMMAND","cwd":"$DIR"}}"#,
    trial: None,
    blind_spots: &[
        "no words reach the agent but those of a block: advice waits for one",
        "a stop cannot be held up, and sessions and subagents call no hook",
        "tools other than commands, reading, writing and MCP call no hook",
        "how long it waits for a hook is not documented",
    ],
    speaks,
    adjust,
    encode: kimi_cli::encode,
    obeys: |reply| reply.blocks,
};

fn speaks(payload: &Payload) -> Certainty {
    Certainty::certain_if(payload.has("agent_action_name"))
}

fn adjust(event: &str, payload: &mut Payload, _: &mut Trigger) -> bool {
    let Some(Value::Object(mut info)) = payload.take(&["tool_info"]) else {
        return true;
    };
    if let Some(dir) = info.shift_remove("cwd") {
        payload.put("cwd", dir);
    }
    let (_, act) = event.split_once('_').unwrap_or_default();
    match act {
        "mcp_tool_use" => {
            let name = info.get("mcp_tool_name").cloned().unwrap_or_default();
            let mut mcp = serde_json::Map::new();
            mcp.insert(
                "server_name".to_owned(),
                info.get("mcp_server_name").cloned().unwrap_or_default(),
            );
            mcp.insert("tool_name".to_owned(), name.clone());
            payload.put("mcp_context", mcp);
            payload.put("tool_name", name);
            payload.put(
                "tool_input",
                info.shift_remove("mcp_tool_arguments").unwrap_or_default(),
            );
            if let Some(result) = info.shift_remove("mcp_result") {
                payload.put("tool_output", result);
            }
        }
        "run_command" | "write_code" | "read_code" => {
            payload.put("tool_name", act);
            payload.put("tool_input", info);
        }
        _ => payload.fields.extend(info),
    }
    true
}
