//! What the parser says is wrong, in a user's words.

use granit_parser::ErrorKind;

use crate::diagnostic::{Code, Diagnostic, Span};

/// Makes a diagnostic of a fault that the parser found.
pub(super) fn syntax_error(kind: &ErrorKind, point: Span) -> Diagnostic {
    let (message, help) = match kind {
        ErrorKind::TabNotAllowed
        | ErrorKind::TabInBlockIndentation
        | ErrorKind::TabInIndentation => ("a tab is used for indentation", "indent with spaces"),
        ErrorKind::UnknownAnchor => (
            "an alias (`*name`) without an anchor (`&name`) before it",
            "put the text in quotes if it starts with `*`",
        ),
        ErrorKind::UnclosedQuotedScalar => ("a quote is not closed", "close it"),
        ErrorKind::InvalidQuotedScalarIndent => (
            "the quoted text that started above goes on here, and is not indented",
            "close the quote where it should end, or indent this line",
        ),
        ErrorKind::UnclosedFlowCollection { .. }
        | ErrorKind::MismatchedFlowCollectionEnd { .. } => (
            "this bracket is not closed by its like",
            "close every `[` by `]` and every `{` by `}`",
        ),
        ErrorKind::UnknownQuotedScalarEscape => (
            "a backslash in double quotes starts an escape, and this is none",
            "use single quotes, in which a backslash is itself",
        ),
        ErrorKind::ExpectedBlockMappingKey => (
            "a `key: value` was expected here",
            "check the indentation of this line and of the one above it",
        ),
        ErrorKind::ExpectedBlockSequenceEntry => (
            "a list item, `- …`, was expected here",
            "check the indentation of this line and of the one above it",
        ),
        ErrorKind::MappingValueNotAllowed => (
            "a `:` cannot stand here",
            "put the text in quotes if it holds `: `, or check the indentation",
        ),
        ErrorKind::SimpleKeyExpected => (
            "this line is neither `key: value` nor a list item",
            "add the missing `:`, or check the indentation",
        ),
        ErrorKind::ExpectedFlowMappingSeparator => {
            ("a `,` or `}` was expected here", "close the `{` before it")
        }
        ErrorKind::ExpectedFlowSequenceSeparator => {
            ("a `,` or `]` was expected here", "close the `[` before it")
        }
        ErrorKind::RecursionLimitExceeded => {
            let message = "maps and lists nest too deeply";
            return Diagnostic::error(Code::Limit, message, point).help("flatten this part");
        }
        _ => {
            let message = kind.to_string().replace('\'', "`");
            return Diagnostic::error(Code::Syntax, message.trim_end_matches('.'), point)
                .help("put text in quotes if it starts with or holds a sign that YAML uses");
        }
    };
    Diagnostic::error(Code::Syntax, message, point).help(help)
}
