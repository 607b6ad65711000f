//! Whatever runs a command, what the command does decides: one that disarms or loses work is never passed in silence, and a
//! harmless one is never asked about.

use ahp::engine::{Engine, block_on};
use ahp::event::Event;
use ahp::verdict::Decision;
use serde_json::json;

use crate::world::World;

/// Commands that take away what guards the agent, or what nothing brings back.
const HARMFUL: &[&str] = &[
    "rm -rf .ahp",
    "rm -r -f ./.ahp/hooks.yaml",
    "mv .ahp away",
    "truncate -s 0 .claude/settings.json",
    "ahp trust -y",
    "rm -rf data",
    "git push --force origin main",
];

const HARMLESS: &[&str] = &[
    "ls -la src",
    "git status",
    "cargo test --lib",
    "grep -rn fn src",
];

#[test]
fn what_a_command_does_decides_whatever_runs_it() {
    let world = World::new("");
    world.write(".gitignore", ".ahp/\n");
    world.write("src/main.rs", "fn main() {}\n");
    world.write("data/set.csv", "1\n");
    world.write("list.txt", "a\n");
    world.git_init();
    world.write("data/set.csv", "2\n");
    world.write(".ahp/hooks.yaml", "extends: [ahp:standard]\n");
    let engine = Engine::builder()
        .policy_text("extends: [ahp:standard]\n")
        .root(world.root())
        .home(world.home())
        .without_log()
        .build()
        .unwrap();
    let decision = |command: &str| {
        let event = Event::tool_use("Bash", json!({"command": command}));
        block_on(engine.evaluate(event)).decision
    };
    let mut wrong = Vec::new();
    let mut count = 0;
    for line in include_str!("wrappers.txt").lines() {
        if line.starts_with("# ") || line.is_empty() {
            continue;
        }
        let frame = line
            .replace("\\\\", "\u{1}")
            .replace("\\n", "\n")
            .replace("\\t", "\t")
            .replace('\u{1}', "\\");
        for command in HARMFUL {
            let one = frame.replace("@C", command);
            if decision(&one) < Decision::Ask {
                wrong.push(format!("let through: {one}"));
            }
        }
        for command in HARMLESS {
            let one = frame.replace("@C", command);
            if decision(&one) >= Decision::Ask {
                wrong.push(format!("stopped: {one}"));
            }
        }
        count += 1;
    }
    assert!(count > 100, "{count}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
