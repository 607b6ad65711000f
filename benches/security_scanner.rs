//! Scanning the text that a tool writes: bytes a second over a real tree of sources, this project's own or `AHP_CORPUS`.
//!
//! `cargo bench --bench security_scanner`

#![expect(clippy::unwrap_used, reason = "a measurement may panic")]

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

/// Every text file of the tree, as the event of its being written.
fn writes() -> Vec<(Event, usize)> {
    let own = || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/src"));
    let root = std::env::var_os("AHP_CORPUS").map_or_else(own, PathBuf::from);
    ignore::WalkBuilder::new(root)
        .standard_filters(false)
        .build()
        .filter_map(Result::ok)
        .filter_map(|entry| {
            let text = std::fs::read_to_string(entry.path()).ok()?;
            let mut event = Event::new(Trigger::PreToolUse);
            let length = text.len();
            event.tool = Some(ToolCall {
                name: "Write".to_owned(),
                input: json!({ "file_path": entry.path(), "content": text }),
                ..ToolCall::default()
            });
            Some((event, length))
        })
        .collect()
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
