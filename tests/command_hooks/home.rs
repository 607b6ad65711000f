//! Hook files that lie in the home of a user: found as they are named, missed where a binding insists, guarded with their scripts.

use serde_json::json;

use crate::world::{Ran, World, executable, write};

/// A user whose policy binds a file at home, with what else the binding says.
fn bound(file: &str, further: &str) -> World {
    let world = World::new("");
    let binding = format!("{{oracle: CommandHooks, config: {{file: \"{file}\"}}{further}}}");
    let policy = format!("hooks:\n  pre-tool-use:\n    - {binding}\n");
    write(&world.home().join(".ahp/hooks.yaml"), policy);
    world
}

fn hook_file(world: &World, hook: &serde_json::Value) {
    let file = json!({"hooks": {"PreToolUse": [hook]}});
    write(&world.home().join("h/c.json"), file.to_string());
}

/// Judges a command of a shell.
fn judged(world: &World, command: &str) -> Ran {
    let input = json!({"command": command}).to_string();
    world.ahp(&["run", "pre-tool-use", "--tool", "Bash", "--input", &input])
}

const NAMES: &[&str] = &["~/h/c.json", "~/h", "~/h/*.json", "~/h/?.json"];

#[test]
fn a_file_a_folder_and_a_pattern_at_home_are_found() {
    for name in NAMES {
        let world = bound(name, "");
        hook_file(
            &world,
            &json!({"type": "command", "command": "echo no >&2; exit 2"}),
        );
        assert_eq!(judged(&world, "ls").code, 2, "{name}");
        let checked = world.ahp(&["check"]).stdout;
        assert!(!checked.contains("means no file"), "{name}: {checked}");
    }
}

#[test]
fn a_binding_that_insists_misses_its_file() {
    for name in NAMES {
        for (further, code) in [
            ("", 0),
            (", on_error: allow", 0),
            (", on_error: block", 2),
            (", locked: true, on_error: block", 2),
        ] {
            let world = bound(name, further);
            let ran = judged(&world, "ls");
            assert_eq!(ran.code, code, "{name}{further}: {ran:?}");
            let checked = world.ahp(&["check"]).stdout;
            let told = format!("`{name}` means no file with command hooks");
            assert!(checked.contains(&told), "{name}{further}: {checked}");
        }
    }
    // What is locked does not pass in silence.
    let world = bound("~/h/c.json", ", locked: true");
    let said = judged(&world, "ls");
    assert!(said.stdout.contains("means no file"), "{said:?}");
}

#[test]
fn scripts_of_a_file_at_home_are_guarded() {
    for name in NAMES {
        let world = bound(name, "");
        hook_file(
            &world,
            &json!({"type": "command", "command": "~/h/s/run.sh"}),
        );
        executable(&world.home().join("h/s/run.sh"), "#!/bin/sh\nexit 0\n");
        assert_eq!(judged(&world, "cat ~/h/s/run.sh").code, 0, "{name}");
        // The second time the policy comes from the cache.
        for command in [
            "echo x > ~/h/s/run.sh",
            "rm ~/h/s/run.sh",
            "chmod -x ~/h/s/run.sh",
        ]
        .repeat(2)
        {
            assert_eq!(judged(&world, command).code, 2, "{name}: {command}");
        }
        let path = world.home().join("h/s/run.sh").display().to_string();
        let input = json!({"file_path": path, "content": "x"}).to_string();
        let ran = world.ahp(&["run", "pre-tool-use", "--tool", "Write", "--input", &input]);
        assert_eq!(ran.code, 2, "{name}: {ran:?}");
    }
}

#[test]
fn a_slow_hook_at_home_is_waited_for() {
    let world = bound("~/h/c.json", "");
    hook_file(
        &world,
        &json!({"type": "command", "command": "true", "timeout": 200}),
    );
    let wired = world
        .ahp(&["install", "claude", "--user", "--dry-run"])
        .stdout;
    assert!(wired.contains("\"timeout\": 227"), "{wired}");
}
