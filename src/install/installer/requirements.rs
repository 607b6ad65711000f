//! Requirements: our hooks in the file by which the administrator of a machine governs Codex for everybody.
//!
//! Hooks that stand there need no trust, and nobody can switch them off.

use std::path::Path;

use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, TableLike, value};

use super::read;
use super::settings::{document, kept_text};
use crate::host::{Host, HostEvent, MachineSettings};
use crate::install::line::is_ours;
use crate::install::{Change, InstallError, Patience, Wire, toml_hooks};

/// Puts the wires of some events in; other hooks are left as they are.
pub(super) fn put_in(
    file: &Path,
    host: &'static Host,
    program: &Path,
    only: Option<&str>,
    wanted: &[(&HostEvent, String)],
    patience: Patience,
) -> Result<Vec<Change>, InstallError> {
    let before = read(file)?;
    let mut document = document(file, &before)?;
    let mut there = found(&document);
    there.retain(|wire| is_ours(&wire.command, host.name));
    let is_wired = !there.is_empty();
    let put = put_into(&mut document, host, program, only, wanted, patience, &there);
    put.map_err(|error| error.in_file(file))?;
    let text = toml_hooks::text(&document, &before);
    let change = Change::editing(file, text, is_wired);
    Ok(change.into_iter().collect())
}

fn put_into(
    document: &mut DocumentMut,
    host: &'static Host,
    program: &Path,
    only: Option<&str>,
    wanted: &[(&HostEvent, String)],
    patience: Patience,
    there: &[Wire],
) -> Result<(), InstallError> {
    let written = |(host_event, command): &(&HostEvent, String)| {
        toml_hooks::written(host_event, command, patience)
    };
    if let Some(only) = only {
        document.insert(only, value(true));
    }
    tables(document, "features")?.insert("hooks", value(true));
    let hooks = tables(document, "hooks")?;
    // A part of the form, although Codex 0.169 takes the hooks without it, too.
    if hooks.get("managed_dir").is_none() {
        let dir = program.parent().unwrap_or(program);
        hooks.insert("managed_dir", value(dir.to_string_lossy().as_ref()));
    }
    if there.len() != wanted.len() || !wanted.iter().map(written).all(|wire| there.contains(&wire))
    {
        remove(document, host);
        let hooks = tables(document, "hooks")?;
        for (host_event, command) in wanted {
            add(hooks, host_event, command, patience)?;
        }
    }
    Ok(())
}

/// Takes our wires out, and what was set for them.
pub(super) fn take_out(
    file: &Path,
    host: &Host,
    machine: Option<&MachineSettings>,
) -> Result<Vec<Change>, InstallError> {
    let before = read(file)?;
    let mut document = document(file, &before)?;
    if !found(&document)
        .iter()
        .any(|wire| is_ours(&wire.command, host.name))
    {
        return Ok(Vec::new());
    }
    remove(&mut document, host);
    let kept = toml_hooks::read(&kept_text(file)).unwrap_or_default();
    let only = machine.and_then(|machine| machine.only).unwrap_or_default();
    set_back(document.as_table_mut(), only, kept.get(only));
    for (name, key) in [("features", "hooks"), ("hooks", "managed_dir")] {
        let was = kept.get(name).and_then(|table| table.get(key));
        let Some(table) = document.get_mut(name).and_then(Item::as_table_like_mut) else {
            continue;
        };
        let others_need_it =
            key == "managed_dir" && table.iter().any(|(_, item)| item.is_array_of_tables());
        if !others_need_it {
            set_back(table, key, was);
        }
        if table.is_empty() && kept.get(name).is_none() {
            document.remove(name);
        }
    }
    let text = toml_hooks::text(&document, &before);
    let is_empty = text.trim().is_empty();
    Ok(Change::undoing(file, &before, text, is_empty))
}

/// Returns every hook with the event that it stands at.
pub(super) fn wires(file: &Path) -> Result<Vec<Wire>, InstallError> {
    Ok(found(&document(file, &read(file)?)?))
}

/// Returns whether the file says that a key is true or false; none where it does not say.
pub(super) fn says(file: &Path, key: &str) -> Result<Option<bool>, InstallError> {
    let document = document(file, &read(file)?)?;
    Ok(document.get(key).and_then(Item::as_bool))
}

fn found(document: &DocumentMut) -> Vec<Wire> {
    let events = document.get("hooks").and_then(Item::as_table_like);
    let mut found = Vec::new();
    for (event, groups) in events.into_iter().flat_map(TableLike::iter) {
        for group in groups.as_array_of_tables().into_iter().flatten() {
            let matcher = group.get("matcher").and_then(Item::as_str);
            let handlers = group.get("hooks").and_then(Item::as_array_of_tables);
            let wires = handlers.into_iter().flatten();
            found.extend(wires.map(|handler| toml_hooks::wire(event, handler).matching(matcher)));
        }
    }
    found
}

fn add(
    hooks: &mut dyn TableLike,
    host_event: &HostEvent,
    command: &str,
    patience: Patience,
) -> Result<(), InstallError> {
    let event = host_event.name();
    let groups = hooks.entry(event);
    let groups = groups.or_insert_with(|| Item::ArrayOfTables(ArrayOfTables::new()));
    let groups = groups
        .as_array_of_tables_mut()
        .ok_or_else(|| InstallError::Shape {
            place: format!("`hooks.{event}`"),
            wanted: "written as `[[…]]` tables",
        })?;
    let mut handler = Table::new();
    handler.insert("type", value("command"));
    handler.insert("command", value(command));
    let seconds = i64::try_from(patience.seconds(host_event)).unwrap_or(600);
    handler.insert("timeout", value(seconds));
    let mut handlers = ArrayOfTables::new();
    handlers.push(handler);
    let mut group = Table::new();
    if let Some(matcher) = host_event.matcher {
        group.insert("matcher", value(matcher));
    }
    group.insert("hooks", Item::ArrayOfTables(handlers));
    groups.push(group);
    Ok(())
}

/// Takes our hooks out, and groups and events that hold nothing then.
fn remove(document: &mut DocumentMut, host: &Host) {
    let Some(hooks) = document.get_mut("hooks").and_then(Item::as_table_like_mut) else {
        return;
    };
    let is_ours = |handler: &Table| {
        let command = handler.get("command").and_then(Item::as_str);
        command.is_some_and(|command| is_ours(command, host.name))
    };
    let mut empty = Vec::new();
    for (event, groups) in hooks.iter_mut() {
        let Some(groups) = groups.as_array_of_tables_mut() else {
            continue;
        };
        groups.retain(|group| {
            let handlers = group.get("hooks").and_then(Item::as_array_of_tables);
            !handlers.is_some_and(|handlers| handlers.iter().all(is_ours))
        });
        for group in groups.iter_mut() {
            let handlers = group.get_mut("hooks");
            if let Some(handlers) = handlers.and_then(Item::as_array_of_tables_mut) {
                handlers.retain(|handler| !is_ours(handler));
            }
        }
        if groups.is_empty() {
            empty.push(event.get().to_owned());
        }
    }
    for event in empty {
        hooks.remove(&event);
    }
}

fn set_back(table: &mut dyn TableLike, key: &str, was: Option<&Item>) {
    match was {
        Some(was) => table.insert(key, was.clone()),
        None => table.remove(key),
    };
}

/// Returns a table of the file, which is made where it is not there.
fn tables<'a>(
    document: &'a mut DocumentMut,
    name: &str,
) -> Result<&'a mut dyn TableLike, InstallError> {
    let item = document.entry(name).or_insert(Item::Table(Table::new()));
    item.as_table_like_mut().ok_or_else(|| InstallError::Shape {
        place: format!("`{name}`"),
        wanted: "a table",
    })
}
