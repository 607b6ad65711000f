//! Settings: our hooks put into and taken out of a settings file that holds more than them.

use std::path::Path;
use std::path::PathBuf;

use serde_json::Value;

use super::read;
use crate::host::Host;
use crate::host::Moment;
use crate::install::Change;
use crate::install::InstallError;
use crate::install::JsonText;
use crate::install::Patience;
use crate::install::Places;
use crate::install::Wire;
use crate::install::json_hooks;
use crate::install::json_hooks::Shape;
use crate::install::places::is_ours;
use crate::install::toml_hooks;

pub(super) fn into_json(
    file: &Path,
    host: &Host,
    shape: Shape,
    wanted: &[(&Moment, String)],
    patience: Patience,
) -> Result<Vec<Change>, InstallError> {
    let (change, _) = json_with(file, host, shape, wanted, patience)?;
    Ok(change.into_iter().collect())
}

pub(super) fn out_of_json(file: &Path, host: &Host) -> Result<Vec<Change>, InstallError> {
    let (change, _) = json_without(file, host)?;
    Ok(change.into_iter().collect())
}

pub(super) fn json_wires(file: &Path, shape: Shape) -> Result<Vec<Wire>, InstallError> {
    Ok(json_hooks::wires(&json(file, &read(file)?)?, shape))
}

/// Whether a settings file switches every hook on or off; none where it does not say.
pub(super) fn switches_off(file: &Path) -> Result<Option<bool>, InstallError> {
    let settings = json(file, &read(file)?)?.value();
    Ok(settings.get("disableAllHooks").and_then(Value::as_bool))
}

pub(super) fn into_codex(
    places: &Places,
    file: &Path,
    host: &Host,
    wanted: &[(&Moment, String)],
    patience: Patience,
) -> Result<Vec<Change>, InstallError> {
    let (change, text) = json_with(file, host, Shape::Groups, wanted, patience)?;
    let changes = [change, trusting(places, file, &text, host)?];
    Ok(changes.into_iter().flatten().collect())
}

pub(super) fn out_of_codex(
    places: &Places,
    file: &Path,
    host: &Host,
) -> Result<Vec<Change>, InstallError> {
    let (change, text) = json_without(file, host)?;
    let changes = [change, trusting(places, file, &text, host)?];
    Ok(changes.into_iter().flatten().collect())
}

/// Whether Codex trusts the hooks of ours that stand in a file.
pub(super) fn codex_trusts(
    places: &Places,
    file: &Path,
    host: &Host,
) -> Result<bool, InstallError> {
    let config = codex_config(places);
    let wanted = trusted(&config, file, &read(file)?, host)?;
    Ok(read(&config)?.trim() == wanted.trim())
}

pub(super) fn into_toml(
    file: &Path,
    host: &Host,
    wanted: &[(&Moment, String)],
    patience: Patience,
) -> Result<Vec<Change>, InstallError> {
    let before = read(file)?;
    let mut document = toml_hooks::read(&before)?;
    let mut there = toml_hooks::wires(&document);
    there.retain(|wire| is_ours(&wire.command, host.name));
    let written = |(moment, command): &(&Moment, String)| {
        toml_hooks::written(host, moment, command, patience)
    };
    if there.iter().cloned().eq(wanted.iter().map(written)) {
        return Ok(Vec::new());
    }
    toml_hooks::remove(&mut document, host.name);
    toml_hooks::add(&mut document, host, wanted, patience)?;
    let text = toml_hooks::text(&document, &before);
    let change = Change::editing(file, text, !there.is_empty());
    Ok(change.into_iter().collect())
}

pub(super) fn out_of_toml(file: &Path, host: &Host) -> Result<Vec<Change>, InstallError> {
    let before = read(file)?;
    let mut document = toml_hooks::read(&before)?;
    toml_hooks::remove(&mut document, host.name);
    let text = toml_hooks::text(&document, &before);
    let change = if text.trim().is_empty() && !before.trim().is_empty() {
        emptied(file, text)
    } else {
        Change::editing(file, text, true)
    };
    Ok(change.into_iter().collect())
}

pub(super) fn toml_wires(file: &Path) -> Result<Vec<Wire>, InstallError> {
    Ok(toml_hooks::wires(&toml_hooks::read(&read(file)?)?))
}

fn json(path: &Path, text: &str) -> Result<JsonText, InstallError> {
    JsonText::read(text).map_err(|fault| InstallError::Json {
        path: path.to_owned(),
        fault,
    })
}

/// Returns what puts our wires into a JSON settings file, and its text with them; nothing where they are there already.
fn json_with(
    file: &Path,
    host: &Host,
    shape: Shape,
    wanted: &[(&Moment, String)],
    patience: Patience,
) -> Result<(Option<Change>, String), InstallError> {
    let before = read(file)?;
    let mut text = json(file, &before)?;
    let mut there = json_hooks::wires(&text, shape);
    there.retain(|wire| is_ours(&wire.command, host.name));
    if !json_hooks::are(&there, shape, host, wanted, patience) {
        json_hooks::remove(&mut text, host.name);
        json_hooks::add(&mut text, shape, host, wanted, patience)?;
    }
    let text = text.text().to_owned();
    let change = Change::editing(file, text.clone(), !there.is_empty());
    Ok((change, text))
}

/// Returns what takes our wires out of a JSON settings file, and its text without them.
///
/// A file that holds nothing more goes away.
fn json_without(file: &Path, host: &Host) -> Result<(Option<Change>, String), InstallError> {
    let before = read(file)?;
    let mut text = json(file, &before)?;
    json_hooks::remove(&mut text, host.name);
    let left = text
        .value()
        .as_object()
        .is_some_and(|map| map.keys().any(|k| k != "version"));
    let text = text.text().to_owned();
    let change = if text == before || before.is_empty() {
        None
    } else if left || text.contains("//") || text.contains("/*") {
        Change::editing(file, text.clone(), true)
    } else {
        emptied(file, text.clone())
    };
    Ok((change, text))
}

/// Returns what becomes of a file in which nothing is left: it goes away, but what a link leads to is somebody's.
fn emptied(file: &Path, text: String) -> Option<Change> {
    if file.is_symlink() {
        return Change::editing(file, text, true);
    }
    let path = file.to_owned();
    Some(Change::Remove { path })
}

fn codex_config(places: &Places) -> PathBuf {
    places.codex().join("config.toml")
}

/// Returns what makes Codex trust our hooks in a file, and no longer those that have gone.
fn trusting(
    places: &Places,
    hooks_file: &Path,
    hooks: &str,
    host: &Host,
) -> Result<Option<Change>, InstallError> {
    let config = codex_config(places);
    let trusted = trusted(&config, hooks_file, hooks, host)?;
    let before = read(&config)?;
    if trusted.trim().is_empty() && !before.trim().is_empty() {
        return Ok(emptied(&config, trusted));
    }
    // Hashes do not tell whose hooks they are of: any may be of ours, from another scope too.
    let is_wired = toml_hooks::trusts_any(&toml_hooks::read(&before)?);
    Ok(Change::editing(&config, trusted, is_wired))
}

/// Returns Codex's configuration with the hashes of our hooks in it.
fn trusted(
    config: &Path,
    hooks_file: &Path,
    hooks: &str,
    host: &Host,
) -> Result<String, InstallError> {
    let before = read(config)?;
    let mut document = toml_hooks::read(&before)?;
    let settings = json(hooks_file, hooks)?.value();
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
    )?;
    Ok(toml_hooks::text(&document, &before))
}
