//! Wires that are there and hold nothing back: `doctor` says so, and another installation fixes what is ours.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::world::World;

fn set(file: &Path, pointer: &str, key: &str, value: Value) {
    let mut settings: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    settings.pointer_mut(pointer).unwrap()[key] = value;
    fs::write(file, settings.to_string()).unwrap();
}

#[test]
fn a_wire_that_was_weakened_is_told_and_mended() {
    let claude = (
        "claude-code",
        ".claude/settings.json",
        "/hooks/PreToolUse/0",
    );
    let gemini = ("gemini-cli", ".gemini/settings.json", "/hooks/BeforeTool/0");
    let copilot = ("copilot", ".github/hooks/ahp.json", "/hooks/preToolUse/0");
    for ((host, file, group), inner, key, value, told) in [
        (
            claude,
            "",
            "matcher",
            json!("Edit"),
            "`Edit` leaves tools out",
        ),
        (claude, "/hooks/0", "timeout", json!(1), "cut off after 1 s"),
        (claude, "/hooks/0", "async", json!(true), "it is `async`"),
        (
            claude,
            "/hooks/0",
            "onFailure",
            json!("allow"),
            "cannot judge is blocked",
        ),
        (
            gemini,
            "/hooks/0",
            "timeout",
            json!(60),
            "cut off after 0.06 s",
        ),
        (copilot, "", "timeoutSec", json!(2), "cut off after 2 s"),
    ] {
        let world = World::new("hooks: {pre-tool-use: [{oracle: PermissionChecker}]}\n");
        world.ahp(&["install", host, "--project"]);
        let sound = world.ahp(&["doctor", host]);
        assert_eq!(sound.code, 0, "{host}: {}", sound.stdout);
        let path = world.path(file);
        set(&path, &format!("{group}{inner}"), key, value);
        let weak = world.ahp(&["doctor", host]);
        assert_eq!(weak.code, 1, "{host} {key}: {}", weak.stdout);
        assert!(weak.stdout.contains(told), "{}", weak.stdout);
        let repaired = world.ahp(&["install", host, "--project"]).stdout;
        assert!(repaired.contains("wired "), "{host} {key}: {repaired}");
        let sound = world.ahp(&["doctor", host]);
        assert_eq!(sound.code, 0, "{host} {key}: {}", sound.stdout);
    }
}

#[test]
fn a_matcher_for_every_tool_is_no_weakness() {
    let world = World::new("hooks: {pre-tool-use: [{oracle: PermissionChecker}]}\n");
    world.ahp(&["install", "claude-code"]);
    let file = world.path(".claude/settings.json");
    for every in ["*", ""] {
        set(&file, "/hooks/PreToolUse/0", "matcher", json!(every));
        assert_eq!(world.ahp(&["doctor", "claude-code"]).code, 0);
        let again = world.ahp(&["install", "claude-code"]).stdout;
        assert!(again.contains("is wired already"), "{again}");
    }
}

#[test]
fn hooks_that_are_switched_off_are_told() {
    for (host, file) in [
        ("claude-code", ".claude/settings.json"),
        ("claude-code", ".claude/settings.local.json"),
        ("copilot", ".github/hooks/ahp.json"),
    ] {
        let world = World::new("hooks: {pre-tool-use: [{oracle: PermissionChecker}]}\n");
        world.ahp(&["install", host, "--project"]);
        let path = world.path(file);
        if !path.exists() {
            world.write(file, "{}");
        }
        set(&path, "", "disableAllHooks", json!(true));
        let told = "runs no hook at all: `disableAllHooks` stands in ";
        let examined = world.ahp(&["doctor", host]);
        assert_eq!(examined.code, 1, "{file}: {}", examined.stdout);
        assert!(examined.stdout.contains(told), "{}", examined.stdout);
        let installed = world.ahp(&["install", host, "--project"]).stdout;
        assert!(installed.contains(told), "{installed}");
        set(&path, "", "disableAllHooks", json!(false));
        assert_eq!(world.ahp(&["doctor", host]).code, 0, "{file}");
    }
}

#[test]
fn the_canary_is_no_odd_call() {
    let world = World::new("hooks: {pre-tool-use: [{oracle: PermissionChecker}]}\n");
    world.ahp(&["install", "vscode", "--project"]);
    for _ in 0..2 {
        let examined = world.ahp(&["doctor", "vscode", "--format", "json"]);
        assert_eq!(examined.json()[0]["odd_calls"], json!([]));
    }
}

/// Runs a wire as a host does, by a shell with this search path; returns its exit code.
fn run_wire(world: &World, command: &str, search_path: &Path) -> i32 {
    let mut shell = world.command("/bin/sh");
    shell.args(["-c", command]).env("PATH", search_path);
    let event = json!({
        "hook_event_name": "PreToolUse", "session_id": "s", "cwd": world.root(),
        "tool_name": "Bash", "tool_input": {"command": "git push --force nowhere main"},
    });
    crate::world::fed(&mut shell, event.to_string().as_bytes()).code
}

#[test]
fn an_optional_wire_lets_pass_where_there_is_no_ahp_and_nowhere_else() {
    let world = World::new("extends: [ahp:standard]\n");
    let command = || {
        let text = world.read(".gemini/settings.json");
        let settings: Value = serde_json::from_str(&text).unwrap();
        let command = &settings["hooks"]["BeforeTool"][0]["hooks"][0]["command"];
        command.as_str().unwrap().to_owned()
    };
    let (with, broken, without) = (
        world.path("with"),
        world.path("broken"),
        world.path("without"),
    );
    for dir in [&with, &broken, &without] {
        fs::create_dir(dir).unwrap();
    }
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_ahp"), with.join("ahp")).unwrap();
    crate::world::executable(&broken.join("ahp"), "#!/bin/sh\nkill -9 $$\n");

    let told = world.ahp(&["install", "gemini-cli", "--project", "--optional"]);
    assert!(
        told.stdout.contains("everything passes unjudged"),
        "{}",
        told.stdout
    );
    let optional = command();
    assert_eq!(run_wire(&world, &optional, &without), 0, "{optional}");
    assert_eq!(run_wire(&world, &optional, &broken), 2, "{optional}");

    // Another installation closes it again; the former one is known as ours.
    world.ahp(&["install", "gemini-cli", "--project"]);
    let closed = command();
    assert_eq!(run_wire(&world, &closed, &without), 2, "{closed}");
    world.ahp(&["install", "gemini-cli", "--project", "--optional"]);
    assert_eq!(command(), optional);
    world.ahp(&["uninstall", "gemini-cli"]);
    assert!(!world.path(".gemini/settings.json").exists());

    for (host, scope, why) in [
        ("gemini-cli", "--user", "only the hooks of a project"),
        ("cline", "--project", "cannot be optional"),
        ("git", "--project", "cannot be optional"),
    ] {
        let refused = world.ahp(&["install", host, scope, "--optional"]);
        assert_eq!(refused.code, 1, "{host}: {}", refused.stdout);
        assert!(refused.stderr.contains(why), "{host}: {}", refused.stderr);
    }
}
