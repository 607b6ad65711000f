//! Marks through the engine: pending calls, controls, clocks, scopes.

use std::sync::Arc;

use ahp::chrono::DateTime;
use ahp::engine::{Engine, FixedClock, Keeper, block_on};
use ahp::event::{Event, ToolCall, Trigger};
use ahp::verdict::Decision;
use serde_json::json;

use super::PUSH_GATE;

pub(super) fn engine(policy: &str) -> Engine {
    engine_with(policy, &[]).1
}

/// An engine with script oracles, which lie in the folder.
pub(super) fn engine_with(policy: &str, scripts: &[(&str, &str)]) -> (tempfile::TempDir, Engine) {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in scripts {
        std::fs::write(dir.path().join(format!("{name}.rhai")), text).unwrap();
    }
    let clock = FixedClock::new(DateTime::from_timestamp(1_770_631_200, 0).unwrap());
    let engine = Engine::builder()
        .policy_text(policy)
        .scripts_in([dir.path().to_owned()])
        .keeper(Keeper::in_memory())
        .clock(Arc::new(clock))
        .by_event_time()
        .without_log()
        .build()
        .unwrap();
    let state = engine.state();
    let faults: Vec<_> = state
        .faults()
        .iter()
        .map(|f| f.one_line(state.sources()))
        .collect();
    assert!(faults.is_empty(), "{faults:#?}");
    (dir, engine)
}

fn event(trigger: Trigger, tool: &str, input: serde_json::Value, id: Option<&str>) -> Event {
    let mut event = Event::new(trigger).with_session("s1");
    let mut call = ToolCall::new(tool, input);
    call.use_id = id.map(str::to_owned);
    event.tool = Some(call);
    event
}

pub(super) fn pre(command: &str, id: &str) -> Event {
    event(
        Trigger::PreToolUse,
        "Bash",
        json!({"command": command}),
        Some(id),
    )
}

pub(super) fn post(command: &str, id: &str, code: Option<i64>) -> Event {
    let mut event = event(
        Trigger::PostToolUse,
        "Bash",
        json!({"command": command}),
        Some(id),
    );
    event.tool.as_mut().unwrap().exit_code = code;
    event
}

fn edit(trigger: Trigger, id: &str) -> Event {
    event(
        trigger,
        "Write",
        json!({"file_path": "a.rs", "content": "x"}),
        Some(id),
    )
}

/// The same event so many seconds later.
pub(super) fn at(seconds: i64, mut event: Event) -> Event {
    event.timestamp = DateTime::from_timestamp(1_770_631_200 + seconds, 0);
    event
}

pub(super) fn decide(engine: &Engine, event: Event) -> Decision {
    block_on(engine.evaluate(event)).decision
}

#[test]
fn a_push_waits_for_the_tests_after_the_last_edit() {
    let engine = engine(PUSH_GATE);
    let push = |id| decide(&engine, pre("git push", id));
    assert_eq!(push("1"), Decision::Block);
    decide(&engine, pre("cargo test", "2"));
    assert_eq!(push("3"), Decision::Block, "the tests still run");
    decide(&engine, post("cargo test", "2", Some(0)));
    assert_eq!(push("4"), Decision::None);
    decide(&engine, edit(Trigger::PreToolUse, "5"));
    assert_eq!(push("6"), Decision::Block, "an edit is under way");
    decide(&engine, edit(Trigger::PostToolUse, "5"));
    assert_eq!(push("7"), Decision::Block);
    decide(&engine, pre("cargo test", "8"));
    decide(&engine, post("cargo test", "8", Some(101)));
    assert_eq!(push("9"), Decision::Block, "the tests failed");
    decide(&engine, post("cargo test", "10", None));
    assert_eq!(push("11"), Decision::Block, "nobody told how they ended");
    decide(&engine, post("cargo test | tail", "12", Some(0)));
    assert_eq!(push("13"), Decision::Block, "the line hides how they ended");
    decide(&engine, post("cargo test -q && echo done", "14", Some(0)));
    assert_eq!(push("15"), Decision::None);
}

#[test]
fn a_result_that_never_comes_keeps_the_gate_shut_and_is_told() {
    let engine = engine(PUSH_GATE);
    decide(&engine, pre("cargo test", "1"));
    let asking = Arc::new(pre("git push", "2"));
    let state = engine.state();
    let facts = engine.facts(&state, asking);
    let told = facts.mark("tests_passed").to_string();
    assert_eq!(
        told,
        "0 or 1: the result of 1 call never came or is still awaited"
    );
    assert_eq!(decide(&engine, pre("git push", "2")), Decision::Block);
    // The next prompt ends the wait: the doubt stays.
    decide(
        &engine,
        Event::new(Trigger::PreAgentTurn).with_session("s1"),
    );
    assert_eq!(decide(&engine, pre("git push", "3")), Decision::Block);
}

#[test]
fn two_calls_at_once_are_never_both_the_last_that_is_let_go() {
    let policy = r#"
marks:
  deploys: {on: pre-tool-use, when: {tool.command: "~ ^deploy"}, within: 1h}
hooks:
  pre-tool-use:
    - {oracle: Say, when: {tool.command: "~ ^deploy", marks.deploys: ">= 2"}, config: {intensity: block, text: two an hour}}
"#;
    let engine = engine(policy);
    let state = engine.state();
    // One is let go; a second one is noted, and not judged yet.
    assert_eq!(decide(&engine, pre("deploy a", "1")), Decision::None);
    let facts = engine.facts(&state, Arc::new(pre("deploy b", "2")));
    facts.past().unwrap().begin(&facts);
    assert_eq!(decide(&engine, pre("deploy c", "3")), Decision::Block);
    // The second is stopped for another reason: then there is room.
    facts.past().unwrap().settle(&facts, None);
    assert_eq!(decide(&engine, pre("deploy d", "4")), Decision::None);
    assert_eq!(decide(&engine, pre("deploy e", "5")), Decision::Block);
    // An hour later the window is empty.
    let mut later = pre("deploy f", "6");
    later.timestamp = DateTime::from_timestamp(1_770_631_200 + 3601, 0);
    assert_eq!(decide(&engine, later), Decision::None);
}

#[test]
fn what_was_blocked_does_not_count_and_what_was_asked_may() {
    let policy = r#"
marks:
  runs: {on: pre-tool-use, when: {tool.command: "~ ^run"}}
hooks:
  pre-tool-use:
    - {oracle: Say, id: no, when: {tool.command: "~ ^run no"}, config: {intensity: block, text: no}}
    - {oracle: Say, id: ask, when: {tool.command: "~ ^run ask"}, config: {intensity: ask, text: really}}
    - {oracle: Say, id: count, when: {tool.command: look, marks.runs: "> 0"}, config: {intensity: prompt, text: it ran}}
"#;
    let engine = engine(policy);
    let state = engine.state();
    let runs = || {
        engine
            .facts(&state, Arc::new(pre("look", "l")))
            .mark("runs")
            .to_string()
    };
    decide(&engine, pre("run no", "1"));
    assert_eq!(runs(), "0");
    decide(&engine, pre("run ask", "2"));
    assert!(runs().starts_with("0 or 1"), "{}", runs());
    decide(&engine, post("run ask", "2", Some(0)));
    assert_eq!(runs(), "1");
    decide(&engine, pre("run yes", "3"));
    decide(&engine, pre("run yes", "3"));
    assert_eq!(runs(), "2", "told twice, it is one call");
}

#[test]
fn it_is_counted_for_each_value_and_added_up() {
    let policy = r#"
marks:
  failed: {on: post-tool-use, when: {tool.ok: false}, by: tool.command, until: [{on: post-tool-use, when: {tool.ok: true}}]}
  lines: {on: post-tool-use, add: tool.lines}
hooks:
  pre-tool-use:
    - {oracle: Say, id: third, when: {marks.failed: ">= 2"}, config: {intensity: block, text: it has failed twice}}
    - {oracle: Say, id: budget, when: {marks.lines: "> 2"}, config: {intensity: ask, text: much}}
"#;
    let engine = engine(policy);
    for id in ["1", "2"] {
        decide(&engine, post("make a", id, Some(2)));
    }
    decide(&engine, post("make b", "3", Some(2)));
    assert_eq!(decide(&engine, pre("make a", "4")), Decision::Block);
    assert_eq!(decide(&engine, pre("make b", "5")), Decision::None);
    decide(&engine, post("make a", "6", Some(0)));
    assert_eq!(decide(&engine, pre("make a", "7")), Decision::None);
    let mut long = edit(Trigger::PostToolUse, "8");
    long.tool.as_mut().unwrap().input = json!({"file_path": "a", "content": "1\n2\n3\n"});
    decide(&engine, long);
    assert_eq!(decide(&engine, pre("make c", "9")), Decision::Ask);
}

#[test]
fn a_subagent_counts_for_its_parent_and_another_session_does_not() {
    let engine = engine(PUSH_GATE);
    let mut inside = post("cargo test", "1", Some(0));
    inside.session_id = Some("sub".to_owned());
    inside.root_session_id = Some("s1".to_owned());
    decide(&engine, inside);
    assert_eq!(decide(&engine, pre("git push", "2")), Decision::None);
    let mut other = pre("git push", "3");
    other.session_id = Some("s2".to_owned());
    assert_eq!(decide(&engine, other), Decision::Block);
    let mut nobody = pre("git push", "4");
    nobody.session_id = None;
    assert_eq!(
        decide(&engine, nobody),
        Decision::Block,
        "without a session it cannot be told"
    );
}

#[test]
fn the_age_of_a_session_begins_with_its_first_event() {
    let policy = r#"
hooks:
  pre-tool-use:
    - {oracle: Say, when: {session.age: "> 2h"}, config: {intensity: ask, text: a long session}}
"#;
    let engine = engine(policy);
    let at = |seconds: i64| {
        let mut event = pre("ls", "x");
        event.timestamp = DateTime::from_timestamp(1_770_631_200 + seconds, 0);
        event
    };
    assert_eq!(decide(&engine, at(0)), Decision::None);
    assert_eq!(decide(&engine, at(7200)), Decision::None);
    assert_eq!(decide(&engine, at(7201)), Decision::Ask);
}

#[test]
fn scripts_and_expressions_ask_for_marks() {
    let policy = r#"
marks:
  runs: {on: post-tool-use, when: {tool.command: "~ ^run"}}
hooks:
  pre-tool-use:
    - {oracle: Say, when: {expr: "marks.runs >= 2"}, config: {intensity: block, text: two}}
"#;
    let engine = engine(policy);
    assert_eq!(decide(&engine, pre("ls", "1")), Decision::None);
    for id in ["2", "3"] {
        decide(&engine, post("run", id, Some(0)));
    }
    assert_eq!(decide(&engine, pre("ls", "4")), Decision::Block);
    // What cannot be told counts as true.
    let mut nobody = pre("ls", "5");
    nobody.session_id = None;
    assert_eq!(decide(&engine, nobody), Decision::Block);
}

#[test]
fn an_event_that_is_told_twice_counts_once_and_a_result_without_its_call_as_itself() {
    let policy = r#"
marks:
  calls: {on: pre-tool-use, when: {tool.command: "~ ^make"}}
  results: {on: post-tool-use, when: {tool.command: "~ ^make"}}
hooks:
  pre-tool-use:
    - {oracle: Say, when: {any: [{marks.calls: "> 9"}, {marks.results: "> 9"}]}, config: {text: many}}
"#;
    let engine = engine(policy);
    let counted = || {
        let facts = engine.facts(&engine.state(), Arc::new(pre("ls", "asking")));
        ["calls", "results"].map(|name| facts.mark(name).count)
    };
    let exactly = |least, most| ahp::session::Count { least, most };
    decide(&engine, pre("make", "1"));
    decide(&engine, pre("make", "1"));
    assert_eq!(counted(), [exactly(1, 1), exactly(0, 1)]);
    decide(&engine, post("make", "1", Some(0)));
    decide(&engine, post("make", "1", Some(0)));
    assert_eq!(counted(), [exactly(1, 1), exactly(1, 1)]);
    decide(&engine, post("make", "2", Some(0)));
    assert_eq!(counted(), [exactly(1, 1), exactly(2, 2)]);
}

#[test]
fn a_weight_below_zero_adds_nothing() {
    let policy = r#"
marks:
  codes: {on: post-tool-use, add: tool.exit_code}
hooks:
  pre-tool-use:
    - {oracle: Say, when: {marks.codes: "> 6"}, config: {intensity: block, text: much}}
"#;
    let engine = engine(policy);
    decide(&engine, post("a", "1", Some(7)));
    decide(&engine, post("b", "2", Some(-3)));
    let facts = engine.facts(&engine.state(), Arc::new(pre("ls", "3")));
    let seven = ahp::session::Count { least: 7, most: 7 };
    assert_eq!(facts.mark("codes").count, seven);
}

#[test]
fn a_call_that_is_told_of_twice_does_not_count_against_itself() {
    let engine = engine(
        r#"
marks:
  deploys: {on: pre-tool-use, when: {tool.command: "~ ^deploy"}, within: 1h}
hooks:
  pre-tool-use:
    - {oracle: Say, when: {tool.command: "~ ^deploy", marks.deploys: ">= 3"}, config: {intensity: block}}
"#,
    );
    for id in ["1", "2", "3", "3"] {
        assert_eq!(decide(&engine, pre("deploy", id)), Decision::None, "{id}");
    }
    assert_eq!(decide(&engine, pre("deploy", "4")), Decision::Block);
    for id in ["1", "2", "3"] {
        decide(&engine, post("deploy", id, Some(0)));
    }
    assert_eq!(decide(&engine, pre("deploy", "5")), Decision::Block);
}

#[test]
fn tests_that_run_after_an_edit_without_a_result_open_the_gate() {
    let engine = engine(PUSH_GATE);
    decide(&engine, edit(Trigger::PreToolUse, "e"));
    assert_eq!(decide(&engine, pre("git push", "p1")), Decision::Block);
    decide(&engine, pre("cargo test", "t"));
    decide(&engine, post("cargo test", "t", Some(0)));
    assert_eq!(decide(&engine, pre("git push", "p2")), Decision::None);
    // An edit that comes after the tests may have happened.
    decide(&engine, edit(Trigger::PreToolUse, "f"));
    assert_eq!(decide(&engine, pre("git push", "p3")), Decision::Block);
    decide(
        &engine,
        Event::new(Trigger::PreAgentTurn).with_session("s1"),
    );
    assert_eq!(decide(&engine, pre("git push", "p4")), Decision::Block);
    decide(&engine, post("cargo test", "u", Some(0)));
    assert_eq!(decide(&engine, pre("git push", "p5")), Decision::None);
    // Its result comes after all.
    decide(&engine, edit(Trigger::PostToolUse, "f"));
    assert_eq!(decide(&engine, pre("git push", "p6")), Decision::Block);
}

#[test]
fn an_event_counts_once_for_a_value_that_it_has_twice() {
    let engine = engine(
        r#"
marks:
  runs: {on: pre-tool-use, by: tool.arguments}
hooks:
  pre-tool-use:
    - {oracle: Say, when: {tool.command: "~ ^look", marks.runs: "> 1"}, config: {intensity: block}}
"#,
    );
    decide(&engine, pre("echo a a", "1"));
    assert_eq!(decide(&engine, pre("look a", "2")), Decision::None);
    assert_eq!(decide(&engine, pre("look a", "3")), Decision::Block);
}

#[test]
fn an_expression_is_told_as_many_as_it_asks_for() {
    let engine = engine(
        r#"
marks:
  runs: {on: post-tool-use, when: {tool.command: "~ ^run"}, within: 1h}
hooks:
  pre-tool-use:
    - {oracle: Say, when: {expr: "marks.runs >= 70"}, config: {intensity: block}}
"#,
    );
    for n in 0..70 {
        assert_eq!(
            decide(&engine, pre("ls", &format!("l{n}"))),
            Decision::None,
            "{n}"
        );
        decide(&engine, post("run", &n.to_string(), Some(0)));
    }
    assert_eq!(decide(&engine, pre("ls", "l")), Decision::Block);
}

#[test]
fn what_only_ends_or_keys_a_mark_is_kept_too() {
    let engine = engine(
        r#"
marks:
  sent: {on: pre-tool-use, when: {tool.command: "~ ^run"}, until: [{on: pre-tool-use, when: {tool.outward: true}}]}
  from: {on: pre-tool-use, by: tool.arguments_from}
  age: {on: pre-tool-use, add: session.age}
hooks:
  pre-tool-use:
    - {oracle: Say, when: {any: [{marks.sent: "> 99"}, {marks.from: "> 99"}, {marks.age: "> 9999"}]}, config: {intensity: block}}
"#,
    );
    let policy = engine.state();
    assert!(policy.policy().asks_origins() && policy.policy().asks_age());
    assert!(policy.policy().wanted().contains(&Trigger::PreAgentTurn));
}

#[test]
fn an_end_that_may_be_of_any_issue_leaves_each_in_doubt() {
    let engine = engine(
        "
marks:
  reviewed: {on: post-issue-submit, per: issue, until: [{on: post-tool-use, when: {tool.kind: [write, edit]}}]}
hooks:
  pre-issue-close:
    - {oracle: Say, when: {marks.reviewed: 0}, config: {intensity: block, text: submit it first}}
",
    );
    let issue = |trigger, id: &str| {
        let mut event = Event::new(trigger).with_session("s1");
        event.issue_id = Some(id.to_owned());
        decide(&engine, event)
    };
    let submit = |id| issue(Trigger::PostIssueSubmit, id);
    let close = |id| issue(Trigger::PreIssueClose, id);
    assert_eq!(close("A-1"), Decision::Block);
    submit("A-1");
    submit("A-2");
    assert_eq!(close("A-1"), Decision::None);
    decide(&engine, post("ls", "1", Some(0)));
    assert_eq!(close("A-1"), Decision::None, "nothing was edited");
    decide(&engine, edit(Trigger::PostToolUse, "2"));
    assert_eq!(close("A-1"), Decision::Block, "the edit may be of it");
    assert_eq!(close("A-2"), Decision::Block);
    submit("A-1");
    assert_eq!(close("A-1"), Decision::None, "submitted after the edit");
    assert_eq!(close("A-2"), Decision::Block);
    let mut event = edit(Trigger::PostToolUse, "3");
    event.issue_id = Some("A-2".to_owned());
    decide(&engine, event);
    assert_eq!(close("A-1"), Decision::None, "the edit was of another");
}
