//! Told: what a person learns of hooks that cannot be read, that fail, and that speak at the end of a turn.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::world::{Ran, World, write};

fn hook(world: &World, host: &str, event: &Value) -> Ran {
    world.ahp_fed(&["hook", "--host", host], event.to_string().as_bytes())
}

fn bash(world: &World, name: &str) -> Value {
    json!({"hook_event_name": name, "session_id": "s", "cwd": world.root(), "tool_name": "Bash",
        "tool_input": {"command": "ls"}})
}

#[test]
fn a_folder_whose_hook_cannot_be_read_is_told_everywhere() {
    let world = World::new("hooks: {}\n");
    let hooks = world.home().join(".config/agents/hooks");
    let front = "---\nname: NAME\ndescription: d\ntrigger: pre-tool-call\n---\n";
    for folder in ["dangling", "pipe", "folder", "alike", "empty", ".hidden"] {
        fs::create_dir_all(hooks.join(folder)).unwrap();
    }
    symlink("/nowhere", hooks.join("dangling/HOOK.md")).unwrap();
    let made = world
        .command("mkfifo")
        .arg(hooks.join("pipe/HOOK.md"))
        .status();
    assert!(made.unwrap().success());
    fs::create_dir(hooks.join("folder/HOOK.md")).unwrap();
    write(&hooks.join("alike/Hook.md"), front.replace("NAME", "alike"));
    symlink("/nowhere", hooks.join("gone")).unwrap();
    symlink("gone-too", hooks.join("gone-too")).unwrap();
    // What lies beside the hooks is none.
    write(&hooks.join("README.md"), "words");
    symlink("README.md", hooks.join("ABOUT.md")).unwrap();
    let meant = ["alike", "dangling", "folder", "gone", "gone-too", "pipe"];
    let list = world.ahp(&["hook-md", "list"]).stdout;
    let check = world.ahp(&["check"]);
    let doctor = world.ahp(&["doctor"]).stdout;
    let valid = world.ahp(&["hook-md", "validate"]);
    let event = hook(&world, "claude-code", &bash(&world, "PreToolUse"));
    for name in meant {
        assert!(list.contains(name), "{name}: {list}");
        let told = format!("{}{}", check.stdout, check.stderr);
        assert!(told.contains(&format!("`{name}`")), "{name}: {told}");
        assert!(doctor.contains(&format!("`{name}`")), "{name}: {doctor}");
        assert!(
            valid.stderr.contains(&format!("/{name}`")),
            "{name}: {valid:?}"
        );
        assert!(
            event.stdout.contains(&format!("`{name}`")),
            "{name}: {event:?}"
        );
    }
    assert_eq!((check.code, valid.code), (1, 1));
    // A folder that says nothing of being a hook is told where somebody looks for faults.
    assert!(list.contains("empty") && doctor.contains("`empty`"));
    assert!(!event.stdout.contains("`empty`"), "{event:?}");
    for name in ["README", "ABOUT", "hidden"] {
        assert!(
            !list.contains(name) && !event.stdout.contains(name),
            "{name}"
        );
    }
}

#[test]
fn a_person_is_told_of_a_hook_that_fails() {
    let world =
        World::new("hooks: {pre-tool-use: [{oracle: CommandHooks, config: {file: hooks.json}}]}\n");
    let hooks = world.home().join(".config/agents/hooks");
    for (name, script) in [
        ("code", "exit 1"),
        ("signal", "kill -9 $$"),
        ("late", "sleep 5"),
    ] {
        let fields = "trigger: pre-tool-call\ntimeout: 200";
        World::write_hook(&hooks, name, fields, script);
    }
    let file = r#"{"hooks": {"PreToolUse": [{"type": "command", "command": "exit 1"}]}}"#;
    world.write("hooks.json", file);
    world.ahp(&["trust", "-y"]);
    for (host, event) in [
        ("claude-code", "PreToolUse"),
        ("gemini-cli", "BeforeTool"),
        ("vscode", "PreToolUse"),
    ] {
        let ran = hook(&world, host, &bash(&world, event));
        let reply: Value = serde_json::from_str(&ran.stdout).unwrap();
        let message = reply["systemMessage"].as_str().unwrap_or_default();
        for name in ["code", "signal", "late", "command-hooks"] {
            assert!(message.contains(name), "{host} {name}: {ran:?}");
        }
    }
    let explained = world
        .ahp(&["explain", "pre-tool-use", "--format", "json"])
        .stdout;
    assert!(explained.contains("warn (aid)"), "{explained}");
    let log: String = world.log().iter().map(Value::to_string).collect();
    assert!(
        log.contains("oracle-error") && log.contains("\"aid\""),
        "{log}"
    );
}

#[test]
fn what_a_hook_says_at_the_end_of_a_turn_enters_no_later_prompt() {
    let world = World::new("hooks: {}\n");
    let hooks = world.home().join(".config/agents/hooks");
    World::write_hook(
        &hooks,
        "reminds",
        "trigger: pre-agent-turn-stop",
        "echo write a memo",
    );
    let event =
        |name: &str| json!({"hook_event_name": name, "session_id": "s", "cwd": world.root()});
    let stop = hook(&world, "claude-code", &event("Stop"));
    let reply: Value = serde_json::from_str(&stop.stdout).unwrap();
    assert_eq!(reply["systemMessage"], "write a memo", "{stop:?}");
    assert_eq!(reply.get("decision"), None, "{stop:?}");
    let prompt = hook(&world, "claude-code", &event("UserPromptSubmit"));
    assert!(!prompt.stdout.contains("memo"), "{prompt:?}");
}

#[test]
fn an_answer_that_says_a_key_twice_is_a_fault() {
    for answer in [
        r#"{"decision":"deny","decision":"allow"}"#,
        r#"{"decision":"allow","modified_input":{"command":"a","command":"b"}}"#,
    ] {
        for trigger in ["pre-tool-call", "pre-agent-turn"] {
            let world = World::new("hooks: {}\n");
            let hooks = world.home().join(".config/agents/hooks");
            let script = format!("echo '{answer}'");
            World::write_hook(&hooks, "twice", &format!("trigger: {trigger}"), &script);
            let name = if trigger == "pre-tool-call" {
                "PreToolUse"
            } else {
                "UserPromptSubmit"
            };
            let ran = hook(&world, "claude-code", &bash(&world, name));
            assert!(
                ran.stdout.contains("says a key twice"),
                "{trigger} {answer}: {ran:?}"
            );
        }
    }
}
