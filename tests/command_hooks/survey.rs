//! What `ahp check` says of what no host heeds in a file with command hooks.

use serde_json::{Value, json};

use crate::world::{World, write};

/// Checks a policy whose binding takes a file of this content at home.
fn checked(hooks: &Value) -> String {
    let world = World::new("");
    let binding = "{oracle: CommandHooks, config: {file: ~/c.json}}";
    let policy = format!("hooks:\n  pre-tool-use:\n    - {binding}\n");
    write(&world.home().join(".ahp/hooks.yaml"), policy);
    write(
        &world.home().join("c.json"),
        json!({"hooks": hooks}).to_string(),
    );
    world.ahp(&["check"]).stdout
}

#[test]
fn events_that_never_run_are_told() {
    let hook = json!([{"type": "command", "command": "exit 2"}]);
    for (event, told) in [
        ("pretooluse", "no host has the event `pretooluse`"),
        ("PRETOOLUSE", "did you mean `PreToolUse`?"),
        ("preTooluse", "did you mean"),
        ("UserPromptSubmitted", "no host has the event"),
        ("PreToolUs", "did you mean `PreToolUse`?"),
        (
            "PermissionRequest",
            "the hooks of `PermissionRequest` run under their own host alone",
        ),
        ("TaskCompleted", "run under their own host alone"),
        ("Elicitation", "run under their own host alone"),
    ] {
        let said = checked(&json!({event: hook}));
        assert!(said.contains(told), "{event}: {said}");
    }
    for event in [
        "PreToolUse",
        "preToolUse",
        "Stop",
        "SessionStart",
        "userPromptSubmitted",
    ] {
        let said = checked(&json!({event: hook}));
        assert!(said.contains(" 0 warnings"), "{event}: {said}");
    }
}

#[test]
fn what_a_hook_says_in_vain_is_told() {
    let exit = json!("exit 2");
    for (hook, told) in [
        (
            json!({"command": exit, "timout": 3}),
            "did you mean `timeout`?",
        ),
        (
            json!({"command": exit, "matchr": "x"}),
            "did you mean `matcher`?",
        ),
        (
            json!({"command": exit, "enviroment": {}}),
            "nobody reads the key `enviroment`",
        ),
        (
            json!({"hook": [{"command": exit}]}),
            "did you mean `hooks`?",
        ),
        (
            json!({"matcher": "Bash", "hooks": [{"comand": exit}]}),
            "did you mean `command`?",
        ),
        (
            json!({"type": "comand", "command": exit}),
            "did you mean `command`?",
        ),
        (
            json!({"type": "prompt", "prompt": "x"}),
            "which only its own host can run",
        ),
        (
            json!({"command": exit, "timeout": "5"}),
            "not a number of seconds",
        ),
        (
            json!({"command": exit, "async": "true"}),
            "not true or false",
        ),
        (json!({"hooks": ["exit 2"]}), "is not an object"),
        (
            json!({"hooks": [{"command": exit}], "matcher": ["Bash"]}),
            "not text",
        ),
        (json!({"matcher": "Bash", "hooks": []}), "is empty"),
    ] {
        let said = checked(&json!({"PreToolUse": [hook]}));
        assert!(said.contains(told), "{hook}: {said}");
    }
    let whole = json!([{"matcher": "Bash", "hooks": [{"type": "command", "command": exit, "timeout": 5,
        "if": "Bash(git *)", "async": false, "statusMessage": "x"}]}]);
    let said = checked(&json!({"PreToolUse": whole}));
    assert!(said.contains(" 0 warnings"), "{said}");
}
