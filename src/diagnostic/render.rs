//! Diagnostics as annotated source text, as rustc draws them.

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

use super::{Diagnostic, Label, Severity, SourceMap};

/// Draws a diagnostic with the user's line and the place underlined.
pub fn render(diagnostic: &Diagnostic, sources: &SourceMap, colour: bool) -> String {
    let level = match diagnostic.severity {
        Severity::Warning => Level::WARNING,
        Severity::Error => Level::ERROR,
    };
    let title = level
        .primary_title(diagnostic.message.as_str())
        .id(diagnostic.code.name());
    let mut group = annotate_snippets::Group::with_title(title);
    let mut labels: Vec<_> = diagnostic
        .label
        .iter()
        .map(|label| (label, AnnotationKind::Primary))
        .chain(
            diagnostic
                .related
                .iter()
                .map(|label| (label, AnnotationKind::Context)),
        )
        .collect();
    // Places in one file are drawn in one piece of it, that of the primary place first.
    while let Some(&(first, _)) = labels.first() {
        let (here, elsewhere): (Vec<_>, Vec<_>) = labels
            .into_iter()
            .partition(|(label, _)| label.span.file == first.span.file);
        if let Some(source) = sources.get(first.span.file) {
            let annotations = here.iter().map(|(label, kind)| {
                kind.span(byte_range(label, &source.text))
                    .label(label.text.as_str())
            });
            group = group.element(
                Snippet::source(&*source.text)
                    .path(&*source.name)
                    .annotations(annotations),
            );
        }
        labels = elsewhere;
    }
    for help in &diagnostic.help {
        group = group.element(Level::HELP.message(help.as_str()));
    }
    let renderer = if colour {
        Renderer::styled()
    } else {
        Renderer::plain()
    };
    renderer.render(&[group])
}

/// Returns the bytes to underline: at least one character, inside the text, on its boundaries.
fn byte_range(label: &Label, text: &str) -> std::ops::Range<usize> {
    let floor = |n: u32| {
        let mut n = (n as usize).min(text.len());
        while !text.is_char_boundary(n) {
            n -= 1;
        }
        n
    };
    let start = floor(label.span.start);
    let end = floor(label.span.end).max(start);
    if end > start {
        return start..end;
    }
    let width = text
        .get(start..)
        .and_then(|rest| rest.chars().next())
        .filter(|c| *c != '\n')
        .map_or(0, char::len_utf8);
    start..start + width
}
