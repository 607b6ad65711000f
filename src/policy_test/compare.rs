//! What came of an event beside what was expected.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;
use serde_json::Value;

use super::expectation::{Expectation, ExpectedSignal};
use crate::pattern::Pattern;
use crate::signal::{Payload, Signal};
use crate::verdict::Verdict;

/// One thing that is not as expected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// What: `decision`, `signals[0].text`.
    pub what: String,
    /// What was expected.
    pub expected: String,
    /// What it is.
    pub found: String,
}

impl Difference {
    pub(super) fn new(
        what: impl Into<String>,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> Self {
        Self {
            what: what.into(),
            expected: expected.into(),
            found: found.into(),
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.what)?;
        for line in self.expected.lines() {
            writeln!(f, "  - {line}")?;
        }
        for line in self.found.lines() {
            writeln!(f, "  + {line}")?;
        }
        Ok(())
    }
}

/// Adds a difference where something else was expected.
fn differ<T: PartialEq + ?Sized>(
    what: impl Into<String>,
    expected: Option<&T>,
    is: &T,
    told: impl Fn(&T) -> String,
    found: &mut Vec<Difference>,
) {
    if let Some(expected) = expected.filter(|expected| **expected != *is) {
        found.push(Difference::new(what, told(expected), told(is)));
    }
}

pub(super) fn compare(expected: &Expectation, verdict: &Verdict) -> Vec<Difference> {
    let mut found = Vec::new();
    let decision = expected.decision.as_deref();
    differ(
        "decision",
        decision,
        verdict.decision.name(),
        str::to_owned,
        &mut found,
    );
    if let Some(signals) = &expected.signals {
        let (number, is) = (signals.len(), verdict.signals.len());
        let what = "number of signals";
        differ(what, Some(&number), &is, usize::to_string, &mut found);
        for (n, (expected, signal)) in signals.iter().zip(&verdict.signals).enumerate() {
            signal_differences(&format!("signals[{n}]"), expected, signal, &mut found);
        }
    }
    let input = verdict.modified_input.as_ref().unwrap_or(&Value::Null);
    let modified = expected.modified_input.as_ref();
    differ(
        "modified_input",
        modified,
        input,
        Value::to_string,
        &mut found,
    );
    for (id, outcome) in &expected.bindings {
        let report = verdict.bindings.iter().find(|report| report.id == *id);
        let is = report.map_or("not in the verdict", |report| report.outcome.name());
        let what = format!("binding {id}");
        differ(what, Some(outcome.as_str()), is, str::to_owned, &mut found);
    }
    // An oracle that fails has judged nothing, whatever came of it: a case says so, or it is a fault of the case.
    if expected.signals.is_none() {
        let failed = verdict
            .bindings
            .iter()
            .filter(|report| report.error.is_some());
        for report in failed.filter(|report| !expected.bindings.contains_key(&report.id)) {
            let outcome = report.outcome.name();
            found.push(Difference::new(
                format!("binding {}", report.id),
                "judged",
                outcome,
            ));
        }
    }
    if !found.is_empty() {
        // Who sees that it is another text wants to see all that was said; of an oracle that failed, only why.
        let failed = verdict.bindings.iter().any(|report| report.error.is_some());
        let told: Vec<_> = verdict.signals.iter().map(told).collect();
        if !failed && !told.is_empty() {
            found.push(Difference::new("all signals", "", told.join("\n")));
        }
        for report in &verdict.bindings {
            if let Some(error) = &report.error {
                found.push(Difference::new(
                    format!("error of {}", report.id),
                    "",
                    error,
                ));
            }
        }
    }
    found
}

fn signal_differences(
    what: &str,
    expected: &ExpectedSignal,
    signal: &Signal,
    found: &mut Vec<Difference>,
) {
    let mut text = |part: &str, expected: Option<&str>, is: &str| {
        let what = format!("{what}.{part}");
        differ(what, expected, is, str::to_owned, found);
    };
    let Signal {
        header,
        origin,
        payload,
        context,
        ..
    } = signal;
    let intensity = signal.intensity().name();
    text("intensity", expected.intensity.as_deref(), intensity);
    text("type", expected.kind.as_deref(), &header.kind);
    text("binding", expected.binding.as_deref(), &origin.binding);
    text("source", expected.source.as_deref(), &header.source);
    let severity = match payload {
        Payload::Prompt(prompt) => prompt.severity.name(),
        _ => "none",
    };
    text("severity", expected.severity.as_deref(), severity);
    let asks = expected.asks.map(|asks| asks.to_string());
    text("asks", asks.as_deref(), &signal.asks().to_string());
    match expected.text.as_deref() {
        Some(pattern) if pattern.starts_with("~ ") => {
            let regex = pattern.trim_start_matches("~ ");
            let is = payload.text();
            if !Pattern::new(regex).is_ok_and(|regex| regex.is_match(is)) {
                text("text", Some(pattern), is);
            }
        }
        exact => text("text", exact, payload.text()),
    }
    let mut list = |part: &str, expected: &Option<Vec<String>>, is: &[String]| {
        let what = format!("{what}.{part}");
        differ(what, expected.as_deref(), is, |is| is.join("\n"), found);
    };
    list("steps", &expected.steps, payload.steps());
    list("files", &expected.files, &context.files);
    let mut changes = BTreeMap::new();
    if let Payload::Control(control) = payload {
        let modified = control.modifications.iter();
        changes.extend(modified.map(|m| (m.target.clone(), m.updated.clone())));
    }
    let json = |map: &_| serde_json::to_string_pretty(map).unwrap_or_default();
    let what = format!("{what}.changes");
    differ(what, expected.changes.as_ref(), &changes, json, found);
}

/// Says a signal in a few lines.
fn told(signal: &Signal) -> String {
    let mut told = format!(
        "{} {}: {}",
        signal.intensity(),
        signal.header.kind,
        signal.payload.text()
    );
    for step in signal.payload.steps() {
        told.push_str("\n  · ");
        told.push_str(step);
    }
    if let Payload::Control(control) = &signal.payload {
        for m in &control.modifications {
            told.push_str(&format!("\n  {} = {}", m.target, m.updated));
        }
    }
    told
}
