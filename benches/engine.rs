//! Event to verdict in one process: bindings that do not fire, a parsed command, many bindings, the log.
//!
//! `cargo bench --bench engine`

#![expect(clippy::unwrap_used, reason = "a measurement may panic")]

use ahp::engine::{Engine, Keeper, block_on};
use ahp::event::{Event, ToolCall, Trigger};
use ahp::session::Store;
use divan::counter::ItemsCount;
use serde_json::{Value, json};

fn main() {
    divan::main();
}

fn shell(command: &str) -> Event {
    event("Bash", json!({ "command": command }))
}

fn event(tool: &str, input: Value) -> Event {
    let mut event = Event::new(Trigger::PreToolUse);
    event.session_id = Some("s1".to_owned());
    event.tool = Some(ToolCall::new(tool, input));
    event
}

fn engine(policy: String) -> Engine {
    let engine = Engine::builder()
        .policy_text(policy)
        .root(std::env::temp_dir())
        .without_log()
        .build()
        .unwrap();
    assert!(engine.state().faults().is_empty());
    engine
}

/// Bindings of which none fires on a command line.
#[divan::bench(args = [0, 10, 100, 1000])]
fn none_fires(bencher: divan::Bencher, count: usize) {
    none_of_fires(bencher, count, Doing::Shell);
}

/// Bindings of which none fires on a look into a file.
#[divan::bench(args = [0, 10, 100, 1000])]
fn none_fires_on_a_look(bencher: divan::Bencher, count: usize) {
    none_of_fires(bencher, count, Doing::Read);
}

fn none_of_fires(bencher: divan::Bencher, count: usize, doing: Doing) {
    let policy = if count == 0 {
        "hooks: {}".to_owned()
    } else {
        none_of(count)
    };
    let engine = engine(policy);
    bencher
        .with_inputs(|| doing.event())
        .bench_values(|event| block_on(engine.evaluate(event)));
}

/// What tells tools apart, so that no binding of the policy fires.
fn none_of(count: usize) -> String {
    let bindings = (0..count).map(|n| {
        format!("    - {{oracle: PermissionChecker, id: r{n}, when: {{tool: Write, environment: e{n}}}}}\n")
    });
    format!("hooks:\n  pre-tool-use:\n{}", bindings.collect::<String>())
}

/// What an agent is about to do, again and again.
#[derive(Clone, Copy, Debug)]
enum Doing {
    /// A command line, which is parsed and held against what guards the agent.
    Shell,
    /// A look into a file, which changes nothing.
    Read,
}

impl Doing {
    fn event(self) -> Event {
        match self {
            Self::Shell => shell("cargo test"),
            Self::Read => event("Read", json!({ "file_path": "src/main.rs" })),
        }
    }
}

/// What is asked of the past, with the session's file on the disk; each beside the same event where nothing is asked.
#[derive(Clone, Copy, Debug)]
enum Past {
    /// Nothing is asked.
    Nothing,
    /// The event asks for a mark.
    Asked,
    /// It asks for a mark that it feeds: it is noted, judged and settled.
    AskedAndFed,
    /// It asks where its arguments come from.
    Origins,
}

#[divan::bench(args = [Past::Nothing, Past::Asked, Past::AskedAndFed, Past::Origins])]
fn past(bencher: divan::Bencher, past: Past) {
    let when = match past {
        Past::Nothing => "environment: none",
        Past::Asked | Past::AskedAndFed => "marks.looks: '> 900'",
        Past::Origins => "tool.outward: true, tool.arguments_from: untrusted-text",
    };
    let on = match past {
        Past::AskedAndFed => "pre-tool-use",
        _ => "post-tool-use",
    };
    let (engine, _dir) = engine_with_files(&format!(
        "marks: {{looks: {{on: {on}, when: {{tool.kind: mcp}}, within: 1h}}}}\n\
         hooks: {{pre-tool-use: [{{oracle: PermissionChecker, when: {{{when}}}}}]}}"
    ));
    block_on(engine.evaluate(result(4)));
    let call = || {
        event(
            "mcp__mail__send",
            json!({"to": "eve@a.example", "body": "hello"}),
        )
    };
    bencher
        .with_inputs(call)
        .bench_values(|event| block_on(engine.evaluate(event)));
}

/// A result that feeds a mark, and one of which the words are kept; of so many KiB.
#[divan::bench(args = [("marks.looks: '> 900'", 4), ("tool.arguments_from: untrusted", 4), ("tool.arguments_from: untrusted", 256)])]
fn result_that_is_kept(bencher: divan::Bencher, (when, size): (&str, usize)) {
    let (engine, _dir) = engine_with_files(&format!(
        "marks: {{looks: {{on: post-tool-use, when: {{tool.kind: mcp}}, within: 1h}}}}\n\
         hooks: {{pre-tool-use: [{{oracle: PermissionChecker, when: {{{when}}}}}]}}"
    ));
    bencher
        .with_inputs(|| result(size))
        .bench_values(|event| block_on(engine.evaluate(event)));
}

fn result(kibibytes: usize) -> Event {
    let mut event = event("mcp__mail__read", json!({"id": 1}));
    event.trigger = Trigger::PostToolUse;
    let words = (0..kibibytes * 128).map(|n| format!("word{n:03x} "));
    event.tool.as_mut().unwrap().output = Some(words.collect::<String>().into());
    event
}

fn engine_with_files(policy: &str) -> (Engine, tempfile::TempDir) {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::new(dir.path(), dir.path());
    let engine = Engine::builder()
        .policy_text(policy.to_owned())
        .root(dir.path())
        .keeper(Keeper::Files(store))
        .without_log()
        .build()
        .unwrap();
    let state = engine.state();
    assert!(state.faults().is_empty(), "{:?}", state.faults());
    (engine, dir)
}

/// Events of 256 sessions at once on one thread, each made, judged and logged before it is answered; a hundred bindings,
/// none fires.
#[divan::bench(args = [Doing::Shell, Doing::Read], sample_count = 20, sample_size = 1)]
fn sustained_with_the_log(bencher: divan::Bencher, doing: Doing) {
    const SESSIONS: usize = 256;
    const EVENTS: usize = 40;
    let dir = tempfile::tempdir().unwrap();
    let engine = Engine::builder()
        .policy_text(none_of(100))
        .root(dir.path())
        .log_file(dir.path().join("signals.jsonl"))
        .build()
        .unwrap();
    assert!(engine.state().faults().is_empty());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    bencher
        .counter(ItemsCount::new(SESSIONS * EVENTS))
        .bench_local(|| {
            runtime.block_on(async {
                let sessions: Vec<_> = (0..SESSIONS)
                    .map(|_| {
                        let engine = engine.clone();
                        tokio::spawn(async move {
                            for _ in 0..EVENTS {
                                engine.evaluate(doing.event()).await;
                            }
                        })
                    })
                    .collect();
                for session in sessions {
                    session.await.unwrap();
                }
            });
        });
}

/// A command line of 200 characters that writes a file, in a project and a home on the disk.
#[divan::bench]
fn two_hundred_characters(bencher: divan::Bencher) {
    let dir = tempfile::tempdir().unwrap();
    for name in [
        "project/.git",
        "project/.ahp",
        "project/crates/core",
        "home/.config",
    ] {
        std::fs::create_dir_all(dir.path().join(name)).unwrap();
    }
    let engine = Engine::builder()
        .policy_text("hooks: {pre-tool-use: [{oracle: PermissionChecker}]}")
        .root(dir.path().join("project"))
        .home(dir.path().join("home"))
        .without_log()
        .build()
        .unwrap();
    let command = "cd crates/core && RUST_BACKTRACE=1 cargo test --workspace --all-features -- --nocapture 2>&1 \
                   | tee target/test.log | grep -v '^test .* ok$' | head -500 && git diff --stat HEAD~1 -- src tests README.md";
    assert_eq!(command.len(), 200);
    bencher
        .with_inputs(|| shell(command))
        .bench_values(|event| block_on(engine.evaluate(event)));
}

/// A command line that is parsed and judged.
#[divan::bench]
fn shell_parse_and_permission_checker(bencher: divan::Bencher) {
    let engine = engine("hooks: {pre-tool-use: [{oracle: PermissionChecker}]}".to_owned());
    bencher
        .with_inputs(|| shell("cargo test --workspace && git status --short | head -20"))
        .bench_values(|event| block_on(engine.evaluate(event)));
}

/// Three bindings fire among many.
#[divan::bench(args = [100, 1000, 10_000])]
fn three_fire(bencher: divan::Bencher, count: usize) {
    let mut policy = String::from("hooks:\n  pre-tool-use:\n");
    for n in 0..count {
        let tool = if n < 3 {
            "Bash".to_owned()
        } else {
            format!("Other{n}")
        };
        policy.push_str(&format!(
            "    - {{oracle: PermissionChecker, id: r{n}, when: {{tool: {tool}}}}}\n"
        ));
    }
    let engine = engine(policy);
    bencher
        .with_inputs(|| shell("cargo test"))
        .bench_values(|event| block_on(engine.evaluate(event)));
}

/// A script of twenty lines, as people write them. The first run of a process is outside of the measurement: it
/// compiles the script and starts its thread.
#[divan::bench]
fn script_of_twenty_lines(bencher: divan::Bencher) {
    let project = tempfile::tempdir().unwrap();
    std::fs::write(
        project.path().join("twenty.rhai"),
        include_str!("twenty-lines.rhai"),
    )
    .unwrap();
    let engine = Engine::builder()
        .policy_text("settings: {oracles: [.]}\nhooks: {pre-tool-use: [{oracle: twenty}]}")
        .root(project.path())
        .without_log()
        .build()
        .unwrap();
    assert!(engine.state().faults().is_empty());
    let event = || shell("cargo publish --dry-run && git status --short | head -20");
    assert_eq!(block_on(engine.evaluate(event())).signals.len(), 1);
    bencher
        .with_inputs(event)
        .bench_values(|event| block_on(engine.evaluate(event)));
}
