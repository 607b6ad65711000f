//! Event: one thing that an agent is about to do, or has just done.

mod git_hook;
mod json;
mod tool;
mod trigger;

pub use self::git_hook::{GitHook, Push, PushedRef};
pub use self::json::parse_json;
pub(crate) use self::tool::{Field, Form, Given, decoded, is_path_key};
pub use self::tool::{McpTool, ToolCall, ToolKind, ToolView};
pub(crate) use self::tool::{name_words, standard_names};
pub use self::trigger::{ISSUE_VERBS, Trigger, UnknownTriggerError};

use std::path::{Path, PathBuf};
use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One event in AHP's own form (spec §4.1). Only `trigger` is required.
///
/// Host adapters turn each host's own JSON into this; nothing behind them knows a host's spelling.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Event {
    /// The kind of the event.
    pub trigger: Trigger,
    /// When it happened; the engine's clock where the host does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<DateTime<Utc>>,
    /// The host's name of the agent session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The session that this one is a part of, where the host gives a subagent a session of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root_session_id: Option<String>,
    /// The directory in which the operation happens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work_dir: Option<PathBuf>,
    /// The program that runs the agent, by the name of its adapter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// The tool call, at tool triggers; `pre-tool-use` is blocked where it names no tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<ToolCall>,
    /// The issue that is acted upon, at issue triggers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issue_id: Option<String>,
    /// The environment, where the host knows better than the settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environment: Option<String>,
    /// The user's prompt, at turn triggers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// The subagent, at subagent triggers, or where the event happens inside one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subagent: Option<Subagent>,
    /// What the host tells about the end of a turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Stop>,
    /// What else the host told and no field above holds.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub context: Map<String, Value>,
    /// How many programs of policies stand above it, where it came from another process than the one that judges it.
    #[serde(skip)]
    pub depth: u32,
    /// Whether its issue is a task that an agent keeps in its host, which only the host's own events tell.
    #[serde(skip)]
    pub is_task: bool,
    /// What git told, where this is one of its own hooks.
    #[serde(skip)]
    pub git: Option<Arc<GitHook>>,
}

/// A subagent, as far as the host describes it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Subagent {
    /// Its name or id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The id that the host gives it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The kind of agent that it is.
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "type")]
    pub kind: Option<String>,
    /// What it was asked to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
}

/// The end of a turn or a subagent.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stop {
    /// Why the agent stops, in the host's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Whether the agent is already going on because of an earlier block of a stop.
    #[serde(default)]
    pub active: bool,
    /// How many steps the turn had.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step_count: Option<u64>,
    /// The agent's last message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub final_message: Option<String>,
}

impl Subagent {
    /// Returns what its doings are counted by: its kind, of which a session may have many, else its name.
    pub fn called(&self) -> Option<&str> {
        let names = [&self.kind, &self.name, &self.id];
        names.into_iter().find_map(Option::as_deref)
    }

    /// Returns what tells it from the others of its session: its id, or its name, which is all that a teammate has.
    pub(crate) fn own_name(&self) -> Option<&str> {
        self.id.as_deref().or(self.name.as_deref())
    }
}

impl Event {
    /// Makes an event that tells nothing but its kind.
    pub fn new(trigger: Trigger) -> Self {
        Self {
            trigger,
            timestamp: None,
            session_id: None,
            root_session_id: None,
            work_dir: None,
            host: None,
            tool: None,
            issue_id: None,
            environment: None,
            prompt: None,
            subagent: None,
            stop: None,
            context: Map::new(),
            depth: 0,
            is_task: false,
            git: None,
        }
    }

    /// Makes the event of a tool that is about to run.
    ///
    /// ```
    /// let event = ahp::Event::tool_use("Bash", ahp::serde_json::json!({"command": "ls"}));
    /// assert_eq!(event.trigger, ahp::Trigger::PreToolUse);
    /// ```
    pub fn tool_use(name: impl Into<String>, input: Value) -> Self {
        Self {
            tool: Some(ToolCall::new(name, input)),
            ..Self::new(Trigger::PreToolUse)
        }
    }

    /// Sets the agent session.
    #[must_use]
    pub fn with_session(mut self, id: impl Into<String>) -> Self {
        self.session_id = Some(id.into());
        self
    }

    /// Sets the issue that is acted upon.
    #[must_use]
    pub fn with_issue(mut self, id: impl Into<String>) -> Self {
        self.issue_id = Some(id.into());
        self
    }

    /// Sets the directory in which the operation happens.
    #[must_use]
    pub fn with_work_dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.work_dir = Some(dir.into());
        self
    }

    /// Whether it is about a tool of which it gives no name, so that nobody can tell what is done.
    pub(crate) fn lacks_tool(&self) -> bool {
        let is_unnamed = |tool: &ToolCall| tool.name.trim().is_empty() && tool.mcp.is_none();
        self.trigger.is_tool() && self.tool.as_ref().is_none_or(is_unnamed)
    }

    /// Returns the session whose events are counted together: with all its subagents.
    pub fn whole_session(&self) -> Option<&str> {
        self.root_session_id
            .as_deref()
            .or(self.session_id.as_deref())
    }

    /// Whether it is of the agent that a person talks to, as far as the host tells. A kind alone says of that one what it is.
    pub fn is_by_person(&self) -> bool {
        let of_other = |root: &String| Some(root) != self.session_id.as_ref();
        let is_named = |agent: &Subagent| agent.id.is_some() || agent.name.is_some();
        !self.root_session_id.as_ref().is_some_and(of_other)
            && !self.subagent.as_ref().is_some_and(is_named)
    }

    /// Returns what repeated findings are counted by: the issue, else the session.
    pub fn subject(&self) -> Option<&str> {
        self.issue_id.as_deref().or(self.session_id.as_deref())
    }

    /// Returns what findings are told apart by beside their rule: what a tool call acts on, as its command line or its
    /// paths. Other events act on their subject and have none.
    pub fn object(&self) -> Option<String> {
        let work_dir = self.work_dir.as_deref().unwrap_or(Path::new("/"));
        self.tool.as_ref().map(|tool| tool.object(work_dir))
    }
}
