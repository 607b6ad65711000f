//! `expr:` conditions.

use ahp::condition::Condition;
use ahp::config::Value;
use ahp::diagnostic::Span;
use ahp::event::Event;
use ahp::oracle::rhai::ExprCondition;

use super::project;

fn holds(source: &str) -> Result<bool, String> {
    let facts = project::facts(project::example(), project::submit());
    ExprCondition::compile(source, Span::default())
        .map_err(|fault| fault.message)?
        .holds(&facts)
}

#[test]
fn an_expression_speaks_of_the_facts() {
    for source in [
        "files.changed_count > 2 && issue.type == \"feature\"",
        "trigger == \"pre-issue-submit\"",
        "files.changed.some(|f| f.ends_with(\".md\"))",
        "\"src/main.rs\" in files.changed",
        "issue.title == \"Users\" || git.dirty",
        "tool.name == ()",
        "environment in [\"development\", \"staging\"]",
        "git.branch.matches(\"^FEAT-\")",
    ] {
        assert_eq!(holds(source), Ok(true), "{source}");
    }
    assert_eq!(holds("files.changed_count > 10"), Ok(false));
    assert_eq!(holds("issue.stage == \"done\""), Ok(false));
}

#[test]
fn a_tool_is_compared_by_any_hosts_name() {
    let event = Event::tool_use("run_shell_command", serde_json::Value::Null);
    let facts = project::facts(project::example(), event);
    let expr = ExprCondition::compile(
        "tool == \"Bash\" && tool.kind == \"shell\"",
        Span::default(),
    )
    .unwrap();
    assert_eq!(expr.holds(&facts), Ok(true));
    assert_eq!(expr.facts(), ["tool.kind"]);
}

#[test]
fn what_is_wrong_is_told_at_its_place() {
    let span = Span {
        start: 10,
        end: 10 + 28,
        line: 3,
        column: 11,
        ..Span::default()
    };
    let fault = ExprCondition::compile("files.chnged_count > 10 == 1", span).unwrap_err();
    assert_eq!(fault.message, "there is no fact `files.chnged_count`");
    assert_eq!(fault.help, ["did you mean `files.changed_count`?"]);
    let at = fault.label.unwrap().span;
    assert_eq!((at.line, at.column, at.start), (3, 17, 16));

    assert!(ExprCondition::compile("files.changed_count >", Span::default()).is_err());
    assert!(ExprCondition::compile("let x = 1; x", Span::default()).is_err());
    assert_eq!(
        holds("files.changed_count"),
        Err("the expression gives a whole number, not true or false".to_owned())
    );
}

#[test]
fn an_expression_stands_in_a_when_beside_other_conditions() {
    let when = |source: &str| {
        super::scripts::config(&[
            ("issue.type", Value::Str("feature".to_owned())),
            ("expr", Value::Str(source.to_owned())),
        ])
    };
    let facts = project::facts(project::example(), project::submit());
    let mut faults = Vec::new();
    let condition = Condition::compile(&when("files.changed_count > 2"), &mut faults).unwrap();
    assert!(condition.holds(&facts));
    let trace = condition.trace(&facts);
    assert_eq!(trace[1].text, "expr: files.changed_count > 2");
    assert_eq!(trace[1].found.as_deref(), Some("files.changed_count = 3"));

    // An expression that cannot be computed must not open the door.
    let broken = Condition::compile(&when("issue.stage.len() > 2"), &mut faults).unwrap();
    assert!(broken.holds(&facts));
    assert!(faults.is_empty());
    assert!(Condition::compile(&when("files.chnged"), &mut faults).is_none());
    assert_eq!(faults[0].message, "there is no fact `files.chnged`");
}
