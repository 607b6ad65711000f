//! Layers as users write them: what is accepted, how faults are shown, how layers merge.

mod beside;
mod bundle;
mod caching;
mod faults;
mod files;
mod inserting;
mod merging;
mod properties;
mod schema;
mod words;
mod yaml;

use std::fs;
use std::path::{Path, PathBuf};

use ahp::config::Loaded;
use ahp::diagnostic::render;

/// Returns the folder with the data of these tests.
fn data(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/config")
        .join(folder)
}

/// Returns the YAML files of a folder with their names, sorted.
fn cases(folder: &str) -> Vec<(String, String)> {
    let mut cases: Vec<_> = fs::read_dir(data(folder))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "yaml")
        })
        .map(|path| {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            (name, fs::read_to_string(&path).unwrap())
        })
        .collect();
    cases.sort();
    assert!(!cases.is_empty(), "no case in {folder}");
    cases
}

/// Returns all diagnostics as a user sees them.
fn shown(loaded: &Loaded) -> String {
    let drawn: Vec<_> = loaded
        .diagnostics
        .iter()
        .map(|diagnostic| render(diagnostic, &loaded.sources, false))
        .collect();
    drawn.join("\n\n")
}

/// Compares a text with the snapshot of that name in a folder of the data.
fn assert_snapshot(folder: &str, name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(data(folder));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}
