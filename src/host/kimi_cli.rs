//! Kimi CLI: exit code 2 with the reason on stderr, and nothing else.

use std::time::Duration;

use crate::event::Trigger;

use super::Certainty;
use super::Host;
use super::Moment;
use super::Payload;
use super::Reply;
use super::Speech;

pub(super) static HOST: Host = Host {
    name: "kimi-cli",
    title: "Kimi CLI",
    moments: &[
        Moment::new(&["SessionStart"], Trigger::PreSession),
        Moment::new(&["UserPromptSubmit"], Trigger::PreAgentTurn).block(),
        Moment::new(&["PreToolUse"], Trigger::PreToolUse).block(),
        Moment::new(&["PostToolUse"], Trigger::PostToolUse),
        Moment::new(&["PostToolUseFailure"], Trigger::PostToolUseFailure),
        Moment::new(&["Stop"], Trigger::PreAgentTurnStop).block(),
        Moment::new(&["SubagentStart"], Trigger::PreSubagent),
        Moment::new(&["SubagentStop"], Trigger::PostSubagent),
        Moment::new(&["PreCompact"], Trigger::PreContextCompact),
        Moment::new(&["PostCompact"], Trigger::PostContextCompact),
        Moment::new(&["SessionEnd"], Trigger::PostSession),
        Moment::ignored(&["Notification", "StopFailure"]),
    ],
    timeout: Duration::from_secs(30),
    text_limit: 4_000,
    programs: &["kimi"],
    sample: r#"{"hook_event_name":"PreToolUse","session_id":"$SESSION","cwd":"$DIR","tool_name":"WriteFile","tool_input":{"path":"$DIR/.ahp/hooks.yaml","content":""},"tool_call_id":"canary"}"#,
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
    if *trigger == Trigger::PostToolUse
        && payload
            .str("tool_output")
            .is_some_and(|o| o.starts_with("is_error=True"))
    {
        *trigger = Trigger::PostToolUseFailure;
    }
    true
}

pub(super) fn encode(speech: &Speech<'_>) -> Reply {
    match &speech.objection {
        Some(objection) => Reply::block(&objection.agent),
        None => Reply::nothing(),
    }
}

pub(super) fn obeys(reply: &Reply) -> bool {
    reply.blocks || reply.says("/hookSpecificOutput/permissionDecision", "deny")
}
