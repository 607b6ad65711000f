//! History: what chains, waivers and stops a log adds up to, with and without its index.

use std::fs;
use std::path::Path;

use ahp::config::LogSettings;
use ahp::event::Trigger;
use ahp::signal::{Action, Intensity, Response, Signal};
use ahp::signal_log::{
    Body, Chain, History as _, LogHistory, MemoryHistory, Reader, ResponseRecord, SignalLog,
};
use ahp::verdict::{Decision, Outcome};
use serde_json::Map;
use uuid::Uuid;

use super::making::{accepted, at, blocked, evaluation, log, settings, signal};

const HOOK: Trigger = Trigger::PreIssueSubmit;

fn answer(id: u128, action: Action, finding: &str) -> Body {
    Body::Response(Box::new(ResponseRecord {
        response: Response {
            signal_id: Uuid::from_u128(id),
            consumed_at: at(0),
            action,
            details: Map::new(),
            by: ahp::signal::Actor::Agent,
            inferred: false,
        },
        hook: Some(HOOK.name().to_owned()),
        session_id: Some("s1".to_owned()),
        binding: Some("checklist".to_owned()),
        subject: Some("FEAT-0123".to_owned()),
        fingerprint: Some(finding.to_owned()),
        refused: None,
        mac: None,
    }))
}

fn with_waived(mut body: Body, id: u128) -> Body {
    if let Body::Evaluation(evaluation) = &mut body {
        evaluation.bindings[0].waived.push(Uuid::from_u128(id));
    }
    body
}

fn chain(path: &Path) -> Chain {
    LogHistory::new(path).chain(HOOK, "checklist", "FEAT-0123")
}

#[test]
fn violations_of_a_finding_add_up_until_it_is_repaired() {
    let dir = tempfile::tempdir().unwrap();
    let log = log(dir.path());
    assert_eq!(chain(log.path()), Chain::default());
    log.append(blocked(1, "a"), at(0)).unwrap();
    log.append(blocked(2, "b"), at(60)).unwrap();

    // What was found before and is not found any more stands no longer; the other stands from its first signal on.
    log.append(blocked(3, "b"), at(90)).unwrap();
    let open = chain(log.path());
    assert_eq!(open.violations("a"), 0);
    assert_eq!(open.standing.len(), 1);
    let standing = &open.standing[0];
    assert_eq!(standing.violations, 2);
    assert_eq!(standing.correlation_id, Uuid::from_u128(2));
    assert_eq!(standing.since, at(60));
    assert_eq!(standing.last, Intensity::Block);
    assert_eq!(open.open.len(), 3);
    let history = LogHistory::new(log.path());
    assert_eq!(history.chain(HOOK, "checklist", "s1"), open);
    assert_eq!(history.chain(HOOK, "checklist", "FEAT-9"), Chain::default());
    assert_eq!(history.chain(HOOK, "other", "FEAT-0123"), Chain::default());
    assert_eq!(history.stopped(HOOK, "FEAT-0123"), 3);
    assert_eq!(history.records("FEAT-0123").len(), 6);
    assert_eq!(history.records("FEAT-01").len(), 0);

    log.append(vec![accepted()], at(120)).unwrap();
    assert_eq!(chain(log.path()), Chain::default());
    assert_eq!(LogHistory::new(log.path()).stopped(HOOK, "FEAT-0123"), 0);
}

#[test]
fn many_signals_of_one_evaluation_are_one_violation_and_failures_are_none() {
    let dir = tempfile::tempdir().unwrap();
    let log = log(dir.path());
    let mut bodies = blocked(1, "a");
    bodies.push(signal(2, Signal::prompt("x", "y"), "b"));
    bodies.push(signal(5, Signal::prompt("x", "y again"), "b"));
    log.append(bodies, at(0)).unwrap();
    let violations = |finding| chain(log.path()).violations(finding);
    assert_eq!((violations("a"), violations("b")), (1, 1));
    log.append(
        vec![
            evaluation(Outcome::Failed, Decision::Allow),
            signal(3, Signal::prompt("oracle-error", "timed out"), "e"),
        ],
        at(1),
    )
    .unwrap();
    // The failure is told of, and nothing that was found before is gone for it.
    assert!(chain(log.path()).find("e").is_some());
    assert_eq!((violations("a"), violations("e")), (1, 0));
    log.append(
        vec![
            evaluation(Outcome::Signalled, Decision::Allow),
            signal(4, Signal::aid("tip", "look"), "a"),
        ],
        at(2),
    )
    .unwrap();
    assert_eq!((violations("a"), violations("b")), (2, 0));
}

/// What a tool call acts on tells findings and repairs apart: `ls` is no repair of what was found in another command.
#[test]
fn only_the_same_object_closes_a_finding() {
    let dir = tempfile::tempdir().unwrap();
    let log = log(dir.path());
    let acts_on = |mut bodies: Vec<Body>, object: &str| {
        if let Body::Evaluation(evaluation) = &mut bodies[0] {
            evaluation.object = Some(object.to_owned());
        }
        bodies
    };
    log.append(acts_on(blocked(1, "a"), "push"), at(0)).unwrap();
    log.append(vec![answer(1, Action::ProceedWithRisk, "a")], at(1))
        .unwrap();
    log.append(acts_on(vec![accepted()], "ls"), at(2)).unwrap();
    log.append(acts_on(blocked(2, "b"), "pull"), at(3)).unwrap();
    let standing = chain(log.path());
    assert_eq!((standing.violations("a"), standing.violations("b")), (1, 1));
    assert_eq!(standing.waivers.len(), 1);
    log.append(acts_on(vec![accepted()], "push"), at(4))
        .unwrap();
    let standing = chain(log.path());
    assert_eq!((standing.violations("a"), standing.violations("b")), (0, 1));
    assert_eq!(standing.waivers, []);
}

#[test]
fn an_acknowledged_prompt_stays_waived_and_a_risk_is_taken_once() {
    let dir = tempfile::tempdir().unwrap();
    let log = log(dir.path());
    log.append(blocked(1, "a"), at(0)).unwrap();
    log.append(vec![answer(1, Action::ProceedWithRisk, "a")], at(1))
        .unwrap();
    log.append(vec![answer(9, Action::Acknowledge, "p")], at(1))
        .unwrap();
    let waivers = chain(log.path()).waivers;
    assert_eq!(waivers.len(), 2);
    assert_eq!(waivers[0].action, Action::ProceedWithRisk);
    assert_eq!(waivers[0].fingerprint, "a");
    assert!(chain(log.path()).open.is_empty());

    // The risk is used up by the evaluation that names it.
    let used = with_waived(evaluation(Outcome::Accepted, Decision::None), 1);
    log.append(vec![used], at(2)).unwrap();
    let used = with_waived(evaluation(Outcome::Signalled, Decision::Allow), 9);
    log.append(vec![used], at(3)).unwrap();
    let waivers = chain(log.path()).waivers;
    assert_eq!(waivers.len(), 1);
    assert_eq!(waivers[0].action, Action::Acknowledge);
}

#[test]
fn an_issue_is_the_same_however_its_id_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let log = log(dir.path());
    log.append(blocked(1, "a"), at(0)).unwrap();
    let history = LogHistory::new(log.path());
    let open = chain(log.path());
    assert_eq!(history.chain(HOOK, "checklist", "feat-0123"), open);
    assert_eq!(history.stopped(HOOK, "Feat-0123"), 1);
}

#[test]
fn inferred_and_refused_answers_waive_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let log = log(dir.path());
    log.append(blocked(1, "a"), at(0)).unwrap();
    let mut refused = answer(1, Action::ProceedWithRisk, "a");
    if let Body::Response(record) = &mut refused {
        record.refused = Some("the binding does not allow it".to_owned());
    }
    log.append(vec![refused], at(1)).unwrap();
    assert_eq!(chain(log.path()).waivers, []);
    assert_eq!(chain(log.path()).open.len(), 1);
    let mut inferred = answer(1, Action::Dismiss, "a");
    if let Body::Response(record) = &mut inferred {
        record.response.inferred = true;
    }
    log.append(vec![inferred], at(1)).unwrap();
    assert_eq!(chain(log.path()).waivers, []);
    assert_eq!(chain(log.path()).open, []);
}

#[test]
fn an_answer_written_into_the_log_by_hand_waives_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let log = log(dir.path());
    log.append(blocked(1, "a"), at(0)).unwrap();
    log.append(vec![answer(1, Action::RetryAfterFix, "a")], at(1))
        .unwrap();
    let text = fs::read_to_string(log.path()).unwrap();
    let edited = text.replace("retry_after_fix", "acknowledge");
    assert_ne!(text, edited);
    fs::write(log.path(), edited).unwrap();
    assert_eq!(chain(log.path()).waivers, []);
}

/// Plays a long life and asks after each append; the index must never change an answer.
fn live(settings: &LogSettings, disturb: impl Fn(usize, &Path)) {
    let dir = tempfile::tempdir().unwrap();
    let log = SignalLog::open(dir.path().join("signals.jsonl"), settings).unwrap();
    let lasting = LogHistory::new(log.path());
    let mut rng = 12345_u64;
    for step in 0..250 {
        rng = rng.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let id = u128::from(rng >> 33);
        let bodies = match (rng >> 40) % 5 {
            0 => vec![accepted()],
            1 => vec![answer(id, Action::Acknowledge, &format!("f{}", id % 3))],
            // Long enough for the index to be worth writing.
            _ => vec![
                evaluation(Outcome::Signalled, Decision::Block),
                signal(id, Signal::block("x", "long ".repeat(300)), "f"),
            ],
        };
        log.append(bodies, at(step)).unwrap();
        disturb(usize::try_from(step).unwrap(), log.path());
        if step % 23 == 0 {
            let records = Reader::open(log.path()).unwrap();
            let expected = MemoryHistory::new(records.records().map(Result::unwrap));
            for subject in ["FEAT-0123", "s1"] {
                let found = LogHistory::new(log.path());
                assert_eq!(
                    found.chain(HOOK, "checklist", subject),
                    expected.chain(HOOK, "checklist", subject),
                    "after step {step}"
                );
                assert_eq!(
                    lasting.chain(HOOK, "checklist", subject),
                    expected.chain(HOOK, "checklist", subject),
                    "lasting, after step {step}"
                );
                assert_eq!(
                    found.stopped(HOOK, subject),
                    expected.stopped(HOOK, subject)
                );
                assert_eq!(found.error(), None);
            }
        }
    }
    assert!(dir.path().join("signals.jsonl.index").exists());
}

#[test]
fn the_index_changes_no_answer() {
    live(&settings(), |_, _| {});
}

#[test]
fn the_index_follows_rotations() {
    let settings = LogSettings {
        max_size: 200 << 10,
        keep: 100,
        ..settings()
    };
    live(&settings, |_, _| {});
}

#[test]
fn a_damaged_or_foreign_index_is_made_anew() {
    live(&settings(), |step, path| {
        let index = path.with_extension("jsonl.index");
        let Ok(bytes) = fs::read(&index) else { return };
        match step % 40 {
            10 => fs::write(&index, &bytes[..bytes.len() / 2]).unwrap(),
            20 => fs::write(&index, vec![0; bytes.len()]).unwrap(),
            30 => fs::write(&index, "ahp-index 2 1 500 abc\n").unwrap(),
            _ => {}
        }
    });
}
