//! Kimi CLI: exit code 2 with the reason on stderr, and nothing else.

use std::time::Duration;

use crate::event::Trigger;
use crate::place::{Place, Scope};

use super::{
    Certainty, Form, Host, HostEvent, HostResponse, Payload, Reply, Settings, Switches, exit_code,
};

pub(super) static HOST: Host = Host {
    name: "kimi-cli",
    aliases: &["kimi"],
    title: "Kimi CLI",
    events: &[
        HostEvent::new(&["SessionStart"], Trigger::PreSession),
        HostEvent::new(&["UserPromptSubmit"], Trigger::PreAgentTurn).block(),
        HostEvent::new(&["PreToolUse"], Trigger::PreToolUse).block(),
        HostEvent::new(&["PostToolUse"], Trigger::PostToolUse),
        HostEvent::new(&["PostToolUseFailure"], Trigger::PostToolUseFailure),
        HostEvent::new(&["Stop"], Trigger::PreAgentTurnStop).block(),
        HostEvent::new(&["SubagentStart"], Trigger::PreSubagent),
        HostEvent::new(&["SubagentStop"], Trigger::PostSubagent),
        HostEvent::new(&["PreCompact"], Trigger::PreContextCompact),
        HostEvent::new(&["PostCompact"], Trigger::PostContextCompact),
        HostEvent::new(&["SessionEnd"], Trigger::PostSession),
        HostEvent::ignored(&["Notification", "StopFailure"]),
    ],
    timeout: Duration::from_secs(30),
    text_limit: 4_000,
    programs: &["kimi"],
    project_dir: None,
    settings: Some(Settings {
        form: Form::Toml,
        files: &[(
            Scope::User,
            Place::moved("KIMI_SHARE_DIR", ".kimi", "config.toml"),
        )],
        machine: None,
    }),
    places: &[Place::project(".kimi/config.toml")],
    switches: Switches {
        starts: &[".kimi/mcp.json"],
        flags: &["--config"],
        variables: &["KIMI_SHARE_DIR"],
        ..Switches::NONE
    },
    sample: r#"{"hook_event_name":"PreToolUse","session_id":"$SESSION","cwd":"$DIR","tool_name":"Shell","tool_input":{"command":"$COMMAND"},"tool_call_id":"canary"}"#,
    trial: None,
    blind_spots: &[
        "only the user's own configuration is read: a project cannot bring hooks",
        "no words reach the agent but those of a block: advice waits for one",
        "a stop is held up once a turn",
        "a hook that times out lets the tool run",
    ],
    speaks,
    adjust,
    encode,
    obeys,
};

fn speaks(payload: &Payload) -> Certainty {
    let bare = [
        "transcript_path",
        "timestamp",
        "permission_mode",
        "client_type",
    ];
    if payload.has("hook_event_name") && !bare.iter().any(|field| payload.has(field)) {
        Certainty::Likely
    } else {
        Certainty::No
    }
}

/// It tells a failed tool as one that ran, with the failure in the words of its output.
fn adjust(_: &str, payload: &mut Payload, trigger: &mut Trigger) -> bool {
    exit_code::kimi_cli(payload);
    if *trigger == Trigger::PostToolUse
        && payload
            .str("tool_output")
            .is_some_and(|o| o.starts_with("is_error=True"))
    {
        *trigger = Trigger::PostToolUseFailure;
    }
    true
}

pub(super) fn encode(response: &HostResponse<'_>) -> Reply {
    match &response.objection {
        Some(objection) => Reply::block(&objection.agent),
        None => Reply::nothing(),
    }
}

pub(super) fn obeys(reply: &Reply) -> bool {
    reply.blocks || reply.says("/hookSpecificOutput/permissionDecision", "deny")
}
