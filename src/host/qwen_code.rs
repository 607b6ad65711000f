//! Qwen Code: Gemini's sibling with Claude's hooks; no change of input, no words before a tool.

use std::time::Duration;

use crate::event::Trigger;

use super::Certainty;
use super::Host;
use super::Moment;
use super::Payload;
use super::Reply;
use super::claude_code;

pub(super) static HOST: Host = Host {
    name: "qwen-code",
    title: "Qwen Code",
    moments: &[
        Moment::new(&["SessionStart"], Trigger::PreSession).context(),
        Moment::new(&["UserPromptSubmit"], Trigger::PreAgentTurn)
            .block()
            .context(),
        Moment::new(&["PreToolUse"], Trigger::PreToolUse)
            .block()
            .ask(),
        // A block after the tool has no effect there; words do reach the agent.
        Moment::new(&["PostToolUse"], Trigger::PostToolUse).context(),
        Moment::new(&["PostToolUseFailure"], Trigger::PostToolUseFailure),
        Moment::new(&["Stop"], Trigger::PreAgentTurnStop).block(),
        Moment::new(&["SubagentStart"], Trigger::PreSubagent),
        Moment::new(&["SubagentStop"], Trigger::PostSubagent),
        Moment::new(&["PreCompact"], Trigger::PreContextCompact),
        Moment::new(&["PostCompact"], Trigger::PostContextCompact),
        Moment::new(&["SessionEnd"], Trigger::PostSession),
        Moment::ignored(&["Notification", "PermissionRequest", "StopFailure"]),
    ],
    timeout: Duration::from_mins(1),
    text_limit: 9_000,
    programs: &["qwen"],
    sample: r#"{"hook_event_name":"PreToolUse","session_id":"$SESSION","transcript_path":"$DIR/.qwen/t.jsonl","cwd":"$DIR","timestamp":"2026-01-01T00:00:00Z","tool_name":"write_file","tool_input":{"file_path":"$DIR/.ahp/hooks.yaml","content":""}}"#,
    blind_spots: &[
        "timeouts are milliseconds, and a hook that times out lets the tool run",
        "a tool's input cannot be changed: the call is refused with the input that would be right",
        "advice before a tool reaches the agent with the tool's result, not before it",
        "the end of a session was never seen to call a hook",
    ],
    speaks,
    adjust,
    encode: claude_code::encode,
    obeys,
};

fn speaks(payload: &Payload) -> Certainty {
    Certainty::certain_if(
        payload
            .str("transcript_path")
            .is_some_and(|p| p.contains("/.qwen/")),
    )
}

/// After each tool result it calls the prompt's hook again with no words: no new turn, but a chance to speak.
fn adjust(_: &str, payload: &mut Payload, trigger: &mut Trigger) -> bool {
    *trigger != Trigger::PreAgentTurn || payload.str("prompt") != Some("")
}

fn obeys(reply: &Reply) -> bool {
    (reply.blocks && !reply.stderr.trim().is_empty())
        || reply.says("/hookSpecificOutput/permissionDecision", "deny")
        || reply.says("/decision", "deny")
        || reply.says("/decision", "block")
}
