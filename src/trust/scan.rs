//! Which files of a project can run or decide.

use std::path::Path;

use super::{named, usual_hook_files};
use crate::config::{Node, Value, may_name_commands, parse_yaml};
use crate::diagnostic::FileId;
use crate::regular_file;

/// The layers that a project may have.
const LAYERS: &[&str] = &[".ahp/hooks.yaml", ".ahp/hooks.local.yaml"];

/// Returns every file and folder of the project that can run or decide: its layers, their packs, script oracles, HOOK.md
/// folders, and the scripts that they name. Sorted, relative to the root. That its layers extend other files may be known not to be so.
pub(super) fn scan(root: &Path, may_extend: bool) -> Vec<String> {
    let layers = read_layers(root, may_extend).into_iter();
    let (mut paths, mut nodes): (Vec<_>, Vec<_>) = layers.unzip();
    let layers = paths.len();
    paths.extend([".ahp/oracles".to_owned(), ".agents/hooks".to_owned()]);
    // A user's own policy may bind the hook files that the project has for its hosts.
    for file in usual_hook_files(root) {
        if let Ok(file) = file.strip_prefix(root) {
            paths.extend(named::by_file(root, &file.to_string_lossy()));
        }
    }
    let further = paths.iter().skip(layers);
    nodes.extend(further.map(|path| read(root, path, may_extend)));
    for node in nodes.iter().flatten() {
        if let Some(settings) = node.get("settings") {
            for key in ["oracles", "agent_hooks"] {
                let dirs = settings.get(key).map(strings).unwrap_or_default();
                paths.extend(dirs.iter().filter_map(|dir| named::inside(root, root, dir)));
            }
        }
        for config in configs(node) {
            paths.extend(named::by_config(root, config, true));
        }
    }
    paths.sort_unstable();
    paths.dedup();
    paths
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
    let layers = read_layers(root, true).into_iter();
    layers.map(|(path, _)| path).collect()
}

/// Returns these files, each with what it says where it can name something.
fn read_layers(root: &Path, may_extend: bool) -> Vec<(String, Option<Node>)> {
    let mut next = layers(root);
    let mut found = Vec::new();
    while !next.is_empty() {
        let layer = next.remove(0);
        let node = read(root, &layer, may_extend);
        let extends = node.as_ref().and_then(|node| node.get("extends"));
        let packs = extends.map(strings).unwrap_or_default();
        let dir = root.join(&layer);
        let dir = dir.parent().unwrap_or(root);
        found.push((layer, node));
        for pack in packs.iter().filter(|pack| !pack.starts_with("ahp:")) {
            let file = named::inside(root, dir, pack).or_else(|| named::inside(root, root, pack));
            let is_new = |file: &String| {
                !next.contains(file) && found.iter().all(|(known, _)| known != file)
            };
            next.extend(file.filter(is_new));
        }
    }
    found
}

/// The longest layer that is looked into, in bytes; of a longer one the loading tells.
const MAX_LAYER: u64 = 16 << 20;

/// Reads a layer. One that names nothing is not parsed: this is asked at every event.
fn read(root: &Path, path: &str, may_extend: bool) -> Option<Node> {
    let text = regular_file::text(&root.join(path), MAX_LAYER).ok()?;
    let keys = ["oracles", "agent_hooks", "extends"];
    let keys = keys.get(..keys.len() - usize::from(!may_extend))?;
    may_name_commands(&text, keys)
        .then(|| parse_yaml(&text, FileId::default(), &mut Vec::new()))
        .flatten()
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
