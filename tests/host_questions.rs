//! The events at which a host asks its person: what a call is answered there, what is logged of it, and when they are wired.

use std::fs;

use serde_json::Value;

use crate::world::{Ran, World};

/// A host, where its recorded payloads lie, and a call of theirs with the question about it.
const TOLD_TWICE: &[(&str, &str, &str, &str)] = &[
    (
        "claude-code",
        "claude-code/2.1.329",
        "PreToolUse",
        "PermissionRequest",
    ),
    (
        "claude-code",
        "claude-code/2.1.329",
        "PreToolUse.2",
        "PermissionRequest.2",
    ),
    (
        "claude-code",
        "claude-code/2.1.329",
        "PreToolUse.3",
        "PermissionRequest.3",
    ),
    (
        "copilot",
        "copilot/1.0.102",
        "preToolUse",
        "permissionRequest",
    ),
    (
        "copilot",
        "copilot/1.0.102",
        "preToolUse.2",
        "permissionRequest.2",
    ),
    (
        "copilot",
        "copilot/1.0.102",
        "mcp.preToolUse",
        "mcp.permissionRequest",
    ),
    (
        "copilot",
        "copilot/1.0.102-pascal",
        "PreToolUse.2",
        "PermissionRequest.2",
    ),
    (
        "copilot",
        "copilot/1.0.102-pascal",
        "PreToolUse.3",
        "PermissionRequest.3",
    ),
    (
        "copilot",
        "copilot/1.0.102-pascal",
        "in-subagent.PreToolUse",
        "in-subagent.PermissionRequest",
    ),
    (
        "copilot",
        "copilot/1.0.102-pascal",
        "mcp.PreToolUse",
        "mcp.PermissionRequest",
    ),
];

/// Tells of what a host has sent, in the world's project and in one session.
fn tells(world: &World, host: &str, dir: &str, name: &str) -> Ran {
    let file = format!(
        "{}/tests/host/{dir}/{name}.json",
        env!("CARGO_MANIFEST_DIR")
    );
    let mut payload: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    let fields = payload.as_object_mut().unwrap();
    for (key, value) in fields.iter_mut() {
        match key.as_str() {
            "session_id" | "sessionId" => *value = "s".into(),
            "cwd" => *value = world.root().to_str().into(),
            _ => {}
        }
    }
    let event = name
        .split('.')
        .find(|part| part.to_lowercase().starts_with('p'))
        .unwrap();
    let args = ["hook", "--host", host, "--event", event];
    world.ahp_fed(&args, payload.to_string().as_bytes())
}

/// Returns how many evaluations and how many signals were logged.
fn logged(world: &World) -> (usize, usize) {
    let log = fs::read_to_string(world.path(".ahp/signals.jsonl")).unwrap_or_default();
    let of = |kind: &str| {
        log.lines()
            .filter(|line| line.contains(&format!("\"kind\":\"{kind}\"")))
            .count()
    };
    (of("evaluation"), of("signal"))
}

fn says(intensity: &str, more: &str) -> String {
    format!(
        "hooks: {{pre-tool-use: [{{oracle: Say, config: {{text: no, intensity: {intensity}}}{more}}}]}}\n"
    )
}

#[test]
fn a_call_that_is_told_twice_is_one_finding() {
    for (host, dir, call, question) in TOLD_TWICE {
        let world = World::new(&says("block", ""));
        let refused = tells(&world, host, dir, call);
        assert!(refused.stdout.contains("deny"), "{call}: {refused:?}");
        assert_eq!(logged(&world), (1, 1), "{dir} {call}");
        let asked = tells(&world, host, dir, question);
        assert!(asked.stdout.contains("deny"), "{question}: {asked:?}");
        assert_eq!(logged(&world), (1, 1), "{dir} {question}");
        let stats = world.ahp(&["log", "stats", "--format", "json"]);
        let stats: Value = serde_json::from_str(&stats.stdout).unwrap();
        assert!(!stats.to_string().contains("\"signals\":2"), "{stats}");
    }
}

#[test]
fn what_was_let_go_is_not_logged_again() {
    for (host, dir, call, question) in TOLD_TWICE {
        let world = World::new(&says("prompt", ""));
        tells(&world, host, dir, call);
        assert_eq!(logged(&world), (1, 1), "{dir} {call}");
        let asked = tells(&world, host, dir, question);
        assert!(!asked.stdout.contains("deny"), "{question}: {asked:?}");
        assert_eq!(logged(&world), (1, 1), "{dir} {question}");
    }
}

#[test]
fn a_question_about_a_call_that_nobody_has_told_of_is_that_call() {
    let (host, dir, call, question) = TOLD_TWICE[0];
    let world = World::new(&says("block", ""));
    for _ in 0..2 {
        let asked = tells(&world, host, dir, question);
        assert!(asked.stdout.contains("deny"), "{asked:?}");
        assert_eq!(logged(&world), (1, 1));
    }
    // A call that comes after it is one of its own.
    tells(&world, host, dir, call);
    assert_eq!(logged(&world), (2, 2));
}

#[test]
fn a_call_does_not_escalate_by_being_told_twice() {
    let (host, dir, call, question) = TOLD_TWICE[0];
    let world = World::new(&says("prompt", ", escalate: {steps: [prompt, block]}"));
    tells(&world, host, dir, call);
    let asked = tells(&world, host, dir, question);
    assert_eq!(asked.stdout, "", "{asked:?}");
    let again = tells(&world, host, dir, call);
    assert!(again.stdout.contains("deny"), "{again:?}");
    assert_eq!(logged(&world), (2, 2));
}

#[test]
fn what_blocks_only_when_the_person_is_asked_is_a_finding_of_its_own() {
    let (host, dir, call, question) = TOLD_TWICE[0];
    let world = World::new(&says("block", ", when: {files.added: new.txt}"));
    world.git_init();
    tells(&world, host, dir, call);
    assert_eq!(logged(&world).1, 0);
    world.write("new.txt", "more\n");
    let asked = tells(&world, host, dir, question);
    assert!(asked.stdout.contains("deny"), "{asked:?}");
    assert_eq!(logged(&world).1, 1);
    tells(&world, host, dir, question);
    assert_eq!(logged(&world).1, 1);
}

#[test]
fn a_mark_counts_a_call_once_that_is_told_twice() {
    let (host, dir, call, question) = TOLD_TWICE[0];
    let marks = "marks: {calls: {on: pre-tool-use, when: {tool: Bash}}}\n";
    let world = World::new(&format!(
        "{marks}{}",
        says("block", ", when: {marks.calls: '>= 2'}")
    ));
    let told = [call, question, "PreToolUse.3", "PermissionRequest.3"];
    for name in told {
        let told = tells(&world, host, dir, name);
        assert!(!told.stdout.contains("deny"), "{name}: {told:?}");
    }
    let third = tells(&world, host, dir, "PreToolUse.2");
    assert!(third.stdout.contains("deny"), "{third:?}");
}

#[test]
fn each_thing_that_a_server_asks_for_is_an_event_of_its_own() {
    let world = World::new(&says("prompt", ", when: {tool.mcp_server: bank}"));
    let payload = serde_json::json!({
        "hook_event_name": "Elicitation", "session_id": "s", "cwd": world.root(), "transcript_path": "/t.jsonl",
        "mcp_server_name": "bank", "message": "your name?",
    });
    for count in 1..3 {
        let asked = world.ahp_fed(
            &["hook", "--host", "claude-code"],
            payload.to_string().as_bytes(),
        );
        assert_eq!((asked.code, asked.stdout.as_str()), (0, ""), "{asked:?}");
        assert_eq!(logged(&world), (count, count));
    }
}

#[test]
fn questions_are_wired_where_a_policy_needs_them() {
    let questions = [
        "PermissionRequest",
        "permissionRequest",
        "Elicitation\"",
        "ElicitationResult",
    ];
    let wires = |host: &str, file: &str, policy: &str| -> Vec<&str> {
        let world = World::new(policy);
        let ran = world.ahp(&["install", host, "--project"]);
        assert_eq!(ran.code, 0, "{ran:?}");
        let text = fs::read_to_string(world.path(file)).unwrap();
        let wired = questions
            .into_iter()
            .filter(|name| text.contains(&format!("\"{name}")));
        wired.map(|name| name.trim_end_matches('"')).collect()
    };
    let hosts = [
        ("claude-code", ".claude/settings.json", "PermissionRequest"),
        ("codex", ".codex/hooks.json", "PermissionRequest"),
        ("copilot", ".github/hooks/ahp.json", "ermissionRequest"),
    ];
    let changing = [
        ", when: {git.dirty: true}",
        ", when: {any: [{tool: Read}, {tests.failed: '> 0'}]}",
    ];
    let settled = [
        "",
        ", when: {tool: Bash}",
        ", when: {environment: production}",
        ", async: true, when: {git.dirty: true}",
    ];
    for (host, file, name) in hosts {
        for when in changing {
            let wired = wires(host, file, &says("block", when));
            assert!(
                wired.len() == 1 && wired[0].ends_with(name),
                "{host} {when}: {wired:?}"
            );
        }
        for when in settled {
            assert!(
                wires(host, file, &says("block", when)).is_empty(),
                "{host} {when}"
            );
        }
        let advice = "hooks: {pre-tool-use: [{oracle: PermissionChecker, intensity: prompt, when: {git.dirty: true}}]}\n";
        assert!(wires(host, file, advice).is_empty(), "{host}");
        assert!(
            wires(host, file, "extends: [ahp:standard]\n").is_empty(),
            "{host}"
        );
    }
    let (host, file, _) = hosts[0];
    for (when, wired) in [
        (
            ", when: {tool.mcp_server: bank}",
            &["Elicitation", "ElicitationResult"][..],
        ),
        (
            ", when: {tool.kind: mcp, tool.mcp_server: '!= safe'}",
            &["Elicitation", "ElicitationResult"],
        ),
        (
            ", when: {tool.mcp_tool: elicit_result}",
            &["ElicitationResult"],
        ),
        (", when: {tool: mcp__bank__elicit}", &["Elicitation"]),
        (", when: {tool.mcp_tool: transfer}", &[]),
        (", when: {tool.kind: shell, tool.mcp_server: bank}", &[]),
        (", when: {tool.kind: [shell, mcp, other]}", &[]),
    ] {
        assert_eq!(wires(host, file, &says("block", when)), wired, "{when}");
    }
}
