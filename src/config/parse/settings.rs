//! `settings:` of one layer: each key that is given, typed, with its place.

use super::checker::Checker;
use crate::config::{
    Bypass, FleetSettings, Fsync, LayerSource, LogEvents, Node, OnBlock, OnError, Override,
    PolicyChanged, Settings, Value, decode,
};
use crate::diagnostic::{Code, Diagnostic, Span};
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
    ("policy_changed", |node, checker| {
        let choices = [
            ("prompt", PolicyChanged::Prompt),
            ("ask", PolicyChanged::Ask),
            ("block", PolicyChanged::Block),
        ];
        let value = checker.choice(node, &choices)?;
        change(move |settings| settings.policy_changed = value)
    }),
    ("issues", |node, checker| {
        let path = checker.path(node)?;
        change(|settings| settings.issues = path)
    }),
    ("agent_hooks", agent_hooks),
    ("oracles", |node, checker| {
        let dirs = checker.folders(node);
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
    ("trusted_hosts", trusted_hosts),
    ("forbid", forbid),
    ("fleet", |node, checker| {
        of_the_machine(node, checker, "say what leaves this machine")?;
        if let Some(bundle) = node.get("bundle")
            && checker.source == LayerSource::Bundle
        {
            // Who could give new keys by a bundle would need a key only once.
            let message = "a bundle cannot say where bundles come from";
            let fault = Diagnostic::error(Code::Locked, message, bundle.span);
            checker.push(fault.help("only `/etc/ahp/hooks.yaml` can"));
            return None;
        }
        let given: Vec<String> = node
            .entries()
            .iter()
            .map(|(key, _)| key.name.clone())
            .collect();
        match decode::<FleetSettings>(node) {
            Ok(fleet) => {
                let salt = fleet.salt.as_ref().map_or(usize::MAX, String::len);
                if salt < FleetSettings::LEAST_SALT {
                    let salt = node.get("salt").map_or(node.span, |salt| salt.span);
                    let message = "the salt is too short: no log is carried with it";
                    let help = format!("give it at least {} bytes", FleetSettings::LEAST_SALT);
                    checker.push(Diagnostic::warning(Code::BadValue, message, salt).help(help));
                }
                change(move |settings| settings.fleet.take(&fleet, &given))
            }
            Err(error) => {
                checker.push(error.into_diagnostic(node.span));
                None
            }
        }
    }),
];

/// The keys of `settings.labels`.
const LABELS: Table = &[("labels.team", |node, checker| {
    let team = checker.text(node, "the name of a team")?;
    change(|settings| settings.team = Some(team))
})];

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

/// Why a layer of the project has no say in what a shield lets in or out.
pub(super) const NOT_OF_A_CLONE: &str =
    "only `/etc/ahp/hooks.yaml` and `~/.ahp/hooks.yaml` can, because a clone must not widen it";

/// The keys of `settings.shield`.
const SHIELD: Table = &[
    ("shield.write", |node, checker| {
        let paths = checker.paths(node);
        change(|settings| settings.shield.write = paths)
    }),
    ("shield.sockets", |node, checker| {
        let paths = checker.paths(node);
        change(|settings| settings.shield.sockets = paths)
    }),
    ("shield.devices", |node, checker| {
        let paths = checker.paths(node);
        change(|settings| settings.shield.devices = paths)
    }),
    ("shield.deny_read", |node, checker| {
        let paths = checker.paths(node);
        change(|settings| settings.shield.deny_read = paths)
    }),
    ("shield.network", |node, checker| {
        let value = checker.boolean(node)?;
        change(move |settings| settings.shield.network = value)
    }),
];

/// The keys of `settings.provenance`; what one layer names is added to what earlier ones do.
const PROVENANCE: Table = &[
    ("provenance.trusted_mcp", |node, checker| {
        let servers = checker.texts(node, "the name of an MCP server");
        let is_of_project = checker.source.is_of_project();
        change(move |settings| {
            let all = if is_of_project {
                &mut settings.provenance.project_mcp
            } else {
                &mut settings.provenance.trusted_mcp
            };
            all.extend(servers.into_iter().map(|(server, _)| server));
        })
    }),
    ("provenance.untrusted_paths", |node, checker| {
        let globs = checker.globs(node);
        change(|settings| {
            let globs = globs.into_iter().map(|(glob, _)| glob);
            settings.provenance.untrusted_paths.extend(globs);
        })
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
    // What a bundle sets stays so, unless it says otherwise.
    let mut locked = (checker.source == LayerSource::Bundle).then_some(node.span);
    let groups = ["log", "labels", "shield", "provenance", "locked"];
    let keys: Vec<_> = words(SETTINGS).chain(groups).collect();
    for (key, value) in checker.map(node, "a map of settings", &keys) {
        match key.name.as_str() {
            "locked" => {
                if let Some(on) = checker.boolean(value) {
                    locked = on.then_some(value.span);
                }
            }
            "log" => given.extend(group(LOG, value, checker, "a map of settings of the log")),
            "labels" => given.extend(group(LABELS, value, checker, "a map of labels")),
            "shield" if checker.source.is_of_project() => {
                let message = format!(
                    "the {} layer cannot say what a shield lets in",
                    checker.source
                );
                checker
                    .push(Diagnostic::error(Code::Locked, message, key.span).help(NOT_OF_A_CLONE));
            }
            "shield" => given.extend(group(
                SHIELD,
                value,
                checker,
                "a map of settings of the shield",
            )),
            "provenance" => {
                given.extend(group(
                    PROVENANCE,
                    value,
                    checker,
                    "a map of what is believed",
                ));
            }
            name => given.extend(setting(SETTINGS, name, value, checker)),
        }
    }
    (given, locked)
}

/// Reads a map of settings within the settings.
fn group(
    table: Table,
    node: &Node,
    checker: &mut Checker<'_>,
    expected: &str,
) -> Vec<GivenSetting> {
    let keys: Vec<_> = words(table).collect();
    let mut given = Vec::new();
    for (key, value) in checker.map(node, expected, &keys) {
        given.extend(setting(table, &key.name, value, checker));
    }
    given
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

/// Reads `trusted_hosts`: each layer adds to those of the others, and what a project names is kept apart.
fn trusted_hosts(node: &Node, checker: &mut Checker<'_>) -> Option<Change> {
    let mut hosts = Vec::new();
    for (host, span) in checker.texts(node, "a host") {
        if host.contains(['*', '@', ' ']) || host.contains("://") {
            let message = format!("`{host}` is not a host");
            let fault = Diagnostic::error(Code::BadValue, message, span);
            checker.push(
                fault.help("expected `host`, `host:port` or `host/path/prefix`, without a scheme"),
            );
        } else {
            hosts.push(host);
        }
    }
    let is_of_project = checker.source.is_of_project();
    change(move |settings| {
        let all = if is_of_project {
            &mut settings.project_hosts
        } else {
            &mut settings.trusted_hosts
        };
        all.extend(hosts);
    })
}

/// Whether a layer is the machine's, which alone may say something.
pub(super) fn of_the_machine(node: &Node, checker: &mut Checker<'_>, what: &str) -> Option<()> {
    if checker.source.is_of_machine() {
        return Some(());
    }
    let message = format!("the {} layer cannot {what}", checker.source);
    checker.push(
        Diagnostic::error(Code::Locked, message, node.span)
            .help("only `/etc/ahp/hooks.yaml` can, and a bundle"),
    );
    None
}

/// Reads `forbid`: what the machine's layers take away, each beside the other.
fn forbid(node: &Node, checker: &mut Checker<'_>) -> Option<Change> {
    of_the_machine(node, checker, "forbid a variable")?;
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
    change(|settings| settings.forbid.extend(forbidden))
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
