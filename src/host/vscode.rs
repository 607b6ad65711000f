//! VS Code (agent hooks): Claude's form for tools, another nesting for stops.

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
    name: "vscode",
    title: "VS Code",
    moments: &[
        Moment::new(&["SessionStart"], Trigger::PreSession)
            .context()
            .notice(),
        Moment::new(&["UserPromptSubmit"], Trigger::PreAgentTurn)
            .block()
            .notice(),
        Moment::new(&["PreToolUse"], Trigger::PreToolUse)
            .block()
            .ask()
            .rewrite(Rewrite::Replace)
            .context()
            .notice(),
        Moment::new(&["PostToolUse"], Trigger::PostToolUse)
            .block()
            .context()
            .notice(),
        Moment::new(&["Stop"], Trigger::PreAgentTurnStop)
            .block()
            .notice(),
        Moment::new(&["SubagentStart"], Trigger::PreSubagent)
            .context()
            .notice(),
        Moment::new(&["SubagentStop"], Trigger::PostSubagent)
            .block()
            .notice(),
        Moment::new(&["PreCompact"], Trigger::PreContextCompact).notice(),
    ],
    timeout: Duration::from_secs(30),
    text_limit: 9_000,
    programs: &["code"],
    sample: r#"{"hookEventName":"PreToolUse","sessionId":"$SESSION","timestamp":"2026-01-01T00:00:00Z","cwd":"$DIR","tool_name":"create_file","tool_input":{"filePath":"$DIR/.ahp/hooks.yaml","content":""},"tool_use_id":"canary"}"#,
    blind_spots: &[
        "matchers in hook files are read and not applied: every tool calls the hook",
        "an organisation can switch hooks off by policy",
        "a hook that times out or fails lets the tool run",
    ],
    speaks,
    adjust: as_read,
    encode,
    obeys,
};

fn speaks(payload: &Payload) -> Certainty {
    Certainty::certain_if(payload.has("hookEventName") && payload.has("sessionId"))
}

fn encode(speech: &Speech<'_>) -> Reply {
    let Some(objection) = &speech.objection else {
        return claude_code::encode(speech);
    };
    match speech.moment.trigger {
        Some(Trigger::PreAgentTurnStop) => {
            let mut out = speech.with_notice();
            let mut specific = speech.specific();
            specific.insert("decision".to_owned(), "block".into());
            specific.insert("reason".to_owned(), objection.agent.as_str().into());
            out.insert("hookSpecificOutput".to_owned(), Value::Object(specific));
            Reply::json(out)
        }
        // There is no JSON for it at a prompt: only the exit code counts.
        Some(Trigger::PreAgentTurn) => Reply::block(&objection.person),
        _ => claude_code::encode(speech),
    }
}

fn obeys(reply: &Reply) -> bool {
    reply.blocks
        || (reply.says("/hookSpecificOutput/permissionDecision", "deny")
            && reply.says("/hookSpecificOutput/hookEventName", "PreToolUse"))
}
