//! YAML text to Node: every value with its place, every fault reported, and limits on depth, size and aliases.

mod reader;
mod scalar;
mod syntax;

use granit_parser::{Event, Parser};

use self::reader::{Reader, narrow};
use self::syntax::syntax_error;
use super::{Node, Value};
use crate::diagnostic::{Code, Diagnostic, FileId, Span};

/// Returns the error of a merge that nobody has brought to its end: no value of YAML begins a line with its marks.
fn conflict(text: &str, file: FileId, skipped: u32) -> Option<Diagnostic> {
    let mut start = 0;
    for (number, line) in (1..).zip(text.split_inclusive('\n')) {
        if line.starts_with("<<<<<<< ") {
            let place = |at: usize| narrow(at).saturating_add(skipped);
            let span = Span {
                file,
                start: place(start),
                end: place(start + line.trim_end().len()),
                line: number,
                column: 1,
            };
            let fault = Diagnostic::error(Code::Syntax, "a merge left a conflict here", span);
            return Some(fault.help(
                "keep one side, and take out the lines that begin with `<<<<<<<`, `=======` and `>>>>>>>`",
            ));
        }
        start += line.len();
    }
    None
}

/// Reads one YAML document; what is wrong with it is added to `diagnostics`.
///
/// An empty document is an empty map. Without a result at least one error has been added; with one there may be errors
/// too, such as a duplicate key, and what they do not touch is still there to be checked further.
pub fn parse_yaml(text: &str, file: FileId, diagnostics: &mut Vec<Diagnostic>) -> Option<Node> {
    let (skipped, text) = match text.strip_prefix('\u{feff}') {
        Some(text) => (3, text),
        None => (0, text),
    };
    if let Some(conflict) = conflict(text, file, skipped) {
        diagnostics.push(conflict);
        return None;
    }
    let mut reader = Reader::new(file, skipped, diagnostics);
    let mut parser = Parser::new_from_str(text);
    let mut documents = 0;
    while let Some(event) = parser.next_event() {
        let (event, place) = match event {
            Ok(event) => event,
            Err(error) => {
                let point = reader.span(error.marker(), error.marker());
                reader.diagnostics.push(syntax_error(error.kind(), point));
                return None;
            }
        };
        let span = reader.span(&place.start, &place.end);
        if let Event::DocumentStart(..) = event {
            documents += 1;
            if documents > 1 {
                reader.diagnostics.push(
                    Diagnostic::error(Code::Syntax, "a second document starts here", span)
                        .help("keep one document a file: remove the `---`"),
                );
                return None;
            }
        }
        if let Err(diagnostic) = reader.event(event, span) {
            reader.diagnostics.push(*diagnostic);
            return None;
        }
    }
    let start = Span {
        file,
        line: 1,
        column: 1,
        ..Span::default()
    };
    Some(match reader.root {
        Some(Node {
            value: Value::Null, ..
        })
        | None => Node::empty_map(start),
        Some(root) => root,
    })
}
