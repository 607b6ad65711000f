//! Disarming: what a host's settings say, beside its hooks, after which it would ask another `ahp`, by another policy, or nobody.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::config::{OWN_PLACES, OWN_VARIABLES};
use crate::host::{Form, Host};
use crate::place::{Place, Roots, Scope};

use super::installer::settings_of;
use super::line::NAME;
use super::{Installer, Places, Wire, line, plugin};

/// Variables that move or change every program that is started: the policy lies below the home directory.
const OF_EVERY_PROGRAM: &[&str] = &[
    "BASH_ENV",
    "DYLD_INSERT_LIBRARIES",
    "ENV",
    "HOME",
    "LD_AUDIT",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
];

/// A setting of a host after which `ahp` may not be asked, or not as it is now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disarming {
    /// The variable that it sets, or the plugin that it switches on.
    pub name: String,
    /// The variable's value; none of a plugin.
    pub value: Option<String>,
    /// Where it stands.
    pub file: PathBuf,
}

impl fmt::Display for Disarming {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (file, name) = (self.file.display(), &self.name);
        match self.value {
            Some(_) => write!(f, "`env` in {file} sets `{name}`"),
            None => write!(
                f,
                "`enabledPlugins` in {file} loads `{name}`, whose code can skip every hook or could not be found"
            ),
        }
    }
}

impl Installer {
    /// Returns what the settings of all scopes say that disarms; what cannot be read is told where it is looked at for hooks.
    pub fn disarming(&self, places: &Places) -> Vec<Disarming> {
        let form = self.host.settings.map(|settings| settings.form);
        if !matches!(form, Some(Form::Json(_))) {
            return Vec::new();
        }
        let files = Scope::ALL
            .into_iter()
            .filter_map(|scope| self.file(places, scope).ok());
        files
            .flat_map(|file| {
                let settings = settings_of(&file).unwrap_or_default();
                let variables = self.variables(places, &settings);
                let variables = variables.map(|(name, value)| (name, Some(value)));
                let plugins = self.plugins(places, &settings);
                let plugins = plugins.map(|name| (name, None));
                let all: Vec<_> = variables.chain(plugins).collect();
                all.into_iter().map(move |(name, value)| Disarming {
                    name,
                    value,
                    file: file.clone(),
                })
            })
            .collect()
    }

    fn variables<'a>(
        &'a self,
        places: &'a Places,
        settings: &'a Value,
    ) -> impl Iterator<Item = (String, String)> + use<'a> {
        let set = settings.get("env").and_then(Value::as_object);
        let set = set.into_iter().flatten();
        let set = set.map(|(name, value)| match value {
            Value::String(value) => (name, value.clone()),
            other => (name, other.to_string()),
        });
        set.filter(|(_, value)| !value.is_empty())
            .filter(|(name, value)| {
                if *name == "PATH" {
                    self.calls_by_name(places) && !leads_to(value, &places.program)
                } else {
                    self.is_disarmed_by(name)
                }
            })
            .map(|(name, value)| (name.clone(), value))
    }

    /// Whether a variable decides whether the host asks `ahp`, or by which policy it judges.
    fn is_disarmed_by(&self, name: &str) -> bool {
        let places = OWN_PLACES
            .iter()
            .copied()
            .chain(self.host.places().copied());
        let mut moving = places.filter_map(|place: Place| place.variable());
        name.starts_with("AHP_") && name != "AHP_DEBUG"
            || OWN_VARIABLES.contains(&name)
            || OF_EVERY_PROGRAM.contains(&name)
            || self.host.switches.variables.contains(&name)
            || moving.any(|moving| moving == name)
    }

    /// Whether a hook calls `ahp` by its bare name.
    fn calls_by_name(&self, places: &Places) -> bool {
        let wires = Scope::ALL.into_iter();
        let mut wires = wires.flat_map(|scope| self.wires(places, scope, None).unwrap_or_default());
        let is_bare =
            |wire: Wire| line::called(&wire.command).is_some_and(|(name, _)| name == NAME);
        self.plugin(places).is_some() || wires.any(is_bare)
    }

    /// Returns the plugins that are switched on and bring code that runs beside the hooks, or of which that cannot be told.
    fn plugins<'a>(
        &'a self,
        places: &'a Places,
        settings: &'a Value,
    ) -> impl Iterator<Item = String> + use<'a> {
        let enabled = settings.get("enabledPlugins").and_then(Value::as_object);
        let enabled = enabled.into_iter().flatten();
        let enabled = enabled.filter(|(name, is_on)| {
            self.host.switches.plugins
                && **is_on != Value::Bool(false)
                && !plugin::is_ours(name)
                && !is_of_words(self.host, &places.roots, name)
        });
        enabled.map(|(name, _)| name.clone())
    }
}

/// Whether the search path that a variable would set leads by our name to a program.
fn leads_to(path: &str, program: &Path) -> bool {
    // A relative folder is that of the project, where an agent may write another `ahp`.
    let mut dirs = path.split(':').map(Path::new);
    let first = dirs.find(|dir| dir.is_relative() || dir.join(NAME).is_file());
    let found = first.and_then(|dir| dir.join(NAME).canonicalize().ok());
    let is_plain = first.is_some_and(Path::is_absolute);
    is_plain && found.is_some() && found == program.canonicalize().ok()
}

/// How deep below a place of code it is looked for.
const MOST_DEPTH: u8 = 6;

/// Finds what a host loads as code, and not as words or as commands of hooks, in the order of the places.
pub fn code_in(host: &Host, roots: &Roots) -> Vec<PathBuf> {
    let is_code = match host.settings.map(|settings| settings.form) {
        Some(Form::Plugin) => is_plugin,
        _ => is_module,
    };
    let mut found = Vec::new();
    look_below(host, roots, &mut |path| {
        found.extend((path.is_file() && is_code(path)).then(|| path.to_owned()));
    });
    let own = |scope| roots.path(host.file(scope)?);
    let own: Vec<PathBuf> = Scope::ALL.into_iter().filter_map(own).collect();
    found.retain(|path| !own.contains(path));
    found.sort_unstable();
    found.dedup();
    found
}

/// Whether a plugin, given with its marketplace, is there and has no code that runs beside the hooks.
fn is_of_words(host: &Host, roots: &Roots, name: &str) -> bool {
    let name = name.split_once('@').map_or(name, |(name, _)| name);
    let (mut is_there, mut has_code) = (false, false);
    look_below(host, roots, &mut |path| {
        let is_its_own = path.iter().any(|part| part == name);
        is_there |= is_its_own;
        has_code |= is_its_own && path.is_file() && is_module(path);
    });
    is_there && !has_code
}

/// Shows what lies below the places from which a host loads code.
fn look_below(host: &Host, roots: &Roots, see: &mut dyn FnMut(&Path)) {
    for place in host.switches.code {
        for (dir, name) in roots.all(place) {
            for start in expanded(dir, &name) {
                look(&start, MOST_DEPTH, see);
            }
        }
    }
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

fn look(path: &Path, depth: u8, see: &mut dyn FnMut(&Path)) {
    see(path);
    let Some(depth) = depth.checked_sub(1) else {
        return;
    };
    for entry in fs::read_dir(path).into_iter().flatten().flatten() {
        // A link may lead round in a ring.
        if !entry.file_type().is_ok_and(|kind| kind.is_symlink()) {
            look(&entry.path(), depth, see);
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
    let value: Value = serde_json::from_str(&text).unwrap_or_default();
    value.get("modules").is_some()
}
