//! OpenCode: it has no hook commands; the plugin that `ahp install opencode` writes speaks this form.

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
    name: "opencode",
    title: "OpenCode",
    moments: &[
        Moment::new(&["session.created"], Trigger::PreSession),
        Moment::new(&["chat.message"], Trigger::PreAgentTurn)
            .block()
            .context(),
        Moment::new(&["tool.execute.before"], Trigger::PreToolUse)
            .block()
            .rewrite(Rewrite::Replace),
        Moment::new(&["tool.execute.after"], Trigger::PostToolUse)
            .block()
            .context(),
        Moment::new(&["session.idle"], Trigger::PreAgentTurnStop),
        Moment::new(
            &["experimental.session.compacting"],
            Trigger::PreContextCompact,
        )
        .context(),
        Moment::new(&["session.deleted"], Trigger::PostSession),
        Moment::ignored(&["permission.ask", "session.error"]),
    ],
    timeout: Duration::from_mins(1),
    text_limit: 9_000,
    programs: &["opencode"],
    sample: r#"{"event":"tool.execute.before","tool":"write","sessionID":"$SESSION","callID":"canary","directory":"$DIR","args":{"filePath":"$DIR/.ahp/hooks.yaml","content":""}}"#,
    blind_spots: &[
        "`--pure` and `OPENCODE_PURE=1` switch plugins off",
        "subagents call no plugin in some versions",
        "a tool that fails calls no hook after it",
        "the person cannot be asked, and a stop cannot be held up",
        "tools of MCP servers are named like any other, and count as kind `other`",
    ],
    speaks,
    adjust,
    encode,
    obeys,
};

fn speaks(payload: &Payload) -> Certainty {
    let typed = payload
        .str("type")
        .is_some_and(|t| t.starts_with("session."));
    Certainty::certain_if(payload.has("sessionID") || (typed && payload.has("properties")))
}

fn adjust(_: &str, payload: &mut Payload, _: &mut Trigger) -> bool {
    if let Some(properties) = payload.take(&["properties"]) {
        let text = |pointer: &str| properties.pointer(pointer).and_then(Value::as_str);
        if let Some(session) = text("/sessionID").or(text("/info/id")) {
            payload.put("sessionID", session);
        }
        if let Some(dir) = text("/info/directory") {
            payload.put("directory", dir);
        }
    }
    if let Some(parts) = payload.take(&["parts"]) {
        payload.put("prompt", parts);
    }
    payload.fields.shift_remove("type");
    true
}

fn encode(speech: &Speech<'_>) -> Reply {
    let mut out = Map::new();
    if let Some(objection) = &speech.objection {
        out.insert("decision".to_owned(), "block".into());
        out.insert("reason".to_owned(), objection.agent.as_str().into());
    }
    if let Some(input) = &speech.input {
        out.insert("args".to_owned(), input.clone());
    }
    if let Some(context) = &speech.context {
        out.insert("context".to_owned(), context.as_str().into());
    }
    Reply::json(out)
}

fn obeys(reply: &Reply) -> bool {
    reply.blocks || reply.says("/decision", "block")
}
