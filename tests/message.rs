//! What agents and people are told of a verdict.

use ahp::event::Trigger;
use ahp::message::{for_agent, for_person};
use ahp::signal::Signal;
use ahp::verdict::Verdict;
use uuid::Uuid;

fn verdict(signals: Vec<Signal>) -> Verdict {
    Verdict::of(Trigger::PreToolUse, signals)
}

#[test]
fn a_block_says_why_how_and_how_to_respond() {
    let mut signal = Signal::block("x", "two items are open").steps(["tick a", "tick b"]);
    signal.header.source = "checklist-validator".to_owned();
    signal.header.id = Uuid::from_u128(0xabcd_1234);
    let text = for_agent(&verdict(vec![Signal::aid("tip", "a tip"), signal]), 9_000);
    assert_eq!(
        text,
        "Blocked by checklist-validator: two items are open\n1. tick a\n2. tick b\n\
         Respond: `ahp respond abcd1234 retry_after_fix|abort`\n\nNote from tip: a tip"
    );
}

#[test]
fn a_long_message_loses_steps_before_reasons() {
    let steps: Vec<String> = (0..1000).map(|n| format!("step number {n}")).collect();
    let text = for_agent(
        &verdict(vec![Signal::block("x", "the reason").steps(steps)]),
        500,
    );
    assert!(text.chars().count() <= 500, "{text}");
    assert!(text.starts_with("Blocked by x: the reason\n1. step number 0"));
    assert!(text.contains("… and 980 more"));
}

#[test]
fn a_person_gets_one_line_of_the_strongest_and_of_each_warning() {
    let text = for_person(&verdict(vec![
        Signal::aid("a", "a word"),
        Signal::prompt("p", "a warning"),
        Signal::block("b", "the reason\nmore of it").steps(["x"]),
    ]));
    assert_eq!(text, "ahp: b: the reason\nahp: p: a warning");
}
