//! What came of an event beside what was expected.

use std::fmt;

use serde_json::Value;

use super::expectation::{Expectation, ExpectedSignal};
use crate::pattern::Pattern;
use crate::signal::{Payload, Signal};
use crate::verdict::Verdict;

/// One thing that is not as expected.
#[derive(Clone, Debug, PartialEq, Eq)]
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

/// Compares a verdict with what was expected of it.
pub(super) fn compare(expected: &Expectation, verdict: &Verdict) -> Vec<Difference> {
    let mut found = Vec::new();
    if let Some(decision) = &expected.decision
        && decision != verdict.decision.name()
    {
        found.push(Difference::new(
            "decision",
            decision,
            verdict.decision.name(),
        ));
    }
    if let Some(signals) = &expected.signals {
        if signals.len() != verdict.signals.len() {
            found.push(Difference::new(
                "number of signals",
                signals.len().to_string(),
                verdict.signals.len().to_string(),
            ));
        }
        for (n, (expected, signal)) in signals.iter().zip(&verdict.signals).enumerate() {
            signal_differences(&format!("signals[{n}]"), expected, signal, &mut found);
        }
    }
    if let Some(input) = &expected.modified_input {
        let modified = verdict.modified_input.as_ref().unwrap_or(&Value::Null);
        if input != modified {
            found.push(Difference::new(
                "modified_input",
                input.to_string(),
                modified.to_string(),
            ));
        }
    }
    for (id, outcome) in &expected.bindings {
        let report = verdict.bindings.iter().find(|report| report.id == *id);
        let is = report.map_or("not in the verdict", |report| report.outcome.name());
        if outcome != is {
            found.push(Difference::new(format!("binding {id}"), outcome, is));
        }
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
        if let Some(expected) = expected
            && expected != is
        {
            found.push(Difference::new(format!("{what}.{part}"), expected, is));
        }
    };
    text(
        "intensity",
        expected.intensity.as_deref(),
        signal.intensity().name(),
    );
    text("type", expected.kind.as_deref(), &signal.header.kind);
    text(
        "binding",
        expected.binding.as_deref(),
        &signal.origin.binding,
    );
    text("source", expected.source.as_deref(), &signal.header.source);
    let severity = match &signal.payload {
        Payload::Prompt(prompt) => prompt.severity.name(),
        _ => "none",
    };
    text("severity", expected.severity.as_deref(), severity);
    let asks = expected
        .asks
        .map(|asks| if asks { "true" } else { "false" });
    text("asks", asks, if signal.asks() { "true" } else { "false" });
    match expected.text.as_deref() {
        Some(pattern) if pattern.starts_with("~ ") => {
            let regex = pattern.trim_start_matches("~ ");
            let is = signal.payload.text();
            if !Pattern::new(regex).is_ok_and(|regex| regex.is_match(is)) {
                text("text", Some(pattern), is);
            }
        }
        exact => text("text", exact, signal.payload.text()),
    }
    let mut list = |part: &str, expected: Option<&Vec<String>>, is: &[String]| {
        if let Some(expected) = expected
            && expected != is
        {
            found.push(Difference::new(
                format!("{what}.{part}"),
                expected.join("\n"),
                is.join("\n"),
            ));
        }
    };
    list("steps", expected.steps.as_ref(), signal.payload.steps());
    list("files", expected.files.as_ref(), &signal.context.files);
    if let Some(changes) = &expected.changes {
        let is = match &signal.payload {
            Payload::Control(control) => control
                .modifications
                .iter()
                .map(|m| (m.target.clone(), m.updated.clone()))
                .collect(),
            _ => std::collections::BTreeMap::new(),
        };
        if *changes != is {
            let json = |map| serde_json::to_string_pretty(map).unwrap_or_default();
            found.push(Difference::new(
                format!("{what}.changes"),
                json(changes),
                json(&is),
            ));
        }
    }
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
