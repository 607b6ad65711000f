//! What is in force of a policy whatever its layers say or fail to say, told by the program that hosts call.

use serde_json::Value;
use serde_json::json;

use crate::world::World;
use crate::world::write;

/// Sends one event as Claude Code does; returns whether it is stopped or asked about, and the whole answer.
fn hook(world: &World, event: &Value) -> (Option<String>, String) {
    let ran = world.ahp_fed(
        &["hook", "--host", "claude-code"],
        event.to_string().as_bytes(),
    );
    assert!(matches!(ran.code, 0 | 2), "{ran:?}");
    let answer: Value = serde_json::from_str(&ran.stdout).unwrap_or_default();
    let specific = &answer["hookSpecificOutput"]["permissionDecision"];
    let decision = specific.as_str().or(answer["decision"].as_str());
    (
        decision.map(ToOwned::to_owned),
        format!("{}{}", ran.stdout, ran.stderr),
    )
}

fn tool(world: &World, name: &str, input: &Value) -> Value {
    json!({
        "hook_event_name": "PreToolUse", "session_id": "s", "cwd": world.root(),
        "tool_name": name, "tool_input": input, "tool_use_id": "t",
    })
}

fn bash(world: &World, command: &str) -> Value {
    tool(world, "Bash", &json!({"command": command}))
}

#[test]
fn self_protection_holds_whatever_is_bound_cold_and_warm() {
    let stop_only = "hooks: {pre-agent-turn-stop: [{oracle: ChecklistValidator}]}";
    for (user, project) in [
        (Some(stop_only), None),
        (Some("hooks: {}"), None),
        (None, Some("hooks: {}")),
        (None, Some(stop_only)),
        (None, None),
    ] {
        let world = World::new(project.unwrap_or_default());
        if let Some(user) = user {
            write(&world.home().join(".ahp/hooks.yaml"), user);
        }
        let edit = json!({"file_path": world.path(".ahp/hooks.yaml"), "content": "hooks: {}"});
        for round in ["cold", "warm", "warm again"] {
            for event in [
                bash(&world, "rm -rf ~/.ahp"),
                bash(&world, "ahp trust -y"),
                tool(&world, "Write", &edit),
            ] {
                let (decision, answer) = hook(&world, &event);
                let at = format!("{user:?} {project:?} {round}: {event}\n{answer}");
                assert_eq!(decision.as_deref(), Some("deny"), "{at}");
            }
            let (decision, answer) = hook(&world, &bash(&world, "ls"));
            assert_eq!(decision, None, "{answer}");
        }
    }
}

#[test]
fn explain_lists_self_protection_and_hooks_like_bindings() {
    let world = World::new("hooks: {pre-tool-use: [{oracle: PermissionChecker}]}");
    World::write_hook(
        &world.home().join(".config/agents/hooks"),
        "guard",
        "trigger: PreToolUse\nmatcher: {tool: Shell}",
        "exit 0",
    );
    let listed = world
        .ahp(&["explain", "pre-tool-use", "--format", "json"])
        .json();
    let rows: Vec<_> = listed
        .iter()
        .map(|row| {
            [&row["id"], &row["layer"], &row["locked"]]
                .map(ToString::to_string)
                .join(" ")
        })
        .collect();
    assert_eq!(
        rows,
        [
            r#""(self-protection)" "built-in" true"#,
            r#""permission-checker" "project" false"#,
            r#""guard" "user" false"#,
        ]
    );
    let shown = world.ahp(&["explain"]).stdout;
    for part in ["built-in layer, built-in, locked", "guard/HOOK.md:1"] {
        assert!(shown.contains(part), "{shown}");
    }
}

#[test]
fn only_a_person_switches_self_protection_off() {
    let world = World::new("hooks: {}");
    write(
        &world.home().join(".ahp/hooks.yaml"),
        "settings: {self_protection: false}",
    );
    for _ in 0..2 {
        assert_eq!(hook(&world, &bash(&world, "ahp trust -y")).0, None);
    }
    let shown = world.ahp(&["explain", "pre-tool-use"]).stdout;
    assert!(shown.contains("switched off"), "{shown}");
}
