//! Kiro CLI, once Amazon Q: hooks of an agent's configuration, and exit code 2 before a tool as the one block.

use std::time::Duration;

use crate::event::Trigger;
use crate::place::Place;

use super::{Certainty, Host, HostEvent, HostResponse, Payload, Reply, Switches, as_read};

/// From its own documentation of hooks; no run of it was recorded.
pub(super) static HOST: Host = Host {
    name: "kiro-cli",
    aliases: &["kiro", "amazon-q"],
    title: "Kiro CLI",
    events: &[
        HostEvent::new(&["agentSpawn"], Trigger::PreSession).context(),
        HostEvent::new(&["userPromptSubmit"], Trigger::PreAgentTurn).context(),
        HostEvent::new(&["preToolUse"], Trigger::PreToolUse).block(),
        HostEvent::new(&["postToolUse"], Trigger::PostToolUse),
        HostEvent::new(&["stop"], Trigger::PreAgentTurnStop),
    ],
    timeout: Duration::from_secs(30),
    text_limit: 8_000,
    programs: &["kiro-cli", "q"],
    project_dir: None,
    // Its hooks stand in each agent's own configuration, and none of those is everybody's.
    settings: None,
    places: &[
        Place::home(".kiro/agents"),
        Place::project(".kiro/agents"),
        Place::home(".aws/amazonq/cli-agents"),
        Place::project(".amazonq/cli-agents"),
    ],
    switches: Switches {
        starts: &[".kiro/settings/mcp.json"],
        ..Switches::NONE
    },
    sample: r#"{"hook_event_name":"preToolUse","session_id":"$SESSION","cwd":"$DIR","tool_name":"execute_bash","tool_input":{"command":"$COMMAND"}}"#,
    trial: None,
    blind_spots: &[
        "hooks stand in one agent's configuration: another agent runs without them",
        "neither a prompt nor a stop can be held up",
        "a hook that times out or fails lets the tool run",
    ],
    speaks,
    adjust: as_read,
    encode,
    obeys: |reply| reply.blocks && !reply.stderr.trim().is_empty(),
};

/// Its events are written as Cursor's are, which gives a conversation, and as Copilot's, which names no event.
fn speaks(payload: &Payload) -> Certainty {
    let is_own = payload
        .str("hook_event_name")
        .is_some_and(|name| HOST.event(name).is_some());
    Certainty::certain_if(is_own && !payload.has("conversation_id"))
}

fn encode(response: &HostResponse<'_>) -> Reply {
    if let Some(objection) = &response.objection {
        return Reply::block(&objection.agent);
    }
    // What it reads on stdout it hands to the model as it stands.
    Reply {
        stdout: response.context.clone().unwrap_or_default(),
        ..Reply::nothing()
    }
}
