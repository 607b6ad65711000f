//! Event of the Agent Hooks Protocol 0.1, and what it is in AHP's own form.

use std::path::PathBuf;

use ahp::event::{Event, McpTool, ToolCall, ToolKind, Trigger};
use chrono::{DateTime, Utc};
use serde::Deserialize;
use serde_json::{Map, Value};

/// An event as a harness tells it; fields that are not known are ignored.
#[derive(Debug, Deserialize)]
pub(super) struct HarnessEvent {
    pub(super) id: String,
    pub(super) source: String,
    #[serde(rename = "type")]
    pub(super) kind: String,
    time: DateTime<Utc>,
    session: Session,
    #[serde(default)]
    tool: Option<Tool>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Session {
    id: String,
    #[serde(default)]
    cwd: Option<PathBuf>,
    #[serde(default)]
    workspace_roots: Vec<PathBuf>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Tool {
    call_id: String,
    name: String,
    kind: Kind,
    input: Map<String, Value>,
    #[serde(default)]
    output: Option<Value>,
    #[serde(default)]
    error: Option<Value>,
    #[serde(default)]
    mcp: Option<Mcp>,
}

#[derive(Debug, Deserialize)]
struct Mcp {
    server: String,
    tool: String,
}

/// What a tool does, in the protocol's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Shell,
    FileRead,
    FileWrite,
    FileEdit,
    Search,
    Fetch,
    Task,
    Mcp,
    Other,
}

impl Kind {
    /// Returns a tool of this kind by a name that is known here, for names that are not.
    const fn stand_in(self) -> Option<&'static str> {
        match self {
            Self::Shell => Some("Bash"),
            Self::FileRead => Some("Read"),
            Self::FileWrite => Some("Write"),
            Self::FileEdit => Some("Edit"),
            Self::Search => Some("Grep"),
            Self::Fetch => Some("WebFetch"),
            Self::Task => Some("Task"),
            Self::Mcp | Self::Other => None,
        }
    }
}

/// The types of events, what each is here, and whether it tells of a tool.
const TYPES: &[(&str, Trigger, bool)] = &[
    ("tool.before", Trigger::PreToolUse, true),
    ("tool.after", Trigger::PostToolUse, true),
    ("tool.error", Trigger::PostToolUseFailure, true),
    ("session.start", Trigger::PreSession, false),
    ("session.end", Trigger::PostSession, false),
];

impl HarnessEvent {
    /// Returns the name of the session.
    pub(super) fn session_id(&self) -> &str {
        &self.session.id
    }

    /// Turns it into AHP's own form.
    ///
    /// # Errors
    /// A type that is not known; a tool event without its tool.
    pub(super) fn into_event(self) -> Result<Event, String> {
        let Some((_, trigger, has_tool)) = TYPES.iter().find(|(name, ..)| *name == self.kind)
        else {
            let known: Vec<&str> = TYPES.iter().map(|(name, ..)| *name).collect();
            return Err(format!(
                "unknown event type `{}`: expected one of `{}`",
                self.kind,
                known.join("`, `")
            ));
        };
        let mut event = Event::new(*trigger);
        event.timestamp = Some(self.time);
        event.session_id = Some(self.session.id);
        let roots = self.session.workspace_roots.into_iter();
        event.work_dir = self.session.cwd.into_iter().chain(roots).next();
        event.host = Some(self.source);
        event.tool = match (has_tool, self.tool) {
            (true, None) => return Err(format!("`{}` needs `event.tool`", self.kind)),
            (true, Some(tool)) => Some(tool.into_call()),
            (false, _) => None,
        };
        Ok(event)
    }
}

impl Tool {
    fn into_call(self) -> ToolCall {
        let is_unknown = ToolKind::of(&self.name) == ToolKind::Other;
        let stand_in = self.kind.stand_in().filter(|_| is_unknown);
        let name = stand_in.map_or(self.name, str::to_owned);
        let mut call = ToolCall::new(name, Value::Object(self.input));
        call.use_id = Some(self.call_id);
        call.output = self.output;
        call.error = self.error;
        call.mcp = self.mcp.map(|mcp| McpTool::of_server(mcp.server, mcp.tool));
        call
    }
}
