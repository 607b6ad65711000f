//! HookFile: a file with command hooks, read.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Map, Value};

use super::Dialect;
use super::matcher::Matcher;
use crate::event::Trigger;
use crate::words::words;

/// A file with command hooks.
#[derive(Debug)]
pub(crate) struct HookFile {
    handlers: Vec<Handler>,
}

/// One command.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Handler {
    pub(super) trigger: Trigger,
    /// The event's name as the file spells it.
    pub(super) event: String,
    pub(super) dialect: Dialect,
    pub(super) matcher: Matcher,
    /// None where this is not a command, or none for this system.
    pub(super) command: Option<Command>,
    /// What it is: `command`, `http`, `prompt`, ….
    pub(super) kind: String,
    pub(super) cwd: Option<String>,
    pub(super) env: BTreeMap<String, String>,
    /// How long it may take, where the file says so.
    pub(super) timeout: Option<Duration>,
    /// Whether its host goes on without it, so that it decides nothing.
    pub(super) is_async: bool,
    /// The permission rule, such as `Bash(git *)`, for which alone it runs.
    pub(super) rule: Option<String>,
}

/// What is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Command {
    /// A line for a shell.
    Shell { shell: &'static str, line: String },
    /// A program and its arguments.
    Exec(Vec<String>),
}

/// The types of hooks that hosts have.
pub(super) const KINDS: &[&str] = &["command", "http", "mcp_tool", "prompt", "agent"];

/// The keys of a group of hooks.
pub(super) const OF_GROUP: &[&str] = words!("hook-group-keys");

/// The keys of a hook, of whatever type.
pub(super) const OF_HANDLER: &[&str] = words!("handler-keys");

impl HookFile {
    /// Reads a file; `dialect` is told by its content where none is given.
    ///
    /// # Errors
    /// What is wrong, in one line.
    pub(crate) fn parse(bytes: &[u8], dialect: Option<Dialect>) -> Result<Self, String> {
        let value: Value =
            serde_json::from_slice(bytes).map_err(|error| format!("it is not JSON: {error}"))?;
        let Some(file) = value.as_object() else {
            return Err("it is not a JSON object".to_owned());
        };
        let events = match file.get("hooks") {
            Some(Value::Object(events)) => events,
            Some(_) => return Err("`hooks` is not an object of events".to_owned()),
            None => return Err("it has no `hooks`".to_owned()),
        };
        let mut handlers = Vec::new();
        if file.get("disableAllHooks") == Some(&Value::Bool(true)) {
            return Ok(Self { handlers });
        }
        for (event, entries) in events {
            // Hosts add events all the time; those that AHP has no trigger for never fire here.
            let Some((trigger, is_lower)) = trigger_of(event) else {
                continue;
            };
            let Some(entries) = entries.as_array() else {
                return Err(format!("`hooks.{event}` is not a list"));
            };
            for (n, entry) in entries.iter().enumerate() {
                let at = format!("hooks.{event}[{n}]");
                let Some(entry) = entry.as_object() else {
                    return Err(format!("`{at}` is not an object"));
                };
                let group = entry.get("hooks").and_then(Value::as_array);
                let dialect = dialect.unwrap_or_else(|| {
                    if is_lower || file.contains_key("version") {
                        Dialect::Copilot
                    } else if group.is_some() {
                        Dialect::Claude
                    } else {
                        Dialect::VsCode
                    }
                });
                let matcher =
                    text_of(entry, "matcher").map_err(|error| format!("`{at}`: {error}"))?;
                let matcher = Matcher::new(matcher, dialect, is_lower)
                    .map_err(|error| format!("`{at}.matcher`: {error}"))?;
                let members: Vec<Option<&Map<String, Value>>> = match group {
                    Some(group) => group.iter().map(Value::as_object).collect(),
                    None => vec![Some(entry)],
                };
                for (n, member) in members.into_iter().enumerate() {
                    let Some(member) = member else {
                        return Err(format!("`{at}.hooks[{n}]` is not an object"));
                    };
                    let handler = Handler::read(member, trigger, event, dialect, &matcher)
                        .map_err(|error| format!("`{at}`: {error}"))?;
                    // Hosts run an identical handler once.
                    if !handlers.contains(&handler) {
                        handlers.push(handler);
                    }
                }
            }
        }
        Ok(Self { handlers })
    }

    /// Returns the longest time that its commands ask for at one event, one after the other; none where none of them says.
    pub(crate) fn longest(&self) -> Option<Duration> {
        let of_event = |trigger: Trigger| {
            let asked = self.handlers(trigger).filter_map(|handler| handler.timeout);
            asked.reduce(Duration::saturating_add)
        };
        let handlers = self.handlers.iter();
        handlers
            .filter_map(|handler| of_event(handler.trigger))
            .max()
    }

    pub(super) fn all(&self) -> &[Handler] {
        &self.handlers
    }

    pub(super) fn handlers(&self, trigger: Trigger) -> impl Iterator<Item = &Handler> {
        self.handlers
            .iter()
            .filter(move |handler| handler.trigger == trigger)
    }
}

/// Returns the trigger of an event's name, and whether the name is Copilot's own.
pub(super) fn trigger_of(event: &str) -> Option<(Trigger, bool)> {
    let own = match event {
        "sessionStart" => Trigger::PreSession,
        "sessionEnd" => Trigger::PostSession,
        "userPromptSubmitted" => Trigger::PreAgentTurn,
        "preToolUse" => Trigger::PreToolUse,
        "postToolUse" => Trigger::PostToolUse,
        "postToolUseFailure" => Trigger::PostToolUseFailure,
        "agentStop" => Trigger::PreAgentTurnStop,
        "subagentStart" => Trigger::PreSubagent,
        "subagentStop" => Trigger::PostSubagent,
        "preCompact" => Trigger::PreContextCompact,
        _ => return Trigger::find(event).map(|trigger| (trigger, false)),
    };
    Some((own, true))
}

/// Reads a text; what is of another kind would be passed over in silence.
fn text_of<'a>(entry: &'a Map<String, Value>, key: &str) -> Result<Option<&'a str>, String> {
    match entry.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(format!("`{key}` is {other}, not text")),
    }
}

impl Handler {
    fn read(
        entry: &Map<String, Value>,
        trigger: Trigger,
        event: &str,
        dialect: Dialect,
        matcher: &Matcher,
    ) -> Result<Self, String> {
        let text = |key: &str| entry.get(key).and_then(Value::as_str);
        let seconds = ["timeout", "timeoutSec"]
            .iter()
            .find_map(|key| entry.get(*key));
        let timeout = seconds
            .map(|seconds| {
                seconds
                    .as_f64()
                    .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
                    .filter(|timeout| !timeout.is_zero())
                    .ok_or_else(|| format!("`timeout` is {seconds}, not a number of seconds"))
            })
            .transpose()?;
        let mut env = BTreeMap::new();
        for (name, value) in entry
            .get("env")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
        {
            let value = match value {
                Value::String(text) => text.clone(),
                Value::Number(_) | Value::Bool(_) => value.to_string(),
                _ => return Err(format!("`env.{name}` is not text")),
            };
            env.insert(name.clone(), value);
        }
        let is_async = match entry.get("async") {
            None | Some(Value::Null) => false,
            Some(Value::Bool(is_async)) => *is_async,
            Some(other) => return Err(format!("`async` is {other}, not true or false")),
        };
        let kind = text_of(entry, "type")?.unwrap_or("command").to_owned();
        let command = if kind == "command" {
            Some(Command::read(entry)?)
        } else {
            None
        };
        Ok(Self {
            trigger,
            event: event.to_owned(),
            dialect,
            matcher: matcher.clone(),
            command: command.flatten(),
            kind,
            cwd: text("cwd").map(ToOwned::to_owned),
            env,
            timeout,
            is_async,
            rule: text_of(entry, "if")?.map(ToOwned::to_owned),
        })
    }
}

impl Command {
    /// Reads the command for this system; none where the entry has only those of others.
    fn read(entry: &Map<String, Value>) -> Result<Option<Self>, String> {
        let text = |key: &str| entry.get(key).and_then(Value::as_str);
        let arguments = entry.get("args").and_then(Value::as_array).map(|args| {
            args.iter()
                .filter_map(Value::as_str)
                .map(ToOwned::to_owned)
                .collect::<Vec<_>>()
        });
        if let Some(program) = text("exec") {
            let arguments = arguments.unwrap_or_default();
            let argv = std::iter::once(program.to_owned()).chain(arguments);
            return Ok(Some(Self::Exec(argv.collect())));
        }
        let own = if cfg!(target_os = "macos") {
            "osx"
        } else {
            "linux"
        };
        if let Some(line) = text(own) {
            return Ok(Some(Self::shell("sh", line)));
        }
        if let Some(line) = text("bash") {
            return Ok(Some(Self::shell("bash", line)));
        }
        if let Some(line) = text("command") {
            return Ok(Some(match arguments {
                Some(arguments) => {
                    let argv = std::iter::once(line.to_owned()).chain(arguments);
                    Self::Exec(argv.collect())
                }
                None if text("shell") == Some("powershell") => Self::shell("pwsh", line),
                None => Self::shell("sh", line),
            }));
        }
        if ["windows", "powershell", "linux", "osx"]
            .iter()
            .any(|key| entry.contains_key(*key))
        {
            return Ok(None);
        }
        Err("it has no command: expected `command`, `linux`, `osx`, `windows`, `bash` or `powershell`".to_owned())
    }

    fn shell(shell: &'static str, line: &str) -> Self {
        Self::Shell {
            shell,
            line: line.to_owned(),
        }
    }
}
