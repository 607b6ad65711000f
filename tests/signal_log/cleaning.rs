//! The two ways to append an evaluated event write the same: borrowed from event and verdict, and as a value that is cleaned.

use std::path::Path;

use ahp::config::{LogEvents, LogSettings};
use ahp::engine::block_on;
use ahp::event::{Event, ToolCall, Trigger};
use ahp::signal_log::{Body, Evaluation, EvaluationRecord, SignalLog};
use ahp::verdict::{BindingReport, Outcome, Verdict};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::making::{at, settings};

fn report(outcome: Outcome, error: Option<&str>) -> BindingReport {
    BindingReport {
        id: "tests \"first\"".to_owned(),
        oracle: "test-gate".to_owned(),
        outcome,
        source: ".ahp/hooks.yaml:4".to_owned(),
        duration_us: 7,
        error: error.map(str::to_owned),
        waived: Vec::new(),
    }
}

/// Appends to a new log and returns its one line.
fn line(dir: &Path, settings: &LogSettings, append: impl FnOnce(&SignalLog)) -> String {
    let path = dir.join("signals.jsonl");
    append(&SignalLog::open(&path, settings).unwrap());
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    std::fs::remove_file(dir.join("signals.jsonl.lock")).unwrap();
    text
}

fn check(command: &str, name: &str, value: &Value) {
    let mut event = Event::new(Trigger::PreToolUse);
    event.session_id = Some("s1".to_owned());
    event.host = Some("claude-code".to_owned());
    event.tool = Some(ToolCall::new(
        "Bash",
        json!({ "command": command, name: value }),
    ));
    let mut verdict = Verdict::none(Trigger::PreToolUse);
    verdict.duration_us = 12;
    verdict.bindings = vec![
        report(Outcome::Accepted, None),
        report(Outcome::Skipped, None),
        report(Outcome::Failed, Some("no: password=hunter22")),
    ];
    let dir = tempfile::tempdir().unwrap();
    for redact in [Vec::new(), vec!["internal-[0-9]+".to_owned()]] {
        for (events, skipped) in [
            (LogEvents::None, 0),
            (LogEvents::Redacted, 100),
            (LogEvents::Full, 0),
        ] {
            let settings = LogSettings {
                redact: redact.clone(),
                events,
                ..settings()
            };
            let borrowed = line(dir.path(), &settings, |log| {
                let evaluation = Evaluation {
                    policy: "",
                    note: None,
                    event: &event,
                    verdict: &verdict,
                    skipped,
                };
                block_on(log.append_evaluation(evaluation, Vec::new(), at(0), None)).unwrap();
            });
            let parsed: Value = serde_json::from_str(&borrowed).unwrap();
            let digest = parsed["digest"].as_str().unwrap();
            let by_value = line(dir.path(), &settings, |log| {
                let record = EvaluationRecord {
                    ahp: Some(env!("CARGO_PKG_VERSION").to_owned()),
                    digest: digest.to_owned(),
                    event: Some(serde_json::to_value(&event).unwrap()),
                    skipped: skipped as u64,
                    ..EvaluationRecord::of(&event, &verdict)
                };
                log.append(vec![Body::Evaluation(Box::new(record))], at(0))
                    .unwrap();
            });
            assert_eq!(borrowed, by_value);
        }
    }
}

#[test]
fn what_is_much_is_cut() {
    check(&"x".repeat(5000), "n", &json!(1));
    check("x", "list", &json!(vec![0; 300]));
    check("x", "texts", &json!(vec!["yes"; 300]));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn both_ways_write_the_same(
        command in "(cargo|\n|\"|\\\\|é| |sk-|ghp_|eyJ|AKIA|IOSFODNN7EXAMPLE|[a-z0-9]{36}|Token|secret|: |=|\
                    Bearer |https://|u:|pass|@|x|internal-42|\u{1}|'|--|-|_|private|access|key| -u |curl|pwd|hunter22|\
                    \\$|\\(|Authorization|-----BEGIN |PRIVATE KEY-----|-----END ){0,12}",
        name in "(api|access|private|client|Secret|TOKEN|max|[-_])?([-_])?(key|KEY|token|tokens|secret|password|path|pass|Authorization|ghp_[a-z0-9]{36})",
        value in "(hunter|ghp_|2|x|\n){0,6}",
    ) {
        check(&command, &name, &json!(value));
        check(&command, "lines", &json!([command, value, {&name: [1, true, {"x": value}]}]));
    }
}
