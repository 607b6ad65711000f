//! Claude Code: nested `hookSpecificOutput`, which it ignores whole where `hookEventName` is missing.

use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::event::Trigger;
use crate::place::{Place, Scope};

use super::payload::words;
use super::{
    Certainty, Dialect, Form, Host, HostEvent, HostResponse, MachineSettings, Payload, Reply,
    Rewrite, Settings, Shape, Switches, Trial, exit_code,
};

pub(super) static HOST: Host = Host {
    name: "claude-code",
    aliases: &["claude"],
    title: "Claude Code",
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
            .context()
            .notice()
            .ends_run(),
        HostEvent::permission(&["PermissionRequest"]),
        // A server of tools asks the person for something, and is given it.
        HostEvent::elicitation(&["Elicitation"], "elicit"),
        HostEvent::elicitation(&["ElicitationResult"], "elicit_result"),
        HostEvent::new(&["PostToolUse"], Trigger::PostToolUse)
            .block()
            .context()
            .notice()
            .ends_run(),
        HostEvent::new(&["PostToolUseFailure"], Trigger::PostToolUseFailure)
            .block()
            .context()
            .notice()
            .ends_run(),
        // Words in the context of a stop make the agent go on, as a block does: advice is not worth that.
        HostEvent::new(&["Stop"], Trigger::PreAgentTurnStop)
            .block()
            .notice()
            .ends_run(),
        HostEvent::new(&["SubagentStart"], Trigger::PreSubagent)
            .context()
            .notice(),
        HostEvent::new(&["SubagentStop"], Trigger::PostSubagent)
            .block()
            .notice()
            .ends_run(),
        HostEvent::new(&["TeammateIdle"], Trigger::PostSubagent)
            .block()
            .notice()
            .by_exit_code(),
        HostEvent::task(&["TaskCreated"], Trigger::PreIssueCreate)
            .notice()
            .by_exit_code(),
        HostEvent::task(&["TaskCompleted"], Trigger::PreIssueSubmit)
            .notice()
            .by_exit_code(),
        HostEvent::new(&["PreCompact"], Trigger::PreContextCompact)
            .block()
            .notice()
            .ends_run(),
        HostEvent::new(&["PostCompact"], Trigger::PostContextCompact).notice(),
        // What a typed `/command` becomes; its text alone is not a prompt.
        HostEvent::new(&["UserPromptExpansion"], Trigger::PreAgentTurn)
            .block()
            .context()
            .notice()
            .ends_run(),
        HostEvent::settings(&["ConfigChange"]),
        HostEvent::new(&["SessionEnd"], Trigger::PostSession).at_most(Duration::from_mins(1)),
        HostEvent::ignored(&[
            "CwdChanged",
            "DirectoryAdded",
            "FileChanged",
            "InstructionsLoaded",
            "MessageDisplay",
            "Notification",
            // It has refused a call by itself, and nothing can be answered but "try again".
            "PermissionDenied",
            "PostModelSwitch",
            "PostToolBatch",
            "PreModelSwitch",
            "Setup",
            "StopFailure",
            // Whoever answers it has to make the worktree, too: nobody would.
            "WorktreeCreate",
            "WorktreeRemove",
        ]),
    ],
    timeout: Duration::from_mins(10),
    text_limit: 9_000,
    programs: &["claude"],
    project_dir: Some("CLAUDE_PROJECT_DIR"),
    settings: Some(Settings {
        form: Form::Json(Shape::GroupsClosing),
        files: &[
            (Scope::User, of_user("settings.json")),
            (Scope::Project, Place::project(".claude/settings.json")),
            (Scope::Local, Place::project(".claude/settings.local.json")),
        ],
        machine: Some(&MachineSettings {
            form: Form::Json(Shape::GroupsClosing),
            file: Place::machine_or_mac(
                "/etc/claude-code/managed-settings.json",
                "/Library/Application Support/ClaudeCode/managed-settings.json",
            ),
            only: Some("allowManagedHooksOnly"),
        }),
    }),
    places: &[
        of_user("settings.local.json"),
        of_user("hooks"),
        Place::project(".claude/hooks"),
        Place::machine("/etc/claude-code"),
        Place::machine("/Library/Application Support/ClaudeCode"),
    ],
    switches: Switches {
        starts: &[".claude.json", ".mcp.json"],
        flags: &[
            "disableallhooks",
            "--bare",
            "--plugin-dir",
            "--plugin-url",
            "--safe-mode",
            "--setting-sources",
        ],
        settings: &["--settings"],
        commands: &[
            "plugin add",
            "plugin enable",
            "plugin eval",
            "plugin i",
            "plugin init",
            "plugin install",
            "plugin marketplace add",
            "plugin marketplace update",
            "plugin new",
            "plugin test",
            "plugin update",
        ],
        variables: &[
            "CLAUDE_CODE_PERSONAL_HOOKS_OFF",
            "CLAUDE_CODE_PLUGIN_CACHE_DIR",
            "CLAUDE_CODE_PLUGIN_DIRS",
            "CLAUDE_CODE_PLUGIN_SEED_DIR",
            "CLAUDE_CODE_SAFE_MODE",
            // It starts each hook through a program.
            "CLAUDE_CODE_SHELL_PREFIX",
            "CLAUDE_CODE_SIMPLE",
        ],
        // What a skill says in words stays free.
        code: &[
            of_user("dev-mods"),
            of_user("plugins"),
            of_user("skills/*/hooks"),
            of_user("skills/*/.claude-plugin"),
            of_user("skills/*/plugin.json"),
            Place::project(".claude/dev-mods"),
            Place::project(".claude/plugins"),
            Place::project(".claude/skills/*/hooks"),
            Place::project(".claude/skills/*/.claude-plugin"),
            Place::project(".claude/skills/*/plugin.json"),
        ],
        plugins: true,
        front_matter: &[
            of_user("agents/*.md"),
            of_user("agents/*/*.md"),
            of_user("commands/*.md"),
            of_user("commands/*/*.md"),
            of_user("skills/*/SKILL.md"),
            Place::project(".claude/agents/*.md"),
            Place::project(".claude/agents/*/*.md"),
            Place::project(".claude/commands/*.md"),
            Place::project(".claude/commands/*/*.md"),
            Place::project(".claude/skills/*/SKILL.md"),
        ],
        ..Switches::NONE
    },
    sample: r#"{"hook_event_name":"PreToolUse","session_id":"$SESSION","transcript_path":"$DIR/t.jsonl","cwd":"$DIR","tool_name":"Bash","tool_input":{"command":"$COMMAND"},"tool_use_id":"canary"}"#,
    trial: Some(&Trial {
        arguments: &[
            "-p",
            "$PROMPT",
            // What stands in a settings file goes before the environment, and this before all of those.
            "--settings",
            r#"{"env":{"ANTHROPIC_BASE_URL":"$URL","ANTHROPIC_API_KEY":"none","CLAUDE_CODE_USE_BEDROCK":"0","CLAUDE_CODE_USE_VERTEX":"0","CLAUDE_CODE_USE_FOUNDRY":"0"}}"#,
            "--allowedTools",
            "Bash",
            "--output-format",
            "json",
        ],
        variables: &[
            ("ANTHROPIC_BASE_URL", "$URL"),
            ("ANTHROPIC_API_KEY", "none"),
            ("DISABLE_AUTOUPDATER", "1"),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ],
        dialect: Dialect::Messages,
        tool: "Bash",
        input: r#"{"command":"$COMMAND","description":"the canary of ahp doctor"}"#,
    }),
    blind_spots: &[
        "files pulled in by `@file` and skills typed as `/name` call no tool hook",
        "files that a shell command writes call the hook of the shell, not of a write",
        "`disableAllHooks` in a settings file switches every hook off",
        "a hook that times out lets the tool run",
        "a subagent cannot be stopped from starting; what is said there goes into its context",
    ],
    speaks,
    adjust,
    encode,
    obeys,
};

/// Returns a place in the person's own directory.
const fn of_user(path: &'static str) -> Place {
    Place::moved("CLAUDE_CONFIG_DIR", ".claude", path)
}

fn speaks(payload: &Payload) -> Certainty {
    if payload.has("hook_event_name") && payload.has("transcript_path") {
        Certainty::Likely
    } else {
        Certainty::No
    }
}

/// Says what its younger events tell by names of their own.
fn adjust(event: &str, payload: &mut Payload, trigger: &mut Trigger) -> bool {
    exit_code::claude_code(payload, *trigger);
    match event {
        "TaskCreated" | "TaskCompleted" => {
            if let Some(id) = payload.take(&["task_id"]) {
                payload.put("issue_id", words(&id));
            }
        }
        "TeammateIdle" => {
            if let Some(name) = payload.take(&["teammate_name"]) {
                payload.put("agent_name", name);
                payload.put("agent_type", "teammate");
            }
        }
        _ => {
            let Some(verb) = HOST.event(event).and_then(|event| event.elicits) else {
                return true;
            };
            let server = payload.take(&["mcp_server_name"]).unwrap_or_default();
            let told = ["message", "url", "requested_schema", "content", "action"];
            let told = told.iter().filter_map(|key| {
                let value = payload.fields.shift_remove(*key)?;
                Some(((*key).to_owned(), value))
            });
            let input: Map<String, Value> = told.collect();
            payload.put("tool_name", format!("mcp__{}__{verb}", words(&server)));
            payload.put("tool_input", input);
        }
    }
    true
}

pub(super) fn encode(response: &HostResponse<'_>) -> Reply {
    if let Some(objection) = &response.objection {
        // Only the exit code keeps a task open or a teammate at work, and it declines what a server asks for.
        if response.host_event.by_exit_code {
            return Reply::block(&objection.agent);
        }
        if response.host_event.is_settings {
            let mut out = response.with_notice();
            out.insert("decision".to_owned(), "block".into());
            out.insert("reason".to_owned(), objection.person.as_str().into());
            return Reply::json(out);
        }
    }
    let mut out = response.with_notice();
    let mut specific = response.specific();
    if response.host_event.is_permission {
        if let Some(objection) = &response.objection {
            let decision = json!({"behavior": "deny", "message": objection.agent});
            specific.insert("decision".to_owned(), decision);
        }
    } else if response.host_event.trigger == Some(Trigger::PreToolUse) {
        permission(response, &mut specific);
    } else if let Some(objection) = &response.objection {
        // The words at a prompt are shown to the person alone; everywhere else the agent reads them.
        let reason = if response.host_event.trigger == Some(Trigger::PreAgentTurn) {
            &objection.person
        } else {
            &objection.agent
        };
        out.insert("decision".to_owned(), "block".into());
        out.insert("reason".to_owned(), reason.as_str().into());
    }
    if specific.len() > 1 {
        out.insert("hookSpecificOutput".to_owned(), Value::Object(specific));
    }
    Reply::json(out)
}

/// Writes the decision about a tool call; without one the input is changed all the same, and the host asks
/// its person as ever.
pub(super) fn permission(response: &HostResponse<'_>, specific: &mut Map<String, Value>) {
    if let Some(objection) = &response.objection {
        let (decision, reason) = if objection.ask {
            ("ask", &objection.person)
        } else {
            ("deny", &objection.agent)
        };
        specific.insert("permissionDecision".to_owned(), decision.into());
        specific.insert(
            "permissionDecisionReason".to_owned(),
            reason.as_str().into(),
        );
    }
    if let Some(input) = &response.input {
        specific.insert("updatedInput".to_owned(), input.clone());
    }
}

pub(super) fn obeys(reply: &Reply) -> bool {
    reply.blocks
        || reply.says("/decision", "block")
        || reply.says("/hookSpecificOutput/decision/behavior", "deny")
        || (reply.says("/hookSpecificOutput/permissionDecision", "deny")
            && reply.says("/hookSpecificOutput/hookEventName", "PreToolUse"))
}
