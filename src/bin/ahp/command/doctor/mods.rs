//! Code in a host that can skip every hook of its settings.

use std::fs;
use std::path::{Path, PathBuf};

use ahp::host::Host;
use ahp::place::Roots;

/// How deep below a place of such code it is looked for.
const MOST_DEPTH: u8 = 6;

/// Finds what is loaded as code, and not as words or as commands of hooks, in the order of the places.
pub(super) fn find(host: &Host, roots: &Roots) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for place in host.switches.code {
        for (dir, name) in roots.all(place) {
            for start in expanded(dir, &name) {
                look(&start, MOST_DEPTH, &mut found);
            }
        }
    }
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

fn look(path: &Path, depth: u8, found: &mut Vec<PathBuf>) {
    if path.is_file() {
        let name = path.file_name().unwrap_or_default();
        let is_code = name == "register.js" || (name == "hooks.json" && names_modules(path));
        found.extend(is_code.then(|| path.to_owned()));
        return;
    }
    let Some(depth) = depth.checked_sub(1) else {
        return;
    };
    for entry in fs::read_dir(path).into_iter().flatten().flatten() {
        // A link may lead round in a ring.
        if !entry.file_type().is_ok_and(|kind| kind.is_symlink()) {
            look(&entry.path(), depth, found);
        }
    }
}

/// Whether a plugin's file of hooks loads modules beside the commands that it lists.
fn names_modules(file: &Path) -> bool {
    let text = fs::read_to_string(file).unwrap_or_default();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    value.get("modules").is_some()
}
