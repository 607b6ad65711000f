//! `settings:` of one layer: each key that is given, typed, with its place.

use super::checker::Checker;
use crate::config::Bypass;
use crate::config::Fsync;
use crate::config::LayerSource;
use crate::config::LogEvents;
use crate::config::Node;
use crate::config::OnBlock;
use crate::config::OnError;
use crate::config::Override;
use crate::config::Settings;
use crate::config::Value;
use crate::diagnostic::Code;
use crate::diagnostic::Diagnostic;
use crate::diagnostic::Span;
use crate::pattern::Pattern;

/// The words of `on_error`.
pub(super) const ON_ERROR: &[(&str, OnError)] = &[
    ("allow", OnError::Allow),
    ("prompt", OnError::Prompt),
    ("block", OnError::Block),
];

/// What a setting changes.
type Change = Box<dyn FnOnce(&mut Settings)>;

/// Settings by their dotted keys, each with how it is read; none where its value is wrong, which is then told.
type Table = &'static [(&'static str, fn(&Node, &mut Checker<'_>) -> Option<Change>)];

/// The keys of `settings:`, beside `log` and `locked`.
const SETTINGS: Table = &[
    ("environment", |node, checker| {
        let name = checker.text(node, "the name of an environment")?;
        change(|settings| settings.environment = Some(name))
    }),
    ("on_error", |node, checker| {
        let value = checker.choice(node, ON_ERROR)?;
        change(move |settings| settings.on_error = Some(value))
    }),
    ("timeout", |node, checker| {
        let value = checker.duration(node)?;
        change(move |settings| settings.timeout = value)
    }),
    ("on_block", |node, checker| {
        let choices = [("stop", OnBlock::Stop), ("continue", OnBlock::Continue)];
        let value = checker.choice(node, &choices)?;
        change(move |settings| settings.on_block = value)
    }),
    ("max_stop_blocks", |node, checker| {
        let count = checker.count(node, 1000)?;
        change(move |settings| settings.max_stop_blocks = count)
    }),
    ("bypass", |node, checker| {
        let choices = [
            ("block", Bypass::Block),
            ("prompt", Bypass::Prompt),
            ("allow", Bypass::Allow),
        ];
        let value = checker.choice(node, &choices)?;
        change(move |settings| settings.bypass = value)
    }),
    ("issues", |node, checker| {
        let path = checker.path(node)?;
        change(|settings| settings.issues = path)
    }),
    ("agent_hooks", agent_hooks),
    ("oracles", |node, checker| {
        let dirs = checker.paths(node);
        change(|settings| settings.oracles = dirs)
    }),
    ("self_protection", |node, checker| {
        let on = persons_own(node, checker, "self-protection")?;
        change(move |settings| settings.self_protection = on)
    }),
    ("ratchet", |node, checker| {
        let on = persons_own(node, checker, "the ratchet")?;
        change(move |settings| settings.ratchet = on)
    }),
    ("forbid", forbid),
];

/// The keys of `settings.log`.
const LOG: Table = &[
    ("log.path", |node, checker| {
        let path = checker.path(node)?;
        change(|settings| settings.log.path = path)
    }),
    ("log.max_size", max_size),
    ("log.keep", |node, checker| {
        let count = checker.count(node, 1_000_000)?;
        change(move |settings| settings.log.keep = count)
    }),
    ("log.events", |node, checker| {
        let choices = [
            ("none", LogEvents::None),
            ("redacted", LogEvents::Redacted),
            ("full", LogEvents::Full),
        ];
        let value = checker.choice(node, &choices)?;
        change(move |settings| settings.log.events = value)
    }),
    ("log.fsync", |node, checker| {
        let choices = [
            ("always", Fsync::Always),
            ("signals", Fsync::Signals),
            ("never", Fsync::Never),
        ];
        let value = checker.choice(node, &choices)?;
        change(move |settings| settings.log.fsync = value)
    }),
    ("log.required", |node, checker| {
        let value = checker.boolean(node)?;
        change(move |settings| settings.log.required = value)
    }),
    ("log.redact", |node, checker| {
        let patterns = redact(node, checker);
        change(|settings| settings.log.redact = patterns)
    }),
];

/// One setting that a layer gives.
pub(in crate::config) struct GivenSetting {
    /// Its dotted key: `log.path`.
    pub(in crate::config) key: &'static str,
    /// The place of its value.
    pub(in crate::config) span: Span,
    change: Change,
}

impl GivenSetting {
    /// Puts the value where it belongs.
    pub(in crate::config) fn apply(self, settings: &mut Settings) {
        (self.change)(settings);
    }
}

/// Reads `settings:`, and where the layer locks them.
pub(super) fn settings(
    node: &Node,
    checker: &mut Checker<'_>,
) -> (Vec<GivenSetting>, Option<Span>) {
    let mut given = Vec::new();
    let mut locked = None;
    let keys: Vec<_> = words(SETTINGS).chain(["log", "locked"]).collect();
    for (key, value) in checker.map(node, "a map of settings", &keys) {
        match key.name.as_str() {
            "locked" => {
                if checker.boolean(value) == Some(true) {
                    locked = Some(value.span);
                }
            }
            "log" => {
                let keys: Vec<_> = words(LOG).collect();
                for (key, value) in checker.map(value, "a map of settings of the log", &keys) {
                    given.extend(setting(LOG, &key.name, value, checker));
                }
            }
            name => given.extend(setting(SETTINGS, name, value, checker)),
        }
    }
    (given, locked)
}

/// Returns the words by which a map names the settings of a table.
fn words(table: Table) -> impl Iterator<Item = &'static str> {
    let last = |key: &'static str| key.rsplit('.').next().unwrap_or(key);
    table.iter().map(move |(key, _)| last(key))
}

fn setting(
    table: Table,
    name: &str,
    value: &Node,
    checker: &mut Checker<'_>,
) -> Option<GivenSetting> {
    let place = words(table).position(|word| word == name)?;
    let (key, read) = table.get(place)?;
    Some(GivenSetting {
        key,
        span: value.span,
        change: read(value, checker)?,
    })
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "the last step of each way in which a setting is read"
)]
fn change(change: impl FnOnce(&mut Settings) + 'static) -> Option<Change> {
    Some(Box::new(change))
}

/// Reads `agent_hooks`: a boolean, or a list of further directories, which switches it on.
fn agent_hooks(node: &Node, checker: &mut Checker<'_>) -> Option<Change> {
    let (on, dirs) = match node.value {
        Value::Bool(on) => (on, Vec::new()),
        Value::Seq(_) => (true, checker.paths(node)),
        _ => {
            checker.wrong(node, "`true`, `false`, or a list of directories");
            return None;
        }
    };
    change(move |settings| {
        settings.agent_hooks = on;
        settings.agent_hook_dirs = dirs;
    })
}

/// Reads a boolean that no layer of a project may make `false`, because an agent may edit it.
fn persons_own(node: &Node, checker: &mut Checker<'_>, what: &str) -> Option<bool> {
    let on = checker.boolean(node)?;
    if on || !checker.source.is_of_project() {
        return Some(on);
    }
    let message = format!("the {} layer cannot switch {what} off", checker.source);
    checker.push(Diagnostic::error(Code::Locked, message, node.span).help(
        "only `/etc/ahp/hooks.yaml` and `~/.ahp/hooks.yaml` can, because an agent may edit this file",
    ));
    None
}

/// Reads `forbid`: the variables that the system layer takes away.
fn forbid(node: &Node, checker: &mut Checker<'_>) -> Option<Change> {
    if checker.source != LayerSource::System {
        let message = format!("the {} layer cannot forbid a variable", checker.source);
        checker.push(
            Diagnostic::error(Code::Locked, message, node.span)
                .help("only `/etc/ahp/hooks.yaml` can"),
        );
        return None;
    }
    let mut forbidden = Vec::new();
    for (name, span) in checker.texts(node, "the name of a variable") {
        let mut all = Override::ALL.iter();
        if let Some(variable) = all.find(|variable| variable.name() == name) {
            forbidden.push(*variable);
            continue;
        }
        let names = Override::ALL.iter().map(|variable| variable.name());
        let listed: Vec<_> = names.clone().map(|name| format!("`{name}`")).collect();
        checker.push(
            Diagnostic::error(
                Code::BadValue,
                format!("`{name}` cannot be forbidden"),
                span,
            )
            .did_you_mean(&name, names)
            .help(format!("expected one of {}", listed.join(", "))),
        );
    }
    change(|settings| settings.forbid = forbidden)
}

fn max_size(node: &Node, checker: &mut Checker<'_>) -> Option<Change> {
    let bytes = checker.size(node)?;
    if bytes < 4096 {
        checker.push(
            Diagnostic::error(
                Code::BadSize,
                format!("{bytes} bytes are too few for a log"),
                node.span,
            )
            .help("give it at least `4KiB`"),
        );
        return None;
    }
    change(move |settings| settings.log.max_size = bytes)
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
