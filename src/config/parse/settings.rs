//! `settings:` of one layer: each key that is given, typed, with its place.

use std::path::PathBuf;
use std::time::Duration;

use super::checker::Checker;
use crate::config::Bypass;
use crate::config::Fsync;
use crate::config::LogEvents;
use crate::config::Node;
use crate::config::OnBlock;
use crate::config::OnError;
use crate::config::Settings;
use crate::config::Value;
use crate::diagnostic::Code;
use crate::diagnostic::Diagnostic;
use crate::diagnostic::Span;
use crate::pattern::Pattern;

/// The keys of `settings:`.
const KEYS: &[&str] = &[
    "environment",
    "on_error",
    "timeout",
    "on_block",
    "max_stop_blocks",
    "bypass",
    "issues",
    "agent_hooks",
    "oracles",
    "log",
    "self_protection",
    "locked",
];

/// The keys of `settings.log`.
const LOG_KEYS: &[&str] = &[
    "path", "max_size", "keep", "events", "fsync", "required", "redact",
];

/// The words of `on_error`.
pub(super) const ON_ERROR: &[(&str, OnError)] = &[
    ("allow", OnError::Allow),
    ("prompt", OnError::Prompt),
    ("block", OnError::Block),
];

/// One setting that a layer gives.
#[derive(Clone, Debug)]
pub(in crate::config) struct GivenSetting {
    /// Its dotted key: `log.path`.
    pub(in crate::config) key: &'static str,
    /// The place of its value.
    pub(in crate::config) span: Span,
    setting: Setting,
}

#[derive(Clone, Debug)]
enum Setting {
    Environment(String),
    OnError(OnError),
    Timeout(Duration),
    OnBlock(OnBlock),
    MaxStopBlocks(u32),
    Bypass(Bypass),
    Issues(PathBuf),
    AgentHooks(bool, Vec<PathBuf>),
    Oracles(Vec<PathBuf>),
    LogPath(PathBuf),
    LogMaxSize(u64),
    LogKeep(u32),
    LogEvents(LogEvents),
    LogFsync(Fsync),
    LogRequired(bool),
    LogRedact(Vec<String>),
    SelfProtection(bool),
}

impl GivenSetting {
    /// Puts the value where it belongs.
    pub(in crate::config) fn apply(self, settings: &mut Settings) {
        let log = &mut settings.log;
        match self.setting {
            Setting::Environment(name) => settings.environment = Some(name),
            Setting::OnError(value) => settings.on_error = value,
            Setting::Timeout(value) => settings.timeout = value,
            Setting::OnBlock(value) => settings.on_block = value,
            Setting::MaxStopBlocks(value) => settings.max_stop_blocks = value,
            Setting::Bypass(value) => settings.bypass = value,
            Setting::Issues(path) => settings.issues = path,
            Setting::AgentHooks(on, dirs) => {
                settings.agent_hooks = on;
                settings.agent_hook_dirs = dirs;
            }
            Setting::Oracles(dirs) => settings.oracles = dirs,
            Setting::LogPath(path) => log.path = path,
            Setting::LogMaxSize(bytes) => log.max_size = bytes,
            Setting::LogKeep(count) => log.keep = count,
            Setting::LogEvents(value) => log.events = value,
            Setting::LogFsync(value) => log.fsync = value,
            Setting::LogRequired(value) => log.required = value,
            Setting::LogRedact(patterns) => log.redact = patterns,
            Setting::SelfProtection(value) => settings.self_protection = value,
        }
    }
}

/// Reads `settings:`, and where the layer locks them.
pub(super) fn settings(
    node: &Node,
    checker: &mut Checker<'_>,
) -> (Vec<GivenSetting>, Option<Span>) {
    let mut given = Vec::new();
    let mut locked = None;
    for (key, value) in checker.map(node, "a map of settings", KEYS) {
        match key.name.as_str() {
            "locked" => {
                if checker.boolean(value) == Some(true) {
                    locked = Some(value.span);
                }
            }
            "log" => log(value, checker, &mut given),
            name => {
                if let Some((key, setting)) = setting(name, value, checker) {
                    given.push(GivenSetting {
                        key,
                        span: value.span,
                        setting,
                    });
                }
            }
        }
    }
    (given, locked)
}

fn setting(name: &str, value: &Node, checker: &mut Checker<'_>) -> Option<(&'static str, Setting)> {
    Some(match name {
        "environment" => {
            let name = checker.text(value, "the name of an environment")?;
            ("environment", Setting::Environment(name))
        }
        "on_error" => (
            "on_error",
            Setting::OnError(checker.choice(value, ON_ERROR)?),
        ),
        "timeout" => ("timeout", Setting::Timeout(checker.duration(value)?)),
        "on_block" => {
            let choices = [("stop", OnBlock::Stop), ("continue", OnBlock::Continue)];
            (
                "on_block",
                Setting::OnBlock(checker.choice(value, &choices)?),
            )
        }
        "max_stop_blocks" => {
            let count = checker.integer(value, 0..=1000)?;
            let count = u32::try_from(count).unwrap_or(u32::MAX);
            ("max_stop_blocks", Setting::MaxStopBlocks(count))
        }
        "bypass" => {
            let choices = [
                ("block", Bypass::Block),
                ("prompt", Bypass::Prompt),
                ("allow", Bypass::Allow),
            ];
            ("bypass", Setting::Bypass(checker.choice(value, &choices)?))
        }
        "issues" => ("issues", Setting::Issues(checker.path(value)?)),
        "agent_hooks" => ("agent_hooks", agent_hooks(value, checker)?),
        "oracles" => ("oracles", Setting::Oracles(checker.paths(value))),
        "self_protection" => {
            let on = checker.boolean(value)?;
            if !on && checker.source.is_of_project() {
                checker.push(
                    Diagnostic::error(
                        Code::Locked,
                        format!(
                            "the {} layer cannot switch self-protection off",
                            checker.source
                        ),
                        value.span,
                    )
                    .help("only `/etc/ahp/hooks.yaml` and `~/.ahp/hooks.yaml` can, because an agent may edit this file"),
                );
                return None;
            }
            ("self_protection", Setting::SelfProtection(on))
        }
        _ => return None,
    })
}

/// Reads `agent_hooks`: a boolean, or a list of further directories, which switches it on.
fn agent_hooks(node: &Node, checker: &mut Checker<'_>) -> Option<Setting> {
    match node.value {
        Value::Bool(on) => Some(Setting::AgentHooks(on, Vec::new())),
        Value::Seq(_) => Some(Setting::AgentHooks(true, checker.paths(node))),
        _ => {
            checker.wrong(node, "`true`, `false`, or a list of directories");
            None
        }
    }
}

fn log(node: &Node, checker: &mut Checker<'_>, given: &mut Vec<GivenSetting>) {
    for (key, value) in checker.map(node, "a map of settings of the log", LOG_KEYS) {
        if let Some((key, setting)) = log_setting(&key.name, value, checker) {
            given.push(GivenSetting {
                key,
                span: value.span,
                setting,
            });
        }
    }
}

fn log_setting(
    name: &str,
    value: &Node,
    checker: &mut Checker<'_>,
) -> Option<(&'static str, Setting)> {
    Some(match name {
        "path" => ("log.path", Setting::LogPath(checker.path(value)?)),
        "max_size" => {
            let bytes = checker.size(value)?;
            if bytes < 4096 {
                checker.push(
                    Diagnostic::error(
                        Code::BadSize,
                        format!("{bytes} bytes are too few for a log"),
                        value.span,
                    )
                    .help("give it at least `4KiB`"),
                );
                return None;
            }
            ("log.max_size", Setting::LogMaxSize(bytes))
        }
        "keep" => {
            let count = checker.integer(value, 0..=1_000_000)?;
            (
                "log.keep",
                Setting::LogKeep(u32::try_from(count).unwrap_or(u32::MAX)),
            )
        }
        "events" => {
            let choices = [
                ("none", LogEvents::None),
                ("redacted", LogEvents::Redacted),
                ("full", LogEvents::Full),
            ];
            (
                "log.events",
                Setting::LogEvents(checker.choice(value, &choices)?),
            )
        }
        "fsync" => {
            let choices = [
                ("always", Fsync::Always),
                ("signals", Fsync::Signals),
                ("never", Fsync::Never),
            ];
            (
                "log.fsync",
                Setting::LogFsync(checker.choice(value, &choices)?),
            )
        }
        "required" => (
            "log.required",
            Setting::LogRequired(checker.boolean(value)?),
        ),
        "redact" => ("log.redact", Setting::LogRedact(redact(value, checker))),
        _ => return None,
    })
}

/// Reads regular expressions, and compiles each once to know that it is one.
fn redact(node: &Node, checker: &mut Checker<'_>) -> Vec<String> {
    let mut patterns = Vec::new();
    for (text, span) in checker.texts(node, "a regular expression") {
        match Pattern::new(&text) {
            Ok(_) => patterns.push(text),
            Err(error) => checker.push(
                Diagnostic::error(Code::BadRegex, format!("`{text}`: {error}"), span)
                    .help("put it in single quotes, in which a backslash is itself"),
            ),
        }
    }
    patterns
}
