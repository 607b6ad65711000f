//! What of an event is kept: secrets, private keys in lists of lines, and what is too much are cut and marked.

use ahp::config::LogSettings;
use ahp::signal_log::{Body, EvaluationRecord, SignalLog};
use ahp::verdict::{Decision, Outcome};
use serde_json::{Value, json};

use super::making::{at, evaluation, settings};

fn record(event: Value) -> EvaluationRecord {
    let Body::Evaluation(record) = evaluation(Outcome::Accepted, Decision::None) else {
        panic!("it makes an evaluation");
    };
    EvaluationRecord {
        event: Some(event),
        ..*record
    }
}

/// Returns what the log keeps of an event.
fn cleaned(event: Value) -> Value {
    let dir = tempfile::tempdir().unwrap();
    let settings = LogSettings {
        redact: vec!["internal-[0-9]+".to_owned()],
        ..settings()
    };
    let log = SignalLog::open(dir.path().join("signals.jsonl"), &settings).unwrap();
    let body = Body::Evaluation(Box::new(record(event)));
    log.append(vec![body], at(0)).unwrap();
    let text = std::fs::read_to_string(log.path()).unwrap();
    let mut line: Value = serde_json::from_str(&text).unwrap();
    line["event"].take()
}

#[test]
fn marks_are_known_wherever_they_stand() {
    for event in [
        json!({"a": ["x [redacted: github-token] y"]}),
        json!({"[redacted: jwt] #2": 1}),
        json!(["[redacted: secret]"]),
        json!("[cut: x [cut: 12 bytes]"),
        json!({"…": "[cut: 3 entries]"}),
    ] {
        assert!(record(event.clone()).is_cut(), "{event}");
    }
    for event in [
        json!("format!(\"[redacted: {kind}]\")"),
        json!("[redacted: "),
        json!("[cut: some bytes]"),
        json!({"redacted": 1}),
    ] {
        assert!(!record(event.clone()).is_cut(), "{event}");
    }
}

#[test]
fn secrets_patterns_and_secret_fields_are_marked() {
    assert_eq!(
        cleaned(json!({"command": "x AKIAIOSFODNN7EXAMPLE internal-42", "db_password": "p"})),
        json!({"command": "x [redacted: aws-access-key-id] [redacted: pattern]",
               "db_password": "[redacted: secret]"})
    );
}

#[test]
fn all_under_a_secret_name_is_cut() {
    let cut = "[redacted: secret]";
    assert_eq!(
        cleaned(
            json!({"password": 12_345_678, "token": ["abc1", {"a": 1}], "secret": {"value": "zz2", "on": true},
                       "Authorization": "x", "max_tokens": 5, "count": "", "api_key": ""})
        ),
        json!({"password": cut, "token": [cut, {"a": cut}], "secret": {"value": cut, "on": true},
               "Authorization": cut, "max_tokens": 5, "count": "", "api_key": ""})
    );
}

#[test]
fn names_of_fields_are_cleaned_and_none_is_lost() {
    let (a, b) = (
        format!("ghp_{}", "a1".repeat(18)),
        format!("ghp_{}", "b2".repeat(18)),
    );
    assert_eq!(
        cleaned(json!({a: 1, "x": 2, b: 3})),
        json!({"[redacted: github-token]": 1, "x": 2, "[redacted: github-token] #2": 3})
    );
}

#[test]
fn a_private_key_is_cut_out_of_a_list_of_lines() {
    let cut = "[redacted: private-key]";
    assert_eq!(
        cleaned(json!([
            "a",
            "+-----BEGIN PRIVATE KEY-----",
            "+MIIabc",
            "+-----END PRIVATE KEY-----",
            "b"
        ])),
        json!(["a", format!("+{cut}"), cut, cut, "b"])
    );
    let certificate = json!(["-----BEGIN CERTIFICATE-----", "MIIabc"]);
    assert_eq!(cleaned(certificate.clone()), certificate);
}

#[test]
fn long_texts_are_cut_at_a_character() {
    let long = "é".repeat(5000);
    let cut = cleaned(json!(long));
    let cut = cut.as_str().unwrap();
    assert!(
        cut.starts_with("éé") && cut.ends_with("[cut: 5904 bytes]"),
        "{cut}"
    );
}

#[test]
fn an_event_holds_no_more_than_its_share() {
    let many: Vec<_> = (0..300).map(|_| "y".repeat(4000)).collect();
    let text = cleaned(json!(many)).to_string();
    assert!(text.len() < 48 << 10, "{}", text.len());
    assert!(text.contains("[cut: 44 entries]"));
}
