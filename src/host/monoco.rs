//! Monoco: the issue tool itself, which tells what it is about to do with an issue.

use std::time::Duration;

use serde_json::Map;

use crate::event::Trigger;
use crate::place::{Place, Scope};

use super::host_event::with_issues;
use super::{
    Certainty, Form, Host, HostEvent, HostResponse, Payload, Reply, Settings, Switches, as_read,
};

/// An event before something happens to an issue.
const fn pre(trigger: Trigger) -> HostEvent {
    HostEvent::of(trigger).block().context()
}

/// An event after it.
const fn post(trigger: Trigger) -> HostEvent {
    HostEvent::of(trigger).context()
}

pub(super) static HOST: Host = Host {
    name: "monoco",
    aliases: &[],
    title: "Monoco",
    events: with_issues![pre, post;
        pre(Trigger::PreSession),
        post(Trigger::PostSession),
        pre(Trigger::PreAgentTurn),
        post(Trigger::PostAgentTurn),
        pre(Trigger::PreSubagent),
        post(Trigger::PostSubagent),
        pre(Trigger::PreToolUse),
        post(Trigger::PostToolUse),
        HostEvent::new(&["pre-compact"], Trigger::PreContextCompact).context(),
    ],
    timeout: Duration::from_secs(30),
    text_limit: 9_000,
    programs: &["monoco"],
    project_dir: None,
    settings: Some(Settings {
        form: Form::Shim,
        files: &[
            (Scope::User, Place::moved("AHP_HOME", ".ahp", "bin/monoco")),
            (Scope::Project, Place::project(".ahp/bin/monoco")),
        ],
        machine: None,
    }),
    places: &[Place::project(".monoco/hooks")],
    switches: Switches::NONE,
    sample: r#"{"event":"pre-tool-use","trigger_source":"agent","session_id":"$SESSION","project_root":"$DIR","tool_name":"Bash","tool_input":{"command":"$COMMAND"}}"#,
    trial: None,
    blind_spots: &[
        "version 0.4 runs no hook scripts of a user: the `monoco` shim (`ahp install monoco`) is what calls the gate",
        "a program that calls it by its full path passes the shim by",
    ],
    speaks,
    adjust: as_read,
    encode,
    obeys: |reply| reply.blocks || reply.says("/decision", "deny"),
};

fn speaks(payload: &Payload) -> Certainty {
    Certainty::certain_if(payload.has("event") && payload.has("trigger_source"))
}

fn encode(response: &HostResponse<'_>) -> Reply {
    let mut out = Map::new();
    let (decision, words) = match (&response.objection, &response.context) {
        (Some(objection), _) => ("deny", &objection.agent),
        (None, Some(context)) => ("warn", context),
        (None, None) => return Reply::nothing(),
    };
    out.insert("decision".to_owned(), decision.into());
    out.insert("message".to_owned(), words.as_str().into());
    let mut reply = Reply::json(out);
    if decision == "deny" {
        reply.blocks = true;
        reply.stderr.clone_from(words);
    }
    reply
}
