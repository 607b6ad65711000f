//! Native: AHP's own JSON in, the verdict out.

use std::time::Duration;

use crate::event::{Event, Trigger, parse_json};

use super::host_event::with_issues;
use super::{
    Certainty, DecodeError, Decoded, Host, HostEvent, HostResponse, Payload, Reply, Rewrite,
    Switches, as_read,
};

/// The caller gets the whole verdict and can do all of it.
const fn open(trigger: Trigger) -> HostEvent {
    HostEvent::of(trigger)
        .block()
        .ask()
        .rewrite(Rewrite::Replace)
        .verdict()
        .context()
        .notice()
}

pub(super) static HOST: Host = Host {
    name: "native",
    aliases: &["ahp"],
    title: "AHP's own JSON",
    events: with_issues![open, open;
        open(Trigger::PreSession),
        open(Trigger::PostSession),
        open(Trigger::PreAgentTurn),
        open(Trigger::PostAgentTurn),
        open(Trigger::PreAgentTurnStop),
        open(Trigger::PostAgentTurnStop),
        open(Trigger::PreToolUse),
        open(Trigger::PostToolUse),
        open(Trigger::PostToolUseFailure),
        open(Trigger::PreSubagent),
        open(Trigger::PostSubagent),
        open(Trigger::PreContextCompact),
        open(Trigger::PostContextCompact),
    ],
    timeout: Duration::from_mins(10),
    text_limit: 64_000,
    programs: &[],
    project_dir: None,
    settings: None,
    places: &[],
    switches: Switches::NONE,
    sample: r#"{"trigger":"pre-tool-use","session_id":"$SESSION","work_dir":"$DIR","tool":{"name":"Bash","input":{"command":"$COMMAND"}}}"#,
    trial: None,
    blind_spots: &[],
    speaks,
    adjust: as_read,
    encode,
    obeys: |reply| reply.says("/decision", "block"),
};

fn speaks(payload: &Payload) -> Certainty {
    if payload.has("trigger") && !payload.has("hook_event_name") && !payload.has("hookEventName") {
        Certainty::Likely
    } else {
        Certainty::No
    }
}

/// Reads AHP's own form, in which a field that is not known is an error.
pub(super) fn decode(bytes: &[u8], notes: Vec<String>) -> Result<Decoded, DecodeError> {
    let value = parse_json(bytes).map_err(|e| DecodeError::NotJson(e.to_string()))?;
    if value.get("trigger").is_none() {
        return Err(DecodeError::NoEvent);
    }
    let event: Event =
        serde_json::from_value(value).map_err(|e| DecodeError::NotNative(e.to_string()))?;
    Ok(Decoded {
        host: &HOST,
        event: event.trigger.name().to_owned(),
        host_event: HOST.event(event.trigger.name()),
        session_id: event.session_id.clone(),
        events: vec![event],
        notes,
    })
}

fn encode(response: &HostResponse<'_>) -> Reply {
    let mut reply = Reply {
        stdout: serde_json::to_string(response.verdict).unwrap_or_default(),
        ..Reply::nothing()
    };
    if let Some(objection) = &response.objection {
        reply.blocks = true;
        reply.stderr.clone_from(&objection.person);
    }
    reply
}
