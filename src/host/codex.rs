//! Codex: Claude's form, strictly checked; what its schema does not know makes the hook fail and the tool run.

use std::time::Duration;

use serde_json::Value;

use crate::event::Trigger;
use crate::place::{Place, Scope};

use super::{
    Certainty, Dialect, Form, Host, HostEvent, HostResponse, MachineSettings, Payload, Reply,
    Rewrite, Settings, Switches, Trial, claude_code, exit_code,
};

pub(super) static HOST: Host = Host {
    name: "codex",
    aliases: &["codex-cli"],
    title: "Codex",
    events: &[
        HostEvent::new(&["SessionStart"], Trigger::PreSession).context(),
        HostEvent::new(&["UserPromptSubmit"], Trigger::PreAgentTurn)
            .block()
            .context(),
        // `ask` makes the hook fail there, and a failed hook lets the tool run.
        HostEvent::new(&["PreToolUse"], Trigger::PreToolUse)
            .block()
            .rewrite(Rewrite::Replace)
            .context(),
        HostEvent::new(&["PostToolUse"], Trigger::PostToolUse)
            .block()
            .context(),
        HostEvent::new(&["Stop"], Trigger::PreAgentTurnStop).block(),
        HostEvent::new(&["SubagentStart"], Trigger::PreSubagent).context(),
        HostEvent::new(&["SubagentStop"], Trigger::PostSubagent).block(),
        HostEvent::new(&["PreCompact"], Trigger::PreContextCompact),
        HostEvent::new(&["PostCompact"], Trigger::PostContextCompact),
        HostEvent::new(&["SessionEnd"], Trigger::PostSession).at_most(Duration::from_secs(3)),
        HostEvent::permission(&["PermissionRequest"]),
        HostEvent::ignored(&["Interrupt"]),
    ],
    timeout: Duration::from_mins(10),
    text_limit: 8_000,
    programs: &["codex"],
    project_dir: None,
    settings: Some(Settings {
        form: Form::Codex,
        files: &[
            (Scope::User, of_user("hooks.json")),
            (Scope::Project, Place::project(".codex/hooks.json")),
        ],
        machine: Some(&MachineSettings {
            form: Form::CodexRequirements,
            file: Place::machine("/etc/codex/requirements.toml"),
            only: Some("allow_managed_hooks_only"),
        }),
    }),
    places: &[
        of_user("config.toml"),
        of_user("plugins"),
        Place::project(".codex/config.toml"),
        Place::machine("/etc/codex"),
    ],
    switches: Switches {
        flags: &[
            "--ignore-user-config",
            "dangerously-bypass-hook",
            "hooks.enabled=false",
            "hooks=false",
            "--disable hooks",
            "--disable=hooks",
            "--disable plugins",
            "--disable=plugins",
            "features disable hooks",
            "features disable plugins",
            "plugins=false",
            "plugins={",
            "plugins.ahp@",
        ],
        plugins: true,
        ..Switches::NONE
    },
    sample: r#"{"hook_event_name":"PreToolUse","session_id":"$SESSION","turn_id":"canary","transcript_path":null,"cwd":"$DIR","model":"canary","permission_mode":"default","tool_name":"Bash","tool_input":{"command":"$COMMAND"},"tool_use_id":"canary"}"#,
    trial: Some(&Trial {
        arguments: &[
            "exec",
            "--skip-git-repo-check",
            "--json",
            "--sandbox",
            "danger-full-access",
            "-c",
            "model_provider=\"ahp\"",
            "-c",
            "model=\"gpt-5.5\"",
            "-c",
            r#"model_providers.ahp={name="ahp",base_url="$URL/v1",wire_api="responses",request_max_retries=0,stream_max_retries=0}"#,
            "$PROMPT",
        ],
        variables: &[],
        dialect: Dialect::Responses,
        tool: "exec_command",
        input: r#"{"cmd":"$COMMAND"}"#,
    }),
    blind_spots: &[
        "a hook that is not trusted is skipped without a word",
        "hooks of a project run only in a trusted project",
        "hosted tools, such as its web search, call no hook",
        "a shell command that fails is told as one that succeeded",
        "a hook that times out lets the tool run",
    ],
    speaks,
    adjust,
    encode,
    obeys,
};

/// Returns a place in the person's own directory.
const fn of_user(path: &'static str) -> Place {
    Place::moved("CODEX_HOME", ".codex", path)
}

fn adjust(_: &str, payload: &mut Payload, _: &mut Trigger) -> bool {
    exit_code::codex(payload);
    true
}

fn speaks(payload: &Payload) -> Certainty {
    let transcript = payload
        .str("transcript_path")
        .is_some_and(|p| p.contains("/.codex/"));
    Certainty::certain_if(transcript || (payload.has("turn_id") && payload.has("model")))
}

fn encode(response: &HostResponse<'_>) -> Reply {
    if response.host_event.trigger != Some(Trigger::PreToolUse) || response.host_event.is_permission
    {
        return claude_code::encode(response);
    }
    let mut specific = response.specific();
    claude_code::permission(response, &mut specific);
    if response.objection.is_some() {
        // A refusal may carry nothing else.
        specific.shift_remove("updatedInput");
        specific.shift_remove("additionalContext");
    } else if response.input.is_some() {
        // It takes a changed input with this word alone; its sandbox and its approvals hold all the same.
        specific.insert("permissionDecision".to_owned(), "allow".into());
    }
    let mut out = serde_json::Map::new();
    if specific.len() > 1 {
        out.insert("hookSpecificOutput".to_owned(), Value::Object(specific));
    }
    Reply::json(out)
}

fn obeys(reply: &Reply) -> bool {
    let said = reply.object();
    let reason = said.pointer("/hookSpecificOutput/permissionDecisionReason");
    let reason = reason.or(said.pointer("/hookSpecificOutput/decision/message"));
    (reply.blocks && !reply.stderr.trim().is_empty())
        || (claude_code::obeys(reply) && !reply.blocks && reason.is_some_and(|r| r != ""))
}
