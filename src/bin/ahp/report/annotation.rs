//! Workflow commands of GitHub: annotations of files, of which it shows ten of each level for a step.

use std::collections::HashSet;

use ahp::config::Environment;
use ahp::diagnostic::{Diagnostic, SourceMap};

use super::is_github;
use crate::output;
use crate::output::Format;

/// How many annotations of one level are shown.
const MOST: usize = 10;

/// Who reads annotations.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum Annotator {
    /// GitHub and Forgejo, on stdout.
    Github,
}

impl Annotator {
    /// Prints annotations where they are asked for, or where GitHub reads along; what is for programs stays as it is there.
    pub(crate) fn print(wanted: Option<Self>, format: Format, annotations: &[Annotation]) {
        let reads_along = || format == Format::Human && is_github(&Environment::of_process());
        if wanted.is_some() || reads_along() {
            print(annotations);
        }
    }
}

/// How grave it is, the gravest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Level {
    Error,
    Warning,
    Notice,
}

impl Level {
    const ALL: [(Self, &str); 3] = [
        (Self::Error, "error"),
        (Self::Warning, "warning"),
        (Self::Notice, "notice"),
    ];
}

/// A remark on a file, or on the whole.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Annotation {
    pub(crate) level: Level,
    /// The file, relative to the project.
    pub(crate) file: Option<String>,
    /// From 1.
    pub(crate) line: Option<u32>,
    /// From 1.
    pub(crate) column: Option<u32>,
    pub(crate) title: String,
    pub(crate) text: String,
}

impl Annotation {
    /// Makes one of what failed at a line.
    pub(crate) fn failure(file: &str, line: u32, title: &str, text: String) -> Self {
        Self {
            level: Level::Error,
            file: Some(file.to_owned()),
            line: Some(line),
            column: None,
            title: title.to_owned(),
            text,
        }
    }

    /// Makes one of a fault of a policy or a test.
    pub(crate) fn of_fault(fault: &Diagnostic, sources: &SourceMap) -> Self {
        let span = fault.label.as_ref().map(|label| label.span);
        let source = span.and_then(|span| sources.get(span.file));
        let text = std::iter::once(&fault.message).chain(&fault.help);
        Self {
            level: if fault.is_error() {
                Level::Error
            } else {
                Level::Warning
            },
            file: source.map(|source| source.path().to_owned()),
            line: span.map(|span| span.line).filter(|line| *line > 0),
            column: span.map(|span| span.column).filter(|column| *column > 0),
            title: fault.code.name().to_owned(),
            text: text.map(String::as_str).collect::<Vec<_>>().join("\n"),
        }
    }

    /// Returns the command, without the `::` before it.
    fn command(&self, level: &str, more: &str) -> String {
        let mut properties = String::new();
        if let Some(file) = &self.file {
            properties.push_str(&format!("file={},", property(file)));
        }
        if let Some(line) = self.line {
            properties.push_str(&format!("line={line},"));
        }
        if let Some(column) = self.column {
            properties.push_str(&format!("col={column},"));
        }
        let (title, text) = (property(&self.title), data(&format!("{}{more}", self.text)));
        format!("{level} {properties}title={title}::{text}")
    }
}

/// Prints annotations, the strongest first; the last of a level says how many more there are.
pub(super) fn print(annotations: &[Annotation]) {
    for (level, name) in Level::ALL {
        // What is said of the change as a whole is said at each of its issues.
        let mut told = HashSet::new();
        let of_level = annotations.iter().filter(|one| one.level == level);
        let of_level: Vec<_> = of_level.filter(|one| told.insert(*one)).collect();
        let left = of_level.len().saturating_sub(MOST);
        for (n, annotation) in of_level.iter().take(MOST).enumerate() {
            let more = if left > 0 && n + 1 == MOST {
                format!("\n({left} more of this level are not shown)")
            } else {
                String::new()
            };
            output::command(&annotation.command(name, &more));
        }
    }
}

fn data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
