//! Pipes that lie where a file belongs: opening one waits for somebody who writes.

use serde_json::json;

use crate::world::{Ran, World, fed};

const POLICY: &str = "hooks:
  pre-tool-use:
    - {oracle: PermissionChecker, config: {rules: [.ahp/rules.yaml]}, when: {git.branch: main}}
    - {oracle: PermissionChecker, id: own, config: {rules: [.ahp/rules.yaml]}}
  pre-agent-turn-stop:
    - {oracle: SecurityScanner, config: {rules: [.ahp/secrets.yaml]}}
    - {oracle: FileChangeLimiter}
    - {oracle: ChecklistValidator}
";

/// What is read of a project and its user, by a hook or by a command.
const PLACES: &[&str] = &[
    ".ahp/hooks.yaml",
    ".ahp/hooks.local.yaml",
    ".ahp/rules.yaml",
    ".ahp/secrets.yaml",
    ".ahp/oracles/mine.rhai",
    ".ahp/signals.jsonl",
    ".ahp/evidence.json",
    ".claude/settings.json",
    ".agents/hooks/guard/HOOK.md",
    ".git",
    ".git/HEAD",
    ".git/packed-refs",
    "Issues/FEAT-0001.md",
    "new.txt",
    "../home/.ahp/hooks.yaml",
    "../home/.claude/settings.json",
];

/// Runs `ahp`, and ends it when it waits.
fn ahp(world: &World, arguments: &[&str], input: Option<&str>) -> Ran {
    let mut command = world.command("timeout");
    command.args(["--signal=KILL", "30", env!("CARGO_BIN_EXE_ahp")]);
    command.args(arguments);
    fed(&mut command, input.unwrap_or_default().as_bytes())
}

#[test]
fn a_pipe_in_the_place_of_a_file_keeps_nobody_waiting() {
    for place in PLACES {
        let world = World::new(POLICY);
        world.write(".ahp/rules.yaml", "rules: []\n");
        world.git_init();
        let path = world.root().join(place);
        std::fs::remove_dir_all(&path)
            .or_else(|_| std::fs::remove_file(&path))
            .ok();
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        assert!(
            world
                .command("mkfifo")
                .arg(&path)
                .status()
                .unwrap()
                .success(),
            "{place}"
        );
        let event = |name: &str| {
            let event = json!({
                "hook_event_name": name, "session_id": "s", "cwd": world.root(),
                "tool_name": "Bash", "tool_input": {"command": "ls"},
            });
            event.to_string()
        };
        for name in ["PreToolUse", "Stop"] {
            let ran = ahp(
                &world,
                &["hook", "--host", "claude-code", "--timeout", "5"],
                Some(&event(name)),
            );
            assert!(matches!(ran.code, 0 | 2), "{place}: {name}: {ran:?}");
        }
        for arguments in [
            &["check"][..],
            &["trust", "--show"],
            &["log", "show"],
            &["explain"],
            &["doctor"],
        ] {
            let ran = ahp(&world, arguments, None);
            assert!(matches!(ran.code, 0..=2), "{place}: {arguments:?}: {ran:?}");
        }
    }
}
