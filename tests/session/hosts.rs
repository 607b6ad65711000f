//! Sequences of the real payloads of each host: push before, after tests, after an edit, after a failing run.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::PUSH_GATE;
use crate::world::World;

/// Where the payloads of a host lie, the names of its events before and after a tool, and that of a failing run.
struct Recorded {
    host: &'static str,
    version: &'static str,
    pre: [&'static str; 3],
    post: [&'static str; 3],
    /// Whether it tells how a command ended.
    tells: bool,
}

const CLAUDE: [&str; 3] = ["PreToolUse", "PreToolUse.2", "PreToolUse.3"];

const RECORDED: &[Recorded] = &[
    recorded(
        "claude-code",
        "2.1.329",
        CLAUDE,
        ["PostToolUse", "PostToolUse.2", "PostToolUseFailure"],
        true,
    ),
    recorded(
        "codex",
        "0.169.0",
        CLAUDE,
        ["PostToolUse", "PostToolUse.2", "PostToolUse.3"],
        false,
    ),
    recorded(
        "gemini-cli",
        "0.61.0",
        ["BeforeTool", "BeforeTool.2", "BeforeTool.3"],
        ["AfterTool", "AfterTool.2", "AfterTool.3"],
        true,
    ),
    recorded(
        "qwen-code",
        "0.24.4",
        CLAUDE,
        ["PostToolUse", "PostToolUse.2", "PostToolUseFailure"],
        true,
    ),
    recorded(
        "copilot",
        "1.0.102",
        ["preToolUse", "preToolUse.2", "preToolUse.3"],
        ["postToolUse", "postToolUse.2", "postToolUse.3"],
        true,
    ),
    recorded(
        "copilot",
        "1.0.102-pascal",
        CLAUDE,
        ["PostToolUse", "PostToolUse.2", "PostToolUse.3"],
        true,
    ),
    recorded(
        "kimi-cli",
        "1.50.0",
        CLAUDE,
        ["PostToolUse", "PostToolUse.2", "PostToolUse.3"],
        true,
    ),
    recorded(
        "kimi-code",
        "2.1.0",
        CLAUDE,
        ["PostToolUse", "PostToolUse.2", "PostToolUseFailure"],
        true,
    ),
    recorded(
        "cline",
        "3.0.65",
        CLAUDE,
        ["PostToolUse", "PostToolUse.2", "PostToolUse.3"],
        true,
    ),
    recorded(
        "opencode",
        "1.18.33",
        [
            "tool.execute.before",
            "tool.execute.before.2",
            "tool.execute.before.3",
        ],
        [
            "tool.execute.after",
            "tool.execute.after.2",
            "tool.execute.after.3",
        ],
        true,
    ),
];

const fn recorded(
    host: &'static str,
    version: &'static str,
    pre: [&'static str; 3],
    post: [&'static str; 3],
    tells: bool,
) -> Recorded {
    Recorded {
        host,
        version,
        pre,
        post,
        tells,
    }
}

/// Reads a payload, of which the command is another.
fn payload(of: &Recorded, name: &str, command: &str) -> String {
    let dir: PathBuf = [
        env!("CARGO_MANIFEST_DIR"),
        "tests/host",
        of.host,
        of.version,
    ]
    .iter()
    .collect();
    let text = fs::read_to_string(dir.join(format!("{name}.json"))).unwrap();
    let mut value: Value = serde_json::from_str(&text).unwrap();
    replace(&mut value, command);
    value.to_string()
}

/// Puts a command in the place of the recorded ones, which stand in lists, texts and texts of JSON.
fn replace(value: &mut Value, command: &str) {
    const OF_RECORDING: &[&str] = &[
        "echo hello > made-by-tool.txt; echo said hello; echo to stderr >&2",
        "echo partial; exit 3",
    ];
    match value {
        Value::String(text) => {
            for recorded in OF_RECORDING {
                *text = text.replace(recorded, command);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| replace(item, command)),
        Value::Object(fields) => fields
            .values_mut()
            .for_each(|field| replace(field, command)),
        _ => {}
    }
}

/// Gives a payload to a process of its own; returns how the log says it was decided.
fn hook(world: &World, of: &Recorded, name: &str, command: &str) -> String {
    let event = name.trim_end_matches(|c: char| c == '.' || c.is_ascii_digit());
    // The project lies elsewhere than where it was recorded.
    let root = world.root().display().to_string();
    let text = payload(of, name, command).replace("/home/user/project", &root);
    let ran = world.ahp_fed(
        &["hook", "--host", of.host, "--event", event],
        text.as_bytes(),
    );
    assert!(matches!(ran.code, 0 | 2), "{}: {ran:?}", of.host);
    let log = world.log();
    let last = log
        .iter()
        .rev()
        .find(|record| record["kind"] == "evaluation");
    last.unwrap()["decision"].as_str().unwrap().to_owned()
}

#[test]
fn every_host_that_tells_results_opens_the_gate_by_them_and_no_other_does() {
    for of in RECORDED {
        let world = World::new(PUSH_GATE);
        let name = format!("{} {}", of.host, of.version);
        let push = || hook(&world, of, of.pre[0], "git push");
        let tests = |n: usize| {
            hook(&world, of, of.pre[n], "cargo test");
            hook(&world, of, of.post[n], "cargo test");
        };
        assert_eq!(push(), "block", "{name}: nothing has run");
        hook(&world, of, of.pre[0], "cargo test");
        assert_eq!(push(), "block", "{name}: the tests still run");
        hook(&world, of, of.post[0], "cargo test");
        let open = if of.tells { "none" } else { "block" };
        assert_eq!(push(), open, "{name}: the tests have passed");
        hook(&world, of, of.pre[1], "");
        hook(&world, of, of.post[1], "");
        assert_eq!(push(), "block", "{name}: a file was written");
        tests(2);
        assert_eq!(push(), "block", "{name}: the tests have failed");
        assert!(Path::new(&world.path(".ahp/signals.jsonl")).exists());
    }
}
