//! Rewrites the `expect` of tests to what came of them.

use serde_json::Value;
use serde_json::json;

use super::case::Case;
use crate::signal::Payload;
use crate::verdict::Verdict;

/// Returns a file's text with the expectations of some tests replaced by what came of them; comments and all else
/// stay. Tests whose `expect` stands in a table's row or on the line of another key cannot be rewritten: their names
/// come second.
pub fn updated<'a>(
    text: &str,
    results: impl IntoIterator<Item = (&'a Case, &'a Verdict)>,
) -> (String, Vec<&'a str>) {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut left = Vec::new();
    let mut results: Vec<_> = results.into_iter().collect();
    // From the end, so that earlier line numbers stay true.
    results.sort_by_key(|(case, _)| std::cmp::Reverse(case.expect_line));
    for (case, verdict) in results {
        let place = case
            .expect_line
            .and_then(|line| expect_lines(&lines, line as usize - 1));
        match place {
            Some((range, indent)) => {
                lines.splice(range, written(verdict, indent));
            }
            None => left.push(case.name.as_str()),
        }
    }
    let mut text = lines.join("\n");
    text.push('\n');
    (text, left)
}

/// Returns the lines of a block-style `expect:` and its indentation.
fn expect_lines(lines: &[String], first: usize) -> Option<(std::ops::Range<usize>, usize)> {
    let line = lines.get(first)?;
    let indent = line.len() - line.trim_start().len();
    if !line.trim_start().starts_with("expect:") {
        return None;
    }
    let inside = |line: &&String| {
        let own = line.len() - line.trim_start().len();
        !line.trim().is_empty() && own > indent
    };
    let count = lines.get(first + 1..)?.iter().take_while(inside).count();
    Some((first..first + 1 + count, indent))
}

/// Writes what came of an event as an `expect`.
fn written(verdict: &Verdict, indent: usize) -> Vec<String> {
    let pad = " ".repeat(indent);
    if verdict.signals.is_empty() {
        return vec![format!("{pad}expect: {}", verdict.decision)];
    }
    let mut lines = vec![
        format!("{pad}expect:"),
        format!("{pad}  decision: {}", verdict.decision),
        format!("{pad}  signals:"),
    ];
    for signal in &verdict.signals {
        let mut key = |first: bool, name: &str, value: Value| {
            let dash = if first { "- " } else { "  " };
            // A JSON value is a YAML value on one line.
            lines.push(format!("{pad}    {dash}{name}: {value}"));
        };
        key(true, "intensity", json!(signal.intensity().name()));
        key(false, "type", json!(signal.header.kind));
        if !signal.payload.text().is_empty() {
            key(false, "text", json!(signal.payload.text()));
        }
        if !signal.payload.steps().is_empty() {
            key(false, "steps", json!(signal.payload.steps()));
        }
        if !signal.context.files.is_empty() {
            key(false, "files", json!(signal.context.files));
        }
        if signal.asks() {
            key(false, "asks", json!(true));
        }
        if let Payload::Control(control) = &signal.payload {
            let changes: serde_json::Map<_, _> = control
                .modifications
                .iter()
                .map(|m| (m.target.clone(), m.updated.clone()))
                .collect();
            key(false, "changes", Value::Object(changes));
        }
    }
    if let Some(input) = &verdict.modified_input {
        lines.push(format!("{pad}  modified_input: {input}"));
    }
    lines
}
