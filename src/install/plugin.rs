//! Plugin: our plugin for hosts that take such, which calls `ahp` in the place of wires in their settings.

use std::path::{Path, PathBuf};

use toml_edit::Item;

use crate::host::{Host, HostEvent, OUR_PLUGIN, Shape};
use crate::place::{Base, Roots};
use crate::regular_file;

use super::json_hooks::JsonHooks;
use super::line::{NAME as PROGRAM, or_say};
use super::{MAX_SETTINGS, Patience, Wire, toml_hooks};

/// Its hooks, as it brings them.
const HOOKS: &str = include_str!("../../packaging/plugin/hooks/hooks.json");

/// Returns the file that switches it on for a host; none where none does. Of several that speak of it the narrowest decides.
pub(super) fn switched_on_in(host: &Host, roots: &Roots) -> Option<PathBuf> {
    if !host.switches.plugins {
        return None;
    }
    let mut places: Vec<_> = host.places().collect();
    places.sort_by_key(|place| {
        let is_local = place.path.ends_with(".local.json");
        (place.base != Base::Project, !is_local)
    });
    let mut files = places.into_iter().filter_map(|place| roots.path(place));
    files.find_map(|file| says(&file).map(|is_on| is_on.then_some(file)))?
}

/// Whether a settings file says that it is on or off; none where it says nothing of it.
fn says(file: &Path) -> Option<bool> {
    let name = file.file_name()?.to_str()?;
    match name {
        "settings.json" | "settings.local.json" => {
            let settings =
                JsonHooks::read(file, &regular_file::text(file, MAX_SETTINGS).ok()?).ok()?;
            let settings = settings.value();
            let enabled = settings.get("enabledPlugins")?.as_object()?;
            let ours = enabled.iter().find(|(name, _)| is_ours(name));
            ours.and_then(|(_, is_on)| is_on.as_bool())
        }
        "config.toml" => {
            let settings = toml_hooks::read(&regular_file::text(file, MAX_SETTINGS).ok()?).ok()?;
            let plugins = settings.get("plugins").and_then(Item::as_table_like)?;
            let (_, ours) = plugins.iter().find(|(name, _)| is_ours(name))?;
            let is_on = ours.as_table_like().and_then(|ours| ours.get("enabled"));
            Some(is_on.and_then(Item::as_bool).unwrap_or(true))
        }
        _ => None,
    }
}

/// Whether a host's name of a plugin, with the marketplace that it came from, is ours.
pub(super) fn is_ours(name: &str) -> bool {
    let name = name.split_once('@');
    name.is_some_and(|(name, _)| name == OUR_PLUGIN)
}

/// Returns what it has a host run at an event: what an installation writes for a project, but without the name of the host, which
/// the event tells.
pub(super) fn command(host_event: &HostEvent) -> String {
    let call = format!(
        "{PROGRAM} hook --event {} --timeout {}",
        host_event.name(),
        Patience::LONGEST.own(host_event)
    );
    or_say(&call, PROGRAM, host_event, false)
}

/// Returns the wires that it brings.
pub(super) fn wires() -> Vec<Wire> {
    let hooks = JsonHooks::read(Path::new("hooks.json"), HOOKS);
    hooks.map_or_else(|_| Vec::new(), |hooks| hooks.wires(Shape::GroupsClosing))
}
