//! The front matter of a `HOOK.md`: cut out, read as YAML and checked, all faults at once.

use super::{FrontMatter, escapes, validate};
use crate::config::parse_yaml;
use crate::diagnostic::{Code, Diagnostic, FileId, Span};
use crate::event::Trigger;

/// A `HOOK.md` after reading.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// What it says; none where there is an error.
    pub front: Option<FrontMatter>,
    /// Its trigger, where that can be read in spite of errors elsewhere.
    pub trigger: Option<Trigger>,
    /// Every fault.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads and checks the text of a `HOOK.md`, which may be cut anywhere behind its front matter.
///
/// `folder` is the name of the hook's directory, which must be the hook's name.
pub fn parse(text: &str, folder: &str, file: FileId) -> Parsed {
    let mut diagnostics = Vec::new();
    let front = match cut(text) {
        Ok(front) => front,
        Err((message, span)) => {
            let span = Span { file, ..span };
            return Parsed {
                front: None,
                trigger: None,
                diagnostics: vec![
                    Diagnostic::error(Code::BadHook, message, span)
                        .help("a hook starts with `---`, its fields as YAML, and `---` again"),
                ],
            };
        }
    };
    let mut node = parse_yaml(front, file, &mut diagnostics);
    if node.is_none()
        && let Some(mended) = escapes::mend(front)
    {
        diagnostics.clear();
        node = parse_yaml(&mended.text, file, &mut diagnostics);
        for diagnostic in &mut diagnostics {
            for label in diagnostic.label.iter_mut().chain(&mut diagnostic.related) {
                label.span.start = mended.original_offset(label.span.start);
                label.span.end = mended.original_offset(label.span.end);
            }
        }
        for range in &mended.scalars {
            let scalar = front.get(range.clone()).unwrap_or_default();
            let inner = scalar.trim_matches('"').replace('\'', "''");
            let message = "an escape that YAML does not know; taken as it stands";
            diagnostics.push(
                Diagnostic::warning(Code::Syntax, message, place(front, range.clone(), file))
                    .help(format!("write it in single quotes: `'{inner}'`")),
            );
        }
    }
    let Some(node) = node else {
        return Parsed {
            front: None,
            trigger: None,
            diagnostics,
        };
    };
    let (front, trigger) = validate::validate(&node, folder, &mut diagnostics);
    Parsed {
        front: front.filter(|_| !diagnostics.iter().any(Diagnostic::is_error)),
        trigger,
        diagnostics,
    }
}

/// Returns the front matter with its opening line, which is the start of a YAML document too.
fn cut(text: &str) -> Result<&str, (&'static str, Span)> {
    let start = Span {
        line: 1,
        column: 1,
        ..Span::default()
    };
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = body.split_inclusive('\n');
    match lines.next() {
        Some(first) if first.trim_end() == "---" => {}
        _ => return Err(("the file does not start with `---`", start)),
    }
    let mut end = text.len() - body.len() + body.find('\n').map_or(body.len(), |n| n + 1);
    for line in lines {
        if line.trim_end() == "---" {
            return text.get(..end).ok_or(("the front matter is broken", start));
        }
        end += line.len();
    }
    Err(("the front matter is not closed by `---`", start))
}

/// Returns the place of a range of bytes.
fn place(text: &str, range: std::ops::Range<usize>, file: FileId) -> Span {
    let before = text.get(..range.start).unwrap_or_default();
    let line_start = before.rfind('\n').map_or(0, |n| n + 1);
    let column = before.get(line_start..).unwrap_or_default().chars().count() + 1;
    let narrow = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    Span {
        file,
        start: narrow(range.start),
        end: narrow(range.end),
        line: narrow(before.matches('\n').count() + 1),
        column: narrow(column),
    }
}
