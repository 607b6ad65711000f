//! Codex: Claude's form, strictly checked; what its schema does not know makes the hook fail and the tool run.

use std::time::Duration;

use serde_json::Value;

use crate::event::Trigger;

use super::Certainty;
use super::Host;
use super::Moment;
use super::Payload;
use super::Reply;
use super::Rewrite;
use super::Speech;
use super::as_read;
use super::claude_code;

pub(super) static HOST: Host = Host {
    name: "codex",
    title: "Codex",
    moments: &[
        Moment::new(&["SessionStart"], Trigger::PreSession).context(),
        Moment::new(&["UserPromptSubmit"], Trigger::PreAgentTurn)
            .block()
            .context(),
        // `ask` makes the hook fail there, and a failed hook lets the tool run.
        Moment::new(&["PreToolUse"], Trigger::PreToolUse)
            .block()
            .rewrite(Rewrite::Replace)
            .context(),
        Moment::new(&["PostToolUse"], Trigger::PostToolUse)
            .block()
            .context(),
        Moment::new(&["Stop"], Trigger::PreAgentTurnStop).block(),
        Moment::new(&["SubagentStart"], Trigger::PreSubagent).context(),
        Moment::new(&["SubagentStop"], Trigger::PostSubagent).block(),
        Moment::new(&["PreCompact"], Trigger::PreContextCompact),
        Moment::new(&["PostCompact"], Trigger::PostContextCompact),
        Moment::new(&["SessionEnd"], Trigger::PostSession),
        Moment::ignored(&["Interrupt", "PermissionRequest"]),
    ],
    timeout: Duration::from_mins(10),
    text_limit: 8_000,
    programs: &["codex"],
    sample: r#"{"hook_event_name":"PreToolUse","session_id":"$SESSION","turn_id":"canary","transcript_path":null,"cwd":"$DIR","model":"canary","permission_mode":"default","tool_name":"Bash","tool_input":{"command":"rm -rf .ahp"},"tool_use_id":"canary"}"#,
    blind_spots: &[
        "a hook that is not trusted is skipped without a word",
        "hooks of a project run only in a trusted project",
        "hosted tools, such as its web search, call no hook",
        "a shell command that fails is told as one that succeeded",
        "a hook that times out lets the tool run",
    ],
    speaks,
    adjust: as_read,
    encode,
    obeys,
};

fn speaks(payload: &Payload) -> Certainty {
    let transcript = payload
        .str("transcript_path")
        .is_some_and(|p| p.contains("/.codex/"));
    Certainty::certain_if(transcript || (payload.has("turn_id") && payload.has("model")))
}

fn encode(speech: &Speech<'_>) -> Reply {
    if speech.moment.trigger != Some(Trigger::PreToolUse) {
        return claude_code::encode(speech);
    }
    let mut specific = speech.specific();
    claude_code::permission(speech, &mut specific);
    if speech.objection.is_some() {
        // A refusal may carry nothing else.
        specific.shift_remove("updatedInput");
        specific.shift_remove("additionalContext");
    } else if speech.input.is_some() {
        // It takes a changed input with this word alone; its sandbox and its approvals hold all the same.
        specific.insert("permissionDecision".to_owned(), "allow".into());
    }
    let mut out = serde_json::Map::new();
    if specific.len() > 1 {
        out.insert("hookSpecificOutput".to_owned(), Value::Object(specific));
    }
    Reply::json(out)
}

fn obeys(reply: &Reply) -> bool {
    let reason = reply.object();
    let reason = reason.pointer("/hookSpecificOutput/permissionDecisionReason");
    (reply.blocks && !reply.stderr.trim().is_empty())
        || (claude_code::obeys(reply) && !reply.blocks && reason.is_some_and(|r| r != ""))
}
