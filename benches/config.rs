//! Loading a policy: parsing, merging, and the cache of what was merged, by the number of bindings.

#![expect(
    clippy::expect_used,
    reason = "a benchmark that cannot be set up has no figure to give"
)]

use std::fs;
use std::path::Path;

use ahp::config::{Config, Locations};
use ahp::engine::{Engine, block_on};
use ahp::event::{Event, Trigger};
use divan::Bencher;

const SIZES: [usize; 4] = [10, 50, 500, 1000];

fn main() {
    divan::main();
}

const TRIGGERS: [&str; 6] = [
    "pre-tool-use",
    "post-tool-use",
    "pre-issue-submit",
    "pre-issue-close",
    "pre-agent-turn",
    "pre-agent-turn-stop",
];

/// Writes a policy with so many bindings over some triggers, each with a condition and a configuration.
fn policy(bindings: usize, triggers: &[&str]) -> String {
    let mut text = "settings:\n  timeout: 30s\nhooks:\n".to_owned();
    for (index, trigger) in triggers.iter().enumerate() {
        text.push_str(&format!("  {trigger}:\n"));
        for number in (0..bindings).filter(|number| number % triggers.len() == index) {
            text.push_str(&format!(
                "    - id: check-{number}\n      oracle: PermissionChecker\n      when:\n        tool: [Bash, Write]\n        \
                 tool.command: \"~ deploy-{number}\"\n      config:\n        dangerous_commands: [\"rm -rf\", \
                 \"tool-{number} --force\"]\n        require_confirmation: true\n      priority: {}\n",
                number % 4
            ));
        }
    }
    text
}

fn project(bindings: usize, triggers: &[&str]) -> (tempfile::TempDir, Locations) {
    let project = tempfile::tempdir().expect("a temporary directory");
    let ahp = project.path().join(".ahp");
    fs::create_dir(&ahp).expect("a directory in it");
    fs::write(ahp.join("hooks.yaml"), policy(bindings, triggers)).expect("a file in it");
    let locations = Locations::of_project(project.path());
    (project, locations)
}

#[divan::bench(args = SIZES)]
fn load(bencher: Bencher<'_, '_>, bindings: usize) {
    let (_project, locations) = project(bindings, &TRIGGERS);
    bencher.bench(|| Config::load(&locations));
}

#[divan::bench(args = SIZES)]
fn load_cached(bencher: Bencher<'_, '_>, bindings: usize) {
    let (project, mut locations) = project(bindings, &TRIGGERS);
    locations.cache_dir = Some(project.path().join("cache"));
    let entry = Config::load(&locations).cache_entry(&locations);
    entry.expect("an entry").write();
    let triggers = [Trigger::PreToolUse];
    assert!(Config::load_for(&locations, &triggers).is_cached);
    bencher.bench(|| Config::load_for(&locations, &triggers));
}

/// What a hook command does with its policy: the layers looked at, the bindings of its trigger compiled, none met.
#[divan::bench(args = SIZES)]
fn engine_cached(bencher: Bencher<'_, '_>, bindings: usize) {
    cached(bencher, bindings, &TRIGGERS);
}

/// The same, and every binding is one of the event's trigger.
#[divan::bench(args = SIZES)]
fn engine_cached_one_trigger(bencher: Bencher<'_, '_>, bindings: usize) {
    cached(bencher, bindings, &["pre-tool-use"]);
}

fn cached(bencher: Bencher<'_, '_>, bindings: usize, triggers: &[&str]) {
    let (project, mut locations) = project(bindings, triggers);
    locations.cache_dir = Some(project.path().join("cache"));
    let engine = || {
        let engine = Engine::builder()
            .locations(locations.clone())
            .only(Trigger::PreToolUse)
            .without_log()
            .build()
            .expect("an engine");
        // Bindings are compiled when an event asks for them; this one meets no condition.
        block_on(engine.evaluate(Event::tool_use("Read", serde_json::json!({}))))
    };
    // The first writes the cache.
    assert!(engine().signals.is_empty());
    bencher.bench(engine);
}

/// The same, and everything checked, as where nothing is known of the policy.
#[divan::bench(args = SIZES)]
fn engine(bencher: Bencher<'_, '_>, bindings: usize) {
    let (_project, locations) = project(bindings, &TRIGGERS);
    bencher.bench(|| Engine::builder().locations(locations.clone()).build());
}

#[divan::bench(args = SIZES)]
fn parse_yaml(bencher: Bencher<'_, '_>, bindings: usize) {
    let text = policy(bindings, &TRIGGERS);
    let file = ahp::diagnostic::FileId::default();
    bencher
        .with_inputs(Vec::new)
        .bench_values(|mut faults| ahp::config::parse_yaml(&text, file, &mut faults));
}

#[divan::bench(args = SIZES)]
fn merge(bencher: Bencher<'_, '_>, bindings: usize) {
    let text = policy(bindings, &TRIGGERS);
    bencher.bench(|| {
        Config::from_layers(
            &[(ahp::config::LayerSource::User, "a", &text)],
            Path::new("."),
        )
    });
}
