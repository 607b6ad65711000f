//! Cline: exit codes count for nothing; `cancel` in the JSON ends the whole run.

use std::time::Duration;

use serde_json::{Map, Value};

use crate::event::Trigger;
use crate::place::{Place, Scope};

use super::payload::{ROOT_SESSION, decoded};
use super::{
    Certainty, Form, Host, HostEvent, HostResponse, Payload, Reply, Rewrite, Settings, Switches,
    exit_code,
};

pub(super) static HOST: Host = Host {
    name: "cline",
    aliases: &[],
    title: "Cline",
    events: &[
        HostEvent::new(
            &["TaskStart", "TaskResume", "agent_start", "agent_resume"],
            Trigger::PreSession,
        ),
        HostEvent::new(
            &["UserPromptSubmit", "prompt_submit"],
            Trigger::PreAgentTurn,
        )
        .block()
        .context(),
        HostEvent::new(&["PreToolUse", "tool_call"], Trigger::PreToolUse)
            .block()
            .rewrite(Rewrite::Replace)
            .context(),
        HostEvent::new(&["PostToolUse", "tool_result"], Trigger::PostToolUse).context(),
        HostEvent::new(&["TaskComplete", "agent_end"], Trigger::PostAgentTurnStop),
        HostEvent::new(&["PreCompact", "pre_compact"], Trigger::PreContextCompact),
        HostEvent::new(
            &["SessionShutdown", "session_shutdown"],
            Trigger::PostSession,
        ),
        HostEvent::ignored(&["TaskCancel", "TaskError", "agent_abort", "agent_error"]),
    ],
    timeout: Duration::from_secs(30),
    text_limit: 4_000,
    programs: &["cline"],
    project_dir: None,
    settings: Some(Settings {
        form: Form::Executables,
        files: &[
            (Scope::User, Place::home(".cline/hooks")),
            (Scope::Project, Place::project(".clinerules/hooks")),
        ],
        machine: None,
    }),
    places: &[
        Place::project(".cline/hooks"),
        Place::home("Documents/Cline/Hooks"),
    ],
    switches: Switches {
        starts: &["cline_mcp_settings.json"],
        flags: &["--yolo"],
        ..Switches::NONE
    },
    sample: r#"{"clineVersion":"","hookName":"tool_call","taskId":"$SESSION","workspaceRoots":["$DIR"],"tool_call":{"id":"canary","name":"run_commands","input":{"commands":["$COMMAND"]}}}"#,
    trial: None,
    blind_spots: &[
        "a refused tool ends the whole run: the reason reaches the person, not the model",
        "a run without a terminal calls no hook for its prompt",
        "a stop cannot be held up",
        "a hook that fails lets the tool run",
        "`--yolo` skips every hook",
    ],
    speaks,
    adjust,
    encode,
    obeys,
};

fn speaks(payload: &Payload) -> Certainty {
    Certainty::certain_if(
        payload.has("clineVersion") || (payload.has("taskId") && payload.has("hookName")),
    )
}

/// Lifts what lies in an object of the event's own name to where the common reader looks.
fn adjust(_: &str, payload: &mut Payload, trigger: &mut Trigger) -> bool {
    // Its subagents have tasks of their own; the session is that of the root.
    let root = payload
        .fields
        .get("sessionContext")
        .and_then(|context| context.get("rootSessionId"))
        .and_then(Value::as_str)
        .map(str::to_owned);
    for inner in [
        "tool_call",
        "tool_result",
        "preToolUse",
        "postToolUse",
        "turn",
        "userPromptSubmit",
        "taskStart",
        "taskComplete",
    ] {
        let Some(Value::Object(fields)) = payload.take(&[inner]) else {
            continue;
        };
        for (name, value) in fields {
            let name = if name == "parameters" {
                "toolArgs".to_owned()
            } else {
                name
            };
            payload.fields.entry(name).or_insert(value);
        }
    }
    // The same call stands there twice; in the second form its lists are strings.
    if payload.has("name") {
        payload.fields.shift_remove("toolName");
        payload.fields.shift_remove("toolArgs");
        payload.fields.shift_remove("result");
    }
    if let Some(input) = payload.take(&["toolArgs"]) {
        payload.put("toolArgs", decoded(input));
    }
    if *trigger == Trigger::PostToolUse {
        exit_code::cline(payload);
    }
    if let Some(root) = root {
        payload.put(ROOT_SESSION, root);
    }
    if *trigger == Trigger::PostToolUse && failed(payload) {
        *trigger = Trigger::PostToolUseFailure;
    }
    true
}

/// Whether every part of the tool's output says that it failed.
fn failed(payload: &Payload) -> bool {
    let no = |part: &Value| part.get("success") == Some(&Value::Bool(false));
    match payload.fields.get("output") {
        Some(Value::Array(parts)) => !parts.is_empty() && parts.iter().all(no),
        Some(part) => no(part),
        None => payload.fields.get("success") == Some(&Value::Bool(false)),
    }
}

fn encode(response: &HostResponse<'_>) -> Reply {
    let mut out = Map::new();
    if let Some(objection) = &response.objection {
        out.insert("cancel".to_owned(), true.into());
        out.insert("errorMessage".to_owned(), objection.agent.as_str().into());
    }
    if let Some(input) = &response.input {
        out.insert("overrideInput".to_owned(), input.clone());
    }
    if let Some(context) = &response.context {
        out.insert("contextModification".to_owned(), context.as_str().into());
    }
    Reply::json(out)
}

fn obeys(reply: &Reply) -> bool {
    reply.object().get("cancel") == Some(&Value::Bool(true))
}
