//! What a script gives, and how its faults are told.

use std::sync::Arc;
use std::time::Duration;

use ahp::config::{Key, Node, Value};
use ahp::diagnostic::Span;
use ahp::oracle::rhai::{Library, Run, Script};
use ahp::oracle::{Factory as _, OracleError};
use ahp::signal::{Intensity, Signal};

use super::project;
use crate::world::context;

pub(super) fn config(entries: &[(&str, Value)]) -> Node {
    let span = Span::default();
    let entries = entries.iter().map(|(name, value)| {
        let key = Key {
            name: (*name).to_owned(),
            span,
        };
        (key, Node::new(value.clone(), span))
    });
    Node::new(Value::Map(entries.collect()), span)
}

pub(super) fn run(source: &str, timeout: Duration) -> Run {
    try_run(source, timeout).unwrap()
}

pub(super) fn try_run(source: &str, timeout: Duration) -> Result<Run, OracleError> {
    let script = Arc::new(Script::compile("made-up", "made-up.rhai", source).unwrap());
    let oracle = script.oracle(&config(&[])).unwrap();
    let context = context(
        project::facts(project::example(), project::submit()),
        timeout,
    );
    block_on(oracle.run(&context))
}

pub(super) fn block_on<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap()
        .block_on(future)
}

fn signals(source: &str) -> Vec<Signal> {
    run(source, Duration::from_secs(10)).result.unwrap()
}

fn fault(source: &str) -> String {
    run(source, Duration::from_secs(10))
        .result
        .unwrap_err()
        .to_string()
}

fn compile_fault(source: &str) -> String {
    Script::compile("made-up", "made-up.rhai", source)
        .unwrap_err()
        .to_string()
}

#[test]
fn the_facts_of_the_event_are_there() {
    let signals = signals(
        r"fn evaluate(ctx) {
            prompt(`${ctx.trigger} ${ctx.issue.id} ${ctx.issue.type} ${ctx.files.changed_count} ${ctx.git.branch} ${ctx.environment}`)
        }",
    );
    assert_eq!(
        signals[0].payload.text(),
        "pre-issue-submit FEAT-0123 feature 3 FEAT-0123-users development"
    );
    assert_eq!(signals[0].header.kind, "made-up");
}

#[test]
fn a_list_of_answers_gives_a_signal_for_each_objection() {
    let signals = signals(
        r#"fn evaluate(ctx) {
            [accept(), block("a", ["do b"]).type("NoA"), prompt("c").severity("high"), aid("d")]
        }"#,
    );
    let told: Vec<_> = signals
        .iter()
        .map(|s| (s.intensity(), s.header.kind.as_str()))
        .collect();
    assert_eq!(
        told,
        [
            (Intensity::Block, "no-a"),
            (Intensity::Prompt, "made-up"),
            (Intensity::Aid, "made-up"),
        ]
    );
}

#[test]
fn a_fault_names_the_place_and_shows_the_line() {
    let told = fault("fn helper(x) {\n    x.nothing()\n}\n\nfn evaluate(ctx) {\n    helper(1)\n}");
    assert_eq!(
        told,
        "made-up.rhai:2:7: there is no function `nothing(whole number)`\n  2 |     x.nothing()\n            ^\n  in the call of `helper` in line 6"
    );
}

#[test]
fn a_misspelt_fact_is_told_when_it_is_asked_for_and_before() {
    let source = "fn evaluate(ctx) {\n    let files = ctx.files;\n    if ctx.isue.id == 1 { return accept(); }\n    files.chnged\n}";
    assert!(fault(source).contains("there is no fact `isue`; did you mean `issue`?"));
    let script = Script::compile("x", "x.rhai", source).unwrap();
    let found: Vec<_> = script
        .misspelt_facts()
        .iter()
        .map(|m| (m.name.as_str(), m.nearest.as_deref(), m.line, m.column))
        .collect();
    assert_eq!(
        found,
        [
            ("isue", Some("issue"), 3, 12),
            ("files.chnged", Some("files.changed"), 4, 11)
        ]
    );
}

#[test]
fn misspelt_facts_are_found_in_interpolations_arguments_and_closures() {
    for source in [
        "fn evaluate(ctx) { prompt(`${ctx.files.chnged}`) }",
        "fn evaluate(ctx) { block(ctx.files.chnged.join()) }",
        "fn evaluate(ctx) { if true { for f in ctx.files.chnged { } } accept() }",
        "fn evaluate(ctx) { [1].filter(|x| ctx.files.chnged.contains(x)); accept() }",
        "fn evaluate(c) { c.files.chnged[0]; accept() }",
        "fn evaluate(ctx) { let x = [ctx.files.chnged]; accept() }",
    ] {
        let script = Script::compile("x", "x.rhai", source).unwrap();
        let found: Vec<_> = script
            .misspelt_facts()
            .iter()
            .map(|m| m.name.as_str())
            .collect();
        assert_eq!(found, ["files.chnged"], "{source}");
    }
}

#[test]
fn what_a_script_is_can_be_told_without_running_it() {
    let script = Arc::new(
        Script::compile(
            "MyScript",
            "x.rhai",
            "//! Does it.\n//!\n//! More.\nconst TRIGGERS = [\"pre-tool-use\"];\nfn evaluate(ctx) { if ctx.git.dirty { block(\"x\") } else { prompt(\"y\") } }",
        )
        .unwrap(),
    );
    assert_eq!(script.name(), "my-script");
    assert_eq!(script.summary(), "Does it.");
    assert_eq!(script.page(), "Does it.\n\nMore.");
    assert_eq!(script.intensities(), [Intensity::Block, Intensity::Prompt]);
    assert_eq!(script.needs(), [ahp::fact::FactSource::Git]);
    assert_eq!(script.triggers(), [ahp::event::Trigger::PreToolUse]);
}

#[test]
fn what_is_no_oracle_is_refused_with_the_reason() {
    assert_eq!(
        compile_fault("fn other() { }"),
        "made-up.rhai: an oracle defines `fn evaluate(ctx)`"
    );
    assert!(compile_fault("fn evaluate(a, b) { }").contains("takes one parameter"));
    let told = compile_fault("fn evaluate(ctx) {\n    let x = ;\n}");
    assert!(told.starts_with("made-up.rhai:2:13: "), "{told}");
    assert!(told.contains("2 |     let x = ;"), "{told}");
}

#[test]
fn an_answer_that_is_none_says_what_was_expected() {
    assert!(
        fault("fn evaluate(ctx) { let x = accept(); }")
            .contains("a `;` after the last expression?")
    );
    assert!(fault("fn evaluate(ctx) { 42 }").contains("gave a whole number"));
}

#[test]
fn defaults_are_completed_and_unknown_or_wrong_keys_refused() {
    let script = Arc::new(Script::compile(
        "x",
        "x.rhai",
        r#"const DEFAULTS = #{max: 3, names: ["a"], action: "block", rate: 0.5};
           const CHOICES = #{action: ["block", "prompt"]};
           fn evaluate(ctx) { prompt(`${ctx.config.max} ${ctx.config.names[0]} ${ctx.config.rate}`) }"#,
    ).unwrap());
    let context = context(
        project::facts(project::example(), project::submit()),
        Duration::from_secs(10),
    );
    let given = config(&[("max", Value::Int(7)), ("rate", Value::Int(1))]);
    let run = block_on(script.oracle(&given).unwrap().run(&context)).unwrap();
    assert_eq!(run.result.unwrap()[0].payload.text(), "7 a 1.0");

    let faults = script
        .oracle(&config(&[
            ("mx", Value::Int(1)),
            ("names", Value::Int(1)),
            ("action", Value::Str("blok".to_owned())),
        ]))
        .unwrap_err()
        .0;
    let told: Vec<_> = faults.iter().map(|f| f.message.as_str()).collect();
    assert_eq!(
        told,
        [
            "unknown key `mx`",
            "expected a list, found a whole number",
            "`blok` is not one of the values offered"
        ]
    );
    assert_eq!(faults[0].help[0], "did you mean `max`?");
    assert_eq!(faults[2].help[0], "did you mean `block`?");
}

#[test]
fn a_script_that_comes_along_is_found_by_any_spelling() {
    let library = Library::new(std::path::Path::new("/nowhere"), []);
    for name in ["api-documentation", "ApiDocumentation", "api_documentation"] {
        assert_eq!(
            library.find(name).unwrap().unwrap().name(),
            "api-documentation"
        );
    }
    assert!(library.find("api-docs").unwrap().is_none());
}

#[test]
fn every_script_that_comes_along_compiles_is_documented_and_asks_for_facts_that_exist() {
    let library = Library::new(std::path::Path::new("/nowhere"), []);
    let mut names: Vec<_> = library.all().into_iter().map(|found| found.name).collect();
    let given = names.clone();
    names.sort();
    names.dedup();
    assert_eq!(names, given, "sorted, each once");
    for name in names {
        let script = library.find(&name).unwrap().unwrap();
        assert_eq!(script.misspelt_facts(), [], "{name}");
        assert!(script.page().contains("```yaml"), "{name}");
        assert!(script.summary().ends_with('.'), "{name}");
        assert!(!script.intensities().is_empty(), "{name}");
    }
}

#[test]
fn scripts_run_at_the_same_time() {
    let script = Arc::new(
        Script::compile(
            "x",
            "x.rhai",
            "fn evaluate(ctx) { let n = 0; for f in ctx.files.changed { n += 1; } aid(`${n}`) }",
        )
        .unwrap(),
    );
    let oracle = script.oracle(&config(&[])).unwrap();
    let facts = project::facts(project::example(), project::submit());
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                let context = context(facts.clone(), Duration::from_secs(10));
                let run = block_on(oracle.run(&context)).unwrap();
                assert_eq!(run.result.unwrap()[0].payload.text(), "3");
            });
        }
    });
}

#[test]
fn a_limit_that_is_passed_is_told_with_its_place() {
    let told = fault("fn evaluate(ctx) {\n    let n = 0;\n    loop {\n        n += 1;\n    }\n}");
    assert!(
        told.starts_with("made-up.rhai:4:9: the script takes more than 500000 operations"),
        "{told}"
    );
    let told =
        fault("fn evaluate(ctx) {\n    let s = \"x\";\n    loop {\n        s += s;\n    }\n}");
    assert!(
        told.starts_with("made-up.rhai:4:9: a text, or all texts"),
        "{told}"
    );
}

#[test]
fn a_script_whose_time_is_over_is_told_with_the_line_it_was_at() {
    let slow = |body: &str| {
        let source = format!("fn evaluate(ctx) {{\n{body}\n    accept()\n}}");
        let run = run(&source, Duration::from_millis(400));
        run.result.unwrap_err().to_string()
    };
    // Without an end by operations in so short a time: each step is long.
    let step = "for i in 0..4000 { matches(s, \"[^a][^b]*\"); }";
    let told = slow(&format!(
        "    let s = \"\";\n    s.pad(200_000, 'a');\n    {step}"
    ));
    assert!(
        told.starts_with("made-up.rhai:4:32: the script took longer than its timeout"),
        "{told}"
    );
    let straight = "    matches(s, \"[^a][^b]*\");\n".repeat(6_000);
    let told = slow(&format!(
        "    let s = \"\";\n    s.pad(200_000, 'a');\n{straight}"
    ));
    let line = told.split(':').nth(1).unwrap().parse::<u32>().unwrap();
    assert!(line > 3, "{told}");
    assert!(told.contains("| ") && told.contains("matches(s,"), "{told}");
}

/// What people write by mistake: a line of a script, and what is said of it.
const MISTAKES: &[(&str, &str)] = &[
    ("let x = ctx.config.word;", "there is no key `word`"),
    (
        "let text = 1; txt",
        "there is no variable `txt`; did you mean `text`?",
    ),
    (
        "blok(\"a\")",
        "there is no function `blok(text)`; did you mean `block`?",
    ),
    (
        "helpr(1)",
        "there is no function `helpr(whole number)`; did you mean `helper`?",
    ),
    (
        "block()",
        "`block()` does not fit `block(reason, steps = [])`",
    ),
    (
        "block(1, 2)",
        "`block(whole number, whole number)` does not fit `block(",
    ),
    ("accept().severty(\"high\")", "did you mean `severity`?"),
    (
        "prompt(\"a\").severity(\"huge\")",
        "expected low, medium, high or critical",
    ),
    (
        "[1].includes(1)",
        "there is no function `includes(list, whole number)`",
    ),
    // A fact that the event does not have, and what people do with it.
    (
        "let x = (); x.contains(\"a\")",
        "there is no function `contains(nothing, text)`; nothing, `()`, is what a fact gives that this event does not have: ask \
         first (`if x != () { … }`)",
    ),
    (
        "let x = (); x.len()",
        "there is no function `len(nothing)`; nothing, `()`, is",
    ),
    (
        "let x = (); matches(x, \"a\")",
        "does not fit `matches(text, regex) -> bool`; nothing, `()`, is",
    ),
    ("let x = (); x.name", "; nothing, `()`, is what"),
    ("let x = (); x[0]", "; nothing, `()`, is what"),
    ("let x = (); if x { accept() }", "; nothing, `()`, is what"),
];

#[test]
fn a_mistake_is_told_in_the_words_of_the_manual() {
    for (line, expected) in MISTAKES {
        let source = format!(
            "const OTHER = 3;\nconst DEFAULTS = #{{words: []}};\nfn helper(x) {{ x }}\nfn evaluate(ctx) {{\n    {line}\n}}"
        );
        let told = fault(&source);
        assert!(told.starts_with("made-up.rhai:5:"), "{told}");
        assert!(told.contains(expected), "{line}: {told}");
    }
    let told = fault("const LIMIT = 3;\nfn most() { LIMIT }\nfn evaluate(ctx) { most() }");
    assert!(
        told.contains("functions do not see constants: hand `LIMIT` on"),
        "{told}"
    );
    for (source, expected) in [
        (
            "fn evaluate(ctx) {\n    if true { accept()\n}\n",
            "the script ends too early",
        ),
        (
            "fn evaluate(ctx) { 'a text' }",
            "a text stands in double quotes: \"a text\"",
        ),
        (
            "const DEFAULTS = #{a: \"x\" + \"y\"};\nfn evaluate(ctx) { accept() }",
            "made-up.rhai:1:1: `const DEFAULTS` is computed: write its values out",
        ),
        (
            "const DESCRIPTION = 3;\nfn evaluate(ctx) { accept() }",
            "`const DESCRIPTION` is a text",
        ),
        (
            "const TRIGGERS = [#{}];\nfn evaluate(ctx) { accept() }",
            "`const TRIGGERS` is a list of triggers",
        ),
        (
            "const CHOICES = #{level: [1]};\nfn evaluate(ctx) { accept() }",
            "`const CHOICES` names `level`, which `DEFAULTS` does not have",
        ),
        (
            "const DEFAULTS = #{level: 1};\nconst CHOICES = #{level: #{}};\nfn evaluate(ctx) { accept() }",
            "`const CHOICES` is a map of lists",
        ),
    ] {
        let told = compile_fault(source);
        assert!(told.contains(expected), "{source}: {told}");
    }
}

#[test]
fn a_key_that_the_configuration_never_has_is_found_before() {
    let source = "const DEFAULTS = #{words: []};\nfn evaluate(ctx) {\n    let config = ctx.config;\n    config.wrds;\n    ctx.config.words\n}";
    let script = Script::compile("x", "x.rhai", source).unwrap();
    let found: Vec<_> = script
        .misspelt_facts()
        .iter()
        .map(|m| (m.name.as_str(), m.nearest.as_deref(), m.line, m.column))
        .collect();
    assert_eq!(found, [("config.wrds", Some("config.words"), 4, 12)]);
}
