//! Evaluation: an evaluated event, written straight into the text of its record.
//!
//! Every event becomes a record, so this one is not built as a value first: it gives byte for byte what
//! [`super::EvaluationRecord`] would, which readers know.

use std::borrow::Cow;

use serde::Serialize;
use sha2::Digest as _;

use super::redact::Redactor;
use crate::config::LogEvents;
use crate::event::Event;
use crate::signal::hex;
use crate::verdict::BindingReport;
use crate::verdict::Decision;
use crate::verdict::Outcome;
use crate::verdict::Verdict;

/// An evaluated event, on its way into the log.
#[derive(Clone, Copy, Debug)]
pub struct Evaluation<'a> {
    /// The event, with the controls of its oracles applied.
    pub event: &'a Event,
    /// What it came to.
    pub verdict: &'a Verdict,
    /// How many bindings of the trigger had a `when` that did not hold.
    pub skipped: usize,
}

/// The members of the record before the event.
#[derive(Serialize)]
struct Head<'a> {
    kind: &'static str,
    hook: &'static str,
    decision: Decision,
    #[serde(skip_serializing_if = "Option::is_none")]
    host: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    issue_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<&'a str>,
    digest: &'a str,
}

/// The members behind it.
#[derive(Serialize)]
struct Rest<'a> {
    bindings: Vec<Cow<'a, BindingReport>>,
    #[serde(skip_serializing_if = "is_zero")]
    skipped: usize,
    duration_us: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
const fn is_zero(n: &usize) -> bool {
    *n == 0
}

impl Evaluation<'_> {
    /// Returns the record as a JSON object, cleaned; of the event it holds what `events` allows.
    pub(super) fn text(
        &self,
        redactor: &Redactor,
        events: LogEvents,
    ) -> serde_json::Result<Vec<u8>> {
        let event = self.event;
        let event_text = serde_json::to_string(event)?;
        let digest = sha2::Sha256::digest(&event_text);
        let mut text = Vec::with_capacity(event_text.len() + 512);
        let head = Head {
            kind: "evaluation",
            hook: event.trigger.name(),
            decision: self.verdict.decision,
            host: event.host.as_deref(),
            session_id: event.session_id.as_deref(),
            issue_id: event.issue_id.as_deref(),
            tool: event.tool.as_ref().map(|tool| tool.name.as_str()),
            digest: &hex(digest.get(..8).unwrap_or_default()),
        };
        serde_json::to_writer(&mut text, &head)?;
        text.pop();
        let kept = match events {
            LogEvents::None => None,
            LogEvents::Full => Some(event_text),
            LogEvents::Redacted if redactor.leaves(&event_text) => Some(event_text),
            LogEvents::Redacted => Some(redactor.event(event)?),
        };
        if let Some(kept) = kept {
            text.extend_from_slice(b",\"event\":");
            text.extend_from_slice(kept.as_bytes());
        }
        let reports = self.verdict.bindings.iter();
        let rest = Rest {
            bindings: redactor.reports(reports.filter(|r| r.outcome != Outcome::Skipped)),
            skipped: self.skipped,
            duration_us: self.verdict.duration_us,
        };
        let start = text.len();
        serde_json::to_writer(&mut text, &rest)?;
        // The two objects become one.
        if let Some(brace) = text.get_mut(start) {
            *brace = b',';
        }
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;
    use serde_json::json;

    use super::*;
    use crate::event::ToolCall;
    use crate::event::Trigger;
    use crate::signal_log::Body;
    use crate::signal_log::EvaluationRecord;

    /// The record as a value that is cleaned and then written.
    fn by_value(
        evaluation: &Evaluation<'_>,
        redactor: &Redactor,
        events: LogEvents,
    ) -> serde_json::Result<String> {
        let Evaluation {
            event,
            verdict,
            skipped,
        } = *evaluation;
        let mut digest = hex(&sha2::Sha256::digest(serde_json::to_vec(event)?));
        digest.truncate(16);
        let mut body = Body::Evaluation(Box::new(EvaluationRecord {
            digest,
            event: Some(serde_json::to_value(event)?),
            skipped: skipped as u64,
            ..EvaluationRecord::of(event, verdict)
        }));
        redactor.clean(&mut body, events);
        serde_json::to_string(&body)
    }

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

    fn check(command: &str, name: &str, value: &Value) {
        let mut event = Event::new(Trigger::PreToolUse);
        event.session_id = Some("s1".to_owned());
        event.host = Some("claude-code".to_owned());
        event.tool = Some(ToolCall {
            name: "Bash".to_owned(),
            input: json!({ "command": command, name: value }),
            ..ToolCall::default()
        });
        let verdict = Verdict {
            bindings: vec![
                report(Outcome::Accepted, None),
                report(Outcome::Skipped, None),
                report(Outcome::Failed, Some("no: password=hunter22")),
            ],
            duration_us: 12,
            ..Verdict::none(Trigger::PreToolUse)
        };
        for redactor in [&[][..], &["internal-[0-9]+".to_owned()]] {
            let redactor = Redactor::new(redactor).unwrap();
            for events in [LogEvents::None, LogEvents::Redacted, LogEvents::Full] {
                for skipped in [0, 100] {
                    let evaluation = Evaluation {
                        event: &event,
                        verdict: &verdict,
                        skipped,
                    };
                    let text = evaluation.text(&redactor, events).unwrap();
                    assert_eq!(
                        String::from_utf8(text).unwrap(),
                        by_value(&evaluation, &redactor, events).unwrap(),
                    );
                }
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
        #[test]
        fn the_text_is_that_of_the_record(
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
}
