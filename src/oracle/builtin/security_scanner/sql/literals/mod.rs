//! Where the string literals of a source lie, found without parsing: words of SQL are words of languages and of prose as well.

mod python;
mod rust;

use std::ops::Range;

use self::python::Python;
use self::rust::Rust;

/// A string literal.
struct Literal {
    /// From behind its opening quote to its end.
    range: Range<usize>,
    /// Whether nothing is done with it: it belongs to an attribute, or documents.
    idle: bool,
}

/// Takes a source apart into its literals, in their order.
trait Lexer<'s> {
    fn source(&self) -> &'s str;

    fn advance(&mut self) -> Option<Literal>;

    /// Whether a literal or a comment had no end.
    fn is_unclosed(&self) -> bool;
}

/// The string literals of a source.
pub(super) struct Literals<'s> {
    lexer: Box<dyn Lexer<'s> + 's>,
    last: Option<Literal>,
}

impl<'s> Literals<'s> {
    /// Begins to look for them; none where the language of the file is not known that well.
    pub(super) fn of(path: &str, source: &'s str) -> Option<Self> {
        let lexer: Box<dyn Lexer<'s>> = match path.rsplit_once('.')?.1 {
            "rs" => Box::new(Rust::new(source)),
            "py" | "pyi" => Box::new(Python::new(source)),
            _ => return None,
        };
        Some(Self { lexer, last: None })
    }

    /// Returns what a literal holds from an offset on, if the offset lies in one with which something is done.
    ///
    /// Offsets must be asked for in rising order.
    pub(super) fn from(&mut self, offset: usize) -> Option<&'s str> {
        while self
            .last
            .as_ref()
            .is_none_or(|last| last.range.end <= offset)
        {
            self.last = Some(self.lexer.advance()?);
        }
        let last = self.last.as_ref()?;
        (last.range.start <= offset && !last.idle)
            .then(|| self.lexer.source().get(offset..last.range.end))
            .flatten()
    }

    /// Whether a literal or a comment has no end: then the source is a part of one, and who knows where its literals lie.
    pub(super) fn are_unclear(&mut self) -> bool {
        while self.lexer.advance().is_some() {}
        self.lexer.is_unclosed()
    }
}

/// Returns the literals of a source.
#[cfg(test)]
fn all<'s>(mut lexer: impl Lexer<'s>) -> Vec<&'s str> {
    let source = lexer.source();
    std::iter::from_fn(|| lexer.advance().map(|literal| literal.range))
        .filter_map(|range| source.get(range))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::Literals;

    fn held(path: &str, source: &str, word: &str) -> Vec<bool> {
        let mut literals = Literals::of(path, source).unwrap();
        let held = source
            .match_indices(word)
            .map(|(at, _)| literals.from(at).is_some())
            .collect();
        assert!(!literals.are_unclear());
        held
    }

    #[test]
    fn an_offset_is_in_a_literal_or_is_not() {
        assert_eq!(
            held("a.rs", r#"where a: "where" + where"#, "where"),
            [false, true, false]
        );
        assert!(Literals::of("a.js", "").is_none());
    }

    #[test]
    fn what_stands_in_an_attribute_is_passed_over() {
        let source =
            r#"#[a(b = "use", c = "use")] "use" /* #[ */ "use" #![d = "use"] "use" [0] "use""#;
        assert_eq!(
            held("a.rs", source, "use"),
            [false, false, true, true, false, true, true]
        );
    }

    #[test]
    fn what_documents_is_passed_over() {
        let source = "\"\"\"use\"\"\"\nclass A:\n    # use\n    r'''use'''\n    x = {'a':\n 'use'}\n    'use'\nf = lambda: 'use'\n";
        assert_eq!(
            held("a.py", source, "use"),
            [false, false, false, true, true, true]
        );
    }

    #[test]
    fn what_has_no_end_is_unclear() {
        let are_unclear = |path, source| Literals::of(path, source).unwrap().are_unclear();
        for source in [r#"where a = " + a"#, "r#\"x\"", "/* where /* */"] {
            assert!(are_unclear("a.rs", source), "{source}");
        }
        for source in ["where a = ' + a", "'a\n'", "'''a''"] {
            assert!(are_unclear("a.py", source), "{source}");
        }
        assert!(!are_unclear(
            "a.rs",
            "fn f<'a>() where 'a: 'static { '\"'; }"
        ));
        assert!(!are_unclear("a.py", "'a\\\nb' + \"'\" # '"));
    }
}
