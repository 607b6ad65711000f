//! XML: the reports of tools, as they write them.

use roxmltree::{Document, ParsingOptions};

/// Reads a report as XML; the error says what is wrong with it. Many reports begin with a document type: it is read over.
pub(in crate::oracle) fn document(text: &str) -> Result<Document<'_>, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let options = ParsingOptions {
        allow_dtd: true,
        ..ParsingOptions::default()
    };
    Document::parse_with_options(text, options)
        .map_err(|e| format!("it is not well-formed XML: {e}"))
}
