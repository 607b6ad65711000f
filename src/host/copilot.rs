//! Copilot CLI, in both spellings of its events: flat JSON, which both of them read.

use std::time::Duration;

use crate::event::Trigger;

use super::Certainty;
use super::Host;
use super::Moment;
use super::Payload;
use super::Reply;
use super::Rewrite;
use super::Speech;

pub(super) static HOST: Host = Host {
    name: "copilot",
    title: "Copilot CLI",
    moments: &[
        Moment::new(&["sessionStart", "SessionStart"], Trigger::PreSession).context(),
        Moment::new(
            &["userPromptSubmitted", "UserPromptSubmit"],
            Trigger::PreAgentTurn,
        )
        .block()
        .context(),
        Moment::new(&["preToolUse", "PreToolUse"], Trigger::PreToolUse)
            .block()
            .ask()
            .rewrite(Rewrite::Replace)
            .context(),
        Moment::new(&["postToolUse", "PostToolUse"], Trigger::PostToolUse)
            .block()
            .context(),
        Moment::new(
            &["postToolUseFailure", "PostToolUseFailure"],
            Trigger::PostToolUseFailure,
        )
        .block(),
        Moment::new(&["agentStop", "Stop"], Trigger::PreAgentTurnStop).block(),
        Moment::new(&["subagentStart", "SubagentStart"], Trigger::PreSubagent).context(),
        Moment::new(&["subagentStop", "SubagentStop"], Trigger::PostSubagent).block(),
        Moment::new(&["preCompact", "PreCompact"], Trigger::PreContextCompact),
        Moment::new(&["sessionEnd", "SessionEnd"], Trigger::PostSession),
        Moment::ignored(&[
            "permissionRequest",
            "PermissionRequest",
            "notification",
            "Notification",
            "errorOccurred",
            "ErrorOccurred",
            "userPromptTransformed",
            "UserPromptTransformed",
            "preMcpToolCall",
            "PreMcpToolCall",
        ]),
    ],
    timeout: Duration::from_secs(30),
    text_limit: 9_000,
    programs: &["copilot"],
    sample: r#"{"sessionId":"$SESSION","timestamp":0,"cwd":"$DIR","toolName":"create","toolArgs":{"path":"$DIR/.ahp/hooks.yaml","file_text":""}}"#,
    blind_spots: &[
        "hooks of a project run only in a trusted folder",
        "the cloud agent reads `.github/hooks` alone and turns `ask` into a refusal",
        "any exit code but 0 refuses the tool: a missing `ahp` stops every tool call",
        "a hook that times out lets the tool run",
        "the words of an exit code 2 do not reach the model, only those of JSON do",
    ],
    speaks,
    adjust,
    encode,
    obeys,
};

fn speaks(payload: &Payload) -> Certainty {
    if payload.has("toolArgs") && payload.has("sessionId") {
        return Certainty::Certain;
    }
    let camel = payload.has("sessionId")
        && payload
            .fields
            .get("timestamp")
            .is_some_and(serde_json::Value::is_number);
    let pascal = payload.has("hook_event_name")
        && payload.has("timestamp")
        && payload
            .str("transcript_path")
            .is_none_or(|path| path.contains("/.copilot/"));
    if camel || pascal {
        Certainty::Likely
    } else {
        Certainty::No
    }
}

fn adjust(_: &str, payload: &mut Payload, trigger: &mut Trigger) -> bool {
    let result = payload
        .fields
        .get("toolResult")
        .or(payload.fields.get("tool_result"));
    let kind = result.and_then(|r| r.get("resultType").or(r.get("result_type")));
    if *trigger == Trigger::PostToolUse && kind.is_some_and(|k| k != "success") {
        *trigger = Trigger::PostToolUseFailure;
    }
    true
}

fn encode(speech: &Speech<'_>) -> Reply {
    let mut out = serde_json::Map::new();
    if let Some(objection) = &speech.objection {
        match speech.moment.trigger {
            Some(Trigger::PreToolUse) => {
                let (decision, reason) = if objection.ask {
                    ("ask", &objection.person)
                } else {
                    ("deny", &objection.agent)
                };
                out.insert("permissionDecision".to_owned(), decision.into());
                out.insert(
                    "permissionDecisionReason".to_owned(),
                    reason.as_str().into(),
                );
            }
            // Here the exit code is what turns words into context.
            Some(Trigger::PostToolUseFailure) => return Reply::block(&objection.agent),
            _ => {
                out.insert("decision".to_owned(), "block".into());
                out.insert("reason".to_owned(), objection.agent.as_str().into());
            }
        }
    }
    if let Some(input) = &speech.input {
        out.insert("modifiedArgs".to_owned(), input.clone());
    }
    if let Some(context) = &speech.context {
        out.insert("additionalContext".to_owned(), context.as_str().into());
    }
    Reply::json(out)
}

fn obeys(reply: &Reply) -> bool {
    reply.blocks || reply.says("/permissionDecision", "deny")
}
