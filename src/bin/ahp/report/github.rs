//! Workflow commands of GitHub: annotations of files, of which it shows ten of each level for a step.

use std::collections::HashSet;

use ahp::signal::Signal;
use ahp::verdict::Verdict;
use ahp::visible::visible;

use super::{by_level, words};

/// How many annotations of one level are shown.
const MOST: usize = 10;

/// How many signals stand on the page of the run, and how many characters of each: GitHub takes a mebibyte.
const MOST_ROWS: usize = 200;
const MOST_IN_CELL: usize = 1_000;

/// Returns a command for each signal, without the `::` before it, the strongest first; the last of a level says how many more there are.
pub(super) fn annotations(verdicts: &[&Verdict]) -> Vec<String> {
    let all = || verdicts.iter().flat_map(|verdict| &verdict.signals);
    let mut lines = Vec::new();
    for level in ["error", "warning", "notice"] {
        // What is said of the change as a whole is said at each of its issues.
        let mut told = HashSet::new();
        let of_level: Vec<&Signal> = all()
            .filter(|signal| by_level(signal, "error", "warning", "notice") == level)
            .filter(|signal| told.insert((&signal.origin.binding, words(signal), place(signal))))
            .collect();
        for (n, signal) in of_level.iter().take(MOST).enumerate() {
            let left = of_level.len().saturating_sub(MOST);
            let more = match left {
                0 => String::new(),
                _ if n + 1 < MOST => String::new(),
                left => format!("\n({left} more of this level are not shown)"),
            };
            let file = place(signal).map(|(file, line)| match line {
                Some(line) => format!("file={},line={line},", property(file)),
                None => format!("file={},", property(file)),
            });
            lines.push(format!(
                "{level} {}title={}::{}",
                file.unwrap_or_default(),
                property(&signal.origin.binding),
                data(&format!("{}{more}", words(signal)))
            ));
        }
    }
    lines
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

fn data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
