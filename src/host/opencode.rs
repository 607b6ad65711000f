//! OpenCode: it has no hook commands; the plugin that `ahp install opencode` writes speaks this form.

use std::time::Duration;

use serde_json::{Map, Value};

use crate::event::Trigger;
use crate::place::{Place, Scope};

use super::payload::ROOT_SESSION;
use super::{
    Certainty, Form, Host, HostEvent, HostResponse, Payload, Reply, Rewrite, Settings, Switches,
    exit_code,
};

pub(super) static HOST: Host = Host {
    name: "opencode",
    aliases: &[],
    title: "OpenCode",
    events: &[
        HostEvent::new(&["session.created"], Trigger::PreSession),
        HostEvent::new(&["chat.message"], Trigger::PreAgentTurn)
            .block()
            .context(),
        HostEvent::new(&["tool.execute.before"], Trigger::PreToolUse)
            .block()
            .rewrite(Rewrite::Replace),
        HostEvent::new(&["tool.execute.after"], Trigger::PostToolUse)
            .block()
            .context(),
        HostEvent::new(&["session.idle"], Trigger::PreAgentTurnStop),
        HostEvent::new(
            &["experimental.session.compacting"],
            Trigger::PreContextCompact,
        )
        .context(),
        HostEvent::new(&["session.deleted"], Trigger::PostSession),
        HostEvent::ignored(&["permission.ask", "session.error"]),
    ],
    timeout: Duration::from_mins(1),
    text_limit: 9_000,
    programs: &["opencode", "opencode-ai"],
    project_dir: None,
    settings: Some(Settings {
        form: Form::Plugin,
        files: &[
            (Scope::User, Place::config("opencode/plugin/ahp.js")),
            (Scope::Project, Place::project(".opencode/plugin/ahp.js")),
        ],
        machine: None,
    }),
    places: &[
        Place::config("opencode/opencode.json"),
        Place::config("opencode/opencode.jsonc"),
        Place::moved("OPENCODE_CONFIG_DIR", ".config/opencode", ""),
        Place::project("opencode.json"),
        Place::project("opencode.jsonc"),
    ],
    switches: Switches {
        flags: &["--pure"],
        variables: &[
            "OPENCODE_PURE",
            "OPENCODE_CONFIG",
            "OPENCODE_CONFIG_CONTENT",
        ],
        code: &[
            Place::config("opencode/plugin"),
            Place::config("opencode/plugins"),
            Place::moved("OPENCODE_CONFIG_DIR", ".config/opencode", "plugin"),
            Place::moved("OPENCODE_CONFIG_DIR", ".config/opencode", "plugins"),
            Place::project(".opencode/plugin"),
            Place::project(".opencode/plugins"),
        ],
        ..Switches::NONE
    },
    sample: r#"{"event":"tool.execute.before","tool":"bash","sessionID":"$SESSION","callID":"canary","directory":"$DIR","args":{"command":"$COMMAND"}}"#,
    trial: None,
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
    exit_code::opencode(payload);
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
    if let Some(Value::String(root)) = payload.take(&["parentID"]) {
        payload.put(ROOT_SESSION, root);
    }
    payload.fields.shift_remove("type");
    true
}

fn encode(response: &HostResponse<'_>) -> Reply {
    let mut out = Map::new();
    if let Some(objection) = &response.objection {
        out.insert("decision".to_owned(), "block".into());
        out.insert("reason".to_owned(), objection.agent.as_str().into());
    }
    if let Some(input) = &response.input {
        out.insert("args".to_owned(), input.clone());
    }
    if let Some(context) = &response.context {
        out.insert("context".to_owned(), context.as_str().into());
    }
    Reply::json(out)
}

fn obeys(reply: &Reply) -> bool {
    reply.blocks || reply.says("/decision", "block")
}
