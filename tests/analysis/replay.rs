//! `ahp replay`: what another policy would have changed.

use serde_json::{Value, json};

use crate::world::World;

fn ahp(world: &World, args: &[&str]) -> (i32, String) {
    let ran = world.ahp(args);
    (ran.code, [ran.stdout, ran.stderr].concat())
}

/// A project that lets `rm -rf` pass and has seen it, beside something harmless.
fn project() -> World {
    let policy = "hooks:\n  pre-tool-use:\n    - {oracle: PermissionChecker, config: {dangerous_commands: [make clean]}}\n";
    let world = World::new(policy);
    for command in ["make deploy", "ls", "make clean"] {
        let input = json!({"command": command}).to_string();
        ahp(
            &world,
            &[
                "run",
                "pre-tool-use",
                "--tool",
                "Bash",
                "--input",
                &input,
                "--session",
                "s1",
            ],
        );
    }
    world
}

#[test]
fn a_stricter_policy_newly_blocks_and_a_laxer_one_newly_allows() {
    let world = project();
    let policy = "hooks:\n  pre-tool-use:\n    - {oracle: PermissionChecker, id: strict, config: {dangerous_commands: [make deploy]}}\n";
    world.write("new.yaml", policy);
    let (code, said) = ahp(
        &world,
        &["replay", "--policy", "new.yaml", "--format", "json"],
    );
    assert_eq!(code, 0, "{said}");
    let outcome: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(outcome["newly_blocked"], 1, "{said}");
    assert_eq!(outcome["newly_allowed"], 1, "{said}");
    assert_eq!(outcome["unchanged"], 1, "{said}");
    assert_eq!(outcome["changes"][0]["old"], "none");
    assert_eq!(outcome["changes"][0]["new"], "block");
    assert!(
        outcome["changes"][0]["by"][0]
            .as_str()
            .unwrap()
            .starts_with("strict (")
    );

    let (code, _) = ahp(
        &world,
        &["replay", "--policy", "new.yaml", "--deny-new-blocks"],
    );
    assert_eq!(code, 1);
    let (code, _) = ahp(
        &world,
        &["replay", "--policy", "new.yaml", "--deny-new-allows"],
    );
    assert_eq!(code, 1);
    // The replay leaves no trace in the log.
    let (_, said) = ahp(&world, &["log", "stats", "--json"]);
    let stats: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(stats["evaluations"], 3);
}

#[test]
fn the_policy_in_force_changes_nothing() {
    let world = project();
    let (code, said) = ahp(
        &world,
        &["replay", "--deny-new-blocks", "--deny-new-allows"],
    );
    assert_eq!(code, 0, "{said}");
    assert!(
        said.contains("0 newly blocked, 0 newly allowed, 3 unchanged"),
        "{said}"
    );
}

#[test]
fn an_event_that_was_cut_is_not_judged() {
    let world = project();
    let long = format!("echo {}; make clean", "x".repeat(5000));
    for command in ["PASSWORD=hunter22 make clean", &long] {
        let input = json!({"command": command}).to_string();
        let run = ["run", "pre-tool-use", "--tool", "Bash", "--input"];
        let (code, said) = ahp(&world, &[&run[..], &[&input]].concat());
        assert_eq!(code, 2, "{said}");
    }
    let (code, said) = ahp(&world, &["replay", "--deny-new-allows"]);
    assert_eq!(code, 0, "{said}");
    for part in [
        "0 newly blocked, 0 newly allowed, 3 unchanged",
        "2 could not be replayed: secrets or long texts were cut out of their events",
        "of 2 events it cannot be told whether they would change",
    ] {
        assert!(said.contains(part), "{said}");
    }
    let (_, said) = ahp(&world, &["replay", "--format", "json"]);
    let outcome: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(outcome["not_replayed"], 2, "{said}");
    assert_eq!(outcome["cut"], 2, "{said}");
}

#[test]
fn a_line_that_is_no_record_is_left_out_and_said() {
    let world = project();
    let log = world.read(".ahp/signals.jsonl");
    let (first, rest) = log.split_once('\n').unwrap();
    let broken = format!(
        "{first}\n{}",
        rest.replacen("\"digest\":\"", "\"digest\":\"x", 1)
    );
    world.write(".ahp/signals.jsonl", broken);
    let (code, said) = ahp(&world, &["replay", "--deny-new-blocks"]);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("2 unchanged"), "{said}");
    assert!(
        said.contains("left out 1 line of the log that cannot be read"),
        "{said}"
    );
}

#[test]
fn a_broken_policy_and_a_missing_log_are_said() {
    let world = project();
    world.write("bad.yaml", "hooks: {pre-tool-usee: []}\n");
    let (code, said) = ahp(&world, &["replay", "--policy", "bad.yaml"]);
    assert_eq!(code, 1);
    assert!(said.contains("pre-tool-use"), "{said}");
    let (code, said) = ahp(&world, &["replay", "nowhere.jsonl"]);
    assert_eq!(code, 1);
    assert!(said.contains("no log at `nowhere.jsonl`"), "{said}");
}

#[test]
fn marks_are_replayed_with_the_times_of_their_events_and_from_before_the_first_one() {
    let policy = r#"
marks:
  tests_passed: {on: post-tool-use, when: {tool.command: "~ ^cargo test", tool.ok: true}, within: 1h}
hooks:
  pre-tool-use:
    - {oracle: Say, when: {tool.command: "~ ^git push", marks.tests_passed: 0}, config: {intensity: block}}
"#;
    let world = World::new(policy);
    let event = |trigger: &str, command: &str, time: &str| {
        let event = json!({"trigger": trigger, "session_id": "s", "timestamp": time,
            "tool": {"name": "Bash", "input": {"command": command}, "exit_code": 0}});
        format!("{event}\n")
    };
    let events = [
        event("post-tool-use", "cargo test", "2026-01-01T10:00:00Z"),
        event("pre-tool-use", "git push", "2026-01-01T10:30:00Z"),
        event("pre-tool-use", "git push", "2026-01-01T11:30:00Z"),
    ];
    let ran = world.ahp_fed(&["run", "--events", "-"], events.concat().as_bytes());
    assert!(ran.stdout.contains("block"), "{ran:?}");
    for since in [&[][..], &["--since", "2026-01-01T10:15:00Z"]] {
        let args = ["replay", "--deny-new-blocks", "--deny-new-allows"];
        let (code, said) = ahp(&world, &[&args[..], since].concat());
        assert_eq!(code, 0, "{said}");
    }
}
