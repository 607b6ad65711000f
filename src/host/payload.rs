//! Payload: a host's JSON, read by any of the hosts' names of a field.

use std::path::PathBuf;

use chrono::{DateTime, Utc};
use serde_json::{Map, Value};

use crate::event::{Event, McpTool, Stop, Subagent, ToolCall, Trigger, parse_json};

/// The object that a host wrote.
///
/// Fields are taken out by name; what nobody asked for is what the event's `context` keeps.
#[derive(Clone, Debug, Default)]
pub(super) struct Payload {
    pub(super) fields: Map<String, Value>,
}

/// The names under which hosts tell which event it is.
const EVENT: &[&str] = &[
    "hook_event_name",
    "hookEventName",
    "event_type",
    "agent_action_name",
    "hookName",
    "event",
];
const SESSION: &[&str] = &[
    "session_id",
    "sessionId",
    "sessionID",
    "conversation_id",
    "taskId",
    "trajectory_id",
];
const WORK_DIR: &[&str] = &["cwd", "work_dir", "directory", "project_root"];
const WORK_DIRS: &[&str] = &["workspaceRoots", "workspace_roots"];
const TOOL_NAME: &[&str] = &["tool_name", "toolName", "tool", "name"];
const TOOL_INPUT: &[&str] = &[
    "tool_input",
    "toolArgs",
    "toolInput",
    "tool_args",
    "args",
    "arguments",
    "input",
];
const TOOL_ID: &[&str] = &[
    "tool_use_id",
    "toolUseId",
    "tool_call_id",
    "toolCallId",
    "callID",
    "id",
];
const TOOL_OUTPUT: &[&str] = &[
    "tool_response",
    "toolResponse",
    "tool_result",
    "toolResult",
    "tool_output",
    "output",
    "result",
    "result_json",
];
const ERROR: &[&str] = &["error", "error_message"];
/// Where an adapter puts the exit code that it has found in a host's own words.
pub(super) const EXIT_CODE: &str = "ahp_exit_code";
/// Where an adapter puts the session of which a subagent's session is a part.
pub(super) const ROOT_SESSION: &str = "ahp_root_session_id";
const PROMPT: &[&str] = &["prompt", "user_prompt"];
const TOOL_CALLS: &[&str] = &["toolCalls", "tool_calls"];

impl Payload {
    /// Reads a JSON object.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, String> {
        match parse_json(bytes) {
            Ok(Value::Object(fields)) => Ok(Self { fields }),
            Ok(_) => Err("expected a JSON object".to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Whether there is such a field.
    pub(super) fn has(&self, name: &str) -> bool {
        self.fields.contains_key(name)
    }

    /// Returns a field's text.
    pub(super) fn str(&self, name: &str) -> Option<&str> {
        self.fields.get(name).and_then(Value::as_str)
    }

    /// Returns the name of the event, if the payload tells it.
    pub(super) fn event_name(&self) -> Option<&str> {
        EVENT.iter().find_map(|name| self.str(name))
    }

    /// Returns the session, if the payload tells one.
    pub(super) fn session_id(&self) -> Option<String> {
        SESSION
            .iter()
            .find_map(|name| self.str(name))
            .map(str::to_owned)
    }

    /// Sets a field by the name that the common reader knows.
    pub(super) fn put(&mut self, name: &str, value: impl Into<Value>) {
        self.fields.insert(name.to_owned(), value.into());
    }

    /// Takes the first of some fields out.
    pub(super) fn take(&mut self, names: &[&str]) -> Option<Value> {
        let name = names.iter().find(|name| self.has(name))?;
        self.fields.shift_remove(*name)
    }

    fn take_text(&mut self, names: &[&str]) -> Option<String> {
        let name = names.iter().find(|name| self.str(name).is_some())?;
        match self.fields.shift_remove(*name) {
            Some(Value::String(text)) => Some(text),
            _ => None,
        }
    }

    /// Makes the event or, where one call of the host tells of several tool calls, the events.
    pub(super) fn events(
        mut self,
        host: &str,
        trigger: Trigger,
        work_dir: &std::path::Path,
    ) -> Vec<Event> {
        let mut event = Event::new(trigger);
        event.host = Some(host.to_owned());
        for name in EVENT {
            self.fields.shift_remove(*name);
        }
        event.session_id = self.take_text(SESSION);
        event.root_session_id = self.take_text(&[ROOT_SESSION]);
        event.work_dir = self
            .take_text(WORK_DIR)
            .or_else(|| match self.take(WORK_DIRS) {
                Some(Value::Array(roots)) => roots.first()?.as_str().map(str::to_owned),
                _ => None,
            })
            .filter(|dir| !dir.is_empty())
            .map_or_else(|| Some(work_dir.to_owned()), |dir| Some(PathBuf::from(dir)));
        event.timestamp = self.take(&["timestamp"]).as_ref().and_then(time);
        event.stop = self.stop(trigger);
        event.subagent = self.subagent(trigger);
        if matches!(trigger, Trigger::PreAgentTurn) {
            event.prompt = self.take(PROMPT).as_ref().map(words);
        }
        if trigger.is_issue() {
            event.issue_id = self.take_text(&["issue_id"]);
        }
        if !trigger.is_tool() {
            event.context = flat(self.fields);
            return vec![event];
        }
        if !TOOL_NAME.iter().any(|name| self.str(name).is_some())
            && let Some(Value::Array(calls)) = self.take(TOOL_CALLS)
        {
            let calls = calls.into_iter().filter_map(|call| match call {
                Value::Object(fields) => Self { fields }.tool(),
                _ => None,
            });
            return calls
                .map(|call| Event {
                    tool: Some(call),
                    context: self.fields.clone(),
                    ..event.clone()
                })
                .collect();
        }
        let Some(call) = self.tool() else {
            return Vec::new();
        };
        event.tool = Some(call);
        event.context = flat(self.fields);
        vec![event]
    }

    /// Whether it names a tool and what the tool is given, and no result.
    pub(super) fn asks_for_tool(&self) -> bool {
        let has = |names: &[&str]| names.iter().any(|name| self.has(name));
        TOOL_NAME.iter().any(|name| self.str(name).is_some())
            && has(TOOL_INPUT)
            && !has(TOOL_OUTPUT)
            && !has(ERROR)
    }

    /// Takes the tool call out.
    pub(super) fn tool(&mut self) -> Option<ToolCall> {
        let name = self.take_text(TOOL_NAME)?;
        let mcp = self.take(&["mcp_context"]).and_then(|context| {
            let text = |key: &str| context.get(key).and_then(Value::as_str).map(str::to_owned);
            Some(McpTool {
                server: text("server_name"),
                tool: text("tool_name")?,
                ..McpTool::default()
            })
        });
        Some(ToolCall {
            name,
            input: decoded(self.take(TOOL_INPUT).unwrap_or(Value::Null)),
            use_id: self.take_text(TOOL_ID),
            output: self.take(TOOL_OUTPUT),
            error: self.take(ERROR),
            exit_code: self.take(&[EXIT_CODE]).and_then(|code| code.as_i64()),
            mcp,
        })
    }

    fn stop(&mut self, trigger: Trigger) -> Option<Stop> {
        if !trigger.tells_of_stop() {
            return None;
        }
        let final_message = self.take(&[
            "last_assistant_message",
            "prompt_response",
            "response",
            "final_message",
            "outputText",
            "text",
        ]);
        Some(Stop {
            reason: self.take_text(&[
                "stop_reason",
                "stopReason",
                "reason",
                "exit_reason",
                "status",
            ]),
            active: self
                .take(&["stop_hook_active", "stopHookActive"])
                .and_then(|v| v.as_bool())
                .unwrap_or(false),
            step_count: self.take(&["step_count"]).and_then(|v| v.as_u64()),
            final_message: final_message.as_ref().map(words).filter(|w| !w.is_empty()),
        })
    }

    fn subagent(&mut self, trigger: Trigger) -> Option<Subagent> {
        let at_subagent = matches!(trigger, Trigger::PreSubagent | Trigger::PostSubagent);
        let name = self.take_text(&["agent_name", "agentName", "subagent_name"]);
        let id = self.take_text(&["agent_id", "agentId", "subagent_id"]);
        let kind = self.take_text(&["agent_type", "agentType", "subagent_type"]);
        let task = at_subagent
            .then(|| self.take(&["task_description", "task", "prompt"]))
            .flatten()
            .as_ref()
            .map(words);
        // An id without a kind is that of the main agent in some hosts: no subagent is meant.
        if !at_subagent && kind.is_none() {
            return None;
        }
        Some(Subagent {
            name: name.or_else(|| id.clone()),
            id,
            kind,
            task,
        })
    }
}

/// Takes what a host gives as a `context` of its own up among the other fields.
fn flat(mut fields: Map<String, Value>) -> Map<String, Value> {
    match fields.shift_remove("context") {
        Some(Value::Object(inner)) => {
            for (key, value) in inner {
                fields.entry(key).or_insert(value);
            }
        }
        Some(other) => drop(fields.insert("context".to_owned(), other)),
        None => {}
    }
    fields
}

/// Reads a value that was put into a string as JSON; other strings stay.
pub(super) fn decoded(value: Value) -> Value {
    match &value {
        Value::String(text) if text.trim_start().starts_with('{') => {
            parse_json(text.as_bytes()).unwrap_or(value)
        }
        _ => value,
    }
}

/// Reads RFC 3339, or milliseconds since 1970.
fn time(value: &Value) -> Option<DateTime<Utc>> {
    match value {
        Value::String(text) => DateTime::parse_from_rfc3339(text).ok().map(|t| t.to_utc()),
        Value::Number(n) => DateTime::from_timestamp_millis(n.as_i64()?),
        _ => None,
    }
}

/// Returns the words of a text, of content parts, or of a message.
pub(super) fn words(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let parts: Vec<String> = parts.iter().map(words).collect();
            parts.join("\n")
        }
        Value::Object(map) => ["text", "content", "message"]
            .iter()
            .find_map(|key| map.get(*key))
            .map(words)
            .unwrap_or_default(),
        _ => String::new(),
    }
}
