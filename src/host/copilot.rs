//! Copilot CLI, in both spellings of its events: flat JSON, which both of them read.

use std::time::Duration;

use serde_json::json;

use crate::event::Trigger;
use crate::place::{Place, Scope};

use super::payload::ROOT_SESSION;
use super::{
    Certainty, Dialect, Form, Host, HostEvent, HostResponse, MachineSettings, Payload, Reply,
    Rewrite, Settings, Shape, Switches, Trial, exit_code,
};

pub(super) static HOST: Host = Host {
    name: "copilot",
    aliases: &["copilot-cli"],
    title: "Copilot CLI",
    events: &[
        HostEvent::new(&["sessionStart", "SessionStart"], Trigger::PreSession).context(),
        HostEvent::new(
            &["userPromptSubmitted", "UserPromptSubmit"],
            Trigger::PreAgentTurn,
        )
        .block()
        .context(),
        HostEvent::new(&["preToolUse", "PreToolUse"], Trigger::PreToolUse)
            .block()
            .ask()
            .rewrite(Rewrite::Replace)
            .context(),
        HostEvent::new(&["postToolUse", "PostToolUse"], Trigger::PostToolUse)
            .block()
            .context(),
        HostEvent::new(
            &["postToolUseFailure", "PostToolUseFailure"],
            Trigger::PostToolUseFailure,
        )
        .block(),
        HostEvent::new(&["agentStop", "Stop"], Trigger::PreAgentTurnStop).block(),
        HostEvent::new(&["subagentStart", "SubagentStart"], Trigger::PreSubagent).context(),
        HostEvent::new(&["subagentStop", "SubagentStop"], Trigger::PostSubagent).block(),
        HostEvent::new(&["preCompact", "PreCompact"], Trigger::PreContextCompact),
        HostEvent::new(&["sessionEnd", "SessionEnd"], Trigger::PostSession),
        HostEvent::permission(&["permissionRequest", "PermissionRequest"]),
        HostEvent::ignored(&[
            "notification",
            "Notification",
            "errorOccurred",
            "ErrorOccurred",
            "userPromptTransformed",
            "UserPromptTransformed",
            "preMcpToolCall",
            "PreMcpToolCall",
        ]),
    ],
    timeout: Duration::from_secs(30),
    text_limit: 9_000,
    programs: &["copilot"],
    project_dir: None,
    settings: Some(Settings {
        form: Form::Json(Shape::Copilot),
        files: &[(Scope::User, OF_USER), (Scope::Project, OF_PROJECT)],
        machine: Some(&MachineSettings {
            form: Form::Json(Shape::Copilot),
            file: Place::machine("/etc/github-copilot/policy.d/ahp.json"),
            only: None,
        }),
    }),
    places: &[
        of_user("config.json"),
        of_user("hooks"),
        of_user("installed-plugins"),
        of_user("settings.json"),
        Place::project(".github/copilot/settings.json"),
        Place::project(".github/copilot/settings.local.json"),
        Place::project(".github/hooks"),
        Place::machine("/etc/github-copilot"),
    ],
    switches: Switches {
        starts: &[".copilot/mcp-config.json"],
        flags: &["--config-dir"],
        plugins: true,
        ..Switches::NONE
    },
    sample: r#"{"sessionId":"$SESSION","timestamp":0,"cwd":"$DIR","toolName":"bash","toolArgs":{"command":"$COMMAND"}}"#,
    trial: Some(&Trial {
        arguments: &["-p", "$PROMPT", "--allow-all-tools"],
        variables: &[
            ("COPILOT_PROVIDER_BASE_URL", "$URL/v1"),
            ("COPILOT_PROVIDER_API_KEY", "none"),
            ("COPILOT_MODEL", "ahp"),
            ("COPILOT_OFFLINE", "true"),
            ("COPILOT_AUTO_UPDATE", "false"),
        ],
        dialect: Dialect::Chat,
        tool: "bash",
        input: r#"{"command":"$COMMAND","description":"the canary of ahp doctor"}"#,
    }),
    blind_spots: &[
        "hooks of a project run only in a trusted folder",
        "the cloud agent reads `.github/hooks` alone and turns `ask` into a refusal",
        "any exit code but 0 refuses the tool: a missing `ahp` stops every tool call",
        "a hook that times out lets the tool run",
        "the words of an exit code 2 do not reach the model, only those of JSON do",
    ],
    speaks,
    adjust,
    encode,
    obeys,
};

/// A person's file, which VS Code reads too.
pub(super) const OF_USER: Place = of_user("hooks/ahp.json");
/// A project's file, which VS Code reads too.
pub(super) const OF_PROJECT: Place = Place::project(".github/hooks/ahp.json");

/// Returns a place in the person's own directory.
const fn of_user(path: &'static str) -> Place {
    Place::moved("COPILOT_HOME", ".copilot", path)
}

fn speaks(payload: &Payload) -> Certainty {
    if payload.has("toolArgs") && payload.has("sessionId") {
        return Certainty::Certain;
    }
    let camel = payload.has("sessionId")
        && payload
            .fields
            .get("timestamp")
            .is_some_and(serde_json::Value::is_number);
    let pascal = payload.has("hook_event_name")
        && payload.has("timestamp")
        && payload
            .str("transcript_path")
            .is_none_or(|path| path.contains("/.copilot/"));
    if camel || pascal {
        Certainty::Likely
    } else {
        Certainty::No
    }
}

fn adjust(_: &str, payload: &mut Payload, trigger: &mut Trigger) -> bool {
    exit_code::copilot(payload);
    if let Some(parent) = payload.str("parent_agent_id").map(str::to_owned) {
        payload.put(ROOT_SESSION, parent);
    }
    let name = payload.str("toolName").or(payload.str("tool_name"));
    if let Some((server, tool)) = name.and_then(of_server) {
        let context = json!({"server_name": server, "tool_name": tool});
        // The person is asked about `SERVER/TOOL`; the call itself is one of `SERVER-TOOL`.
        let called = format!("{server}-{tool}");
        if payload.has("toolName") {
            payload.put("toolName", called);
        }
        payload.put("mcp_context", context);
    }
    let result = payload
        .fields
        .get("toolResult")
        .or(payload.fields.get("tool_result"));
    let kind = result.and_then(|r| r.get("resultType").or(r.get("result_type")));
    if *trigger == Trigger::PostToolUse && kind.is_some_and(|k| k != "success") {
        *trigger = Trigger::PostToolUseFailure;
    }
    true
}

/// Splits the name of a server's tool: `SERVER-TOOL`, and `SERVER/TOOL` where the person is asked. Its own tools have no such
/// names; in those of servers a hyphen is usual, in those of their tools it is not.
fn of_server(name: &str) -> Option<(&str, &str)> {
    let (server, tool) = name.split_once('/').or_else(|| name.rsplit_once('-'))?;
    (!server.is_empty() && !tool.is_empty()).then_some((server, tool))
}

fn encode(response: &HostResponse<'_>) -> Reply {
    let mut out = serde_json::Map::new();
    if let Some(objection) = &response.objection {
        match response.host_event.trigger {
            Some(_) if response.host_event.is_permission => {
                out.insert("behavior".to_owned(), "deny".into());
                out.insert("message".to_owned(), objection.agent.as_str().into());
            }
            Some(Trigger::PreToolUse) => {
                let (decision, reason) = if objection.ask {
                    ("ask", &objection.person)
                } else {
                    ("deny", &objection.agent)
                };
                out.insert("permissionDecision".to_owned(), decision.into());
                out.insert(
                    "permissionDecisionReason".to_owned(),
                    reason.as_str().into(),
                );
            }
            // Here the exit code is what turns words into context.
            Some(Trigger::PostToolUseFailure) => return Reply::block(&objection.agent),
            _ => {
                out.insert("decision".to_owned(), "block".into());
                out.insert("reason".to_owned(), objection.agent.as_str().into());
            }
        }
    }
    if let Some(input) = &response.input {
        out.insert("modifiedArgs".to_owned(), input.clone());
    }
    if let Some(context) = &response.context {
        out.insert("additionalContext".to_owned(), context.as_str().into());
    }
    Reply::json(out)
}

fn obeys(reply: &Reply) -> bool {
    reply.blocks || reply.says("/permissionDecision", "deny") || reply.says("/behavior", "deny")
}
