//! What a control changes in a tool's input, whatever the host calls it there.

use serde_json::{Value, json};

use crate::world::World;

/// A policy whose script sets a target to a value, both as rhai writes them.
fn world(target: &str, updated: &str) -> World {
    let world = World::new("hooks: {pre-tool-use: [{oracle: change}]}");
    world.write(
        ".ahp/oracles/change.rhai",
        format!(
            "fn evaluate(ctx) {{ control([modify(\"{target}\", (), {updated}, \"safer\")]) }}\n"
        ),
    );
    assert_eq!(world.ahp(&["trust", "-y"]).code, 0);
    world
}

/// The verdict of a tool call.
fn judged(world: &World, tool: &str, input: &Value) -> Value {
    let event = json!({"trigger": "pre-tool-use", "tool": {"name": tool, "input": input}});
    let run = ["run", "--event", "-", "--format", "json"];
    let ran = world.ahp_fed(&run, event.to_string().as_bytes());
    ran.json().remove(0)
}

#[test]
fn a_control_changes_the_field_that_the_host_has() {
    let command = r#""echo safe""#;
    for (target, tool, input, changed) in [
        (
            "tool.input.command",
            "run_commands",
            json!({"commands": ["ls", "pwd"]}),
            json!({"commands": ["echo safe"]}),
        ),
        (
            "/command",
            "run_command",
            json!({"command_line": "ls"}),
            json!({"command_line": "echo safe"}),
        ),
        (
            "tool.command",
            "Bash",
            json!({"command": "ls", "timeout": 5}),
            json!({"command": "echo safe", "timeout": 5}),
        ),
        (
            "tool.input.command",
            "Bash",
            json!(r#"{"command":"ls"}"#),
            json!(r#"{"command":"echo safe"}"#),
        ),
        ("tool.command", "Bash", json!("ls"), json!("echo safe")),
        (
            "tool.input.file_path",
            "edit_file",
            json!({"path": "a", "new_text": "b"}),
            json!({"path": "echo safe", "new_text": "b"}),
        ),
        (
            "tool.content",
            "edit_file",
            json!({"path": "a", "new_text": "b"}),
            json!({"path": "a", "new_text": "echo safe"}),
        ),
        (
            "tool.input.timeout",
            "Bash",
            json!({"command": "ls"}),
            json!({"command": "ls", "timeout": "echo safe"}),
        ),
    ] {
        let verdict = judged(&world(target, command), tool, &input);
        assert_eq!(verdict["modified_input"], changed, "{target} {input}");
        assert_eq!(verdict["signals"][0]["header"]["intensity"], "control");
    }
}

#[test]
fn a_control_that_finds_nothing_to_change_has_failed() {
    for (target, tool, input) in [
        ("tool.input.a.b.c", "Bash", json!({"command": "ls"})),
        ("/a/b", "Bash", json!({"command": "ls"})),
        ("tool.command", "Write", json!({"file_path": "a"})),
        ("tool.name", "Bash", json!({"command": "ls"})),
        (
            "tool.command",
            "Bash",
            json!({"command": "git", "args": ["log"]}),
        ),
    ] {
        let verdict = judged(&world(target, "1"), tool, &input);
        assert!(verdict["modified_input"].is_null(), "{target}");
        assert_eq!(verdict["bindings"][1]["outcome"], "failed", "{target}");
        let error = verdict["bindings"][1]["error"].as_str().unwrap();
        assert!(error.contains(&format!("`{target}`")), "{error}");
        assert_eq!(verdict["signals"][0]["header"]["type"], "oracle-error");
    }
    // A parameter of the operation is none of the tool's.
    let verdict = judged(&world("batch_size", "1"), "Bash", &json!({"command": "ls"}));
    assert_eq!(verdict["bindings"][1]["outcome"], "signalled");
}

#[test]
fn a_host_gets_the_input_in_its_own_form() {
    let world = world("tool.input.command", r#""echo safe""#);
    let call = include_str!("host/cline/3.0.65/PreToolUse.json")
        .replace("/home/user/project", world.root().to_str().unwrap());
    let ran = world.ahp_fed(&["hook", "--host", "cline"], call.as_bytes());
    assert_eq!(
        ran.json()[0]["overrideInput"],
        json!({"commands": ["echo safe"]})
    );
}
