//! What is wrong with marks is told with its place; what is locked stays; what nothing asks for costs nothing.

use std::fs;

use ahp::config::{Config, LayerSource};

use super::PUSH_GATE;
use crate::world::World;

fn faults(text: &str) -> Vec<String> {
    let engine = ahp::Engine::builder().policy_text(text).build().unwrap();
    let state = engine.state();
    state
        .faults()
        .iter()
        .map(|fault| fault.one_line(state.sources()))
        .collect()
}

#[test]
fn every_fault_is_told_with_its_place() {
    let asks = "\nhooks: {pre-tool-use: [{oracle: Say, when: {marks.m: 0}}]}";
    for (marks, told) in [
        ("{M: {on: post-tool-use}}", "cannot be the name of a mark"),
        ("{m: {on: post-tool-usee}}", "unknown trigger"),
        ("{m: {on: post-tool-use, wen: {}}}", "unknown key `wen`"),
        (
            "{m: {on: post-tool-use, by: tool.comand}}",
            "no event has a fact `tool.comand`",
        ),
        (
            "{m: {on: post-tool-use, add: tool.command}}",
            "is not a number",
        ),
        (
            "{m: {on: post-tool-use, add: tool.lines, within: 1h}}",
            "both `add` and `within`",
        ),
        ("{m: {when: {tool.ok: true}}}", "`on` is missing"),
        (
            "{m: {on: post-tool-use, when: {marks.n: 1}}}",
            "a mark cannot ask for the mark `n`",
        ),
        (
            "{m: {on: post-tool-use, when: {tol.ok: true}}}",
            "no event has a fact `tol.ok`",
        ),
        (
            "{m: {on: post-tool-use, until: [{when: {tool.ok: true}}]}}",
            "`on` is missing",
        ),
        (
            "{m: {on: post-tool-use, per: person}}",
            "unknown value `person`",
        ),
        ("{n: {on: post-tool-use}}", "no layer declares the mark `m`"),
        ("3", "expected a map of marks"),
    ] {
        let found = faults(&format!("marks: {marks}{asks}"));
        assert!(
            found
                .iter()
                .any(|fault| fault.contains(told) && fault.contains("hooks.yaml:")),
            "{marks}: {found:#?}"
        );
    }
    let found = faults(
        "marks: {m: {on: pre-tool-use, within: 1h}}\nhooks: {pre-tool-use: [{oracle: Say, when: {marks.m: '> 1025'}}]}",
    );
    assert!(
        found.iter().any(|fault| fault.contains("1024")),
        "{found:?}"
    );
    // One fault hides no other.
    let found = faults(
        "marks: {m: {on: pre-tool-use, per: person}, n: {on: post-tool-use, add: tool.lines, within: 1h}, o: {when: {tool.ok: true}}}\nhooks: {pre-tool-use: [{oracle: Say, when: {marks.p: 1}}]}",
    );
    for told in ["`person`", "both `add`", "`on` is missing", "the mark `p`"] {
        assert!(found.iter().any(|f| f.contains(told)), "{told}: {found:?}");
    }
    let found = faults("hooks: {pre-tool-use: [{oracle: Say, when: {session.age: '> 25h'}}]}");
    assert!(found[0].contains("longer than a day"), "{found:?}");
    let many: Vec<_> = (0..65)
        .map(|n| format!("m{n}: {{on: pre-tool-use}}"))
        .collect();
    let asked: Vec<_> = (0..65).map(|n| format!("marks.m{n}: 0")).collect();
    let found = faults(&format!(
        "marks: {{{}}}\nhooks: {{pre-tool-use: [{{oracle: Say, when: {{{}}}}}]}}",
        many.join(", "),
        asked.join(", ")
    ));
    assert!(
        found
            .iter()
            .any(|fault| fault.contains("more than 64 marks")),
        "{found:?}"
    );
}

#[test]
fn a_later_layer_adds_to_a_mark_unless_it_is_locked_or_asked_by_what_is() {
    let load = |user: &str, project: &str| {
        let layers = [
            (LayerSource::User, "user.yaml", user),
            (LayerSource::Project, "project.yaml", project),
        ];
        Config::from_layers(&layers, std::path::Path::new("."))
    };
    let mark = "marks: {m: {on: post-tool-use, when: {tool.ok: true}}}";
    let weaker = "marks: {m: {when: {tool.kind: shell}}}";
    let asks = "hooks: {pre-tool-use: [{oracle: Say, when: {marks.m: 0}}]}";
    let merged = load(&format!("{mark}\n{asks}"), weaker);
    assert!(!merged.is_broken(), "{:?}", merged.diagnostics);
    let when = merged.config.marks["m"].when.as_ref().unwrap().to_json();
    assert_eq!(when, serde_json::json!({"tool.kind": "shell"}));
    let locked = "hooks: {pre-tool-use: [{oracle: Say, when: {marks.m: 0}, locked: true}]}";
    for user in [
        format!("{mark}\n{locked}"),
        format!("{}\n{asks}", mark.replace("on:", "locked: true, on:")),
    ] {
        let loaded = load(&user, weaker);
        let told: Vec<_> = loaded
            .diagnostics
            .iter()
            .map(|d| d.one_line(&loaded.sources))
            .collect();
        assert!(
            told.iter()
                .any(|fault| fault.contains("which the user layer locks")),
            "{told:?}"
        );
        let when = loaded.config.marks["m"].when.as_ref().unwrap().to_json();
        assert_eq!(when, serde_json::json!({"tool.ok": true}));
    }
}

#[test]
fn a_mark_that_nothing_asks_for_is_told_and_not_counted() {
    let world = World::new("marks: {m: {on: post-tool-use}}");
    let checked = world.ahp(&["check"]);
    let told = format!("{}{}", checked.stdout, checked.stderr);
    assert!(told.contains("nothing asks for the mark `m`"), "{told}");
    let explained = world
        .ahp(&["explain", "--marks", "--format", "json"])
        .json()
        .remove(0);
    assert_eq!(explained["asked"], false, "{explained}");
    assert!(
        explained["source"]
            .as_str()
            .unwrap()
            .contains("hooks.yaml:1"),
        "{explained}"
    );
}

#[test]
fn what_a_mark_did_is_in_the_log_and_in_the_figures() {
    let world = World::new(PUSH_GATE);
    let tell = |trigger: &str, command: &str| {
        let event = serde_json::json!({"trigger": trigger, "session_id": "s",
            "tool": {"name": "Bash", "input": {"command": command}, "exit_code": 0}});
        world.ahp_fed(&["hook", "--host", "native"], event.to_string().as_bytes())
    };
    tell("pre-tool-use", "git push");
    tell("post-tool-use", "cargo test");
    let shown = world
        .ahp(&["log", "show", "--mark", "tests_passed", "--json"])
        .json();
    assert_eq!(shown[0]["asked"], serde_json::json!([0, 0]), "{shown:?}");
    assert_eq!(shown[1]["fed"], "yes", "{shown:?}");
    let stats = world.ahp(&["log", "stats", "--json"]).json().remove(0);
    assert_eq!(stats["marks"]["tests_passed"]["fed"], 1, "{stats}");
    assert_eq!(stats["marks"]["tests_passed"]["asked"], 1, "{stats}");
    let facts = world.ahp(&["explain", "--facts"]);
    assert!(
        facts.stdout.contains("marks.tests_passed"),
        "{}",
        facts.stdout
    );
}

#[test]
fn a_replay_counts_what_the_log_tells() {
    let world = World::new(PUSH_GATE);
    let tell = |trigger: &str, command: &str| {
        let event = serde_json::json!({"trigger": trigger, "session_id": "s",
            "tool": {"name": "Bash", "input": {"command": command}, "exit_code": 0}});
        world.ahp_fed(&["hook", "--host", "native"], event.to_string().as_bytes())
    };
    tell("pre-tool-use", "cargo test");
    tell("post-tool-use", "cargo test");
    tell("pre-tool-use", "git push");
    let replayed = world.ahp(&["replay", "--format", "json"]);
    let outcome = replayed.json().remove(0);
    assert_eq!(outcome["newly_blocked"], 0, "{outcome}");
    assert_eq!(outcome["unchanged"], 2, "{outcome}");
}

/// What is decided of a command, in a project whose person has a policy of her own.
fn decided(world: &World, event: &serde_json::Value) -> serde_json::Value {
    let ran = world.ahp_fed(&["hook", "--host", "native"], event.to_string().as_bytes());
    let verdict: serde_json::Value =
        serde_json::from_str(&ran.stdout).unwrap_or_else(|e| panic!("{e}: {ran:?}"));
    verdict["decision"].clone()
}

fn ran(world: &World, trigger: &str, tool: &str, command: &str) -> serde_json::Value {
    let event = serde_json::json!({"trigger": trigger, "session_id": "s",
        "tool": {"name": tool, "input": {"command": command, "file_path": "a", "content": "b"}, "exit_code": 0}});
    decided(world, &event)
}

#[test]
fn a_project_cannot_open_the_gate_of_its_user_by_her_mark() {
    let pack = "extends: [ahp:session]";
    for (user, mark) in [
        (PUSH_GATE, r#"{when: {tool.command: "~ ^ls"}}"#),
        (
            PUSH_GATE,
            "{until: [], when: {tool.command: \"~ ^(ls|cargo test)\"}}",
        ),
        (PUSH_GATE, "{until: []}"),
        (PUSH_GATE, "{on: pre-tool-use}"),
        (pack, r#"{when: {tool.command: "~ ^ls"}}"#),
    ] {
        let world = World::new(&format!("marks: {{tests_passed: {mark}}}"));
        fs::create_dir_all(world.home().join(".ahp")).unwrap();
        fs::write(world.home().join(".ahp/hooks.yaml"), user).unwrap();
        ran(&world, "post-tool-use", "Bash", "cargo test");
        ran(&world, "post-tool-use", "Write", "");
        ran(&world, "pre-tool-use", "Bash", "ls");
        ran(&world, "post-tool-use", "Bash", "ls");
        assert_ne!(
            ran(&world, "pre-tool-use", "Bash", "git push"),
            "none",
            "{mark}"
        );
    }
}

#[test]
fn a_mark_that_only_a_script_asks_for_is_held_and_locked_with_it() {
    let asks = r#"fn evaluate(ctx) { if ctx.marks.m > 0 { block("it ran") } else { accept() } }"#;
    let policy = |when: &str, locked: bool| {
        format!(
            "marks: {{m: {{on: post-tool-use, when: {{tool.command: '~ ^{when}'}}}}}}\nhooks: {{pre-tool-use: [{{oracle: asks-m, locked: {locked}}}]}}"
        )
    };
    for locked in [false, true] {
        let world = World::new("marks: {m: {when: {tool.command: '~ ^never'}}}");
        fs::create_dir_all(world.home().join(".ahp/oracles")).unwrap();
        fs::write(world.home().join(".ahp/oracles/asks-m.rhai"), asks).unwrap();
        fs::write(world.home().join(".ahp/hooks.yaml"), policy("run", locked)).unwrap();
        let checked = world.ahp(&["check"]);
        assert_eq!(
            checked.stdout.contains("which the user layer locks"),
            locked,
            "{checked:?}"
        );
        assert!(!checked.stdout.contains("nothing asks"), "{checked:?}");
        ran(&world, "post-tool-use", "Bash", "run it");
        assert_eq!(
            ran(&world, "pre-tool-use", "Bash", "ls"),
            "block",
            "{locked}"
        );
    }
    // Nor does it lose the lock because something that is not locked asks too, or because it puts the name together.
    for asks in [asks, &asks.replace("ctx.marks.m", "ctx.marks[\"m\"]")] {
        let world = World::new("marks: {m: {when: {tool.command: '~ ^never'}}}");
        fs::create_dir_all(world.home().join(".ahp/oracles")).unwrap();
        fs::write(world.home().join(".ahp/oracles/asks-m.rhai"), asks).unwrap();
        let also = "{oracle: Say, id: also, when: {marks.m: '> 5'}, config: {intensity: aid}}";
        let both = policy("run", true).replace("[{", &format!("[{also}, {{"));
        fs::write(world.home().join(".ahp/hooks.yaml"), both).unwrap();
        let checked = world.ahp(&["check"]);
        assert!(
            checked.stdout.contains("which the user layer locks"),
            "{asks}: {checked:?}"
        );
        ran(&world, "post-tool-use", "Bash", "run it");
        assert_eq!(ran(&world, "pre-tool-use", "Bash", "ls"), "block", "{asks}");
    }
    // A mark for which no locked script asks is anybody's, whatever else is locked.
    let world = World::new("marks: {m: {when: {tool.command: '~ ^never'}}}");
    let user = "marks: {m: {on: post-tool-use}}\nhooks: {pre-tool-use: [{oracle: PermissionChecker, locked: true}, {oracle: Say, when: {marks.m: '> 5'}}]}";
    fs::create_dir_all(world.home().join(".ahp")).unwrap();
    fs::write(world.home().join(".ahp/hooks.yaml"), user).unwrap();
    let checked = world.ahp(&["check"]);
    assert_eq!(checked.code, 0, "{checked:?}");
    // What a project has had in force is held too.
    let world = World::new(&policy("run", false));
    world.write(".ahp/oracles/asks-m.rhai", asks);
    ran(&world, "post-tool-use", "Bash", "run it");
    assert_eq!(ran(&world, "pre-tool-use", "Bash", "ls"), "block");
    world.write(".ahp/hooks.yaml", policy("never", false));
    ran(&world, "post-tool-use", "Bash", "run it");
    assert_eq!(ran(&world, "pre-tool-use", "Bash", "ls"), "block");
}

#[test]
fn every_event_that_teaches_where_words_come_from_is_wired() {
    let engine = ahp::Engine::builder()
        .policy_text("extends: [ahp:provenance]")
        .build()
        .unwrap();
    let wanted = engine.state().policy().wanted();
    for trigger in [
        ahp::Trigger::PreAgentTurn,
        ahp::Trigger::PreToolUse,
        ahp::Trigger::PostToolUse,
        ahp::Trigger::PostToolUseFailure,
    ] {
        assert!(wanted.contains(&trigger), "{trigger}");
    }
}

#[test]
fn a_script_that_was_changed_is_another_policy_and_has_kept_what_it_asks_for_now() {
    let world = World::new("");
    let script = world.home().join(".ahp/oracles/own.rhai");
    fs::create_dir_all(script.parent().unwrap()).unwrap();
    let write = |body: &str| {
        fs::write(&script, format!("fn evaluate(ctx) {{ {body} }}")).unwrap();
    };
    let policy =
        "marks: {m: {on: post-tool-use}}\nhooks: {pre-tool-use: [{oracle: own, on_error: prompt}]}";
    fs::write(world.home().join(".ahp/hooks.yaml"), policy).unwrap();
    let last_policy = || {
        let log = fs::read_to_string(world.root().join(".ahp/signals.jsonl")).unwrap();
        let records = log
            .lines()
            .rev()
            .map(serde_json::from_str::<serde_json::Value>);
        let mut records = records.map(Result::unwrap);
        let last = records.find(|record| record["kind"] == "evaluation");
        last.unwrap()["policy"].as_str().unwrap().to_owned()
    };
    write("accept()");
    assert_eq!(ran(&world, "pre-tool-use", "Bash", "ls"), "none");
    let first = last_policy();
    assert_eq!(ran(&world, "pre-tool-use", "Bash", "ls"), "none");
    assert_eq!(last_policy(), first);
    write("if ctx.marks.m >= 2 { block(\"two\") } else { accept() }");
    assert_eq!(ran(&world, "pre-tool-use", "Bash", "ls"), "none");
    assert_ne!(last_policy(), first);
    for _ in 0..2 {
        ran(&world, "post-tool-use", "Bash", "ls");
    }
    assert_eq!(ran(&world, "pre-tool-use", "Bash", "ls"), "block");
    write("if ctx.session.age >= 0 { block(\"any\") } else { accept() }");
    assert_eq!(ran(&world, "pre-tool-use", "Bash", "ls"), "block");
}
