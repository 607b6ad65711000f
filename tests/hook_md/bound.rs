//! Hooks that a layer binds: which hook is meant, what it keeps of its own, and what a project cannot do to its user's.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value;

use crate::world::World;

const BLOCKS: &str = "echo no >&2; exit 2";

/// A project with this policy, its user with that one and a hook `guard` with these fields beside its trigger.
fn world(project: &str, user: &str, fields: &str, script: &str) -> World {
    let world = World::new(project);
    crate::world::write(&world.home().join(".ahp/hooks.yaml"), user);
    let hooks = world.home().join(".config/agents/hooks");
    let fields = format!("trigger: pre-tool-use\n{fields}");
    World::write_hook(&hooks, "guard", fields.trim_end(), script);
    world
}

fn judge(world: &World, trust: &str) -> Value {
    let event = br#"{"trigger": "pre-tool-use", "session_id": "s", "tool": {"name": "Bash", "input": {"command": "ls"}}}"#;
    let mut command = world.ahp_command();
    command.env("AHP_TRUST", trust);
    command.args(["run", "--event", "-", "--format", "json"]);
    crate::world::fed(&mut command, event).json().remove(0)
}

fn decision(world: &World) -> String {
    judge(world, "")["decision"].as_str().unwrap().to_owned()
}

fn kinds(verdict: &Value) -> Vec<&str> {
    let signals = verdict["signals"].as_array().unwrap().iter();
    let mut kinds: Vec<_> = signals
        .map(|signal| signal["header"]["type"].as_str().unwrap())
        .collect();
    kinds.sort_unstable();
    kinds
}

const LOCKED_BINDING: &str =
    "hooks: {pre-tool-use: [{hook: guard, on_error: block, locked: true}]}";
const BINDING: &str = "hooks: {pre-tool-use: [{hook: guard}]}";
const LOCKED: &str = "metadata: {locked: \"true\"}";

#[test]
fn a_project_hook_that_is_not_trusted_takes_no_binding_over() {
    for (project, user) in [
        ("", LOCKED_BINDING),
        ("", BINDING),
        (BINDING, ""),
        (BINDING, "hooks: {pre-tool-use: [{hook: guard, id: x}]}"),
    ] {
        let world = world(project, user, "", BLOCKS);
        World::write_hook(
            &world.project_hooks(),
            "guard",
            "trigger: pre-tool-use",
            "exit 0",
        );
        let verdict = judge(&world, "");
        assert_eq!(verdict["decision"], "block", "{project}{user}: {verdict}");
        let trusted = judge(&world, "all");
        let expected = if user == LOCKED_BINDING {
            "block"
        } else {
            "none"
        };
        assert_eq!(trusted["decision"], expected, "{project}{user}: {trusted}");
    }
}

#[test]
fn a_project_hook_that_is_not_trusted_says_so_beside_the_one_it_would_replace() {
    let world = world("", LOCKED_BINDING, "", "exit 0");
    let fields = "trigger: pre-tool-use";
    World::write_hook(&world.project_hooks(), "guard", fields, "exit 0");
    assert_eq!(kinds(&judge(&world, "")), ["not-trusted"]);
    world.write(
        ".ahp/hooks.yaml",
        "hooks: {pre-tool-use: [{hook: guard, id: own, enabled: false}]}",
    );
    assert_eq!(kinds(&judge(&world, "")), Vec::<&str>::new());
}

#[test]
fn a_project_cannot_switch_off_a_locked_hook() {
    let world = world("settings: {agent_hooks: false}", "", LOCKED, BLOCKS);
    World::write_hook(
        &world.project_hooks(),
        "other",
        "trigger: pre-tool-use",
        "exit 0",
    );
    let verdict = judge(&world, "all");
    assert_eq!(verdict["decision"], "block");
    let ran = verdict["bindings"].as_array().unwrap();
    assert!(ran.iter().all(|b| b["id"] != "other"), "{verdict}");

    let unlocked = self::world("settings: {agent_hooks: false}", "", "", BLOCKS);
    assert_eq!(decision(&unlocked), "none");
    let by_user = self::world("", "settings: {agent_hooks: false}", LOCKED, BLOCKS);
    assert_eq!(decision(&by_user), "none");
}

#[test]
fn a_project_that_binds_a_locked_hook_is_at_fault() {
    for more in [
        "enabled: false",
        "when: {environment: nowhere}",
        "async: true",
        "intensity: aid",
    ] {
        let project = format!("hooks: {{pre-tool-use: [{{hook: guard, {more}}}]}}");
        for user in ["", BINDING] {
            let world = world(&project, user, LOCKED, BLOCKS);
            assert_eq!(decision(&world), "block", "{more}");
            // What is remembered of a policy is judged as it was.
            assert_eq!(decision(&world), "block", "{more}");
            let check = world.ahp(&["check"]);
            assert_eq!(check.code, 1, "{more}: {check:?}");
            let said = format!("{}{}", check.stdout, check.stderr);
            let names = said.contains("guard/HOOK.md") && said.contains(".ahp/hooks.yaml:1");
            assert!(names && said.contains("locked"), "{said}");
        }
    }
    let by_user = world("", BINDING, LOCKED, BLOCKS);
    assert_eq!(decision(&by_user), "block");
    assert_eq!(by_user.ahp(&["check"]).code, 0);
}

#[test]
fn a_bound_hook_keeps_what_its_binding_does_not_say() {
    let slow = "sleep 0.3; echo no >&2; exit 2";
    let short = "settings: {timeout: 100ms}\n";
    for binding in [BINDING, LOCKED_BINDING] {
        let world = world("", &format!("{short}{binding}"), "timeout: 8000", slow);
        let verdict = judge(&world, "");
        let reasons = verdict["signals"][0]["payload"]["reason"].as_str();
        assert_eq!(reasons, Some("no"), "{verdict}");
    }
    let given = "hooks: {pre-tool-use: [{hook: guard, timeout: 100ms}]}";
    assert_eq!(decision(&world("", given, "timeout: 8000", slow)), "allow");

    let other_tool = world("", BINDING, "matcher: {tool: Write}", BLOCKS);
    assert_eq!(decision(&other_tool), "none");
    let same_tool = world("", BINDING, "matcher: {tool: Shell}", BLOCKS);
    assert_eq!(decision(&same_tool), "block");

    assert_eq!(decision(&world("", BINDING, "async: true", BLOCKS)), "none");
    let waited = "hooks: {pre-tool-use: [{hook: guard, async: false}]}";
    assert_eq!(decision(&world("", waited, "async: true", BLOCKS)), "block");
}

#[test]
fn a_hook_that_is_called_like_a_binding_runs_all_the_same() {
    let policy = "hooks: {pre-tool-use: [{oracle: ContextLoader, id: guard}]}";
    let world = world(policy, "", "async: true", "echo done > \"$HOME/fifo\"");
    let fifo = world.home().join("fifo");
    assert!(
        world
            .command("mkfifo")
            .arg(&fifo)
            .status()
            .unwrap()
            .success()
    );
    let verdict = judge(&world, "");
    let ids = verdict["bindings"].as_array().unwrap().iter();
    let ids: Vec<_> = ids.map(|binding| binding["id"].as_str().unwrap()).collect();
    assert!(
        ids.contains(&"guard") && ids.contains(&"user:guard"),
        "{ids:?}"
    );
    assert_eq!(fs::read_to_string(&fifo).unwrap(), "done\n");
}

#[test]
fn a_hook_without_a_program_fails_as_its_binding_says() {
    let script = |world: &World| world.home().join(".config/agents/hooks/guard/scripts/run");
    for (user, expected) in [(LOCKED_BINDING, "block"), (BINDING, "allow"), ("", "allow")] {
        let world = world("", user, "", BLOCKS);
        fs::set_permissions(script(&world), fs::Permissions::from_mode(0o644)).unwrap();
        let verdict = judge(&world, "");
        assert_eq!(verdict["decision"], expected, "{user}");
        assert_eq!(kinds(&verdict), ["oracle-error"]);
        fs::remove_file(script(&world)).unwrap();
        assert_eq!(decision(&world), expected, "{user}");
    }
}
