//! Scanning the text that a tool writes, and a whole tree before a submission: bytes a second over real sources, this
//! project's own or those of `AHP_CORPUS`.
//!
//! `cargo bench --bench security_scanner`; `RAYON_NUM_THREADS=1` keeps it to one core. What is small is mostly the
//! making of the rules, which a process does once.

#![expect(clippy::unwrap_used, reason = "a measurement may panic")]

use std::fs;
use std::path::PathBuf;

use ahp::engine::Engine;
use ahp::engine::block_on;
use ahp::event::Event;
use ahp::event::ToolCall;
use ahp::event::Trigger;
use divan::Bencher;
use divan::counter::BytesCount;
use serde_json::json;

fn main() {
    divan::main();
}

fn corpus() -> PathBuf {
    let own = || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/src"));
    std::env::var_os("AHP_CORPUS").map_or_else(own, PathBuf::from)
}

/// Returns every text file of the tree with its text.
fn files() -> Vec<(PathBuf, String)> {
    ignore::WalkBuilder::new(corpus())
        .standard_filters(false)
        .build()
        .filter_map(Result::ok)
        .filter_map(|entry| {
            let text = fs::read_to_string(entry.path()).ok()?;
            Some((entry.into_path(), text))
        })
        .collect()
}

/// Every text file of the tree, as the event of its being written.
fn writes() -> Vec<(Event, usize)> {
    let event = |(path, text): (PathBuf, String)| {
        let mut event = Event::new(Trigger::PreToolUse);
        let length = text.len();
        event.tool = Some(ToolCall {
            name: "Write".to_owned(),
            input: json!({ "file_path": path, "content": text }),
            ..ToolCall::default()
        });
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
        let copy = project.path().join(path.strip_prefix(corpus()).unwrap());
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

#[divan::bench(args = ["no-secrets", "no-sql-injection"], sample_count = 3, sample_size = 1)]
fn scan(bencher: Bencher<'_, '_>, rule: &str) {
    let engine = Engine::builder()
        .policy_text(format!(
            "hooks: {{pre-tool-use: [{{oracle: SecurityScanner, config: {{rules: [{rule}]}}}}]}}"
        ))
        .without_log()
        .build()
        .unwrap();
    assert!(engine.state().faults().is_empty());
    let writes = writes();
    let bytes: usize = writes.iter().map(|(_, length)| length).sum();
    bencher.counter(BytesCount::new(bytes)).bench(|| {
        for (event, _) in &writes {
            block_on(engine.evaluate(event.clone()));
        }
    });
}
