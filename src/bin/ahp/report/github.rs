//! Workflow commands of GitHub: annotations of files, of which it shows ten of each level for a step.

use ahp::signal::Signal;
use ahp::verdict::Verdict;

use super::{by_level, words};

/// How many annotations of one level are shown.
const MOST: usize = 10;

/// Returns a line for each signal, the strongest first; the last of a level says how many more there are.
pub(super) fn annotations(verdicts: &[&Verdict]) -> Vec<String> {
    let all = || verdicts.iter().flat_map(|verdict| &verdict.signals);
    let mut lines = Vec::new();
    for level in ["error", "warning", "notice"] {
        let of_level: Vec<&Signal> = all()
            .filter(|signal| by_level(signal, "error", "warning", "notice") == level)
            .collect();
        for (n, signal) in of_level.iter().take(MOST).enumerate() {
            let left = of_level.len().saturating_sub(MOST);
            let more = match left {
                0 => String::new(),
                _ if n + 1 < MOST => String::new(),
                left => format!("\n({left} more of this level are not shown)"),
            };
            let file = signal.context.files.first();
            let file = file.map(|file| format!("file={},", property(file)));
            lines.push(annotation(
                level,
                &file.unwrap_or_default(),
                &signal.origin.binding,
                &format!("{}{more}", words(signal)),
            ));
        }
    }
    lines
}

/// Returns one line; `file` is its property, or empty.
pub(super) fn annotation(level: &str, file: &str, title: &str, text: &str) -> String {
    format!("::{level} {file}title={}::{}", property(title), data(text))
}

fn data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
