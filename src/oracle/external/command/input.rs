//! What a command hook reads: the event in the words of the hook's own format.

use std::borrow::Cow;
use std::path::Path;

use serde_json::json;
use serde_json::{Map, Value};

use super::Dialect;
use super::file::Handler;
use crate::event::{
    Field, McpTool, ToolCall, ToolKind, ToolView, Trigger, decoded, standard_names,
};
use crate::fact::Facts;
use crate::signal::Modification;
use crate::words::words;

/// A tool call in the words of a format.
#[derive(Debug)]
pub(super) struct Tool {
    /// The format's name of the tool; the host's own where the format has none.
    pub(super) name: String,
    /// The host's input, with the fields added under which the format's scripts look.
    pub(super) input: Value,
    /// What the host gave, read where it is JSON in a text.
    given: Value,
}

/// The names of the formats for what every tool is told in.
const VOCABULARY: &[&str] = words!("told-fields");

impl Tool {
    pub(super) fn of(
        call: &ToolCall,
        view: Option<&ToolView>,
        host: Option<&str>,
        dialect: Dialect,
        root: &Path,
    ) -> Self {
        let given = decoded(&call.input).unwrap_or_else(|| call.input.clone());
        let mut tool = Self {
            name: call.name.clone(),
            input: given.clone(),
            given,
        };
        let Some(view) = view.filter(|_| !is_own(host, dialect)) else {
            return tool;
        };
        if let Some(name) = name_of(call, view, dialect) {
            tool.name = name.into_owned();
        }
        let is_words = view.command.is_some() || view.content.is_some();
        if !tool.input.is_object() && is_words {
            // A text or a list of words is all that the tool is given.
            tool.input = Value::Object(Map::new());
        }
        let Value::Object(input) = &mut tool.input else {
            return tool;
        };
        // Every format gives whole paths.
        let path = view.paths.first();
        let path = path.map(|path| Value::from(root.join(path).to_string_lossy()));
        let paths = matches!(view.kind, ToolKind::Edit | ToolKind::Write)
            .then(|| Value::from(view.paths.clone()));
        let command = view.command.as_deref().map(Value::from);
        let content = view.content.as_deref().map(Value::from);
        let url = view.urls.first().map(|url| Value::from(url.as_str()));
        let (path_names, paths): (&[&'static str], _) = match dialect {
            Dialect::Claude => (&["file_path"], None),
            Dialect::VsCode | Dialect::Copilot => (&["path", "filePath"], paths),
        };
        let mut wanted = vec![("command", command), ("content", content), ("url", url)];
        wanted.extend(path_names.iter().map(|name| (*name, path.clone())));
        wanted.push(("files", paths));
        for (name, value) in wanted {
            if let Some(value) = value
                && !input.contains_key(name)
            {
                input.insert(name.to_owned(), value);
            }
        }
        tool
    }

    /// Returns what an answer changes that stands in the place of the whole input: names that the host does not have lead back
    /// to its own. What has no place in the host's input keeps its name.
    pub(super) fn changes(
        &self,
        view: &ToolView,
        updated: &Map<String, Value>,
        root: &Path,
    ) -> Vec<Modification> {
        let mut own = updated.clone();
        let is_foreign = |name: &&&str| self.given.get(**name).is_none() && view.tells(name);
        let told = VOCABULARY.iter().filter(is_foreign).filter_map(|name| {
            let value = own.remove(*name)?;
            Some((*name, value))
        });
        let told: Vec<(&str, Value)> = told.collect();
        let (changed, same): (Vec<_>, Vec<_>) = told
            .into_iter()
            .partition(|(name, value)| self.input.get(*name) != Some(value));
        let place = |input: &Value, name: &str, value: &Value| {
            Field::find(view.kind, input, name, value, root)
        };
        let mut input = match &self.given {
            Value::Object(fields) => {
                let mut keep = |key: &str| {
                    if let Some(value) = fields.get(key)
                        && !own.contains_key(key)
                    {
                        own.insert(key.to_owned(), value.clone());
                    }
                };
                if changed.is_empty() {
                    // A script that builds its input anew may leave out a name that it does not know.
                    for (name, value) in &same {
                        if let Some(field) = place(&self.given, name, value) {
                            keep(field.pointer.split('/').nth(1).unwrap_or_default());
                        }
                    }
                } else {
                    // Whoever changes it by names that are not the host's says nothing of what they have no names for.
                    fields.keys().for_each(|key| keep(key));
                }
                Value::Object(own)
            }
            other => other.clone(),
        };
        let mut lost = Vec::new();
        for (name, value) in changed {
            match place(&input, name, &value) {
                Some(field) => {
                    if let Some(place) = input.pointer_mut(&field.pointer) {
                        *place = field.updated;
                    }
                }
                None => lost.push(modification(
                    format!("/{name}"),
                    self.input.get(name),
                    &value,
                )),
            }
        }
        let mut changes = differences(&self.given, &input);
        changes.extend(lost);
        changes
    }
}

fn modification(target: String, original: Option<&Value>, updated: &Value) -> Modification {
    Modification {
        target,
        original: original.cloned().unwrap_or_default(),
        updated: updated.clone(),
        reason: String::new(),
    }
}

/// Returns what makes one input of another.
fn differences(given: &Value, input: &Value) -> Vec<Modification> {
    let (Value::Object(fields), Value::Object(updated)) = (given, input) else {
        let whole = modification("tool.input".to_owned(), Some(given), input);
        return [whole].into_iter().filter(|_| given != input).collect();
    };
    if fields.keys().any(|key| !updated.contains_key(key)) {
        return vec![modification("tool.input".to_owned(), Some(given), input)];
    }
    let differing = updated
        .iter()
        .filter(|(key, value)| fields.get(*key) != Some(value));
    let differing = differing.map(|(key, value)| {
        let target = format!("/{}", key.replace('~', "~0").replace('/', "~1"));
        modification(target, fields.get(key), value)
    });
    differing.collect()
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
