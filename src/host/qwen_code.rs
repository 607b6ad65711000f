//! Qwen Code: Gemini's sibling with Claude's hooks; no change of input, no words before a tool.

use std::time::Duration;

use crate::event::Trigger;
use crate::place::{Place, Scope};

use super::{
    Certainty, Dialect, Form, Host, HostEvent, Payload, Reply, Settings, Shape, Switches, Trial,
    claude_code, exit_code,
};

pub(super) static HOST: Host = Host {
    name: "qwen-code",
    aliases: &["qwen"],
    title: "Qwen Code",
    events: &[
        HostEvent::new(&["SessionStart"], Trigger::PreSession).context(),
        HostEvent::new(&["UserPromptSubmit"], Trigger::PreAgentTurn)
            .block()
            .context(),
        HostEvent::new(&["PreToolUse"], Trigger::PreToolUse)
            .block()
            .ask(),
        // A block after the tool has no effect there; words do reach the agent.
        HostEvent::new(&["PostToolUse"], Trigger::PostToolUse).context(),
        HostEvent::new(&["PostToolUseFailure"], Trigger::PostToolUseFailure),
        HostEvent::new(&["Stop"], Trigger::PreAgentTurnStop).block(),
        HostEvent::new(&["SubagentStart"], Trigger::PreSubagent),
        HostEvent::new(&["SubagentStop"], Trigger::PostSubagent),
        HostEvent::new(&["PreCompact"], Trigger::PreContextCompact),
        HostEvent::new(&["PostCompact"], Trigger::PostContextCompact),
        HostEvent::new(&["SessionEnd"], Trigger::PostSession),
        HostEvent::ignored(&["Notification", "PermissionRequest", "StopFailure"]),
    ],
    timeout: Duration::from_mins(1),
    text_limit: 9_000,
    programs: &["qwen"],
    project_dir: Some("QWEN_PROJECT_DIR"),
    settings: Some(Settings {
        form: Form::Json(Shape::GroupsMillis),
        files: &[
            (
                Scope::User,
                Place::moved("QWEN_HOME", ".qwen", "settings.json"),
            ),
            (Scope::Project, Place::project(".qwen/settings.json")),
        ],
        machine: None,
    }),
    places: &[Place::machine("/etc/qwen-code")],
    switches: Switches {
        variables: &[
            "QWEN_CODE_SYSTEM_DEFAULTS_PATH",
            "QWEN_CODE_SYSTEM_SETTINGS_PATH",
            "QWEN_HOME",
        ],
        ..Switches::NONE
    },
    sample: r#"{"hook_event_name":"PreToolUse","session_id":"$SESSION","transcript_path":"$DIR/.qwen/t.jsonl","cwd":"$DIR","timestamp":"2026-01-01T00:00:00Z","tool_name":"run_shell_command","tool_input":{"command":"$COMMAND"}}"#,
    trial: Some(&Trial {
        arguments: &[
            "-p",
            "$PROMPT",
            "--auth-type",
            "openai",
            "--approval-mode",
            "yolo",
        ],
        variables: &[
            ("OPENAI_BASE_URL", "$URL/v1"),
            ("OPENAI_API_KEY", "none"),
            ("OPENAI_MODEL", "ahp"),
        ],
        dialect: Dialect::Chat,
        tool: "run_shell_command",
        input: r#"{"command":"$COMMAND","description":"the canary of ahp doctor","is_background":false}"#,
    }),
    blind_spots: &[
        "timeouts are milliseconds, and a hook that times out lets the tool run",
        "a tool's input cannot be changed: the call is refused with the input that would be right",
        "advice before a tool reaches the agent with the tool's result, not before it",
        "the end of a session was never seen to call a hook",
    ],
    speaks,
    adjust,
    encode: claude_code::encode,
    obeys,
};

fn speaks(payload: &Payload) -> Certainty {
    Certainty::certain_if(
        payload
            .str("transcript_path")
            .is_some_and(|p| p.contains("/.qwen/")),
    )
}

/// After each tool result it calls the prompt's hook again with no words: no new turn, but a chance to speak.
fn adjust(_: &str, payload: &mut Payload, trigger: &mut Trigger) -> bool {
    if matches!(trigger, Trigger::PostToolUse | Trigger::PostToolUseFailure) {
        exit_code::qwen_code(payload);
    }
    *trigger != Trigger::PreAgentTurn || payload.str("prompt") != Some("")
}

fn obeys(reply: &Reply) -> bool {
    (reply.blocks && !reply.stderr.trim().is_empty())
        || reply.says("/hookSpecificOutput/permissionDecision", "deny")
        || reply.says("/decision", "deny")
        || reply.says("/decision", "block")
}
