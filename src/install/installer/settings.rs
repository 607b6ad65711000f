//! Settings: our hooks put into and taken out of a settings file that holds more than them.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use toml_edit::DocumentMut;

use super::read;
use crate::host::{Host, HostEvent, Shape};
use crate::install::json_hooks::{JsonHooks, are};
use crate::install::line::is_ours;
use crate::install::{Change, InstallError, Patience, Places, Wire, backup_of, toml_hooks};
use crate::place::Scope;

pub(super) fn into_json(
    file: &Path,
    host: &'static Host,
    shape: Shape,
    only: Option<&str>,
    wanted: &[(&HostEvent, String)],
    patience: Patience,
) -> Result<Vec<Change>, InstallError> {
    let (change, _) = json_with(file, host, shape, only, wanted, patience)?;
    Ok(change.into_iter().collect())
}

pub(super) fn out_of_json(
    file: &Path,
    host: &Host,
    only: Option<&str>,
) -> Result<Vec<Change>, InstallError> {
    Ok(json_without(file, host, only)?.0)
}

/// Sets the key that keeps hooks switched on.
pub(super) fn permit(file: &Path, key: &str) -> Result<Vec<Change>, InstallError> {
    let hooks = JsonHooks::read(file, &read(file)?)?;
    let was = hooks.value();
    hooks.set(key, &true.into())?;
    let is_wired = was.get(key) == Some(&Value::Bool(true));
    Ok(Change::editing(file, hooks.text(), is_wired)
        .into_iter()
        .collect())
}

/// Takes the key out that kept hooks switched on, or brings back what it was.
pub(super) fn permit_no_longer(file: &Path, key: &str) -> Result<Vec<Change>, InstallError> {
    let before = read(file)?;
    let hooks = JsonHooks::read(file, &before)?;
    hooks.set_back(key, &kept(file))?;
    Ok(undone(file, &before, &hooks))
}

pub(super) fn json_wires(file: &Path, shape: Shape) -> Result<Vec<Wire>, InstallError> {
    Ok(JsonHooks::read(file, &read(file)?)?.wires(shape))
}

/// Returns whether a settings file says that a key is true or false; none where it does not say.
pub(super) fn says(file: &Path, key: &str) -> Result<Option<bool>, InstallError> {
    Ok(settings_of(file)?.get(key).and_then(Value::as_bool))
}

/// Returns what a settings file says.
pub(in crate::install) fn settings_of(file: &Path) -> Result<Value, InstallError> {
    Ok(JsonHooks::read(file, &read(file)?)?.value())
}

pub(super) fn into_codex(
    places: &Places,
    file: &Path,
    host: &'static Host,
    wanted: &[(&HostEvent, String)],
    patience: Patience,
) -> Result<Vec<Change>, InstallError> {
    let (change, text) = json_with(file, host, Shape::Groups, None, wanted, patience)?;
    let trusting = trusting(places, file, &text, host)?;
    Ok(change.into_iter().chain(trusting).collect())
}

pub(super) fn out_of_codex(
    places: &Places,
    file: &Path,
    host: &'static Host,
) -> Result<Vec<Change>, InstallError> {
    let (mut changes, text) = json_without(file, host, None)?;
    changes.extend(trusting(places, file, &text, host)?);
    Ok(changes)
}

/// Whether Codex trusts the hooks of ours that stand in a file.
pub(super) fn codex_trusts(
    places: &Places,
    file: &Path,
    host: &'static Host,
) -> Result<bool, InstallError> {
    let config = config(places, host)?;
    let wanted = trusted(&config, file, &read(file)?, host)?;
    Ok(read(&config)?.trim() == wanted.trim())
}

pub(super) fn into_toml(
    file: &Path,
    host: &'static Host,
    wanted: &[(&HostEvent, String)],
    patience: Patience,
) -> Result<Vec<Change>, InstallError> {
    let before = read(file)?;
    let mut document = document(file, &before)?;
    let mut there = toml_hooks::wires(&document);
    there.retain(|wire| is_ours(&wire.command, host.name));
    let written = |(host_event, command): &(&HostEvent, String)| {
        toml_hooks::written(host_event, command, patience)
    };
    if there.iter().cloned().eq(wanted.iter().map(written)) {
        return Ok(Vec::new());
    }
    toml_hooks::remove(&mut document, host.name);
    toml_hooks::add(&mut document, wanted, patience).map_err(|e| e.in_file(file))?;
    let text = toml_hooks::text(&document, &before);
    let change = Change::editing(file, text, !there.is_empty());
    Ok(change.into_iter().collect())
}

pub(super) fn out_of_toml(file: &Path, host: &Host) -> Result<Vec<Change>, InstallError> {
    let before = read(file)?;
    let mut document = document(file, &before)?;
    toml_hooks::remove(&mut document, host.name);
    let text = toml_hooks::text(&document, &before);
    let is_empty = text.trim().is_empty();
    Ok(Change::undoing(file, &before, text, is_empty))
}

pub(super) fn toml_wires(file: &Path) -> Result<Vec<Wire>, InstallError> {
    Ok(toml_hooks::wires(&document(file, &read(file)?)?))
}

/// Reads TOML settings.
pub(super) fn document(file: &Path, text: &str) -> Result<DocumentMut, InstallError> {
    toml_hooks::read(text).map_err(|error| error.in_file(file))
}

/// Returns what puts our wires into a JSON settings file, and its text with them; nothing where they are there already.
fn json_with(
    file: &Path,
    host: &'static Host,
    shape: Shape,
    only: Option<&str>,
    wanted: &[(&HostEvent, String)],
    patience: Patience,
) -> Result<(Option<Change>, String), InstallError> {
    let before = read(file)?;
    let hooks = JsonHooks::read(file, &before)?;
    let mut there = hooks.wires(shape);
    there.retain(|wire| is_ours(&wire.command, host.name));
    if !are(&there, shape, wanted, patience) {
        hooks.remove(host.name, &kept(file));
        hooks.add(shape, wanted, patience)?;
    }
    if let Some(only) = only {
        hooks.set(only, &true.into())?;
    }
    let change = Change::editing(file, hooks.text(), !there.is_empty());
    Ok((change, hooks.text()))
}

/// Returns what takes our wires out of a JSON settings file, and its text without them.
fn json_without(
    file: &Path,
    host: &Host,
    only: Option<&str>,
) -> Result<(Vec<Change>, String), InstallError> {
    let before = read(file)?;
    let hooks = JsonHooks::read(file, &before)?;
    let kept = kept(file);
    hooks.remove(host.name, &kept);
    // A key that stands there without wires of ours is somebody else's.
    if let Some(only) = only
        && hooks.text() != before
    {
        hooks.set_back(only, &kept)?;
    }
    Ok((undone(file, &before, &hooks), hooks.text()))
}

/// Returns what writes a JSON settings file without what was ours.
fn undone(file: &Path, before: &str, hooks: &JsonHooks) -> Vec<Change> {
    let text = hooks.text();
    let has_more = |map: &Map<String, Value>| map.keys().any(|key| key != "version");
    let is_empty = !hooks.value().as_object().is_some_and(has_more)
        && !text.contains("//")
        && !text.contains("/*");
    Change::undoing(file, before, text, is_empty)
}

/// Returns what the settings were before our first wires; null where that is not kept.
fn kept(file: &Path) -> Value {
    let text = kept_text(file);
    JsonHooks::read(file, &text).map_or(Value::Null, |hooks| hooks.value())
}

/// Returns the text of the settings before our first wires; none is an empty one.
pub(super) fn kept_text(file: &Path) -> String {
    read(&backup_of(file)).unwrap_or_default()
}

/// Returns the file in which Codex keeps what it trusts: beside the hooks of the person, whatever the scope.
fn config(places: &Places, host: &'static Host) -> Result<PathBuf, InstallError> {
    let hooks = super::file_of(host, places, Scope::User)?;
    Ok(hooks.with_file_name("config.toml"))
}

/// Returns what makes Codex trust our hooks in a file, and no longer those that have gone.
fn trusting(
    places: &Places,
    hooks_file: &Path,
    hooks: &str,
    host: &'static Host,
) -> Result<Vec<Change>, InstallError> {
    let config = config(places, host)?;
    let trusted = trusted(&config, hooks_file, hooks, host)?;
    let before = read(&config)?;
    // Hashes do not tell whose hooks they are of: any may be of ours, from another scope too.
    if !toml_hooks::trusts_any(&document(&config, &trusted)?) {
        let is_empty = trusted.trim().is_empty();
        return Ok(Change::undoing(&config, &before, trusted, is_empty));
    }
    let is_wired = toml_hooks::trusts_any(&document(&config, &before)?);
    Ok(Change::editing(&config, trusted, is_wired)
        .into_iter()
        .collect())
}

/// Returns Codex's configuration with the hashes of our hooks in it.
fn trusted(
    config: &Path,
    hooks_file: &Path,
    hooks: &str,
    host: &'static Host,
) -> Result<String, InstallError> {
    let before = read(config)?;
    let mut document = document(config, &before)?;
    let settings = JsonHooks::read(hooks_file, hooks)?.value();
    // It names a file by where it really lies.
    let name = hooks_file
        .parent()
        .and_then(|dir| dir.canonicalize().ok())
        .map_or_else(|| hooks_file.to_owned(), |dir| dir.join("hooks.json"));
    toml_hooks::trust_codex(
        &mut document,
        &name.to_string_lossy(),
        &settings,
        |command| is_ours(command, host.name),
    )
    .map_err(|error| error.in_file(config))?;
    Ok(toml_hooks::text(&document, &before))
}
