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

/// What the call of a world with two changes of it comes to: the decision, and every text that tells of both.
fn clash(world: &World) -> (String, Vec<String>) {
    let verdict = judged(world, "Bash", &json!({"command": "ls"}));
    let signals = verdict["signals"].as_array().unwrap().iter();
    let texts = signals.filter_map(|signal| {
        let payload = &signal["payload"];
        let text = [&payload["reason"], &payload["message"]];
        text.iter()
            .find_map(|text| text.as_str())
            .map(str::to_owned)
    });
    let texts = texts.filter(|text| text.contains("would set"));
    let decision = verdict["decision"].as_str().unwrap();
    (decision.to_owned(), texts.collect())
}

/// A command that answers with another one in the place of what is called.
fn changing(command: &str) -> String {
    let answer = json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": {"command": command}}});
    format!("echo '{answer}'")
}

#[test]
fn of_two_hooks_that_change_the_same_the_clash_names_both() {
    let file = |commands: &[&str]| {
        let hooks = commands
            .iter()
            .map(|c| json!({"type": "command", "command": changing(c)}));
        let hooks: Vec<Value> = hooks.collect();
        json!({"hooks": {"PreToolUse": [{"hooks": hooks}]}}).to_string()
    };
    let two = World::new(
        "hooks:\n  pre-tool-use:\n    - {oracle: CommandHooks, id: first, config: {file: a.json}}\n    - {oracle: CommandHooks, id: second, config: {file: b.json}}\n",
    );
    two.write("a.json", file(&["echo one"]));
    two.write("b.json", file(&["echo two"]));
    two.ahp(&["trust", "-y"]);
    let (decision, told) = clash(&two);
    assert_eq!(decision, "allow");
    let expected = "`second` would set `/command` to \"echo two\", but `first` (.ahp/hooks.yaml:3) has set that to \"echo one\", and the first of them stands";
    assert_eq!(told, [expected]);

    let one = World::new(
        "hooks: {pre-tool-use: [{oracle: CommandHooks, id: only, config: {file: a.json}}]}",
    );
    one.write("a.json", file(&["echo one", "echo two"]));
    one.ahp(&["trust", "-y"]);
    let (_, told) = clash(&one);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0].contains("but it has set that to \"echo one\" itself"),
        "{told:?}"
    );

    // Each of these is asked again about what the other has made.
    let hooks = World::new("");
    let home = hooks.home().join(".config/agents/hooks");
    for (name, priority) in [("early", 900), ("late", 500)] {
        let answer = json!({"decision": "allow", "modified_input": {"command": name}});
        let fields = format!("trigger: pre-tool-call\npriority: {priority}");
        World::write_hook(&home, name, &fields, &format!("echo '{answer}'"));
    }
    let (decision, told) = clash(&hooks);
    assert_eq!(decision, "block");
    assert!(
        told.iter()
            .any(|told| told.contains("`early` would set") && told.contains("`late` (")),
        "{told:?}"
    );
}

#[test]
fn a_control_that_gives_no_reason_tells_what_it_changes() {
    let world = World::new("hooks: {pre-tool-use: [{oracle: change}]}");
    world.write(
        ".ahp/oracles/change.rhai",
        "fn evaluate(ctx) { control([modify(\"tool.command\", (), \"echo safe\", \"\")]) }\n",
    );
    world.ahp(&["trust", "-y"]);
    let input = json!({"command": "ls"}).to_string();
    let call = ["run", "pre-tool-use", "--tool", "Bash", "--input", &input];
    let answer = world.ahp(&call).stdout;
    assert!(answer.contains("/command = \"echo safe\""), "{answer}");
    for arguments in [&["log", "show"][..], &["log", "show", "--json"]] {
        let shown = world.ahp(arguments).stdout.replace('\\', "");
        assert!(
            shown.contains("`/command` becomes \"echo safe\""),
            "{arguments:?}: {shown}"
        );
    }
    let tried = [&call[..], &["--report", "github"]].concat();
    let annotation = world.ahp(&tried).stdout;
    assert!(annotation.contains("`/command` becomes"), "{annotation}");
}
