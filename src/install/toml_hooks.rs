//! Hooks in TOML settings (`[[hooks]]` of the Kimi family), and the hashes by which Codex trusts a hook.

use std::time::Duration;

use serde_json::{Map, Value};
use sha2::Digest as _;
use toml_edit::value;
use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, TableLike};

use crate::host::HostEvent;

use super::line::is_ours;
use super::places::Patience;
use super::{InstallError, Wire};

/// Reads a settings file.
pub(super) fn read(text: &str) -> Result<DocumentMut, InstallError> {
    text.parse()
        .map_err(|error: toml_edit::TomlError| InstallError::Toml(error.to_string()))
}

/// Returns the text of a settings file, with the line ends that it had.
pub(super) fn text(document: &DocumentMut, before: &str) -> String {
    let text = document.to_string();
    let ends = before.matches('\n').count();
    if ends > 0 && before.matches("\r\n").count() == ends {
        text.replace("\r\n", "\n").replace('\n', "\r\n")
    } else {
        text
    }
}

/// Returns every hook with the event that it stands at.
pub(super) fn wires(document: &DocumentMut) -> Vec<Wire> {
    let tables = document.get("hooks").and_then(Item::as_array_of_tables);
    let text = |table: &Table, key| table.get(key).and_then(Item::as_str).map(str::to_owned);
    tables
        .into_iter()
        .flat_map(ArrayOfTables::iter)
        .map(|table| {
            let event = text(table, "event").unwrap_or_default();
            wire(&event, table).matching(text(table, "matcher").as_deref())
        })
        .collect()
}

/// Returns the hook that a table describes, for all tools.
pub(super) fn wire(event: &str, table: &Table) -> Wire {
    let command = table.get("command").and_then(Item::as_str);
    let seconds = table.get("timeout").and_then(Item::as_integer);
    let seconds = seconds.and_then(|seconds| u64::try_from(seconds).ok());
    Wire {
        timeout: seconds.map(Duration::from_secs),
        ..Wire::new(event, command.unwrap_or_default())
    }
}

/// Returns the wire of an event as it is written.
pub(super) fn written(host_event: &HostEvent, command: &str, patience: Patience) -> Wire {
    let limit = Duration::from_secs(patience.seconds(host_event));
    Wire {
        timeout: Some(limit),
        ..Wire::new(host_event.name(), command)
    }
}

/// Adds the wires of some events: no key but those four, for an unknown one breaks the whole file.
pub(super) fn add(
    document: &mut DocumentMut,
    wanted: &[(&HostEvent, String)],
    patience: Patience,
) -> Result<(), InstallError> {
    let is_empty = document.is_empty() && document.trailing().as_str().is_none_or(str::is_empty);
    let item = document
        .entry("hooks")
        .or_insert_with(|| Item::ArrayOfTables(ArrayOfTables::new()));
    let Some(tables) = item.as_array_of_tables_mut() else {
        return Err(InstallError::InlineHooks);
    };
    for (n, (host_event, command)) in wanted.iter().enumerate() {
        let mut table = Table::new();
        table.insert("event", value(host_event.name()));
        table.insert("command", value(command.as_str()));
        let seconds = i64::try_from(patience.seconds(host_event)).unwrap_or(600);
        table.insert("timeout", value(seconds));
        let first = is_empty && n == 0;
        table.decor_mut().set_prefix(if first { "" } else { "\n" });
        tables.push(table);
    }
    Ok(())
}

/// Takes our hooks out.
pub(super) fn remove(document: &mut DocumentMut, host: &str) {
    let Some(tables) = document
        .get_mut("hooks")
        .and_then(Item::as_array_of_tables_mut)
    else {
        return;
    };
    tables.retain(|table| {
        !table
            .get("command")
            .and_then(Item::as_str)
            .is_some_and(|command| is_ours(command, host))
    });
    if tables.is_empty() {
        document.remove("hooks");
    }
}

/// A hook of a Codex hooks file, as Codex's configuration names it.
struct CodexHook {
    key: String,
    /// What is trusted, so that a hook that somebody changes is asked about again.
    hash: String,
    is_ours: bool,
}

/// Marks our hooks of a Codex hooks file as trusted, and forgets the marks of hooks that are no longer there.
///
/// Marks that are right stay where they stand, whatever others there are.
pub(super) fn trust_codex(
    document: &mut DocumentMut,
    hooks_file: &str,
    settings: &Value,
    ours: impl Fn(&str) -> bool,
) -> Result<(), InstallError> {
    let prefix = format!("{hooks_file}:");
    let hooks = codex_hooks(&prefix, settings, ours);
    if let Some(state) = document
        .get_mut("hooks")
        .and_then(|hooks| hooks.get_mut("state"))
        .and_then(Item::as_table_like_mut)
    {
        let is_right = |key: &str, mark: &Item| {
            let hash = mark.get("trusted_hash").and_then(Item::as_str);
            let mut named = hooks.iter().filter(|hook| hook.key == key);
            named.any(|hook| hook.is_ours || Some(hook.hash.as_str()) == hash)
        };
        let stale: Vec<String> = state
            .iter()
            .filter(|(key, mark)| key.starts_with(&prefix) && !is_right(key, mark))
            .map(|(key, _)| key.to_owned())
            .collect();
        for key in stale {
            state.remove(&key);
        }
    }
    let mut ours = hooks.iter().filter(|hook| hook.is_ours).peekable();
    if ours.peek().is_none() {
        prune(document);
        return Ok(());
    }
    let hooks = document.entry("hooks").or_insert_with(implicit);
    let state = hooks
        .as_table_like_mut()
        .ok_or(InstallError::InlineHooks)?
        .entry("state")
        .or_insert_with(implicit);
    let state = state.as_table_like_mut().ok_or(InstallError::InlineHooks)?;
    for hook in ours {
        let mark = state.get_mut(&hook.key).and_then(Item::as_table_like_mut);
        let is_there = |mark: &dyn TableLike| {
            mark.get("trusted_hash").and_then(Item::as_str) == Some(hook.hash.as_str())
        };
        match mark {
            Some(mark) if is_there(mark) => {}
            Some(mark) => {
                mark.insert("trusted_hash", value(hook.hash.as_str()));
            }
            None => {
                let mut table = Table::new();
                table.insert("trusted_hash", value(hook.hash.as_str()));
                state.insert(&hook.key, Item::Table(table));
            }
        }
    }
    Ok(())
}

/// Returns every hook of a Codex hooks file.
fn codex_hooks(prefix: &str, settings: &Value, ours: impl Fn(&str) -> bool) -> Vec<CodexHook> {
    let events = settings.get("hooks").and_then(Value::as_object);
    let mut hooks = Vec::new();
    for (event, groups) in events.into_iter().flatten() {
        let name = snake(event);
        for (g, group) in groups.as_array().into_iter().flatten().enumerate() {
            let handlers = group.get("hooks").and_then(Value::as_array);
            for (h, handler) in handlers.into_iter().flatten().enumerate() {
                let command = handler.get("command").and_then(Value::as_str);
                let command = command.unwrap_or_default();
                hooks.push(CodexHook {
                    key: format!("{prefix}{name}:{g}:{h}"),
                    hash: codex_hash(&name, group, handler, command),
                    is_ours: ours(command),
                });
            }
        }
    }
    hooks
}

/// Whether Codex's configuration trusts any hook.
pub(super) fn trusts_any(document: &DocumentMut) -> bool {
    let state = document.get("hooks").and_then(|hooks| hooks.get("state"));
    state.is_some()
}

fn prune(document: &mut DocumentMut) {
    let Some(hooks) = document.get_mut("hooks").and_then(Item::as_table_mut) else {
        return;
    };
    if hooks
        .get("state")
        .and_then(Item::as_table)
        .is_some_and(Table::is_empty)
    {
        hooks.remove("state");
    }
    if hooks.is_empty() {
        document.remove("hooks");
    }
}

fn implicit() -> Item {
    let mut table = Table::new();
    table.set_implicit(true);
    Item::Table(table)
}

/// Returns the hash that Codex 0.169 computes over one hook: compact JSON, keys in order.
fn codex_hash(event: &str, group: &Value, handler: &Value, command: &str) -> String {
    let timeout = handler
        .get("timeout")
        .and_then(Value::as_u64)
        .unwrap_or(600);
    let mut definition = Map::new();
    let mut put = |key: &str, value: Value| definition.insert(key.to_owned(), value);
    put(
        "async",
        handler.get("async").cloned().unwrap_or(false.into()),
    );
    put("command", command.into());
    if let Some(message) = handler.get("statusMessage") {
        put("statusMessage", message.clone());
    }
    put("timeout", timeout.into());
    put("type", "command".into());
    let mut whole = Map::new();
    whole.insert("event_name".to_owned(), event.into());
    whole.insert("hooks".to_owned(), vec![Value::Object(definition)].into());
    if let Some(matcher) = group.get("matcher") {
        whole.insert("matcher".to_owned(), matcher.clone());
    }
    let whole = Value::Object(whole);
    let hash = sha2::Sha256::digest(whole.to_string().as_bytes());
    format!("sha256:{}", crate::signal::hex(&hash))
}

/// `PreToolUse` becomes `pre_tool_use`.
fn snake(name: &str) -> String {
    let mut out = String::new();
    for (n, c) in name.chars().enumerate() {
        if c.is_ascii_uppercase() && n > 0 {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}
