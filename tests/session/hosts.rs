//! Sequences of the real payloads of each host: push before, after tests, after an edit, after a failing run.

use std::fs;
use std::path::{Path, PathBuf};

use ahp::host;
use ahp::host::{Host, Input};
use serde_json::{Value, json};

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

/// What of the payloads of a host is its own line about the exit code, and what a program printed.
#[test]
fn no_output_of_a_program_passes_for_the_line_of_a_host() {
    let text = |text: &str| json!({"llmContent": text, "returnDisplay": ""});
    let kimi = |told: &str| json!(told);
    for (host, event, field, result, code) in [
        (
            "gemini-cli",
            "AfterTool",
            "tool_response",
            text(
                "<untrusted_context>\nOutput: x\nExit Code: 3\nProcess Group PGID: 8\n</untrusted_context>",
            ),
            Some(3),
        ),
        (
            "gemini-cli",
            "AfterTool",
            "tool_response",
            text("<untrusted_context>\nOutput: x\nProcess Group PGID: 8\n</untrusted_context>"),
            Some(0),
        ),
        (
            "gemini-cli",
            "AfterTool",
            "tool_response",
            text(
                "<untrusted_context>\nOutput: x\nExit Code: 0\nSignal: 9\nProcess Group PGID: 8\n</untrusted_context>",
            ),
            None,
        ),
        (
            "gemini-cli",
            "AfterTool",
            "tool_response",
            text(
                "<untrusted_context>\nOutput: x\nExit Code: 0\nProcess Group PGID: 8\n</untrusted_context>",
            ),
            None,
        ),
        (
            "gemini-cli",
            "AfterTool",
            "tool_response",
            text("Command was automatically cancelled. Below is the output:\nx\nExit Code: 0\n"),
            None,
        ),
        (
            "gemini-cli",
            "AfterTool",
            "tool_response",
            text(
                "<untrusted_context>\nOutput: Exit Code: 0\nx\nExit Code: 4\nProcess Group PGID: 8\n</untrusted_context>",
            ),
            Some(4),
        ),
        (
            "qwen-code",
            "PostToolUse",
            "tool_response",
            text(
                "Output: x\nError: (none)\nExit Code: 0\nSignal: (none)\nProcess Group PGID: (none)",
            ),
            Some(0),
        ),
        (
            "qwen-code",
            "PostToolUse",
            "tool_response",
            text(
                "Output: x\nExit Code: 0\nSignal: (none)\nError: (none)\nExit Code: 5\nSignal: (none)\nProcess Group PGID: (none)",
            ),
            Some(5),
        ),
        (
            "qwen-code",
            "PostToolUse",
            "tool_response",
            text("Command timed out. Below is the output:\nExit Code: 0\nSignal: (none)\n"),
            None,
        ),
        (
            "kimi-cli",
            "PostToolUse",
            "tool_output",
            kimi(
                r"is_error=True output='x' message='Command failed with exit code: 3.' display=[B(text='m\nmessage=\'Command failed with exit code: 0')] extras=None",
            ),
            Some(3),
        ),
        (
            "kimi-cli",
            "PostToolUse",
            "tool_output",
            kimi(
                r#"is_error=True output="it's message='Command failed with exit code: 0." message='Command failed with exit code: 3.' extras=None"#,
            ),
            Some(3),
        ),
        (
            "kimi-cli",
            "PostToolUse",
            "tool_output",
            kimi(
                r"is_error=True output='\' message=\'Command failed with exit code: 0.' message='Stopped.' extras=None",
            ),
            None,
        ),
    ] {
        let tool = if host == "kimi-cli" {
            "Shell"
        } else {
            "run_shell_command"
        };
        let mut payload = json!({"session_id": "s", "cwd": "/", "hook_event_name": event,
            "tool_name": tool, "tool_input": {"command": "cargo test"}});
        payload[field] = result.clone();
        let bytes = payload.to_string();
        let input = Input {
            bytes: bytes.as_bytes(),
            host: Host::find(host),
            event: Some(event),
            arguments: &[],
            work_dir: Path::new("/"),
        };
        let decoded = host::decode(&input).unwrap();
        let found = decoded.events[0].tool.as_ref().unwrap().exit_code;
        assert_eq!(found, code, "{host}: {result}");
    }
}

#[test]
fn what_a_subagent_does_counts_for_its_parent() {
    let recorded = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/host/copilot/1.0.102-pascal");
    let recorded = fs::read_to_string(recorded.join("in-subagent.PostToolUse.json")).unwrap();
    let recorded: Value = serde_json::from_str(&recorded).unwrap();
    let root = recorded["parent_agent_id"].as_str().unwrap();
    let copilot = |name: &str, tool: &str, input: Value| {
        json!({"hook_event_name": name, "session_id": root, "timestamp": "2026-11-20T11:31:44.665Z",
            "tool_name": tool, "tool_input": input,
            "tool_result": {"result_type": "success", "text_result_for_llm": "ok\n<shellId: 0 completed with exit code 0>"}})
    };
    let mut edited = recorded.clone();
    edited["tool_name"] = json!("Write");
    edited["tool_input"] = json!({"file_path": "a.rs", "content": "x"});
    let opencode = |session: &str, tool: &str, args: Value| {
        json!({"sessionID": session, "tool": tool, "callID": tool, "args": args,
            "metadata": {"exit": 0}, "output": "ok", "title": ""})
    };
    let mut child = opencode(
        "child",
        "write",
        json!({"filePath": "a.rs", "content": "x"}),
    );
    child["parentID"] = json!("root");
    for (host, [pre, post], tests, edit, push) in [
        (
            "copilot",
            ["PreToolUse", "PostToolUse"],
            copilot("PostToolUse", "Bash", json!({"command": "cargo test"})),
            edited,
            copilot("PreToolUse", "Bash", json!({"command": "git push"})),
        ),
        (
            "opencode",
            ["tool.execute.before", "tool.execute.after"],
            opencode("root", "bash", json!({"command": "cargo test"})),
            child,
            json!({"sessionID": "root", "tool": "bash", "callID": "p", "args": {"command": "git push"}}),
        ),
    ] {
        let world = World::new(PUSH_GATE);
        let hook = |event: &str, mut payload: Value| {
            let dir = if host == "opencode" {
                "directory"
            } else {
                "cwd"
            };
            payload[dir] = json!(world.root());
            let args = ["hook", "--host", host, "--event", event];
            let ran = world.ahp_fed(&args, payload.to_string().as_bytes());
            ran.stdout.contains("have not passed")
        };
        hook(post, tests);
        assert!(!hook(pre, push.clone()), "{host}: the tests have passed");
        hook(post, edit);
        assert!(hook(pre, push), "{host}: its subagent has edited");
    }
}
