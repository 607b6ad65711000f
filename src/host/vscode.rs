//! VS Code (agent hooks): Claude's form for tools, another nesting for stops.

use std::time::Duration;

use serde_json::Value;

use crate::event::Trigger;
use crate::place::{Place, Scope};

use super::{
    Certainty, Form, Host, HostEvent, HostResponse, MachineSettings, Payload, Reply, Rewrite,
    Settings, Shape, Switches, as_read, claude_code, copilot,
};

/// It knows no hooks of the machine: what its administrator can do is keep those of every person switched on.
static POLICY: MachineSettings = MachineSettings {
    form: Form::Permitted("ChatHooks"),
    file: Place::machine("/etc/vscode/policy.json"),
    only: None,
};

pub(super) static HOST: Host = Host {
    name: "vscode",
    aliases: &["code", "vs-code"],
    title: "VS Code",
    events: &[
        HostEvent::new(&["SessionStart"], Trigger::PreSession)
            .context()
            .notice()
            .ends_run(),
        HostEvent::new(&["UserPromptSubmit"], Trigger::PreAgentTurn)
            .block()
            .notice()
            .ends_run(),
        HostEvent::new(&["PreToolUse"], Trigger::PreToolUse)
            .block()
            .ask()
            .rewrite(Rewrite::Replace)
            .context()
            .notice()
            .ends_run(),
        HostEvent::new(&["PostToolUse"], Trigger::PostToolUse)
            .block()
            .context()
            .notice()
            .ends_run(),
        HostEvent::new(&["Stop"], Trigger::PreAgentTurnStop)
            .block()
            .notice()
            .ends_run(),
        HostEvent::new(&["SubagentStart"], Trigger::PreSubagent)
            .context()
            .notice()
            .ends_run(),
        HostEvent::new(&["SubagentStop"], Trigger::PostSubagent)
            .block()
            .notice()
            .ends_run(),
        HostEvent::new(&["PreCompact"], Trigger::PreContextCompact)
            .notice()
            .ends_run(),
    ],
    timeout: Duration::from_secs(30),
    text_limit: 9_000,
    programs: &["code"],
    project_dir: None,
    settings: Some(Settings {
        form: Form::Json(Shape::Copilot),
        files: &[
            (Scope::User, copilot::OF_USER),
            (Scope::Project, copilot::OF_PROJECT),
        ],
        // On macOS it takes policy from profiles of the system alone.
        machine: if cfg!(target_os = "macos") {
            None
        } else {
            Some(&POLICY)
        },
    }),
    places: &[Place::machine("/etc/vscode")],
    switches: Switches {
        starts: &[
            ".vscode/mcp.json",
            ".vscode/tasks.json",
            "Code/User/mcp.json",
            "Code/User/tasks.json",
        ],
        front_matter: &[
            Place::project(".github/agents/*.md"),
            Place::project(".github/chatmodes/*.md"),
        ],
        words: &[(
            &[
                ".vscode/settings.json",
                "*.code-workspace",
                "Code/User/settings.json",
                "Code - Insiders/User/settings.json",
            ],
            &[
                "chat.hook",
                "chat.tools.autoapprove",
                "chat.tools.edits.autoapprove",
                "chat.tools.global.autoapprove",
                "chat.tools.terminal.autoapprove",
                "chat.usecustomagenthooks",
                "chat.usehooks",
            ],
        )],
        ..Switches::NONE
    },
    sample: r#"{"hookEventName":"PreToolUse","sessionId":"$SESSION","timestamp":"2026-01-01T00:00:00Z","cwd":"$DIR","tool_name":"run_in_terminal","tool_input":{"command":"$COMMAND"},"tool_use_id":"canary"}"#,
    trial: None,
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

fn encode(response: &HostResponse<'_>) -> Reply {
    let Some(objection) = &response.objection else {
        return claude_code::encode(response);
    };
    match response.host_event.trigger {
        Some(Trigger::PreAgentTurnStop) => {
            let mut out = response.with_notice();
            let mut specific = response.specific();
            specific.insert("decision".to_owned(), "block".into());
            specific.insert("reason".to_owned(), objection.agent.as_str().into());
            out.insert("hookSpecificOutput".to_owned(), Value::Object(specific));
            Reply::json(out)
        }
        // There is no JSON for it at a prompt: only the exit code counts.
        Some(Trigger::PreAgentTurn) if response.ends.is_none() => Reply::block(&objection.person),
        _ => claude_code::encode(response),
    }
}

fn obeys(reply: &Reply) -> bool {
    reply.blocks
        || (reply.says("/hookSpecificOutput/permissionDecision", "deny")
            && reply.says("/hookSpecificOutput/hookEventName", "PreToolUse"))
}
