//! Findings: what escalates, what a waiver covers and what is counted are a rule and its object, not a call and not its words.

use serde_json::{Value, json};

use crate::world::World;

/// Finds in each word of a command that begins with `bad` a finding of its own, and words it by how many there are.
const SCRIPT: &str = r#"
fn evaluate(ctx) {
    let found = ctx.tool.arguments.filter(|word| word.starts_with("bad"));
    if found.is_empty() { return accept(); }
    prompt(`${found.len()} of them: ${found.join()}`).about("no-bad-words", found)
}
"#;

fn world(binding: &str) -> World {
    let policy = format!("hooks:\n  pre-tool-use:\n    - {{oracle: words{binding}}}\n");
    let world = World::new(&policy);
    world.write(".ahp/oracles/words.rhai", SCRIPT);
    world
}

/// Judges a command of a session: what is decided, and what is said.
fn judged(world: &World, command: &str) -> (String, Vec<String>) {
    let event = json!({
        "trigger": "pre-tool-use", "session_id": "s",
        "tool": {"name": "Bash", "input": {"command": command}},
    });
    let ran = world.ahp_fed(&["run", "--events", "-"], event.to_string().as_bytes());
    let told: Value = serde_json::from_str(ran.stdout.lines().next().unwrap()).unwrap();
    let signals = told["signals"].as_array().unwrap();
    let said = signals.iter().map(|signal| {
        let text = &signal["payload"]["message"];
        let text = text
            .as_str()
            .or_else(|| signal["payload"]["reason"].as_str());
        text.unwrap_or_default().to_owned()
    });
    (
        told["decision"].as_str().unwrap().to_owned(),
        said.collect(),
    )
}

#[test]
fn a_finding_escalates_whatever_is_found_beside_it() {
    let world = world(", escalate: {steps: [prompt, block], per: session}");
    for (command, decision) in [
        ("echo bad1", "allow"),
        // Another one, and then the first one among others, in another command.
        ("echo bad2", "allow"),
        ("ls bad1 bad3", "block"),
        ("ls bad4", "allow"),
        ("ls -l bad3", "block"),
    ] {
        assert_eq!(judged(&world, command).0, decision, "{command}");
    }
}

#[test]
fn an_answer_holds_for_the_findings_that_it_was_given_for() {
    let world = world("");
    assert_eq!(judged(&world, "echo bad1 bad2").1.len(), 1);
    let done = world.ahp(&["respond", "last", "acknowledge", "--by", "human"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    for (command, is_told) in [
        // In other words, in another command, and one of the two alone.
        ("ls bad2 bad1", false),
        ("echo bad2", false),
        ("echo bad3", true),
        ("echo bad1 bad3", true),
    ] {
        assert_eq!(!judged(&world, command).1.is_empty(), is_told, "{command}");
    }
    // Two answers together cover what both were given for.
    judged(&world, "echo bad3");
    world.ahp(&["respond", "last", "acknowledge", "--by", "human"]);
    assert!(judged(&world, "echo bad1 bad3").1.is_empty());
}

#[test]
fn what_one_signal_finds_is_counted_one_by_one() {
    let world = world("");
    judged(&world, "echo bad1 bad2");
    judged(&world, "ls bad2 bad1");
    let stats = world.ahp(&["log", "stats", "--format", "json"]).json();
    let findings = stats[0]["findings"].as_array().unwrap();
    let of = |object: &str| findings.iter().find(|f| f["object"] == object).unwrap();
    for object in ["bad1", "bad2"] {
        assert_eq!(of(object)["findings"], 1, "{findings:?}");
        assert_eq!(of(object)["signals"]["prompt"], 2, "{findings:?}");
    }
    assert_eq!(stats[0]["rules"][0]["findings"], 2);
    assert_eq!(stats[0]["rules"][0]["signals"]["prompt"], 2);
}

/// What one signal brings at once is one case: many findings of few signals are no reason to change a policy.
#[test]
fn many_findings_of_few_signals_give_no_advice() {
    let world = world("");
    let words: Vec<String> = (0..40).map(|n| format!("bad{n}")).collect();
    judged(&world, &format!("echo {}", words.join(" ")));
    let done = world.ahp(&["respond", "last", "dismiss", "--by", "human"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    judged(&world, &format!("ls {}", words.join(" ")));
    let stats = world.ahp(&["log", "stats", "--json"]).json();
    let rule = &stats[0]["rules"][0];
    assert_eq!(
        (&rule["findings"], &rule["occasions"], &rule["dismissed"]),
        (&json!(40), &json!(1), &json!(40)),
    );
    assert!(world.ahp(&["log", "advise"]).stdout.contains("no advice"));
}

const USERS: &str = "\
hooks:
  pre-tool-use:
    - oracle: PermissionChecker
      id: shell
      override: true
      config: {preset: none, dangerous_commands: [npm publish, npm unpublish]}
";

/// What would be judged differently is known of every layer, and it is told what holds until it is approved.
#[test]
fn advice_for_the_layer_of_a_user_says_what_is_true() {
    let world = World::new("hooks: {}\n");
    crate::world::write(&world.home().join(".ahp/hooks.yaml"), USERS);
    let all = |from: usize| {
        let event = |n: usize, command: &str| {
            json!({
                "trigger": "pre-tool-use", "session_id": format!("s{n}"),
                "tool": {"name": "Bash", "input": {"command": command}},
            })
            .to_string()
        };
        let of_session = |n| ["npm publish", "npm unpublish"].map(|command| event(n, command));
        let events: Vec<String> = (from..from + 9).flat_map(of_session).collect();
        world.ahp_fed(&["run", "--events", "-"], events.join("\n").as_bytes())
    };
    all(0);
    for record in world.log() {
        if let Some(id) = record["signal"]["header"]["id"].as_str() {
            let done = world.ahp(&["respond", id, "proceed_with_risk", "--by", "human"]);
            assert_eq!(done.code, 0, "{}", done.stderr);
        }
    }
    all(0);
    let told = world.ahp(&["log", "advise"]);
    assert!(!told.stderr.contains("error"), "{}", told.stderr);
    for words in [
        "in this project alone, by .ahp/hooks.yaml; the user layer stays as it is",
        "until `ahp trust` has approved this",
        "of 18 logged events that it was against, 9 would be judged otherwise",
    ] {
        assert!(told.stdout.contains(words), "{words}\n{}", told.stdout);
    }
    let done = world.ahp(&["log", "advise", "--apply", "--yes"]);
    assert!(
        done.stderr.contains("not in force yet") && done.stderr.contains("`shell` at"),
        "{}",
        done.stderr
    );
    // The second change stands in the override that the first one made.
    let written = world.read(".ahp/hooks.yaml");
    assert!(
        written.matches("id: shell").count() == 1
            && written.contains("\"=npm publish\"")
            && written.contains("\"=npm unpublish\""),
        "{written}"
    );
    assert!(all(20).stdout.contains("\"decision\":\"block\""));
    world.ahp(&["trust", "-y"]);
    assert!(!all(40).stdout.contains("\"decision\":\"block\""));
}

/// A script is judged again as long as it asks only for what the log has.
#[test]
fn what_a_script_would_have_said_is_told_where_it_needs_nothing_of_the_project() {
    let reads = "fn evaluate(ctx) { if file_exists(\"x\") { accept() } else { prompt(\"no\") } }";
    let calls = "fn evaluate(ctx) { let f = Fn(\"file_exists\"); if f.call(\"x\") { accept() } else { prompt(\"no\") } }";
    for (oracle, script, judged) in [("Say", "", 30), ("own", reads, 0), ("own", calls, 0)] {
        let world = World::new(&format!(
            "hooks:\n  pre-tool-use:\n    - {{oracle: {oracle}, id: push, when: {{tool.command: \"~ ^git push\"}}}}\n"
        ));
        world.write(".ahp/oracles/own.rhai", script);
        let event = |n: u32| {
            let event = json!({
                "trigger": "pre-tool-use", "session_id": format!("s{n}"),
                "tool": {"name": "Bash", "input": {"command": "git push"}},
            });
            format!("{event}\n")
        };
        let events: String = (0..30).map(event).collect();
        let mut run = world.ahp_command();
        run.env("AHP_TRUST", "all").args(["run", "--events", "-"]);
        crate::world::fed(&mut run, events.as_bytes());
        for record in world.log() {
            if let Some(id) = record["signal"]["header"]["id"].as_str() {
                let done = world.ahp(&["respond", id, "dismiss", "--by", "human"]);
                assert_eq!(done.code, 0, "{}", done.stderr);
            }
        }
        let advice = world.ahp(&["log", "advise", "--format", "json"]).json();
        let effect = &advice[0][0]["effect"];
        assert_eq!(effect["judged"], judged, "{oracle} {script}: {advice:?}");
    }
}
