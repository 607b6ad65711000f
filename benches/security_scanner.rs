//! Scanning the text that a tool writes, and a whole tree before a submission: bytes a second over the sources of all crates
//! that this one is built of, as they lie in cargo's registry folder, or over the tree `AHP_CORPUS`.
//!
//! Left out are the crates that programs have written: grammars, and the tables of operating systems. File by file, one core
//! is used; for the tree all are, which `RAYON_NUM_THREADS=1` keeps to one. `cargo bench --bench security_scanner`

#![expect(
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "a measurement asks cargo, tells what it scans, and may panic"
)]

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use ahp::engine::{Engine, block_on};
use ahp::event::{Event, ToolCall, Trigger};
use divan::Bencher;
use divan::counter::BytesCount;
use serde_json::{Value, json};

fn main() {
    let files = files();
    let bytes: usize = files.iter().map(|(_, text)| text.len()).sum();
    eprintln!("{} files, {} MB", files.len(), bytes / 1_000_000);
    divan::main();
}

/// Crates of which most was written by programs.
const GENERATED: &[&str] = &["tree-sitter-", "windows", "linux-raw-sys"];

/// Returns the folders that are scanned, and below which each of them lies.
fn corpus() -> Vec<(PathBuf, PathBuf)> {
    if let Some(tree) = std::env::var_os("AHP_CORPUS") {
        return vec![(PathBuf::from(&tree), PathBuf::from(tree))];
    }
    let metadata = Command::new(env!("CARGO"))
        .args(["metadata", "--offline", "--locked", "--format-version", "1"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(metadata.status.success(), "cargo does not tell the crates");
    let metadata: Value = serde_json::from_slice(&metadata.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    packages
        .iter()
        .filter(|package| !package["source"].is_null())
        .filter_map(|package| {
            let name = package["name"].as_str()?;
            let folder = PathBuf::from(package["manifest_path"].as_str()?)
                .parent()?
                .to_owned();
            let registry = folder.parent()?.to_owned();
            let is_generated = GENERATED.iter().any(|start| name.starts_with(start));
            (!is_generated).then_some((folder, registry))
        })
        .collect()
}

/// Returns every text file of the corpus with its text.
fn files() -> Vec<(PathBuf, String)> {
    let mut files = Vec::new();
    for (folder, above) in corpus() {
        let walk = ignore::WalkBuilder::new(folder)
            .standard_filters(false)
            .build();
        for entry in walk.filter_map(Result::ok) {
            if let Ok(text) = fs::read_to_string(entry.path()) {
                files.push((entry.path().strip_prefix(&above).unwrap().to_owned(), text));
            }
        }
    }
    files
}

/// Every text file of the tree, as the event of its being written.
fn writes() -> Vec<(Event, usize)> {
    let event = |(path, text): (PathBuf, String)| {
        let mut event = Event::new(Trigger::PreToolUse);
        let length = text.len();
        event.tool = Some(ToolCall::new(
            "Write",
            json!({ "file_path": path, "content": text }),
        ));
        (event, length)
    };
    files().into_iter().map(event).collect()
}

/// The whole tree at once, with all rules, as where there is no repository to tell what is new.
#[divan::bench(sample_count = 5, sample_size = 1)]
fn tree(bencher: Bencher<'_, '_>) {
    let project = tempfile::tempdir().unwrap();
    let mut bytes = 0;
    for (path, text) in files() {
        // What an ignore file leaves out would not be scanned.
        if path.ends_with(".gitignore") {
            continue;
        }
        let copy = project.path().join(path);
        fs::create_dir_all(copy.parent().unwrap()).unwrap();
        bytes += text.len();
        fs::write(copy, text).unwrap();
    }
    let engine = Engine::builder()
        .policy_text("hooks: {pre-issue-submit: [{oracle: SecurityScanner}]}")
        .root(project.path())
        .without_log()
        .build()
        .unwrap();
    assert!(engine.state().faults().is_empty());
    let submit = || block_on(engine.evaluate(Event::new(Trigger::PreIssueSubmit)));
    assert!(submit().bindings.iter().all(|b| b.error.is_none()));
    bencher.counter(BytesCount::new(bytes)).bench(submit);
}

/// File by file, as they are written, on one core.
#[divan::bench(args = ["no-secrets", "no-sql-injection", "no-secrets,no-sql-injection"], sample_count = 3, sample_size = 1)]
fn scan(bencher: Bencher<'_, '_>, rules: &str) {
    let engine = Engine::builder()
        .policy_text(format!(
            "hooks: {{pre-tool-use: [{{oracle: SecurityScanner, config: {{rules: [{rules}]}}}}]}}"
        ))
        .without_log()
        .build()
        .unwrap();
    assert!(engine.state().faults().is_empty());
    let writes = writes();
    let bytes: usize = writes.iter().map(|(_, length)| length).sum();
    bencher
        .counter(BytesCount::new(bytes))
        .with_inputs(|| writes.iter().map(|(event, _)| event.clone()).collect())
        .bench_values(|events: Vec<Event>| {
            for event in events {
                block_on(engine.evaluate(event));
            }
        });
}
