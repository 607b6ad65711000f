//! Rewrites the `expect` of tests to what came of them.

use serde_json::{Map, Value, json};

use super::case::{Case, Place};
use crate::diagnostic::Span;
use crate::signal::{Payload, Signal};
use crate::verdict::Verdict;

/// Returns a file's text with the expectations of some tests replaced by what came of them; comments and all else
/// stay. Tests whose `expect` is written in a way that cannot be replaced are left: their names come second.
pub fn updated<'a>(
    text: &str,
    results: impl IntoIterator<Item = (&'a Case, &'a Verdict)>,
) -> (String, Vec<&'a str>) {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut left = Vec::new();
    let mut results: Vec<_> = results.into_iter().collect();
    // From the end, so that earlier places stay true.
    results.sort_by_key(|(case, _)| std::cmp::Reverse(case.expect_at.start()));
    for (case, verdict) in results {
        let done = match case.expect_at {
            Place::Own { key, value } => {
                let line = (key.line as usize).saturating_sub(1);
                match expect_lines(&lines, line) {
                    Some((range, indent)) => {
                        lines.splice(range, written(verdict, indent));
                        true
                    }
                    None => replace(&mut lines, value, &on_one_line(case, verdict)),
                }
            }
            Place::Shared(row) => add(&mut lines, row, &on_one_line(case, verdict)),
        };
        if !done {
            left.push(case.name.as_str());
        }
    }
    let mut text = lines.join("\n");
    text.push('\n');
    (text, left)
}

/// Finds a place in its line: the line, and the bytes in it; none where it does not end there.
fn within(lines: &[String], span: Span) -> Option<(usize, std::ops::Range<usize>)> {
    let number = (span.line as usize).checked_sub(1)?;
    let line = lines.get(number)?;
    let column = (span.column as usize).checked_sub(1)?;
    let ends = line.char_indices().map(|(byte, _)| byte);
    let start = ends.chain([line.len()]).nth(column)?;
    let end = start + span.end.checked_sub(span.start)? as usize;
    line.get(start..end)?;
    Some((number, start..end))
}

fn replace(lines: &mut [String], value: Span, new: &str) -> bool {
    let Some((number, bytes)) = within(lines, value).filter(|(_, bytes)| !bytes.is_empty()) else {
        return false;
    };
    if let Some(line) = lines.get_mut(number) {
        line.replace_range(bytes, new);
    }
    true
}

fn add(lines: &mut Vec<String>, row: Span, new: &str) -> bool {
    let Some((number, bytes)) = within(lines, row) else {
        return false;
    };
    let Some(line) = lines.get_mut(number) else {
        return false;
    };
    let written = line.get(bytes.clone()).unwrap_or_default();
    if written.starts_with('{') {
        if !written.ends_with('}') {
            return false;
        }
        line.insert_str(bytes.end - 1, &format!(", expect: {new}"));
    } else {
        // Before its first key, so that it does not matter how the values go on.
        let rest = line.split_off(bytes.start);
        let indent = " ".repeat(line.chars().count());
        line.push_str(&format!("expect: {new}"));
        lines.insert(number + 1, format!("{indent}{rest}"));
    }
    true
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

/// Writes what came of an event as an `expect` with lines of its own.
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
        for (n, (name, value)) in told(signal).into_iter().enumerate() {
            let dash = if n == 0 { "- " } else { "  " };
            // A JSON value is a YAML value on one line.
            lines.push(format!("{pad}    {dash}{name}: {value}"));
        }
    }
    if let Some(input) = &verdict.modified_input {
        lines.push(format!("{pad}  modified_input: {input}"));
    }
    lines
}

/// Writes what came of an event as the value of an `expect` among others on a line; where the decision alone was
/// expected, it stays at that.
fn on_one_line(case: &Case, verdict: &Verdict) -> String {
    if verdict.signals.is_empty() || case.expect.is_decision_alone() {
        return verdict.decision.to_string();
    }
    let signals: Vec<_> = verdict
        .signals
        .iter()
        .map(|signal| Value::Object(told(signal)))
        .collect();
    let mut expect = Map::new();
    expect.insert("decision".to_owned(), json!(verdict.decision.name()));
    expect.insert("signals".to_owned(), Value::Array(signals));
    if let Some(input) = &verdict.modified_input {
        expect.insert("modified_input".to_owned(), input.clone());
    }
    Value::Object(expect).to_string()
}

/// Returns what a test says of a signal.
fn told(signal: &Signal) -> Map<String, Value> {
    let mut told = Map::new();
    let mut key = |name: &str, value: Value| told.insert(name.to_owned(), value);
    key("intensity", json!(signal.intensity().name()));
    key("type", json!(signal.header.kind));
    if !signal.payload.text().is_empty() {
        key("text", json!(signal.payload.text()));
    }
    if !signal.payload.steps().is_empty() {
        key("steps", json!(signal.payload.steps()));
    }
    if !signal.context.files.is_empty() {
        key("files", json!(signal.context.files));
    }
    if signal.asks() {
        key("asks", json!(true));
    }
    if let Payload::Control(control) = &signal.payload {
        let changes: Map<_, _> = control
            .modifications
            .iter()
            .map(|m| (m.target.clone(), m.updated.clone()))
            .collect();
        key("changes", Value::Object(changes));
    }
    told
}
