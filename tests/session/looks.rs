//! What whoever asks is told: scripts as well as conditions, however much was counted and whatever the clock does.

use crate::world::World;
use ahp::event::Trigger;
use ahp::verdict::Decision;

use super::engine::{at, decide, engine, engine_with, post, pre};

#[test]
fn a_script_is_not_told_a_number_where_older_ones_were_let_go() {
    let counts =
        |name: &str, body: &str| (name.to_owned(), format!("fn evaluate(ctx) {{ {body} }}"));
    let scripts = [
        counts(
            "many",
            "if ctx.marks.runs >= 100 { block(\"many\") } else { accept() }",
        ),
        counts(
            "most",
            "if ctx.mark(\"runs\").most >= 100 { block(\"many\") } else { accept() }",
        ),
        counts(
            "never",
            "if ctx.marks.runs == 0 { block(\"never\") } else { accept() }",
        ),
    ];
    let scripts: Vec<(&str, &str)> = scripts.iter().map(|(n, t)| (&**n, &**t)).collect();
    for (script, runs, expected) in [
        ("many", 60, Decision::None),
        ("many", 99, Decision::Block),
        ("many", 200, Decision::Block),
        ("most", 60, Decision::None),
        ("most", 200, Decision::Block),
        ("never", 0, Decision::Block),
        ("never", 1, Decision::None),
    ] {
        let policy = format!(
            "
marks:
  runs: {{on: post-tool-use, when: {{tool.command: run}}, within: 1h}}
hooks:
  pre-tool-use:
    - {{oracle: {script}, on_error: block}}
"
        );
        let (_dir, engine) = engine_with(&policy, &scripts);
        for n in 0..runs {
            decide(&engine, post("run", &n.to_string(), Some(0)));
        }
        assert_eq!(decide(&engine, pre("ls", "l")), expected, "{script} {runs}");
    }
    // What is compared in a condition is always kept.
    let engine = engine(
        "
marks:
  runs: {on: post-tool-use, when: {tool.command: run}, within: 1h}
hooks:
  pre-tool-use:
    - {oracle: Say, when: {marks.runs: '< 3'}, config: {intensity: block}}
    - {oracle: Say, id: two, when: {marks.runs: 2}, config: {intensity: block}}
",
    );
    for n in 0..9 {
        let expected = if n < 3 {
            Decision::Block
        } else {
            Decision::None
        };
        assert_eq!(
            decide(&engine, pre("ls", &format!("l{n}"))),
            expected,
            "{n}"
        );
        decide(&engine, post("run", &n.to_string(), Some(0)));
    }
    let told = engine.marks_at(pre("ls", "x")).remove(0).count.to_string();
    assert_eq!(told, "4 or more: of more only the newest 4 are kept");
}

#[test]
fn a_clock_that_is_set_back_between_two_looks_opens_no_gate() {
    let (passed, old) = (
        "
marks:
  passed: {on: post-tool-use, when: {tool.command: run}, within: 1h}
hooks:
  pre-tool-use:
    - {oracle: Say, when: {tool.command: push, marks.passed: 0}, config: {intensity: block}}
",
        "
hooks:
  pre-tool-use:
    - {oracle: Say, when: {tool.command: push, session.age: '> 2h'}, config: {intensity: block}}
",
    );
    // Each look: when, and what it is told.
    let (shut, open) = (Decision::Block, Decision::None);
    for (policy, looks) in [
        (passed, &[(60, open), (3700, shut), (1800, shut)][..]),
        (passed, &[(3700, shut), (60, shut), (3701, shut)]),
        (passed, &[(3599, open), (60, open), (3600, shut)]),
        (old, &[(60, open), (7300, shut), (60, shut)]),
        (old, &[(7100, open), (60, open), (7201, shut), (0, shut)]),
    ] {
        let engine = engine(policy);
        decide(&engine, at(0, post("run", "r", Some(0))));
        for (n, (seconds, expected)) in looks.iter().enumerate() {
            let id = n.to_string();
            let decision = decide(&engine, at(*seconds, pre("push", &id)));
            assert_eq!(decision, *expected, "{looks:?}: {seconds}");
        }
    }
    // Whoever only looks, as `ahp explain` does, moves no clock.
    let engine = engine(passed);
    decide(&engine, at(0, post("run", "r", Some(0))));
    engine.marks_at(at(9000, pre("push", "x")));
    assert_eq!(decide(&engine, at(60, pre("push", "y"))), open);
}

#[test]
fn what_a_script_asks_for_is_kept() {
    for (script, age, origins) in [
        ("ctx.session.age > 7200", true, false),
        ("let s = ctx.session; s.age > 7200", true, false),
        ("ctx[\"session\"][\"age\"] > 7200", true, false),
        ("ctx.tool.outward", false, true),
        ("let t = ctx.tool; t.arguments_from.len() > 0", false, true),
        ("ctx.session.id == \"message\"", false, false),
    ] {
        let text = format!(
            "fn evaluate(ctx) {{ let asked = {{ {script} }}; if asked {{ block(\"no\") }} else {{ accept() }} }}"
        );
        let policy = "hooks: {pre-tool-use: [{oracle: asks, on_error: block}]}";
        let (_dir, engine) = engine_with(policy, &[("asks", &text)]);
        let state = engine.state();
        let asked = (state.policy().asks_age(), state.policy().asks_origins());
        assert_eq!(asked, (age, origins), "{script}");
        let wanted = state.policy().wanted();
        assert_eq!(wanted.contains(&Trigger::PostToolUse), origins, "{script}");
        if age {
            assert_eq!(
                decide(&engine, at(0, pre("ls", "1"))),
                Decision::None,
                "{script}"
            );
            assert_eq!(
                decide(&engine, at(7201, pre("ls", "2"))),
                Decision::Block,
                "{script}"
            );
        }
    }
    // So is what `by:` asks for.
    let engine = engine(
        "hooks: {pre-tool-use: [{oracle: Say, intensity: {by: tool.outward, 'true': block, default: aid}}]}",
    );
    assert!(engine.state().policy().asks_origins());
}

#[test]
fn a_script_that_asks_for_a_mark_from_least_to_most_has_no_fault() {
    let world = World::new(
        "
marks:
  runs: {on: post-tool-use, when: {tool.command: run}}
hooks:
  pre-tool-use:
    - {oracle: many}
",
    );
    let script = "fn evaluate(ctx) {
    let runs = ctx.mark(\"runs\");
    if runs.least < runs.most || ctx.mark(\"runs\").most > 3 { block(\"many\") } else { accept() }
}
";
    world.write(".ahp/oracles/many.rhai", script);
    let checked = world.ahp(&["check"]);
    assert!(
        checked.code == 0 && !checked.stdout.contains("many.rhai"),
        "{checked:?}"
    );
}
