//! What the past and the policy make of what an oracle found: escalation, ceilings, answers.

use std::path::PathBuf;
use std::sync::Arc;

use ahp::config::{Fsync, Locations, LogSettings};
use ahp::engine::{Clock as _, Engine, SystemClock, block_on};
use ahp::event::{Event, Stop, Trigger};
use ahp::oracle::{HookContext, Oracle, OracleError};
use ahp::signal::Intensity::{Aid, Block, Control, Prompt};
use ahp::signal::{Action, Actor, Intensity, Modification, Signal};
use ahp::signal_log::{Answer, SignalLog, respond};
use ahp::verdict::Decision;
use async_trait::async_trait;
use serde_json::json;
use serde_json::{Map, Value};

/// An oracle that always finds the same; where it is nothing, it fails.
#[derive(Debug)]
struct Say(Vec<Signal>);

#[async_trait]
impl Oracle for Say {
    async fn evaluate(&self, _: &HookContext) -> Result<Vec<Signal>, OracleError> {
        match self.0.as_slice() {
            [] => Err(OracleError::failed("boom")),
            found => Ok(found.to_vec()),
        }
    }
}

/// A project with a policy that keeps a log.
struct Project {
    dir: tempfile::TempDir,
    engine: Engine,
}

impl Project {
    /// One binding of [`Say`] at `pre-tool-use`.
    fn new(binding: &str, found: &[Signal]) -> Self {
        let policy = format!("hooks: {{pre-tool-use: [{{oracle: Say, {binding}}}]}}");
        Self::with_policy(&policy, found)
    }

    fn with_policy(policy: &str, found: &[Signal]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join(".ahp")).unwrap();
        std::fs::write(dir.path().join(".ahp/hooks.yaml"), policy).unwrap();
        let engine = Engine::builder()
            .locations(Locations::of_project(dir.path()))
            .oracle("Say", Arc::new(Say(found.to_vec())))
            .build()
            .unwrap();
        Self { dir, engine }
    }

    fn log(&self) -> PathBuf {
        self.dir.path().join(".ahp/signals.jsonl")
    }

    /// The intensities that an event of an issue and a session gets.
    fn given(&self, issue: Option<&str>, session: Option<&str>) -> Vec<Intensity> {
        let mut event = Event::tool_use("Read", json!({}));
        event.issue_id = issue.map(str::to_owned);
        event.session_id = session.map(str::to_owned);
        let verdict = block_on(self.engine.evaluate(event));
        verdict.signals.iter().map(Signal::intensity).collect()
    }

    /// The same of several events of a session.
    fn times(&self, count: usize) -> Vec<Vec<Intensity>> {
        (0..count).map(|_| self.given(None, Some("s"))).collect()
    }

    /// Answers the newest signal that the action is for.
    fn answer(&self, action: Action) {
        let settings = LogSettings {
            fsync: Fsync::Never,
            ..LogSettings::default()
        };
        let log = SignalLog::open(self.log(), &settings).unwrap();
        let answer = Answer {
            action,
            details: Map::new(),
            by: Actor::Agent,
        };
        respond(&log, "last", answer, SystemClock.now()).unwrap();
    }
}

fn block() -> Signal {
    Signal::block("found", "found").steps(["fix it"])
}

fn control() -> Signal {
    let modification = Modification {
        target: "batch_size".to_owned(),
        original: Value::Null,
        updated: json!(10),
        reason: String::new(),
    };
    Signal::control("found", vec![modification])
}

#[test]
fn a_failure_gives_what_on_error_says_whatever_the_past_and_the_ceiling() {
    for (binding, given) in [
        ("on_error: block, escalate: {steps: [prompt, block]}", Block),
        ("on_error: block, intensity: aid", Block),
        ("on_error: prompt, escalate: {steps: [block]}", Prompt),
    ] {
        let project = Project::new(binding, &[]);
        assert_eq!(project.times(3), vec![vec![given]; 3], "{binding}");
    }
}

#[test]
fn violations_are_counted_for_the_issue_or_for_the_session() {
    let steps = "escalate: {steps: [prompt, block], per: session}";
    let project = Project::new(steps, &[block()]);
    let given = ["A-1", "B-1"].map(|issue| project.given(Some(issue), Some("s")));
    assert_eq!(given, [vec![Prompt], vec![Block]]);
    let project = Project::new(steps, &[block()]);
    let given = ["s", "t"].map(|session| project.given(Some("A-1"), Some(session)));
    assert_eq!(given, [vec![Prompt], vec![Prompt]]);

    let project = Project::new("escalate: {steps: [prompt, block]}", &[block()]);
    let given = ["s", "t"].map(|session| project.given(Some("A-1"), Some(session)));
    assert_eq!(given, [vec![Prompt], vec![Block]]);
    assert_eq!(project.given(Some("B-1"), Some("s")), [Prompt]);
}

#[test]
fn an_event_of_neither_issue_nor_session_counts_for_the_project() {
    for per in ["issue", "session"] {
        let binding = format!("escalate: {{steps: [prompt, block], per: {per}}}");
        let project = Project::new(&binding, &[block()]);
        let given: Vec<_> = (0..3).map(|_| project.given(None, None)).collect();
        assert_eq!(given, [vec![Prompt], vec![Block], vec![Block]], "{per}");
    }
    let project = Project::new("override: true", &[block()]);
    assert_eq!(project.given(None, None), [Block]);
    project.answer(Action::ProceedWithRisk);
    assert!(project.given(None, None).is_empty());
    assert_eq!(project.given(None, None), [Block]);
}

#[test]
fn a_prompt_that_a_ceiling_made_can_be_acknowledged() {
    let project = Project::new("intensity: prompt", &[block()]);
    assert_eq!(project.given(None, Some("s")), [Prompt]);
    project.answer(Action::Acknowledge);
    assert!(project.given(None, Some("s")).is_empty());
    assert_eq!(project.given(None, Some("t")), [Prompt]);
}

#[test]
fn below_a_ceiling_of_control_what_can_change_nothing_is_a_prompt() {
    for (binding, found, given) in [
        ("intensity: control", block(), Prompt),
        ("intensity: control", control(), Control),
        (
            "intensity: control, escalate: {steps: [control]}",
            Signal::prompt("found", "found"),
            Prompt,
        ),
        (
            "intensity: control, escalate: {steps: [block]}",
            control(),
            Control,
        ),
        ("intensity: aid", control(), Aid),
    ] {
        let project = Project::new(binding, std::slice::from_ref(&found));
        assert_eq!(project.given(None, Some("s")), [given], "{binding}");
    }
}

#[test]
fn a_first_step_of_aid_is_left_behind_like_any_other() {
    let project = Project::new("escalate: {steps: [aid, prompt, block]}", &[block()]);
    assert_eq!(project.times(3), [[Aid], [Prompt], [Block]]);
}

#[test]
fn an_issue_is_counted_however_its_id_is_written() {
    let project = Project::new("escalate: {steps: [prompt, block]}", &[block()]);
    let given = ["FEAT-1", "feat-1"].map(|issue| project.given(Some(issue), None));
    assert_eq!(given, [[Prompt], [Block]]);
}

#[test]
fn two_risks_can_be_taken_one_after_the_other() {
    let found = [Signal::block("a", "a"), Signal::block("b", "b")];
    let project = Project::new("override: true", &found);
    assert_eq!(project.times(1), [vec![Block, Block]]);
    project.answer(Action::ProceedWithRisk);
    assert_eq!(project.times(2), [vec![Block], vec![Block]]);
    project.answer(Action::ProceedWithRisk);
    assert_eq!(project.times(2), [vec![], vec![Block, Block]]);
}

#[test]
fn what_nobody_waits_for_is_an_aid_whatever_the_past() {
    let project = Project::new("async: true, escalate: {steps: [block]}", &[block()]);
    let mut event = Event::new(Trigger::PreToolUse);
    event.session_id = Some("s".to_owned());
    block_on(project.engine.evaluate_in_background(event, "say"));
    let log = std::fs::read_to_string(project.log()).unwrap();
    assert!(log.contains("\"intensity\":\"aid\""), "{log}");
    assert!(!log.contains("\"intensity\":\"block\""), "{log}");
}

/// The intensities that a stop gets, each the next of its session.
fn stops<const N: usize>(engine: &Engine, is_active: [bool; N]) -> [Vec<Intensity>; N] {
    is_active.map(|active| {
        let mut event = Event::new(Trigger::PreAgentTurnStop);
        event.session_id = Some("s".to_owned());
        event.stop = Some(Stop {
            active,
            ..Stop::default()
        });
        let verdict = block_on(engine.evaluate(event));
        let is_blocked = verdict.decision == Decision::Block;
        let given: Vec<_> = verdict.signals.iter().map(Signal::intensity).collect();
        assert_eq!(given.contains(&Block), is_blocked);
        given
    })
}

#[test]
fn a_broken_policy_does_not_keep_an_agent_going_for_ever() {
    let project = Project::with_policy("hooks: {pre-agent-turn-stop: [{oracle: nope}]}", &[]);
    assert_eq!(
        stops(&project.engine, [false, true, true, true]),
        [[Block], [Prompt], [Prompt], [Prompt]]
    );
    // Nothing is counted without a log.
    let engine = Engine::builder()
        .policy_text("hooks: {pre-agent-turn-stop: [{oracle: nope}]}")
        .build()
        .unwrap();
    assert_eq!(stops(&engine, [false, true]), [[Block], [Prompt]]);
}

#[test]
fn a_log_that_must_be_written_and_cannot_be_does_not_either() {
    let project = Project::with_policy("settings: {log: {required: true}}", &[]);
    std::fs::write(project.log(), "# My notes\n").unwrap();
    assert_eq!(stops(&project.engine, [false, true]), [[Block], [Prompt]]);
}
