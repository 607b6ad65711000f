//! What each kind of agent did, told apart from the host's events to the page.

use serde_json::{Value, json};

use crate::world::World;

const POLICY: &str = "\
hooks:
  pre-tool-use:
    - {oracle: PermissionChecker, id: shell, config: {dangerous_commands: [git push --force]}}
";

/// A session whose own agent does one thing, and three subagents of two kinds another.
fn session() -> World {
    let world = World::new(POLICY);
    let calls = [
        (json!({}), "ls"),
        (
            json!({"agent_id": "a1", "agent_type": "Explore"}),
            "git status",
        ),
        (
            json!({"agent_id": "a2", "agent_type": "Explore"}),
            "git push --force",
        ),
        (
            json!({"agent_id": "b1", "agent_type": "general-purpose"}),
            "git push --force origin x",
        ),
    ];
    for (mut event, command) in calls {
        let call = json!({
            "hook_event_name": "PreToolUse",
            "session_id": "s1",
            "cwd": world.root(),
            "tool_name": "Bash",
            "tool_input": {"command": command},
        });
        let fields = call.as_object().unwrap().clone();
        event.as_object_mut().unwrap().extend(fields);
        world.ahp_fed(
            &["hook", "--host", "claude-code"],
            event.to_string().as_bytes(),
        );
    }
    world
}

#[test]
fn records_name_the_subagent_that_acted() {
    let log = session().log();
    let named = |kind: &str| -> Vec<(Value, Value)> {
        let of_kind = log.iter().filter(|record| record["kind"] == kind);
        of_kind
            .map(|record| (record["agent"].clone(), record["agent_id"].clone()))
            .collect()
    };
    assert_eq!(
        named("evaluation"),
        [
            (Value::Null, Value::Null),
            (json!("Explore"), json!("a1")),
            (json!("Explore"), json!("a2")),
            (json!("general-purpose"), json!("b1")),
        ]
    );
    assert_eq!(
        named("signal"),
        [
            (json!("Explore"), Value::Null),
            (json!("general-purpose"), Value::Null),
        ]
    );
}

#[test]
fn figures_and_the_page_tell_agents_apart() {
    let world = session();
    let stats = world.ahp(&["log", "stats", "--json"]).json();
    let agents = stats[0]["agents"].as_array().unwrap();
    let figures: Vec<_> = agents
        .iter()
        .map(|agent| {
            let of = ["name", "evaluations", "stopped", "findings"];
            of.map(|key| agent[key].clone())
        })
        .collect();
    assert_eq!(
        figures,
        [
            [json!("(no subagent)"), json!(1), json!(0), json!(0)],
            [json!("Explore"), json!(2), json!(1), json!(1)],
            [json!("general-purpose"), json!(1), json!(1), json!(1)],
        ]
    );
    let table = world.ahp(&["log", "stats", "--by", "agent"]).stdout;
    assert!(
        table.contains("AGENT") && table.contains("Explore"),
        "{table}"
    );
    world.ahp(&["log", "report", "--output", "report.html"]);
    let page = world.read("report.html");
    assert!(page.contains("<h2>Agents</h2>") && page.contains("general-purpose"));
}

#[test]
fn a_log_of_one_agent_compares_nothing() {
    let world = World::new(POLICY);
    let call = json!({
        "hook_event_name": "PreToolUse", "session_id": "s1", "cwd": world.root(),
        "tool_name": "Bash", "tool_input": {"command": "git push --force"},
    });
    world.ahp_fed(
        &["hook", "--host", "claude-code"],
        call.to_string().as_bytes(),
    );
    world.ahp(&["log", "report", "--output", "report.html"]);
    assert!(!world.read("report.html").contains("<h2>Agents</h2>"));
}
