//! The Agent Hooks Protocol 0.1 over `ahp serve --stdio`.

use serde_json::{Value, json};

use super::{served, world};
use crate::world::World;

fn event(id: &str, kind: &str, command: &str) -> Value {
    json!({
        "id": id, "source": "https://harness.example", "type": kind, "time": "2026-01-01T00:00:00Z",
        "session": {"id": "s"}, "unknown": "ignored",
        "tool": {"callId": "c", "name": "run_it", "kind": "shell", "input": {"command": command}},
    })
}

fn params(event: &Value) -> Value {
    json!({"protocolVersion": "0.1", "event": event, "capabilities": {"effects": ["deny"]}})
}

fn line(id: &Value, method: &str, params: &Value) -> String {
    let mut line = json!({"jsonrpc": "2.0", "method": method, "params": params});
    if !id.is_null() {
        line["id"] = id.clone();
    }
    format!("{line}\n")
}

fn intercept(world: &World, params: &Value) -> Value {
    let id = params["event"]["id"].clone();
    served(world, &[], &line(&id, "hooks/intercept", params)).remove(0)
}

const FORCED: &str = "git push --force nowhere.invalid main";

#[test]
fn a_denial_has_a_reason_and_the_rest_no_effect() {
    let world = world();
    let answer = intercept(&world, &params(&event("e1", "tool.before", FORCED)));
    assert_eq!(answer["id"], "e1");
    assert_eq!(answer["result"]["protocolVersion"], "0.1");
    let effects = answer["result"]["effects"].as_array().unwrap();
    assert_eq!(effects.len(), 1);
    assert_eq!(effects[0]["type"], "deny");
    assert!(
        effects[0]["reason"]
            .as_str()
            .unwrap()
            .contains("permission-checker")
    );
    let answer = intercept(&world, &params(&event("e2", "tool.before", "ls")));
    assert_eq!(answer["result"]["effects"], json!([]));
}

#[test]
fn each_rule_of_the_protocol_has_its_error() {
    let world = world();
    let good = params(&event("e", "tool.before", FORCED));
    let with = |pointer: &str, value: Value| {
        let mut params = good.clone();
        *params.pointer_mut(pointer).unwrap() = value;
        params
    };
    let cases = [
        (with("/protocolVersion", json!("draft")), -32001),
        (with("/event/type", json!("tool.after")), -32002),
        (with("/event/type", json!("no.such")), -32002),
        (with("/event/tool", Value::Null), -32602),
        (with("/event/tool/kind", json!("teleport")), -32602),
        (with("/event/time", json!("yesterday")), -32602),
        (with("/capabilities/effects", json!([])), -32004),
    ];
    for (params, code) in cases {
        let answer = intercept(&world, &params);
        assert_eq!(answer["error"]["code"], code, "{params}");
    }
    let other = line(&json!("other"), "hooks/intercept", &good);
    assert_eq!(served(&world, &[], &other)[0]["error"]["code"], -32600);
    let version = intercept(&world, &with("/protocolVersion", json!("draft")));
    assert_eq!(version["error"]["data"]["supported"], json!(["0.1"]));
}

#[test]
fn what_is_observed_is_logged_and_never_answered() {
    let world = world();
    let mut seen = event("o1", "tool.after", "ls");
    seen["tool"]["output"] = json!("done");
    let params = json!({"protocolVersion": "0.1", "event": seen});
    let answers = served(&world, &[], &line(&Value::Null, "hooks/observe", &params));
    assert_eq!(answers, Vec::<Value>::new());
    assert_eq!(world.log()[0]["hook"], "post-tool-use");
    // Whoever wants an answer does not observe.
    let logged = world.log().len();
    let answers = served(&world, &[], &line(&json!("o1"), "hooks/observe", &params));
    assert_eq!(answers[0]["error"]["code"], -32600);
    assert_eq!(world.log().len(), logged);
}

#[test]
fn the_same_event_gets_the_same_answer_and_is_logged_once() {
    let world = world();
    let asked = line(
        &json!("e1"),
        "hooks/intercept",
        &params(&event("e1", "tool.before", FORCED)),
    );
    let answers = served(&world, &["--jobs", "8"], &asked.repeat(20));
    assert_eq!(answers.len(), 20);
    assert!(answers.iter().all(|answer| *answer == answers[0]));
    let evaluations = world
        .log()
        .iter()
        .filter(|record| record["kind"] == "evaluation")
        .count();
    assert_eq!(evaluations, 1);
}

#[test]
fn advice_goes_out_with_the_next_denial() {
    let world = World::new(
        "hooks: {pre-tool-use: [{oracle: PermissionChecker, id: soft, intensity: prompt, config: {dangerous_commands: ['touch now']}}, {oracle: PermissionChecker, id: hard, config: {dangerous_commands: ['git push --force']}}]}",
    );
    let answer = intercept(&world, &params(&event("e1", "tool.before", "touch now")));
    assert_eq!(answer["result"]["effects"], json!([]));
    let answer = intercept(&world, &params(&event("e2", "tool.before", FORCED)));
    let reason = answer["result"]["effects"][0]["reason"].as_str().unwrap();
    assert!(
        reason.contains("Blocked by") && reason.contains("touch now"),
        "{reason}"
    );
}
