//! Uses the crate as a host program does, by the names at its root and the documented modules.

use std::sync::Arc;

use ahp::Decision;
use ahp::Engine;
use ahp::EngineBuilder;
use ahp::EngineError;
use ahp::Event;
use ahp::HookContext;
use ahp::Intensity;
use ahp::Mode;
use ahp::Modification;
use ahp::Oracle;
use ahp::OracleError;
use ahp::Payload;
use ahp::Signal;
use ahp::ToolCall;
use ahp::Trigger;
use ahp::Verdict;
use ahp::async_trait;
use ahp::block_on;
use ahp::chrono::DateTime;
use ahp::host::Host;
use ahp::serde_json::{Map, json};
use ahp::signal::Action;
use ahp::signal_log::{Body, Follow};
use ahp::uuid::Uuid;

/// Warns of large batches, and makes them smaller.
#[derive(Debug)]
struct BatchLimit(u64);

#[async_trait]
impl Oracle for BatchLimit {
    async fn evaluate(&self, context: &HookContext) -> Result<Vec<Signal>, OracleError> {
        let tool = context.event().tool.as_ref();
        let size = tool.and_then(|tool| tool.input.get("size")?.as_u64());
        let size = size.ok_or_else(|| OracleError::failed("the call has no size"))?;
        if size <= self.0 {
            return Ok(Vec::new());
        }
        let smaller = Modification {
            target: "tool.input.size".to_owned(),
            original: size.into(),
            updated: self.0.into(),
            reason: "batches are small".to_owned(),
        };
        Ok(vec![
            Signal::control("batch", vec![smaller]),
            Signal::prompt("batch", "ask for less at once").steps(["Split the batch"]),
        ])
    }

    fn mode(&self) -> Mode {
        Mode::Inline
    }
}

const POLICY: &str = "hooks: {pre-tool-use: [{oracle: BatchLimit, when: {tool.name: import}}, {oracle: PermissionChecker}]}";

fn builder() -> EngineBuilder {
    Engine::builder()
        .policy_text(POLICY)
        .oracle("BatchLimit", Arc::new(BatchLimit(100)))
}

fn evaluate(engine: &Engine, event: Event) -> Verdict {
    block_on(engine.evaluate(event))
}

#[test]
fn an_oracle_of_the_host_changes_and_warns() {
    let engine = builder().build().unwrap();
    let verdict = evaluate(&engine, Event::tool_use("import", json!({"size": 1000})));
    assert_eq!(verdict.trigger, Trigger::PreToolUse);
    assert_eq!(verdict.decision, Decision::Allow);
    assert_eq!(verdict.modified_input, Some(json!({"size": 100})));
    let intensities: Vec<Intensity> = verdict.signals.iter().map(Signal::intensity).collect();
    assert_eq!(intensities, [Intensity::Control, Intensity::Prompt]);
    let Payload::Prompt(prompt) = &verdict.signals[1].payload else {
        panic!("{:?}", verdict.signals);
    };
    assert_eq!(prompt.message, "ask for less at once");
    assert_ne!(verdict.signals[0].header.id, Uuid::nil());
    let unsized_call = evaluate(&engine, Event::tool_use("import", json!({})));
    let failed = unsized_call
        .bindings
        .iter()
        .find_map(|binding| binding.error.as_deref());
    assert_eq!(failed, Some("the call has no size"));
}

#[test]
fn an_engine_without_a_policy_is_not_made() {
    assert!(matches!(
        Engine::builder().build(),
        Err(EngineError::NoPolicy)
    ));
}

#[test]
fn a_project_has_its_layers_and_its_log() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join(".ahp")).unwrap();
    std::fs::write(
        dir.path().join(".ahp/hooks.yaml"),
        "hooks: {pre-tool-use: [{oracle: PermissionChecker}]}",
    )
    .unwrap();
    let engine = Engine::for_project(dir.path()).unwrap();
    let log = dir.path().join(".ahp/signals.jsonl");
    let mut follow = Follow::new(&log).unwrap();
    let event = Event::tool_use("Bash", json!({"command": "git push --force origin main"}))
        .with_session("s1")
        .with_work_dir(dir.path());
    let verdict = evaluate(&engine, event);
    assert!(verdict.stops(), "{verdict:?}");
    let mut why = Map::new();
    why.insert("note".to_owned(), "pushing to a branch instead".into());
    let responses = engine.respond("last", Action::Abort, why).unwrap();
    assert_eq!(responses[0].signal_id, verdict.signals[0].header.id);
    let unknown = engine
        .respond("ffffffff", Action::Abort, Map::new())
        .unwrap_err();
    assert!(
        unknown.to_string().contains("no signal has the id"),
        "{unknown}"
    );

    let records = follow.records().unwrap();
    assert!(
        records
            .iter()
            .all(|record| record.timestamp > DateTime::UNIX_EPOCH)
    );
    let kinds: Vec<_> = records
        .iter()
        .map(|record| match &record.body {
            Body::Evaluation(_) => "evaluation",
            Body::Signal(_) => "signal",
            Body::Response(_) => "response",
        })
        .collect();
    assert_eq!(
        (kinds.first(), kinds.last()),
        (Some(&"evaluation"), Some(&"response"))
    );
    assert!(follow.records().unwrap().is_empty());
}

#[test]
fn events_of_all_kinds_have_constructors() {
    let mut event = Event::new(Trigger::PostToolUse).with_issue("FEAT-0001");
    event.tool = Some(ToolCall::new("Read", json!({"path": "a"})).with_output("text".into()));
    assert_eq!(event.subject(), Some("FEAT-0001"));
    let blocked = Verdict::of(event.trigger, vec![Signal::block("x", "no")]);
    assert_eq!(blocked.decision, Decision::Block);
    assert!(Host::find("claude-code").is_some());
}

#[test]
fn every_trigger_has_one_canonical_name() {
    let names: Vec<_> = Trigger::ALL.iter().map(|t| t.name()).collect();
    assert_eq!(names.len(), 27);
    assert_eq!(names[names.len() - 1], "post-context-compact");
}
