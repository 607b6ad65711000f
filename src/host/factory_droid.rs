//! Factory Droid: Claude's hooks, in settings and with tools of its own.

use std::time::Duration;

use crate::event::Trigger;
use crate::place::{Place, Scope};

use super::{
    Certainty, Form, Host, HostEvent, Payload, Rewrite, Settings, Shape, Switches, as_read,
    claude_code,
};

/// From its own documentation of hooks; no run of it was recorded.
pub(super) static HOST: Host = Host {
    name: "factory-droid",
    aliases: &["droid", "factory"],
    title: "Factory Droid",
    events: &[
        HostEvent::new(&["SessionStart"], Trigger::PreSession)
            .context()
            .notice(),
        HostEvent::new(&["UserPromptSubmit"], Trigger::PreAgentTurn)
            .block()
            .context()
            .notice()
            .ends_run(),
        HostEvent::new(&["PreToolUse"], Trigger::PreToolUse)
            .block()
            .ask()
            .rewrite(Rewrite::Replace)
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
        HostEvent::new(&["SubagentStop"], Trigger::PostSubagent)
            .block()
            .notice()
            .ends_run(),
        HostEvent::new(&["PreCompact"], Trigger::PreContextCompact).notice(),
        HostEvent::new(&["SessionEnd"], Trigger::PostSession),
        HostEvent::ignored(&["Notification"]),
    ],
    timeout: Duration::from_mins(1),
    text_limit: 9_000,
    programs: &["droid"],
    project_dir: None,
    settings: Some(Settings {
        form: Form::Json(Shape::Groups),
        files: &[
            (Scope::User, Place::home(".factory/settings.json")),
            (Scope::Project, Place::project(".factory/settings.json")),
            (Scope::Local, Place::project(".factory/settings.local.json")),
        ],
        machine: None,
    }),
    places: &[
        Place::home(".factory/hooks"),
        Place::home(".factory/hooks.json"),
        Place::project(".factory/hooks"),
        Place::project(".factory/hooks.json"),
    ],
    switches: Switches {
        starts: &[".factory/mcp.json"],
        settings: &["--settings"],
        ..Switches::NONE
    },
    sample: r#"{"hook_event_name":"PreToolUse","session_id":"$SESSION","transcript_path":"$DIR/.factory/t.jsonl","cwd":"$DIR","permission_mode":"off","tool_name":"Execute","tool_input":{"command":"$COMMAND"}}"#,
    trial: None,
    blind_spots: &[
        "a hook that times out or fails lets the tool run",
        "there is no event before a subagent starts",
    ],
    speaks,
    adjust: as_read,
    encode: claude_code::encode,
    obeys: claude_code::obeys,
};

fn speaks(payload: &Payload) -> Certainty {
    Certainty::certain_if(
        payload
            .str("transcript_path")
            .is_some_and(|path| path.contains("/.factory/")),
    )
}
