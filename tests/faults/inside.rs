//! Programs of a policy that call `ahp` themselves, which runs them again: they come to an end, and it is told.

use std::fs;

use ahp::event::{Event, Trigger};
use serde_json::json;

use crate::world::{Ran, World, fed};

/// What a program asks that calls `ahp` as its host does.
const ASKS_AS_HOST: &str = r#"printf '{"hook_event_name": "PreToolUse", "session_id": "s", "transcript_path": "/t", "cwd": "%s", "tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "t"}' "$PWD" | 'AHP' hook --host claude-code"#;
/// The same without a host.
const ASKS_ITSELF: &str = r#"'AHP' run pre-tool-use --tool Bash --input '{"command": "ls"}'"#;

const AS_HOST: [&str; 3] = ["hook", "--host", "claude-code"];

/// Has each run note that it was there, and keep what the one inside of it was told.
fn noting(call: &str) -> String {
    let call = call.replace("AHP", env!("CARGO_BIN_EXE_ahp"));
    format!("echo ran >> \"$HOME/runs\"\n{call} >> \"$HOME/said\" 2>&1\nexit 0")
}

fn ask(world: &World, arguments: &[&str], depth: Option<&str>) -> Ran {
    let payload = json!({
        "hook_event_name": "PreToolUse", "session_id": "s", "transcript_path": "/t", "cwd": world.root(),
        "tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "t",
    });
    let mut command = world.ahp_command();
    command
        .args(arguments)
        .envs(depth.map(|depth| ("AHP_DEPTH", depth)))
        .env("AHP_TRUST", "all");
    fed(&mut command, payload.to_string().as_bytes())
}

/// Returns how often the program ran, and what was said inside of it.
fn traces(world: &World) -> (usize, String) {
    let read = |name: &str| fs::read_to_string(world.home().join(name)).unwrap_or_default();
    (read("runs").lines().count(), read("said"))
}

/// Checks that a program which calls `ahp` was run by it four times, one inside of the other, and that the last was told why no
/// fifth was.
fn assert_ended(world: &World, shown: &str) {
    let (runs, said) = traces(world);
    assert_eq!(runs, 4, "{shown}: {said}");
    assert!(
        said.contains("inside of one another") && said.contains("AHP_DEPTH is 4"),
        "{shown}: {said}"
    );
}

#[test]
fn hooks_come_to_an_end() {
    for call in [ASKS_AS_HOST, ASKS_ITSELF] {
        let hook_md = World::new("");
        let hooks = hook_md.home().join(".config/agents/hooks");
        World::write_hook(&hooks, "again", "trigger: pre-tool-call", &noting(call));

        let file = World::new(
            "hooks: {pre-tool-use: [{oracle: CommandHooks, config: {file: hooks.json}}]}",
        );
        let handlers = json!([{"hooks": [{"type": "command", "command": noting(call)}]}]);
        let settings = json!({"hooks": {"PreToolUse": handlers}});
        file.write("hooks.json", settings.to_string());

        for (shown, world) in [("HOOK.md", hook_md), ("hook file", file)] {
            let ran = ask(&world, &AS_HOST, None);
            assert_eq!((ran.code, &*ran.stdout), (0, ""), "{shown}: {ran:?}");
            assert_ended(&world, shown);
        }
    }
}

#[test]
fn programs_of_other_oracles_come_to_an_end_and_never_pass() {
    let world = World::new(
        "hooks: {pre-issue-submit: [{oracle: TestGate, config: {command: sh test.sh}}]}",
    );
    world.git_init();
    let call = "'AHP' run pre-issue-submit --issue FEAT-1";
    world.write("test.sh", format!("#!/bin/sh\n{}", noting(call)));
    let ran = ask(
        &world,
        &["run", "pre-issue-submit", "--issue", "FEAT-1"],
        None,
    );
    assert_eq!(ran.code, 2, "{ran:?}");
    assert_ended(&world, "TestGate");
}

#[test]
fn who_is_told_learns_how_to_put_it_right() {
    let world = World::new("");
    let ran = ask(&world, &AS_HOST, Some("4"));
    assert!(
        ran.stdout.contains("deny") && ran.stdout.contains("take the call of `ahp` out"),
        "{ran:?}"
    );
}

#[test]
fn a_judge_in_another_process_goes_by_what_it_is_told_of_the_depth() {
    let world = World::new("");
    let hooks = world.user_hooks();
    let says = r#"echo "{\"log\": \"depth $AHP_DEPTH\"}""#;
    World::write_hook(&hooks, "again", "trigger: pre-tool-call", says);
    let found = world.hooks();
    let run = |told| {
        let mut event = Event::new(Trigger::PreToolUse);
        event.depth = told;
        let result = world.run_hook(&found.all()[0], &event);
        result.map(|signals| signals[0].payload.text().to_owned())
    };
    assert_eq!(run(0).unwrap(), "depth 1");
    assert_eq!(run(3).unwrap(), "depth 4");
    let refused = run(4).unwrap_err().to_string();
    assert!(refused.contains("is not started"), "{refused}");
}
