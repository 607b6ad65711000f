//! What can pass the hooks of a host by: code that it loads, and variables that it is started with.

use std::fs;
use std::path::{Path, PathBuf};

use ahp::config::Environment;
use ahp::host::{Form, Host};
use ahp::install::{Installer, Places};
use ahp::place::{Roots, Scope};

/// How deep below a place of such code it is looked for.
const MOST_DEPTH: u8 = 6;

/// Finds what is loaded as code, and not as words or as commands of hooks, in the order of the places.
pub(super) fn find(host: &Host, roots: &Roots) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let is_code = match host.settings.map(|settings| settings.form) {
        Some(Form::Plugin) => is_plugin,
        _ => is_module,
    };
    for place in host.switches.code {
        for (dir, name) in roots.all(place) {
            for start in expanded(dir, &name) {
                look(&start, MOST_DEPTH, is_code, &mut found);
            }
        }
    }
    let own = |scope| roots.path(host.file(scope)?);
    let own: Vec<PathBuf> = Scope::ALL.into_iter().filter_map(own).collect();
    found.retain(|path| !own.contains(path));
    found.sort_unstable();
    found.dedup();
    found
}

/// Returns the paths that a path with a `*` for one name means.
fn expanded(dir: &Path, name: &str) -> Vec<PathBuf> {
    let Some((before, after)) = name.split_once("/*/") else {
        return vec![dir.join(name)];
    };
    let entries = fs::read_dir(dir.join(before)).into_iter().flatten();
    entries
        .flatten()
        .map(|entry| entry.path().join(after))
        .collect()
}

/// Finds the variables that switch the hooks of a host off or bring code into it: in the environment, and in what its settings
/// put there. Each is told with where it stands.
pub(super) fn variables(
    installer: &Installer,
    places: &Places,
    environment: &Environment,
) -> Vec<String> {
    let names = installer.host.switches.variables.iter();
    let here = names
        .clone()
        .filter(|name| environment.get(name).is_some_and(|value| !value.is_empty()))
        .map(|name| format!("`{name}` is set where `ahp doctor` runs"));
    let files = Scope::ALL
        .into_iter()
        .filter_map(|scope| installer.file(places, scope).ok());
    let in_files = files.flat_map(|file| {
        let set = installer.variables(&file);
        let names = names
            .clone()
            .filter(move |name| set.iter().any(|set| set == *name));
        names
            .map(|name| format!("`env` in {} sets `{name}`", file.display()))
            .collect::<Vec<_>>()
    });
    here.chain(in_files).collect()
}

fn look(path: &Path, depth: u8, is_code: fn(&Path) -> bool, found: &mut Vec<PathBuf>) {
    // A pipe would keep us waiting.
    if path.is_file() {
        found.extend(is_code(path).then(|| path.to_owned()));
        return;
    }
    let Some(depth) = depth.checked_sub(1) else {
        return;
    };
    for entry in fs::read_dir(path).into_iter().flatten().flatten() {
        // A link may lead round in a ring.
        if !entry.file_type().is_ok_and(|kind| kind.is_symlink()) {
            look(&entry.path(), depth, is_code, found);
        }
    }
}

/// Whether a file is one that Claude Code loads beside the commands of hooks.
fn is_module(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    name == "register.js" || (name == "hooks.json" && names_modules(path))
}

/// Whether a file can be a plugin of a host that loads every script of a folder.
fn is_plugin(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str());
    ending.is_some_and(|ending| ["cjs", "cts", "js", "mjs", "mts", "ts"].contains(&ending))
}

/// Whether a plugin's file of hooks loads modules beside the commands that it lists.
fn names_modules(file: &Path) -> bool {
    let text = fs::read_to_string(file).unwrap_or_default();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    value.get("modules").is_some()
}
