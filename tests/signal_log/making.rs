//! Makes the records of made-up evaluations.

use std::path::Path;

use ahp::config::{Fsync, LogSettings};
use ahp::machine_key::ProjectKey;
use ahp::signal::{Origin, Signal};
use ahp::signal_log::{Body, EvaluationRecord, LogPlace, SignalLog, SignalRecord};
use ahp::verdict::{BindingReport, Decision, Outcome};
use chrono::{DateTime, Utc};
use uuid::Uuid;

/// The settings of a test: nothing is forced to the disk.
pub(crate) fn settings() -> LogSettings {
    LogSettings {
        fsync: Fsync::Never,
        ..LogSettings::default()
    }
}

pub(crate) fn log(dir: &Path) -> SignalLog {
    SignalLog::open(dir.join("signals.jsonl"), &settings()).unwrap()
}

/// The log of a project as `ahp` knows its own where the project is its user's home.
pub(crate) fn own_log(project: &Path) -> SignalLog {
    let key = ProjectKey::of(&project.join(".local/state/ahp"), project).unwrap();
    let path = project.join(".ahp/signals.jsonl");
    let place = LogPlace::new(path, Some(project.to_owned()), Some(key));
    SignalLog::open(place, &settings()).unwrap()
}

/// A moment so many seconds after the tests' beginning of time.
pub(crate) fn at(seconds: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(1_770_000_000 + seconds, 0).unwrap()
}

/// One evaluation of binding `checklist` at `pre-issue-submit` for FEAT-0123.
pub(crate) fn evaluation(outcome: Outcome, decision: Decision) -> Body {
    Body::Evaluation(Box::new(EvaluationRecord {
        ahp: None,
        policy: None,
        hook: "pre-issue-submit".to_owned(),
        decision,
        host: Some("claude-code".to_owned()),
        agent: None,
        agent_id: None,
        session_id: Some("s1".to_owned()),
        issue_id: Some("FEAT-0123".to_owned()),
        tool: None,
        digest: "0123456789abcdef".to_owned(),
        object: None,
        event: None,
        bindings: vec![report("checklist", outcome)],
        skipped: 0,
        duration_us: 700,
        marks: std::collections::BTreeMap::new(),
        note: None,
    }))
}

pub(crate) fn report(id: &str, outcome: Outcome) -> BindingReport {
    BindingReport {
        id: id.to_owned(),
        oracle: "checklist-validator".to_owned(),
        outcome,
        source: ".ahp/hooks.yaml:4".to_owned(),
        duration_us: 412,
        error: None,
        waived: Vec::new(),
    }
}

/// One signal of binding `checklist`.
pub(crate) fn signal(id: u128, mut signal: Signal, finding: &str) -> Body {
    signal.header.id = Uuid::from_u128(id);
    "checklist-validator".clone_into(&mut signal.header.source);
    signal.header.timestamp = at(0);
    "pre-issue-submit".clone_into(&mut signal.context.hook);
    signal.context.issue_id = Some("FEAT-0123".to_owned());
    Body::Signal(Box::new(SignalRecord {
        signal,
        origin: Origin {
            binding: "checklist".to_owned(),
            source: ".ahp/hooks.yaml:4".to_owned(),
            overridable: true,
        },
        fingerprint: finding.to_owned(),
        identity: finding.to_owned(),
        rule: "checklist-incomplete".to_owned(),
        object: None,
        also: Vec::new(),
        severity: None,
        session_id: Some("s1".to_owned()),
        host: Some("claude-code".to_owned()),
        agent: None,
        asked: None,
    }))
}

pub(crate) fn accepted() -> Body {
    evaluation(Outcome::Accepted, Decision::None)
}

pub(crate) fn blocked(id: u128, finding: &str) -> Vec<Body> {
    vec![
        evaluation(Outcome::Signalled, Decision::Block),
        signal(
            id,
            Signal::block("checklist-incomplete", "2 of 3 done"),
            finding,
        ),
    ]
}
