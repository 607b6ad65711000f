//! One vocabulary: by which names a hook knows the tools of each host, and in what of an input its pattern is searched.

use ahp::event::Event;
use serde_json::{Value, json};

use super::due;
use crate::world::{World, event};

fn call(host: &str, name: &str, input: &Value) -> Event {
    event(
        &json!({"trigger": "pre-tool-use", "host": host, "session_id": "s",
        "tool": {"name": name, "input": input}})
        .to_string(),
    )
}

/// Returns what a hook is told of a call.
fn told(event: &Event) -> Value {
    let world = World::new("");
    World::write_hook(
        &world.user_hooks(),
        "tell",
        "trigger: before_tool",
        "cat >&2; exit 2",
    );
    let hooks = world.hooks();
    let signals = world.run_hook(&due(&hooks, event)[0], event).unwrap();
    serde_json::from_str(signals[0].payload.text()).unwrap()
}

fn meets(matcher: &str, event: &Event) -> bool {
    let world = World::new("");
    let fields = format!("trigger: before_tool\nmatcher: {matcher}");
    World::write_hook(&world.user_hooks(), "guard", &fields, "exit 2");
    !due(&world.hooks(), event).is_empty()
}

#[test]
fn tools_are_told_by_the_names_of_the_standard() {
    for (host, name, input, wanted) in [
        ("kimi-cli", "Glob", json!({"pattern": "*"}), "Glob"),
        ("kimi-cli", "Grep", json!({"pattern": "x"}), "Grep"),
        ("kimi-cli", "SearchWeb", json!({"query": "x"}), "SearchWeb"),
        (
            "kimi-cli",
            "FetchURL",
            json!({"url": "https://a.example"}),
            "FetchURL",
        ),
        ("claude-code", "Glob", json!({"pattern": "*"}), "Glob"),
        ("claude-code", "LS", json!({"path": "."}), "LS"),
        (
            "claude-code",
            "WebSearch",
            json!({"query": "x"}),
            "SearchWeb",
        ),
        (
            "claude-code",
            "WebFetch",
            json!({"url": "https://a.example"}),
            "FetchURL",
        ),
        (
            "gemini-cli",
            "google_web_search",
            json!({"query": "x"}),
            "SearchWeb",
        ),
        ("gemini-cli", "glob", json!({"pattern": "*"}), "Glob"),
        ("vscode", "file_search", json!({"query": "x"}), "Glob"),
        ("vscode", "grep_search", json!({"query": "x"}), "Grep"),
        ("vscode", "semantic_search", json!({"query": "x"}), "Grep"),
        ("copilot", "web_search", json!({"query": "x"}), "SearchWeb"),
        (
            "claude-code",
            "mcp__files__delete",
            json!({"path": "a"}),
            "mcp__files__delete",
        ),
        (
            "gemini-cli",
            "mcp_files_delete",
            json!({"path": "a"}),
            "mcp__files__delete",
        ),
        (
            "kiro-cli",
            "@files/delete",
            json!({"path": "a"}),
            "mcp__files__delete",
        ),
        (
            "windsurf",
            "write_code",
            json!({"file_path": "/p/a.py", "edits": [{"old_string": "", "new_string": "x"}]}),
            "WriteFile",
        ),
        (
            "windsurf",
            "write_code",
            json!({"file_path": "/p/a.py", "edits": [{"old_string": "a", "new_string": "x"}]}),
            "StrReplaceFile",
        ),
        (
            "x",
            "EditFile",
            json!({"path": "a", "new": "b"}),
            "EditFile",
        ),
        ("x", "frobnicate", json!({"depth": 1}), "frobnicate"),
    ] {
        let event = call(host, name, &input);
        assert_eq!(told(&event)["tool_name"], wanted, "{host} {name}");
        let exactly = |name: &str| meets(&format!("{{tool: '^{name}$'}}"), &event);
        assert!(exactly(wanted) && exactly(name), "{host} {name}");
    }
    let glob = call("kimi-cli", "Glob", &json!({"pattern": "*"}));
    assert!(!meets("{tool: '^Grep$'}", &glob));
}

#[test]
fn a_pattern_is_searched_in_what_the_hook_is_told() {
    for (name, input) in [
        ("shell", json!({"command": ["wipe", "-x", "/nowhere"]})),
        (
            "shell",
            json!({"command": ["bash", "-lc", "wipe -x /nowhere"]}),
        ),
        (
            "local_shell",
            json!({"action": {"command": ["wipe", "-x", "/nowhere"]}}),
        ),
        ("run_command", json!({"command_line": "wipe -x /nowhere"})),
        ("bash", json!("wipe -x /nowhere")),
    ] {
        let event = call("codex", name, &input);
        assert!(
            meets("{tool: Shell, pattern: 'wipe -x /nowhere'}", &event),
            "{name} {input}"
        );
        let by_key = r#"{tool: Shell, pattern: '"command": "[^"]*wipe -x'}"#;
        assert!(meets(by_key, &event), "{name} {input}");
    }
    let apart = json!({"command": "wipe", "args": ["-x", "/nowhere"]});
    let apart = call("codex", "shell", &apart);
    assert!(meets("{tool: Shell, pattern: 'wipe -x /nowhere'}", &apart));
    // The host's own spelling still counts.
    let own = call("windsurf", "run_command", &json!({"command_line": "ls"}));
    assert!(meets("{pattern: command_line}", &own));
}

#[test]
fn a_program_with_its_arguments_beside_it_is_one_command() {
    let whole = "rm -rf /nowhere";
    for input in [
        json!({"command": "rm", "args": ["-rf", "/nowhere"]}),
        json!({"cmd": "rm", "arguments": "-rf /nowhere"}),
        json!({"program": "rm", "args": ["-rf", "/nowhere"]}),
        json!({"command": ["rm", "-rf", "/nowhere"]}),
        json!({"command": whole}),
    ] {
        let event = call("claude-code", "Bash", &input);
        assert_eq!(told(&event)["tool_input"]["command"], whole, "{input}");
        let matcher = "{tool: Shell, pattern: rm -rf}";
        assert!(meets(matcher, &event), "{input}");
    }
}
