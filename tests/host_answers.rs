//! Questions that a person answers in her host's own dialog, and what the log makes of them.

use serde_json::{Value, json};

use crate::world::World;

const COMMAND: &str = "npm publish";

/// Tells one moment of a call in a session, as Claude Code tells it.
fn tell(world: &World, moment: &str, session: &str, call: &str, mode: &str) {
    let event = json!({
        "hook_event_name": moment, "session_id": session, "transcript_path": "/t", "cwd": world.root(),
        "permission_mode": mode, "tool_name": "Bash", "tool_input": {"command": COMMAND}, "tool_response": {},
        "tool_use_id": call, "reason": "exit",
    });
    let ran = world.ahp_fed(
        &["hook", "--host", "claude-code"],
        event.to_string().as_bytes(),
    );
    assert_eq!(ran.code, 0, "{}", ran.stderr);
}

fn world() -> World {
    let world = World::new("");
    world.write(".ahp/hooks.yaml", "extends: [ahp:standard]\n");
    world
}

/// Returns the figures of the one thing that was found.
fn found(world: &World, filter: &[&str]) -> Value {
    let mut arguments = vec!["log", "stats", "--json"];
    arguments.extend(filter);
    let ran = world.ahp(&arguments);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    ran.json()[0]["findings"][0].clone()
}

#[test]
fn a_call_that_ran_after_a_question_shows_how_it_was_answered() {
    // What is told after the question, and what became of the finding, by whose answer.
    for (case, mode, ran, fate, shown) in [
        (
            "yes",
            "default",
            Some(("PostToolUse", "t1")),
            "dismissed",
            "(acknowledge) by human",
        ),
        (
            "yes, and it failed",
            "acceptEdits",
            Some(("PostToolUseFailure", "t1")),
            "dismissed",
            "(acknowledge) by human",
        ),
        (
            "nobody was asked",
            "bypassPermissions",
            Some(("PostToolUse", "t1")),
            "ignored",
            "(dismiss)",
        ),
        (
            "a mode of which nothing is known",
            "new",
            Some(("PostToolUse", "t1")),
            "ignored",
            "(dismiss)",
        ),
        (
            "another call ran",
            "default",
            Some(("PostToolUse", "t2")),
            "heeded",
            "-",
        ),
        ("no", "default", None, "heeded", "-"),
    ] {
        let world = world();
        tell(&world, "PreToolUse", "s", "t1", mode);
        if let Some((moment, call)) = ran {
            tell(&world, moment, "s", call, mode);
        }
        tell(&world, "SessionEnd", "s", "t1", mode);
        let finding = found(&world, &[]);
        assert_eq!(
            (&finding["findings"], &finding[fate]),
            (&json!(1), &json!(1)),
            "{case}: {finding}"
        );
        let listed = world.ahp(&["log", "show"]).stdout;
        let said = listed.split("  ").map(str::trim).any(|cell| cell == shown);
        assert!(said, "{case}: {listed}");
        assert_eq!(world.ahp(&["log", "verify"]).code, 0, "{case}");
    }
}

#[test]
fn an_answer_in_a_dialog_is_for_one_call() {
    let world = world();
    for call in ["t1", "t2"] {
        tell(&world, "PreToolUse", "s", call, "default");
        tell(&world, "PostToolUse", "s", call, "default");
    }
    let shown = world.ahp(&["log", "show", "--json"]).json();
    let asked: Vec<_> = shown
        .iter()
        .map(|entry| (&entry["by"], &entry["inferred"]))
        .collect();
    assert_eq!(asked, [(&json!("human"), &json!(true)); 2]);
}

#[test]
fn an_answer_is_learned_however_much_was_logged_since_the_question() {
    for settings in ["", "settings: {log: {max_size: 100KiB, keep: 9}}\n"] {
        let world = World::new(&format!("extends: [ahp:standard]\n{settings}"));
        tell(&world, "PreToolUse", "s", "t1", "default");
        let other = json!({
            "trigger": "pre-tool-use", "session_id": "other",
            "tool": {"name": "Bash", "input": {"command": "ls"}},
        });
        let many = format!("{other}\n").repeat(600);
        world.ahp_fed(&["run", "--events", "-"], many.as_bytes());
        // The first answer has the index written, in which the question of the second one then stands.
        tell(&world, "PreToolUse", "s", "t2", "default");
        for call in ["t2", "t1"] {
            tell(&world, "PostToolUse", "s", call, "default");
        }
        tell(&world, "PreToolUse", "s", "t3", "default");
        tell(&world, "PostToolUse", "s", "t3", "default");
        let shown = world.ahp(&["log", "show", "--json"]).json();
        let by: Vec<_> = shown.iter().map(|entry| &entry["by"]).collect();
        assert_eq!(by, [&json!("human"); 3], "{settings}");
    }
}

#[test]
fn what_people_say_yes_to_again_and_again_is_proposed_to_be_allowed() {
    let world = world();
    for n in 0..12 {
        let (session, call) = (format!("s{n}"), format!("t{n}"));
        for moment in ["PreToolUse", "PostToolUse", "SessionEnd"] {
            tell(&world, moment, &session, &call, "default");
        }
    }
    let advice = world.ahp(&["log", "advise"]).stdout;
    assert!(advice.contains("allow-command"), "{advice}");
    assert!(advice.contains("\"=npm publish\""), "{advice}");
}

/// What became of a finding does not hang on which signals are looked at.
#[test]
fn filters_select_signals_and_not_what_became_of_them() {
    let world = world();
    tell(&world, "PreToolUse", "s", "t1", "default");
    tell(&world, "SessionEnd", "s", "t1", "default");
    let whole = found(&world, &[]);
    assert_eq!(whole["heeded"], 1);
    for filter in [
        ["--hook", "pre-tool-use"],
        ["--binding", "safe-shell"],
        ["--oracle", "PermissionChecker"],
        ["--intensity", "prompt"],
        ["--session", "s"],
        ["--host", "claude"],
    ] {
        assert_eq!(found(&world, &filter), whole, "{filter:?}");
    }
}

#[test]
fn a_filter_by_a_name_that_is_nowhere_is_a_mistake() {
    let world = world();
    tell(&world, "PreToolUse", "s", "t1", "default");
    for (filter, near) in [
        (["--binding", "safe-shel"], "did you mean `safe-shell`?"),
        (
            ["--oracle", "permission-chequer"],
            "did you mean `PermissionChecker`?",
        ),
        (["--host", "claude-cod"], "did you mean `claude-code`?"),
    ] {
        for command in ["stats", "show", "advise", "export", "tail"] {
            let ran = world.ahp(&["log", command, filter[0], filter[1]]);
            assert_eq!(ran.code, 1, "{command} {filter:?}");
            assert!(ran.stderr.contains(near), "{command}: {}", ran.stderr);
        }
    }
    // One that is known and has nothing is none.
    let ran = world.ahp(&["log", "show", "--host", "codex"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
}
