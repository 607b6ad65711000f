//! Which files of a project can run or decide.

use std::fs;
use std::path::Path;

use super::named;
use crate::config::Node;
use crate::config::Value;
use crate::config::parse_yaml;
use crate::diagnostic::FileId;

/// The layers that a project may have.
const LAYERS: &[&str] = &[".ahp/hooks.yaml", ".ahp/hooks.local.yaml"];

/// Returns every file and folder of the project that can run or decide: its layers, their packs, script oracles, HOOK.md
/// folders, and the scripts that they name. Sorted, relative to the root.
pub fn scan(root: &Path) -> Vec<String> {
    let mut paths = layers_with_packs(root);
    paths.extend([".ahp/oracles".to_owned(), ".agents/hooks".to_owned()]);
    // A user's own policy may bind the hook files that the project has for its hosts.
    for file in hook_files(root) {
        paths.extend(named::by_hook_file(root, &file));
    }
    for layer in paths.clone() {
        let Some(node) = read(root, &layer) else {
            continue;
        };
        if let Some(settings) = node.get("settings") {
            for key in ["oracles", "agent_hooks"] {
                let dirs = settings.get(key).map(strings).unwrap_or_default();
                paths.extend(dirs.iter().filter_map(|dir| named::inside(root, root, dir)));
            }
        }
        for config in configs(&node) {
            paths.extend(named::by_config(root, config));
        }
    }
    paths.sort_unstable();
    paths.dedup();
    paths
}

/// Returns the files with command hooks of the project's hosts.
fn hook_files(root: &Path) -> Vec<String> {
    let mut files = vec![
        ".claude/settings.json".to_owned(),
        ".claude/settings.local.json".to_owned(),
    ];
    let dir = ".github/hooks";
    for entry in fs::read_dir(root.join(dir)).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if Path::new(&name)
            .extension()
            .is_some_and(|extension| extension == "json")
        {
            files.push(format!("{dir}/{name}"));
        }
    }
    files
}

/// Returns the layers that are there.
pub(super) fn layers(root: &Path) -> Vec<String> {
    LAYERS
        .iter()
        .filter(|layer| root.join(layer).exists())
        .map(|&layer| layer.to_owned())
        .collect()
}

/// Returns the layers that are there and the files of the project that they extend, and those that these extend.
pub(super) fn layers_with_packs(root: &Path) -> Vec<String> {
    let mut found = layers(root);
    let mut next = 0;
    while let Some(layer) = found.get(next).cloned() {
        next += 1;
        let extends = read(root, &layer)
            .and_then(|node| node.get("extends").map(strings))
            .unwrap_or_default();
        let dir = root.join(&layer);
        let dir = dir.parent().unwrap_or(root);
        for pack in extends.iter().filter(|pack| !pack.starts_with("ahp:")) {
            let file = named::inside(root, dir, pack).or_else(|| named::inside(root, root, pack));
            if let Some(file) = file.filter(|file| !found.contains(file)) {
                found.push(file);
            }
        }
    }
    found
}

fn read(root: &Path, path: &str) -> Option<Node> {
    let text = fs::read_to_string(root.join(path)).ok()?;
    parse_yaml(&text, FileId::default(), &mut Vec::new())
}

/// Returns the texts of a list, or a single text.
fn strings(node: &Node) -> Vec<String> {
    match &node.value {
        Value::Str(text) => vec![text.clone()],
        Value::Seq(items) => items
            .iter()
            .filter_map(|item| item.as_str().map(ToOwned::to_owned))
            .collect(),
        _ => Vec::new(),
    }
}

/// Returns every `config:` below a node.
fn configs(node: &Node) -> Vec<&Node> {
    match &node.value {
        Value::Seq(items) => items.iter().flat_map(configs).collect(),
        Value::Map(entries) => entries
            .iter()
            .flat_map(|(key, value)| match key.name.as_str() {
                "config" => vec![value],
                _ => configs(value),
            })
            .collect(),
        _ => Vec::new(),
    }
}
