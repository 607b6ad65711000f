//! Kimi Code: as Kimi CLI, and it takes words at a prompt.

use std::time::Duration;

use crate::event::Trigger;
use crate::place::{Place, Scope};

use super::{
    Certainty, Form, Host, HostEvent, HostResponse, Payload, Reply, Settings, Switches, exit_code,
    kimi_cli,
};

pub(super) static HOST: Host = Host {
    name: "kimi-code",
    aliases: &[],
    title: "Kimi Code",
    events: &[
        HostEvent::new(&["SessionStart"], Trigger::PreSession),
        HostEvent::new(&["UserPromptSubmit"], Trigger::PreAgentTurn)
            .block()
            .context(),
        HostEvent::new(&["PreToolUse"], Trigger::PreToolUse).block(),
        HostEvent::new(&["PostToolUse"], Trigger::PostToolUse),
        HostEvent::new(&["PostToolUseFailure"], Trigger::PostToolUseFailure),
        HostEvent::new(&["Stop"], Trigger::PreAgentTurnStop).block(),
        HostEvent::new(&["SubagentStart"], Trigger::PreSubagent),
        HostEvent::new(&["SubagentStop"], Trigger::PostSubagent),
        HostEvent::new(&["PreCompact"], Trigger::PreContextCompact),
        HostEvent::new(&["PostCompact"], Trigger::PostContextCompact),
        HostEvent::new(&["SessionEnd"], Trigger::PostSession),
        HostEvent::ignored(&[
            "Interrupt",
            "Notification",
            "PermissionRequest",
            "PermissionResult",
            "SessionHeartbeat",
            "StopFailure",
            "TaskStarted",
            "TurnStarted",
            "UserPromptQueued",
        ]),
    ],
    timeout: Duration::from_secs(30),
    text_limit: 4_000,
    programs: &["kimi-code"],
    project_dir: None,
    settings: Some(Settings {
        form: Form::Toml,
        files: &[(Scope::User, Place::home(".kimi-code/config.toml"))],
        machine: None,
    }),
    places: &[Place::project(".kimi-code/config.toml")],
    switches: Switches::NONE,
    sample: r#"{"hook_event_name":"PreToolUse","session_id":"$SESSION","cwd":"$DIR","client_type":"kimi_code_cli","tool_name":"Bash","tool_input":{"command":"$COMMAND"},"tool_call_id":"canary"}"#,
    trial: None,
    blind_spots: &[
        "only the user's own configuration is read: a project cannot bring hooks",
        "a key that it does not know makes its whole configuration fail to load",
        "the hook after a tool is not waited for, and is killed when the turn ends",
        "a stop is held up once a turn",
        "a hook that times out lets the tool run",
    ],
    speaks,
    adjust,
    encode,
    obeys: kimi_cli::obeys,
};

fn adjust(_: &str, payload: &mut Payload, trigger: &mut Trigger) -> bool {
    exit_code::kimi_code(payload, *trigger);
    true
}

fn speaks(payload: &Payload) -> Certainty {
    Certainty::certain_if(
        payload
            .str("client_type")
            .is_some_and(|client| client.starts_with("kimi")),
    )
}

fn encode(response: &HostResponse<'_>) -> Reply {
    match &response.context {
        // Other JSON is handed to the model as it stands.
        Some(context) if response.objection.is_none() => {
            let mut out = serde_json::Map::new();
            out.insert("message".to_owned(), context.as_str().into());
            Reply::json(out)
        }
        _ => kimi_cli::encode(response),
    }
}
