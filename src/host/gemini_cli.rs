//! Gemini CLI: JSON on stdout overrides the exit code, and any text there is shown to the person.

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

pub(super) static HOST: Host = Host {
    name: "gemini-cli",
    title: "Gemini CLI",
    moments: &[
        Moment::new(&["SessionStart"], Trigger::PreSession)
            .context()
            .notice(),
        Moment::new(&["BeforeAgent"], Trigger::PreAgentTurn)
            .block()
            .context()
            .notice(),
        // Its `ask` hangs a run that has no terminal, and the event does not say whether there is one.
        Moment::new(&["BeforeTool"], Trigger::PreToolUse)
            .block()
            .rewrite(Rewrite::Merge)
            .notice(),
        Moment::new(&["AfterTool"], Trigger::PostToolUse)
            .block()
            .context()
            .notice(),
        Moment::new(&["AfterAgent"], Trigger::PreAgentTurnStop)
            .block()
            .notice(),
        Moment::new(&["PreCompress"], Trigger::PreContextCompact).notice(),
        Moment::new(&["SessionEnd"], Trigger::PostSession),
        Moment::ignored(&[
            "AfterModel",
            "BeforeModel",
            "BeforeToolSelection",
            "Notification",
        ]),
    ],
    timeout: Duration::from_mins(1),
    text_limit: 9_000,
    programs: &["gemini"],
    sample: r#"{"hook_event_name":"BeforeTool","session_id":"$SESSION","transcript_path":"$DIR/t.jsonl","cwd":"$DIR","timestamp":"2026-01-01T00:00:00Z","tool_name":"write_file","tool_input":{"file_path":"$DIR/.ahp/hooks.yaml","content":""}}"#,
    blind_spots: &[
        "timeouts are milliseconds: 30 copied from another host is 30 ms, and a hook that times out lets the tool run",
        "there is no subagent event",
        "a hook changed since it was approved is asked about again",
        "advice before a tool reaches the agent with the tool's result, not before it",
    ],
    speaks,
    adjust,
    encode,
    obeys,
};

fn speaks(payload: &Payload) -> Certainty {
    match payload.str("hook_event_name") {
        Some("BeforeTool" | "AfterTool" | "BeforeAgent" | "AfterAgent" | "PreCompress") => {
            Certainty::Certain
        }
        Some(_)
            if payload
                .str("transcript_path")
                .is_some_and(|p| p.contains("/.gemini/")) =>
        {
            Certainty::Certain
        }
        _ => Certainty::No,
    }
}

fn adjust(_: &str, payload: &mut Payload, trigger: &mut Trigger) -> bool {
    let error = payload
        .fields
        .get("tool_response")
        .and_then(|r| r.get("error"));
    if *trigger == Trigger::PostToolUse
        && let Some(error) = error.filter(|e| !e.is_null()).cloned()
    {
        *trigger = Trigger::PostToolUseFailure;
        payload.put("error", error);
    }
    true
}

fn encode(speech: &Speech<'_>) -> Reply {
    let mut out = speech.with_notice();
    let mut specific = speech.specific();
    if let Some(objection) = &speech.objection {
        let prompt = speech.moment.trigger == Some(Trigger::PreAgentTurn);
        let reason = if prompt {
            &objection.person
        } else {
            &objection.agent
        };
        out.insert("decision".to_owned(), "deny".into());
        out.insert("reason".to_owned(), reason.as_str().into());
    }
    if let Some(input) = &speech.input {
        specific.insert("tool_input".to_owned(), input.clone());
    }
    if specific.len() > 1 {
        out.insert("hookSpecificOutput".to_owned(), Value::Object(specific));
    }
    // Nothing on stdout would make it read stderr as words for the person.
    Reply {
        stdout: Value::Object(out).to_string(),
        ..Reply::json(Map::new())
    }
}

fn obeys(reply: &Reply) -> bool {
    if reply.object().is_object() {
        return reply.says("/decision", "deny") || reply.says("/decision", "block");
    }
    reply.blocks && !(reply.stdout.trim().is_empty() && reply.stderr.trim().is_empty())
}
