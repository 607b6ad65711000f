//! What a command hook reads: the event in the words of the hook's own format.

use std::borrow::Cow;

use serde_json::json;
use serde_json::{Map, Value};

use super::Dialect;
use super::file::Handler;
use crate::event::{McpTool, ToolCall, ToolKind, ToolView, Trigger, standard_names};
use crate::fact::Facts;

/// A tool call in the words of a format.
#[derive(Debug)]
pub(super) struct Tool {
    /// The format's name of the tool; the host's own where the format has none.
    pub(super) name: String,
    /// The host's input, with the fields added under which the format's scripts look.
    pub(super) input: Value,
    /// The fields that were added: the added name, and the host's own of the same value.
    added: Vec<(&'static str, Option<String>)>,
}

impl Tool {
    pub(super) fn of(
        call: &ToolCall,
        view: Option<&ToolView>,
        host: Option<&str>,
        dialect: Dialect,
    ) -> Self {
        let mut tool = Self {
            name: call.name.clone(),
            input: call.input.clone(),
            added: Vec::new(),
        };
        let Some(view) = view.filter(|_| !is_own(host, dialect)) else {
            return tool;
        };
        if let Some(name) = name_of(call, view, dialect) {
            tool.name = name.into_owned();
        }
        let Value::Object(input) = &mut tool.input else {
            return tool;
        };
        let path = view.paths.first().map(|path| Value::from(path.as_str()));
        let paths = matches!(view.kind, ToolKind::Edit | ToolKind::Write)
            .then(|| Value::from(view.paths.clone()));
        let wanted: [(&'static str, Option<Value>); 6] = match dialect {
            Dialect::Claude => [
                ("command", view.command.as_deref().map(Into::into)),
                ("file_path", path),
                ("content", view.content.as_deref().map(Into::into)),
                ("url", view.urls.first().map(|url| url.as_str().into())),
                ("", None),
                ("", None),
            ],
            Dialect::VsCode | Dialect::Copilot => [
                ("command", view.command.as_deref().map(Into::into)),
                ("path", path.clone()),
                ("filePath", path),
                ("files", paths),
                ("content", view.content.as_deref().map(Into::into)),
                ("url", view.urls.first().map(|url| url.as_str().into())),
            ],
        };
        for (name, value) in wanted {
            if let Some(value) = value
                && !input.contains_key(name)
            {
                let original = input
                    .iter()
                    .find(|(_, theirs)| **theirs == value)
                    .map(|(key, _)| key.clone());
                input.insert(name.to_owned(), value);
                tool.added.push((name, original));
            }
        }
        tool
    }

    /// Returns what a changed input means for the host's own: added fields lead back to those that they stand for.
    pub(super) fn restore(&self, updated: &Map<String, Value>) -> Map<String, Value> {
        let mut own = updated.clone();
        for (name, original) in &self.added {
            let Some(value) = own.remove(*name) else {
                continue;
            };
            let unchanged = self.input.get(*name) == Some(&value);
            match original {
                Some(original) if unchanged => {
                    // A script that builds its input anew may leave out the name that it does not know.
                    let before = self.input.get(original.as_str()).cloned().unwrap_or(value);
                    own.entry(original.clone()).or_insert(before);
                }
                Some(original) => {
                    own.insert(original.clone(), value);
                }
                None if unchanged => {}
                None => {
                    own.insert((*name).to_owned(), value);
                }
            }
        }
        own
    }
}

/// Whether the host speaks the format itself, so that its own names are the format's.
fn is_own(host: Option<&str>, dialect: Dialect) -> bool {
    matches!(
        (host, dialect),
        (Some("claude-code" | "claude-agent-sdk"), Dialect::Claude)
            | (Some("vscode"), Dialect::VsCode)
            | (Some("copilot"), Dialect::Copilot)
    )
}

/// Returns the name that a tool has in a format; none where the format has none.
fn name_of(call: &ToolCall, view: &ToolView, dialect: Dialect) -> Option<Cow<'static, str>> {
    if dialect == Dialect::Claude
        && let (Some(server), Some(tool)) = (&view.mcp_server, &view.mcp_tool)
    {
        return Some(McpTool::common_name(server, tool).into());
    }
    let standard = standard_names(&call.name, view.kind).first()?;
    let [_, claude, vscode, copilot] = NAMES.iter().find(|[name, ..]| name == standard)?;
    let name = match dialect {
        Dialect::Claude => claude,
        Dialect::VsCode => vscode,
        Dialect::Copilot => copilot,
    };
    (!name.is_empty()).then_some(Cow::Borrowed(*name))
}

/// The standard's names of tools, with those of Claude Code, VS Code and Copilot where these have one.
const NAMES: &[[&str; 4]] = &[
    ["DeleteFile", "", "deleteFile", ""],
    ["FetchURL", "WebFetch", "fetch", "web_fetch"],
    ["Glob", "Glob", "", "glob"],
    ["Grep", "Grep", "", "grep"],
    ["LS", "LS", "", ""],
    ["ReadFile", "Read", "readFile", "view"],
    ["SearchWeb", "WebSearch", "", "web_search"],
    ["Shell", "Bash", "runTerminalCommand", "bash"],
    ["StrReplaceFile", "Edit", "editFiles", "edit"],
    ["Task", "Agent", "", "task"],
    ["WriteFile", "Write", "createFile", "create"],
];

/// Returns the name that Claude's vocabulary has for a tool: Copilot uses it with upper-case event names.
pub(super) fn claude_name(call: &ToolCall, view: Option<&ToolView>) -> String {
    view.and_then(|view| name_of(call, view, Dialect::Claude))
        .map_or_else(|| call.name.clone(), Cow::into_owned)
}

/// Returns the text that a command reads.
pub(super) fn of(facts: &Facts, handler: &Handler, tool: Option<&Tool>) -> Vec<u8> {
    let event = facts.event();
    let is_camel = handler.dialect == Dialect::VsCode
        || handler.dialect == Dialect::Copilot
            && handler.event.starts_with(|c: char| c.is_ascii_lowercase());
    let copilot_camel = is_camel && handler.dialect == Dialect::Copilot;
    let mut input = Map::new();
    let mut put = |camel: &str, snake: &str, value: Value| {
        input.insert(if is_camel { camel } else { snake }.to_owned(), value);
    };
    let told = |key: &str| event.context.get(key).cloned();
    let session = event.session_id.as_deref().unwrap_or_default();
    put("sessionId", "session_id", session.into());
    put(
        "hookEventName",
        "hook_event_name",
        handler.event.as_str().into(),
    );
    let time = facts.time();
    let stamp = if copilot_camel {
        time.timestamp_millis().into()
    } else {
        time.to_rfc3339_opts(chrono::SecondsFormat::Millis, true)
            .into()
    };
    put("timestamp", "timestamp", stamp);
    put("cwd", "cwd", facts.work_dir().to_string_lossy().into());
    if let Some(path) = told("transcript_path") {
        put("transcript_path", "transcript_path", path);
    }
    if let Some(mode) = told("permission_mode") {
        put("permission_mode", "permission_mode", mode);
    }
    if let (Some(tool), Some(call)) = (tool, &event.tool) {
        let (name, arguments) = if copilot_camel {
            ("toolName", "toolArgs")
        } else {
            ("tool_name", "tool_input")
        };
        put(name, name, tool.name.as_str().into());
        put(arguments, arguments, tool.input.clone());
        if let Some(id) = &call.use_id {
            put("tool_use_id", "tool_use_id", id.as_str().into());
        }
        if let Some(output) = call.output.clone() {
            match handler.dialect {
                Dialect::Copilot => {
                    let key = if copilot_camel {
                        "toolResult"
                    } else {
                        "tool_result"
                    };
                    let text = facts.tool().and_then(|view| view.output.clone());
                    let kind = if event.trigger == Trigger::PostToolUseFailure {
                        "failure"
                    } else {
                        "success"
                    };
                    put(
                        key,
                        key,
                        json!({"resultType": kind, "textResultForLlm": text}),
                    );
                }
                Dialect::VsCode => {
                    let text = facts.tool().and_then(|view| view.output.clone());
                    put(
                        "tool_response",
                        "tool_response",
                        text.map_or(output, Value::from),
                    );
                }
                Dialect::Claude => put("tool_response", "tool_response", output),
            }
        }
        if let Some(error) = call.error.clone() {
            put("error", "error", error);
        }
    }
    if let Some(prompt) = &event.prompt {
        put("prompt", "prompt", prompt.as_str().into());
    }
    if let Some(subagent) = &event.subagent {
        let id = subagent.id.as_deref().or(subagent.name.as_deref());
        put("agent_id", "agent_id", id.into());
        put("agent_type", "agent_type", subagent.kind.as_deref().into());
    }
    if event.trigger.is_stop() {
        let stop = event.stop.clone().unwrap_or_default();
        put("stop_hook_active", "stop_hook_active", stop.active.into());
        if let Some(message) = stop.final_message {
            put(
                "last_assistant_message",
                "last_assistant_message",
                message.into(),
            );
        }
    }
    match event.trigger {
        Trigger::PreSession => {
            let usual = if handler.dialect == Dialect::Claude {
                "startup"
            } else {
                "new"
            };
            put(
                "source",
                "source",
                told("source").unwrap_or_else(|| usual.into()),
            );
        }
        Trigger::PostSession => {
            put(
                "reason",
                "reason",
                told("reason").unwrap_or_else(|| "other".into()),
            );
        }
        Trigger::PreContextCompact => {
            put(
                "trigger",
                "trigger",
                told("trigger").unwrap_or_else(|| "auto".into()),
            );
        }
        _ => {}
    }
    serde_json::to_vec(&input).unwrap_or_default()
}
