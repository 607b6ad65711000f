//! What one append costs while the log grows: `cargo bench --bench append`.
//!
//! One file, never rotated, grows to 10, ten thousand, one million and ten million real records (some 5 GB below
//! `target/`, deleted at the end); at each size single records are appended one by one, without fsync.
//! `APPEND_RECORDS` sets how large it grows at most (default 10000000).

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a measurement may panic, prints its table and is told its size by the environment"
)]

use std::time::{Duration, Instant};

use ahp::config::{Fsync, LogSettings};
use ahp::signal_log::{Body, EvaluationRecord, SignalLog};
use ahp::verdict::{BindingReport, Decision, Outcome};
use chrono::Utc;
use serde_json::json;

/// How many records grow the log at a time.
const BATCH: u64 = 10_000;
/// How many single appends are measured at each size.
const MEASURED: u64 = 5_000;

fn main() {
    let most: u64 = std::env::var("APPEND_RECORDS")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(10_000_000);
    // Not in a directory for temporary files, which may lie in memory.
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let settings = LogSettings {
        fsync: Fsync::Never,
        max_size: u64::MAX,
        ..LogSettings::default()
    };
    let log = SignalLog::open(dir.path().join("signals.jsonl"), &settings).unwrap();
    println!("{MEASURED} single appends at each size, without fsync; microseconds\n");
    println!("| records | MB | median | p95 | p99 |");
    println!("|---|---|---|---|---|");
    let mut records = 0;
    for size in [10, 10_000, 1_000_000, 10_000_000] {
        while records < size.min(most) {
            let count = BATCH.min(size.min(most) - records);
            let bodies = (0..count).map(|_| evaluation()).collect();
            records = log.append(bodies, Utc::now()).unwrap().last_seq;
        }
        let megabytes = std::fs::metadata(log.path()).unwrap().len() / 1_000_000;
        let mut times: Vec<Duration> = (0..MEASURED)
            .map(|_| {
                let body = vec![evaluation()];
                let started = Instant::now();
                let appended = log.append(body, Utc::now()).unwrap();
                let time = started.elapsed();
                records = appended.last_seq;
                time
            })
            .collect();
        times.sort_unstable();
        let at = |percent: usize| {
            let time = times.get(times.len() * percent / 100).copied();
            time.unwrap_or_default().as_secs_f64() * 1e6
        };
        println!(
            "| {size} | {megabytes} | {:.1} | {:.1} | {:.1} |",
            at(50),
            at(95),
            at(99)
        );
        if size >= most {
            break;
        }
    }
}

/// One tool call that a binding has judged, with its event, as a host's hook logs it.
fn evaluation() -> Body {
    Body::Evaluation(Box::new(EvaluationRecord {
        ahp: None,
        policy: None,
        hook: "pre-tool-use".to_owned(),
        decision: Decision::None,
        host: Some("claude-code".to_owned()),
        agent: None,
        agent_id: None,
        session_id: Some("s1".to_owned()),
        issue_id: None,
        tool: Some("Bash".to_owned()),
        digest: "0123456789abcdef".to_owned(),
        object: None,
        event: Some(
            json!({"trigger": "pre-tool-use", "tool": {"name": "Bash", "input": {"command": "cargo test"}}}),
        ),
        bindings: vec![BindingReport {
            id: "shell".to_owned(),
            oracle: "permission-checker".to_owned(),
            outcome: Outcome::Accepted,
            source: ".ahp/hooks.yaml:4".to_owned(),
            duration_us: 112,
            error: None,
            waived: Vec::new(),
        }],
        skipped: 3,
        duration_us: 131,
        marks: std::collections::BTreeMap::new(),
        note: None,
    }))
}
