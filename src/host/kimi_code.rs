//! Kimi Code: as Kimi CLI, and it takes words at a prompt.

use std::time::Duration;

use crate::event::Trigger;

use super::Certainty;
use super::Host;
use super::Moment;
use super::Payload;
use super::Reply;
use super::Speech;
use super::as_read;
use super::kimi_cli;

pub(super) static HOST: Host = Host {
    name: "kimi-code",
    title: "Kimi Code",
    moments: &[
        Moment::new(&["SessionStart"], Trigger::PreSession),
        Moment::new(&["UserPromptSubmit"], Trigger::PreAgentTurn)
            .block()
            .context(),
        Moment::new(&["PreToolUse"], Trigger::PreToolUse).block(),
        Moment::new(&["PostToolUse"], Trigger::PostToolUse),
        Moment::new(&["PostToolUseFailure"], Trigger::PostToolUseFailure),
        Moment::new(&["Stop"], Trigger::PreAgentTurnStop).block(),
        Moment::new(&["SubagentStart"], Trigger::PreSubagent),
        Moment::new(&["SubagentStop"], Trigger::PostSubagent),
        Moment::new(&["PreCompact"], Trigger::PreContextCompact),
        Moment::new(&["PostCompact"], Trigger::PostContextCompact),
        Moment::new(&["SessionEnd"], Trigger::PostSession),
        Moment::ignored(&[
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
    sample: r#"{"hook_event_name":"PreToolUse","session_id":"$SESSION","cwd":"$DIR","client_type":"kimi_code_cli","tool_name":"Write","tool_input":{"path":"$DIR/.ahp/hooks.yaml","content":""},"tool_call_id":"canary"}"#,
    blind_spots: &[
        "only the user's own configuration is read: a project cannot bring hooks",
        "a key that it does not know makes its whole configuration fail to load",
        "the hook after a tool is not waited for, and is killed when the turn ends",
        "a stop is held up once a turn",
        "a hook that times out lets the tool run",
    ],
    speaks,
    adjust: as_read,
    encode,
    obeys: kimi_cli::obeys,
};

fn speaks(payload: &Payload) -> Certainty {
    Certainty::certain_if(
        payload
            .str("client_type")
            .is_some_and(|client| client.starts_with("kimi")),
    )
}

fn encode(speech: &Speech<'_>) -> Reply {
    match &speech.context {
        // Other JSON is handed to the model as it stands.
        Some(context) if speech.objection.is_none() => {
            let mut out = serde_json::Map::new();
            out.insert("message".to_owned(), context.as_str().into());
            Reply::json(out)
        }
        _ => kimi_cli::encode(speech),
    }
}
