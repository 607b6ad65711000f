//! OCSF: signals as Detection Findings of the Open Cybersecurity Schema Framework 1.9 (class 2004), for blocks, controls and
//! prompts; an aid is not a finding.

use ahp::signal::{Intensity, Payload, Severity};
use ahp::signal_log::{Body, Record};
use serde_json::{Map, Value, json};

use crate::identity::Identity;
use crate::rows::Maker;

/// The version of the framework whose names and numbers these are.
const VERSION: &str = "1.9.0";
const CLASS: u32 = 2004;
/// A finding that was made.
const CREATE: u32 = 1;

/// Returns a finding for each signal of a batch that is one.
pub(crate) fn findings(
    records: &[Record],
    maker: &Maker<'_>,
    identity: &Identity,
    log_id: &str,
) -> Vec<Value> {
    let rows = &maker.signals;
    let mut findings = Vec::new();
    let signals = records.iter().filter_map(|record| match &record.body {
        Body::Signal(signal) => Some((record, signal)),
        _ => None,
    });
    // The rows are those of the same signals in the same order, with what may not leave cut.
    for ((record, given), row) in signals.zip(&rows.rows) {
        let intensity = given.signal.header.intensity;
        let (action, disposition) = match intensity {
            Intensity::Block => (2, 2),
            Intensity::Control => (1, 11),
            Intensity::Prompt => (1, 19),
            Intensity::Aid => continue,
        };
        let cell = |name| rows.cell(row, name).as_text();
        let kind = cell("type").unwrap_or_default();
        let mut unmapped = Map::new();
        for name in [
            "hook",
            "source",
            "issue",
            "fingerprint",
            "team",
            "repo",
            "environment",
        ] {
            if let Some(text) = cell(name) {
                unmapped.insert(format!("ahp.{name}"), text.into());
            }
        }
        let mut finding = json!({
            "class_uid": CLASS, "category_uid": 2, "activity_id": CREATE, "type_uid": CLASS * 100 + CREATE,
            "time": record.timestamp.timestamp_millis(),
            "severity_id": severity(given.severity, &given.signal.payload),
            "metadata": {
                "version": VERSION,
                "product": {"name": "ahp", "vendor_name": "ahp", "version": cell("ahp").unwrap_or(env!("CARGO_PKG_VERSION"))},
                "profiles": ["security_control", "ai_operation", "host"],
                "uid": format!("{log_id}:{}", record.seq),
            },
            "finding_info": {
                "uid": cell("signal_id"), "title": cell("text").unwrap_or(kind), "types": [kind],
                "analytic": {"uid": cell("binding"), "name": cell("oracle"), "type_id": 1},
            },
            "action_id": action, "disposition_id": disposition,
            "is_alert": intensity == Intensity::Block,
            "device": {"uid": identity.machine(), "type_id": 0},
            "unmapped": unmapped,
        });
        if let Some(members) = finding.as_object_mut() {
            if let Some(policy) = cell("policy") {
                members.insert("policy".to_owned(), json!({"uid": policy}));
            }
            if let Some(host) = cell("agent_host") {
                // A member without a value has no place in the schema.
                let agent = match cell("session") {
                    Some(session) => {
                        json!({"uid": host, "instance_uid": session, "type_id": 99, "type": host})
                    }
                    None => json!({"uid": host, "type_id": 99, "type": host}),
                };
                members.insert("ai_agent".to_owned(), agent);
            }
        }
        findings.push(finding);
    }
    findings
}

/// Critical 5, high 4, medium 3, low 2; a block whose severity nobody said is high.
fn severity(said: Option<Severity>, payload: &Payload) -> u32 {
    let severity = said.unwrap_or(match payload {
        Payload::Prompt(prompt) => prompt.severity,
        Payload::Block(_) => Severity::High,
        _ => Severity::Medium,
    });
    match severity {
        Severity::Critical => 5,
        Severity::High => 4,
        Severity::Medium => 3,
        Severity::Low => 2,
    }
}
