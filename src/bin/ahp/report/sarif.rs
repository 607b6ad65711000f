//! SARIF 2.1.0: one run, a rule for each binding, a result for each signal and file.

use std::collections::BTreeMap;

use ahp::signal::Signal;
use ahp::verdict::Verdict;
use serde_json::{Value, json};

use super::{by_level, words};

/// GitHub takes no more results of a run.
const MOST: usize = 25_000;

/// Returns the report.
pub(super) fn text(verdicts: &[&Verdict]) -> String {
    let rules: BTreeMap<&str, &str> = verdicts
        .iter()
        .flat_map(|verdict| &verdict.bindings)
        .map(|binding| (binding.id.as_str(), binding.oracle.as_str()))
        .collect();
    let rules = rules
        .into_iter()
        .map(|(id, oracle)| json!({"id": id, "name": oracle}));
    let results = verdicts
        .iter()
        .flat_map(|verdict| &verdict.signals)
        .take(MOST)
        .map(result);
    let report = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "ahp",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules.collect::<Vec<Value>>(),
            }},
            "results": results.collect::<Vec<Value>>(),
        }],
    });
    format!("{report:#}\n")
}

fn result(signal: &Signal) -> Value {
    let place = |file: &str, line: Option<u32>| {
        let place = json!({"uri": uri(file)});
        json!({"physicalLocation": match line {
            Some(line) => json!({"artifactLocation": place, "region": {"startLine": line}}),
            None => json!({"artifactLocation": place}),
        }})
    };
    let known = &signal.context.locations;
    let files = signal.context.files.iter();
    let others = files.filter(|file| known.iter().all(|at| at.file != **file));
    let locations = known.iter().map(|at| place(&at.file, Some(at.line)));
    let locations = locations.chain(others.map(|file| place(file, None)));
    let found = signal.finding();
    json!({
        "ruleId": signal.origin.binding,
        "level": by_level(signal, "error", "warning", "note"),
        "message": {"text": words(signal)},
        "locations": locations.collect::<Vec<Value>>(),
        "partialFingerprints": {"ahp/v1": found},
    })
}

/// Writes a path as a relative URI.
fn uri(path: &str) -> String {
    let mut uri = String::new();
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => {
                uri.push(char::from(byte));
            }
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}
