//! Each file of a directory that has a registry stands in it.

use std::collections::BTreeSet;
use std::fs;

use ahp::config::PACKS;
use ahp::host::HOSTS;
use ahp::oracle::builtin::BUILTINS;
use ahp::oracle::rhai::BUNDLED;

use super::{library, root};

/// The stems of the files with an ending in a directory.
fn stems(directory: &str, ending: &str) -> BTreeSet<String> {
    let entries = fs::read_dir(root().join(directory)).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names
        .filter_map(|name| Some(name.strip_suffix(ending)?.to_owned()))
        .collect()
}

fn names<'a>(names: impl IntoIterator<Item = &'a str>) -> BTreeSet<String> {
    names.into_iter().map(str::to_owned).collect()
}

/// `FileChangeLimiter` in kebab case.
fn kebab(name: &str) -> String {
    let mut kebab = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !kebab.is_empty() {
            kebab.push('-');
        }
        kebab.push(letter.to_ascii_lowercase());
    }
    kebab
}

/// The modules right below one that define an item like `DEFINITION`, in kebab case.
fn modules_with(parent: &[&str], item: &str) -> BTreeSet<String> {
    let library = library();
    let below = library.files().filter(|(module, file)| {
        module.len() == parent.len() + 1
            && module.iter().zip(parent).all(|(a, b)| a == b)
            && file.text.contains(item)
    });
    below
        .map(|(module, _)| module[parent.len()].replace('_', "-"))
        .collect()
}

#[test]
fn oracles() {
    let files = modules_with(&["oracle", "builtin"], "static DEFINITION: Definition");
    let rows = BUILTINS
        .iter()
        .map(|definition| kebab(definition.name))
        .collect();
    assert_eq!(files, rows, "files in src/oracle/builtin against BUILTINS");
}

#[test]
fn hosts() {
    let files = modules_with(&["host"], "static HOST: Host");
    let rows = names(HOSTS.iter().map(|host| host.name));
    assert_eq!(files, rows, "files in src/host against HOSTS");
}

#[test]
fn scripts_and_packs() {
    let scripts = names(BUNDLED.iter().map(|bundled| bundled.name));
    assert_eq!(
        stems("oracles", ".rhai"),
        scripts,
        "oracles/*.rhai against BUNDLED"
    );
    let packs = names(PACKS.iter().map(|pack| pack.name));
    let mut files = stems("policies", ".yaml");
    files.remove("default");
    assert_eq!(files, packs, "policies/*.yaml against PACKS");
}
