//! What an event costs by the size of what it asks for: layers, issues, changed files, processes at once.
//!
//! `cargo bench --bench growth`. Bindings grow in `engine` and `config`, HOOK.md folders in `hook_md`. That no slope turns
//! worse than linear is checked by `.ci/instructions`, which counts instructions.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a measurement may panic, and starts git and threads by itself"
)]

use std::fs;
use std::path::Path;
use std::process::Command;

use ahp::config::{Config, LayerSource, Locations};
use ahp::engine::{Engine, block_on};
use ahp::event::{Event, Trigger};
use divan::Bencher;
use serde_json::json;

fn main() {
    divan::main();
}

fn shell() -> Event {
    Event::tool_use("Bash", json!({ "command": "cargo test" }))
}

fn engine(root: &Path, policy: &str) -> Engine {
    fs::create_dir_all(root.join(".ahp")).unwrap();
    fs::write(root.join(".ahp/hooks.yaml"), policy).unwrap();
    let engine = Engine::builder()
        .locations(Locations::of_project(root))
        .without_log()
        .build()
        .unwrap();
    assert!(engine.state().faults().is_empty());
    engine
}

/// Layers of ten bindings each, stacked.
#[divan::bench(args = [1, 4, 16, 64])]
fn layers(bencher: Bencher<'_, '_>, count: usize) {
    let texts: Vec<String> = (0..count)
        .map(|layer| {
            let bindings = (0..10).map(|n| {
                format!("    - {{oracle: PermissionChecker, id: r{layer}-{n}, when: {{environment: e{n}}}}}\n")
            });
            format!("hooks:\n  pre-tool-use:\n{}", bindings.collect::<String>())
        })
        .collect();
    let layers: Vec<_> = texts
        .iter()
        .map(|text| (LayerSource::Project, "hooks.yaml", text.as_str()))
        .collect();
    bencher.bench(|| Config::from_layers(&layers, Path::new(".")));
}

/// An issue with so many items on its checklist.
#[divan::bench(args = [10, 100, 1000])]
fn checklist_items(bencher: Bencher<'_, '_>, count: usize) {
    let project = tempfile::tempdir().unwrap();
    let engine = engine(
        project.path(),
        "hooks: {pre-issue-submit: [{oracle: ChecklistValidator}]}\n",
    );
    let items: Vec<_> = (0..count).map(|n| format!("- [x] item {n}\n")).collect();
    let items = items.concat();
    let issue = project.path().join("Issues/Fixes/open/FIX-0001-a.md");
    fs::create_dir_all(issue.parent().unwrap()).unwrap();
    fs::write(
        &issue,
        format!("---\nid: FIX-0001\ntype: fix\n---\n\n## To do\n\n{items}"),
    )
    .unwrap();
    let mut event = Event::new(Trigger::PreIssueSubmit);
    event.issue_id = Some("FIX-0001".to_owned());
    bencher
        .with_inputs(|| event.clone())
        .bench_values(|event| block_on(engine.evaluate(event)));
}

/// A working tree in which so many files have changed; most of it is git's own time.
#[divan::bench(args = [10, 100, 1000], sample_count = 20)]
fn changed_files(bencher: Bencher<'_, '_>, count: usize) {
    let project = tempfile::tempdir().unwrap();
    let engine = engine(
        project.path(),
        "hooks: {pre-tool-use: [{oracle: PermissionChecker, when: {files.changed_count: '> 1'}}]}\n",
    );
    let git = |arguments: &[&str]| {
        let identity = ["-c", "user.name=a", "-c", "user.email=a@b"];
        let mut git = Command::new("git");
        git.args(identity)
            .args(arguments)
            .current_dir(project.path());
        assert!(git.status().unwrap().success());
    };
    git(&["init", "-q"]);
    git(&["commit", "-q", "--allow-empty", "-m", "a"]);
    for n in 0..count {
        fs::write(project.path().join(format!("file-{n}.txt")), "one\ntwo\n").unwrap();
    }
    bencher
        .with_inputs(shell)
        .bench_values(|event| block_on(engine.evaluate(event)));
}

/// So many engines, as of so many processes, log one event each to one file.
#[divan::bench(args = [1, 2, 4, 8, 16], sample_count = 50)]
fn writers_at_once(bencher: Bencher<'_, '_>, count: usize) {
    let dir = tempfile::tempdir().unwrap();
    let engines: Vec<Engine> = (0..count)
        .map(|_| {
            Engine::builder()
                .policy_text("hooks: {pre-tool-use: [{oracle: PermissionChecker}]}")
                .log_file(dir.path().join("signals.jsonl"))
                .build()
                .unwrap()
        })
        .collect();
    bencher.bench_local(|| {
        std::thread::scope(|scope| {
            for engine in &engines {
                scope.spawn(|| block_on(engine.evaluate(shell())));
            }
        });
    });
}
