//! AgentHooks: a program that follows the HOOK.md standard and calls `ahp` as one of its hooks.

use std::time::Duration;

use serde_json::Map;

use crate::event::Trigger;
use crate::place::Place;

use super::host_event::with_issues;
use super::{Certainty, Host, HostEvent, HostResponse, Payload, Reply, Rewrite, Switches, as_read};

/// An event at which the standard lets a hook block and add words, by any name that a hook may write as its trigger.
const fn open(trigger: Trigger) -> HostEvent {
    told(trigger).block()
}

/// An event that the standard only tells of.
const fn told(trigger: Trigger) -> HostEvent {
    HostEvent::of(trigger).context().notice()
}

pub(super) static HOST: Host = Host {
    name: "agent-hooks",
    aliases: &["agenthooks"],
    title: "AgentHooks",
    events: with_issues![open, told;
        open(Trigger::PreSession),
        told(Trigger::PostSession),
        open(Trigger::PreAgentTurn),
        told(Trigger::PostAgentTurn),
        open(Trigger::PreAgentTurnStop),
        told(Trigger::PostAgentTurnStop),
        open(Trigger::PreToolUse).ask().rewrite(Rewrite::Replace),
        open(Trigger::PostToolUse),
        open(Trigger::PostToolUseFailure),
        open(Trigger::PreSubagent),
        open(Trigger::PostSubagent),
        told(Trigger::PreContextCompact),
        told(Trigger::PostContextCompact),
    ],
    timeout: Duration::from_secs(30),
    text_limit: 9_000,
    programs: &[],
    project_dir: None,
    settings: None,
    places: &[
        Place::project(".agents/hooks"),
        Place::config("agents/hooks"),
    ],
    switches: Switches::NONE,
    sample: r#"{"event_type":"pre-tool-call","timestamp":"2026-01-01T00:00:00Z","session_id":"$SESSION","work_dir":"$DIR","context":{},"tool_name":"Shell","tool_input":{"command":"$COMMAND"},"tool_use_id":"canary"}"#,
    trial: None,
    blind_spots: &["a hook that times out or fails lets the operation go on: the standard says so"],
    speaks,
    adjust: as_read,
    encode,
    obeys: |reply| reply.blocks || reply.says("/decision", "deny"),
};

fn speaks(payload: &Payload) -> Certainty {
    let names_ours = || payload.str("event_type").and_then(Trigger::find).is_some();
    if payload.has("event_type") && payload.has("work_dir") {
        Certainty::Certain
    } else if names_ours() {
        Certainty::Likely
    } else {
        Certainty::No
    }
}

fn encode(response: &HostResponse<'_>) -> Reply {
    let mut out = Map::new();
    match &response.objection {
        Some(objection) if objection.ask => {
            out.insert("decision".to_owned(), "ask".into());
            out.insert("reason".to_owned(), objection.person.as_str().into());
        }
        // stdout is read on exit 0 alone, so that a block has its words on stderr.
        Some(objection) => return Reply::block(&objection.agent),
        None => {}
    }
    if let Some(input) = &response.input {
        out.insert("modified_input".to_owned(), input.clone());
    }
    if let Some(context) = &response.context {
        out.insert("additional_context".to_owned(), context.as_str().into());
    }
    if let Some(notice) = &response.notice {
        out.insert("log".to_owned(), notice.as_str().into());
    }
    Reply::json(out)
}
