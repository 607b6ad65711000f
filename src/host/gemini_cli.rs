//! Gemini CLI: JSON on stdout overrides the exit code, and any text there is shown to the person.

use std::time::Duration;

use serde_json::{Map, Value};

use crate::event::Trigger;
use crate::place::{Place, Scope};

use super::{
    Certainty, Dialect, Form, Host, HostEvent, HostResponse, MachineSettings, Payload, Reply,
    Rewrite, Settings, Shape, Switches, Trial, exit_code,
};

pub(super) static HOST: Host = Host {
    name: "gemini-cli",
    aliases: &["gemini"],
    title: "Gemini CLI",
    events: &[
        HostEvent::new(&["SessionStart"], Trigger::PreSession)
            .context()
            .notice(),
        HostEvent::new(&["BeforeAgent"], Trigger::PreAgentTurn)
            .block()
            .context()
            .notice()
            .ends_run(),
        // Its `ask` hangs a run that has no terminal, and the event does not say whether there is one.
        HostEvent::new(&["BeforeTool"], Trigger::PreToolUse)
            .block()
            .rewrite(Rewrite::Merge)
            .notice()
            .ends_run(),
        HostEvent::new(&["AfterTool"], Trigger::PostToolUse)
            .block()
            .context()
            .notice()
            .ends_run(),
        HostEvent::new(&["AfterAgent"], Trigger::PreAgentTurnStop)
            .block()
            .notice()
            .ends_run(),
        HostEvent::new(&["PreCompress"], Trigger::PreContextCompact).notice(),
        HostEvent::new(&["SessionEnd"], Trigger::PostSession),
        HostEvent::ignored(&[
            "AfterModel",
            "BeforeModel",
            "BeforeToolSelection",
            "Notification",
        ]),
    ],
    timeout: Duration::from_mins(1),
    text_limit: 9_000,
    programs: &["gemini"],
    project_dir: Some("GEMINI_PROJECT_DIR"),
    settings: Some(Settings {
        form: Form::Json(Shape::GroupsMillis),
        files: &[
            (
                Scope::User,
                Place::moved("GEMINI_CLI_HOME", "", ".gemini/settings.json"),
            ),
            (Scope::Project, Place::project(".gemini/settings.json")),
        ],
        machine: Some(&MachineSettings {
            form: Form::Json(Shape::GroupsMillis),
            file: Place::machine_or_mac(
                "/etc/gemini-cli/settings.json",
                "/Library/Application Support/GeminiCli/settings.json",
            ),
            only: None,
        }),
    }),
    places: &[
        Place::machine("/etc/gemini-cli"),
        Place::machine("/Library/Application Support/GeminiCli"),
    ],
    switches: Switches {
        variables: &[
            "GEMINI_CLI_HOME",
            "GEMINI_CLI_SYSTEM_DEFAULTS_PATH",
            "GEMINI_CLI_SYSTEM_SETTINGS_PATH",
        ],
        flags: &["hooks.enabled=false"],
        ..Switches::NONE
    },
    sample: r#"{"hook_event_name":"BeforeTool","session_id":"$SESSION","transcript_path":"$DIR/t.jsonl","cwd":"$DIR","timestamp":"2026-01-01T00:00:00Z","tool_name":"run_shell_command","tool_input":{"command":"$COMMAND"}}"#,
    trial: Some(&Trial {
        arguments: &[
            "-p",
            "$PROMPT",
            "-m",
            "gemini-2.5-pro",
            "--approval-mode",
            "yolo",
        ],
        variables: &[
            ("GOOGLE_GEMINI_BASE_URL", "$URL"),
            ("GEMINI_API_KEY", "none"),
            ("GEMINI_TELEMETRY_ENABLED", "false"),
        ],
        dialect: Dialect::Gemini,
        tool: "run_shell_command",
        input: r#"{"command":"$COMMAND","description":"the canary of ahp doctor"}"#,
    }),
    blind_spots: &[
        "timeouts are milliseconds: 30 copied from another host is 30 ms, and a hook that times out lets the tool run",
        "there is no subagent event",
        "a hook changed since it was approved is asked about again",
        "advice before a tool reaches the agent with the tool's result, not before it",
    ],
    speaks,
    adjust,
    encode,
    obeys,
};

fn speaks(payload: &Payload) -> Certainty {
    match payload.str("hook_event_name") {
        Some("BeforeTool" | "AfterTool" | "BeforeAgent" | "AfterAgent" | "PreCompress") => {
            Certainty::Certain
        }
        Some(_)
            if payload
                .str("transcript_path")
                .is_some_and(|p| p.contains("/.gemini/")) =>
        {
            Certainty::Certain
        }
        _ => Certainty::No,
    }
}

fn adjust(_: &str, payload: &mut Payload, trigger: &mut Trigger) -> bool {
    let error = payload
        .fields
        .get("tool_response")
        .and_then(|r| r.get("error"));
    if *trigger == Trigger::PostToolUse
        && let Some(error) = error.filter(|e| !e.is_null()).cloned()
    {
        *trigger = Trigger::PostToolUseFailure;
        payload.put("error", error);
    } else if *trigger == Trigger::PostToolUse {
        exit_code::gemini_cli(payload);
    }
    true
}

fn encode(response: &HostResponse<'_>) -> Reply {
    let mut out = response.with_notice();
    let mut specific = response.specific();
    if let Some(objection) = &response.objection {
        let prompt = response.host_event.trigger == Some(Trigger::PreAgentTurn);
        let reason = if prompt {
            &objection.person
        } else {
            &objection.agent
        };
        out.insert("decision".to_owned(), "deny".into());
        out.insert("reason".to_owned(), reason.as_str().into());
    }
    if let Some(input) = &response.input {
        specific.insert("tool_input".to_owned(), input.clone());
    }
    if specific.len() > 1 {
        out.insert("hookSpecificOutput".to_owned(), Value::Object(specific));
    }
    // Nothing on stdout would make it read stderr as words for the person.
    Reply {
        stdout: Value::Object(out).to_string(),
        ..Reply::json(Map::new())
    }
}

fn obeys(reply: &Reply) -> bool {
    if reply.object().is_object() {
        return reply.says("/decision", "deny") || reply.says("/decision", "block");
    }
    reply.blocks && !(reply.stdout.trim().is_empty() && reply.stderr.trim().is_empty())
}
