//! What GitHub shows: an annotation for each signal, and the page of the run.

use ahp::signal::Signal;
use ahp::verdict::Verdict;
use ahp::visible::visible;

use super::annotation::{Annotation, Level};
use super::{by_level, words};

/// How many signals stand on the page of the run, and how many characters of each: GitHub takes a mebibyte.
const MOST_ROWS: usize = 200;
const MOST_IN_CELL: usize = 1_000;

/// Returns an annotation for each signal.
pub(super) fn annotations(verdicts: &[&Verdict]) -> Vec<Annotation> {
    let all = verdicts.iter().flat_map(|verdict| &verdict.signals);
    all.map(|signal| Annotation {
        level: by_level(signal, Level::Error, Level::Warning, Level::Notice),
        file: place(signal).map(|(file, _)| file.to_owned()),
        line: place(signal).and_then(|(_, line)| line),
        column: None,
        title: signal.origin.binding.clone(),
        text: words(signal),
    })
    .collect()
}

/// Returns the first file that a signal is about, with the line where that is known.
fn place(signal: &Signal) -> Option<(&str, Option<u32>)> {
    let context = &signal.context;
    let first = context.locations.first();
    let line = first.map(|at| (at.file.as_str(), Some(at.line)));
    line.or_else(|| Some((context.files.first()?, None)))
}

/// Returns the page of the run: a row for each signal, the strongest first.
pub(super) fn summary(verdicts: &[&Verdict]) -> String {
    let mut signals: Vec<&Signal> = verdicts.iter().flat_map(|v| &v.signals).collect();
    let stopped = verdicts.iter().any(|verdict| verdict.stops());
    let mut page = format!("### ahp: {}\n", if stopped { "stopped" } else { "passed" });
    if signals.is_empty() {
        return page;
    }
    signals.sort_by_key(|signal| by_level(signal, 0, 1, 2));
    page.push_str("\n| | binding | where | what |\n|---|---|---|---|\n");
    for signal in signals.iter().take(MOST_ROWS) {
        let place = match place(signal) {
            Some((file, Some(line))) => format!("{file}:{line}"),
            Some((file, None)) => file.to_owned(),
            None => String::new(),
        };
        page.push_str(&format!(
            "| {} | {} | {} | {} |\n",
            signal.intensity(),
            cell(&signal.origin.binding),
            cell(&place),
            cell(&words(signal))
        ));
    }
    let left = signals.len().saturating_sub(MOST_ROWS);
    if left > 0 {
        page.push_str(&format!("\n{left} more are not shown.\n"));
    }
    page
}

/// Writes text as a cell of a table in Markdown, in which nothing of it has a meaning of its own.
fn cell(text: &str) -> String {
    let mut cell = String::with_capacity(text.len());
    for c in visible(text).chars().take(MOST_IN_CELL) {
        match c {
            '\n' | '\r' => cell.push_str("<br>"),
            '<' => cell.push_str("&lt;"),
            '&' => cell.push_str("&amp;"),
            '|' | '\\' | '`' | '*' | '_' | '[' | ']' | '!' | '#' | '@' | '~' => {
                cell.extend(['\\', c]);
            }
            _ => cell.push(c),
        }
    }
    cell
}
