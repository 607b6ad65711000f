//! `"\.py$"`: escapes that YAML does not know, which the documents of the standard print all the same.

/// A text in which each double-quoted scalar with an unknown escape is taken as it stands.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Mended {
    /// The text, now valid.
    pub(super) text: String,
    /// Where backslashes were added: offsets into the text as it was.
    added: Vec<usize>,
    /// The scalars concerned: from the opening quote to behind the closing one, in the text as it was.
    pub(super) scalars: Vec<std::ops::Range<usize>>,
}

impl Mended {
    /// Returns the offset in the text as it was of an offset in the mended one.
    pub(super) fn original_offset(&self, offset: u32) -> u32 {
        let mut shift = 0_u32;
        for &added in &self.added {
            if u32::try_from(added)
                .unwrap_or(u32::MAX)
                .saturating_add(shift)
                >= offset
            {
                break;
            }
            shift += 1;
        }
        offset - shift.min(offset)
    }
}

/// Mends a text; none where there is nothing to mend.
///
/// In a scalar with an unknown escape every backslash stands for itself, except before a quote or a backslash:
/// its author did not think of escapes at all, so `"\bx\.y"` means a word boundary, not a backspace.
pub(super) fn mend(text: &str) -> Option<Mended> {
    let mut mended = Mended {
        text: String::with_capacity(text.len() + 8),
        added: Vec::new(),
        scalars: Vec::new(),
    };
    let mut copied = 0;
    for range in double_quoted(text) {
        let scalar = text.get(range.clone()).unwrap_or_default();
        if !has_unknown_escape(scalar) {
            continue;
        }
        mended
            .text
            .push_str(text.get(copied..range.start).unwrap_or_default());
        let mut chars = scalar.char_indices().peekable();
        while let Some((n, c)) = chars.next() {
            mended.text.push(c);
            if c != '\\' {
                continue;
            }
            if let Some(&(_, next @ ('"' | '\\'))) = chars.peek() {
                mended.text.push(next);
                chars.next();
            } else {
                mended.text.push('\\');
                mended.added.push(range.start + n);
            }
        }
        copied = range.end;
        mended.scalars.push(range);
    }
    if mended.scalars.is_empty() {
        return None;
    }
    mended.text.push_str(text.get(copied..).unwrap_or_default());
    Some(mended)
}

fn has_unknown_escape(scalar: &str) -> bool {
    let mut chars = scalar.chars();
    while let Some(c) = chars.next() {
        if c == '\\'
            && let Some(escaped) = chars.next()
            && !"0abt\tnvfre \"/\\N_LPxuU\n\r".contains(escaped)
        {
            return true;
        }
    }
    false
}

/// Returns the double-quoted scalars of a YAML text, with their quotes.
fn double_quoted(text: &str) -> Vec<std::ops::Range<usize>> {
    let mut found = Vec::new();
    let mut chars = text.char_indices();
    // A quote opens a scalar only where a value can start; elsewhere it is a letter of a plain one.
    let mut may_start = true;
    let mut after_space = true;
    while let Some((start, c)) = chars.next() {
        match c {
            '"' if may_start => {
                let mut end = text.len();
                while let Some((n, c)) = chars.next() {
                    match c {
                        '\\' => {
                            chars.next();
                        }
                        '"' => {
                            end = n + 1;
                            break;
                        }
                        _ => {}
                    }
                }
                found.push(start..end);
                may_start = false;
            }
            '\'' if may_start => {
                // Two quotes inside are one letter: the scalar goes on as if it started again.
                chars.find(|(_, c)| *c == '\'');
            }
            '#' if after_space => {
                chars.find(|(_, c)| *c == '\n');
                may_start = true;
            }
            '\n' | ':' | ',' | '[' | '{' | '-' | '?' => may_start = true,
            ' ' | '\t' | '\r' => {}
            _ => may_start = false,
        }
        after_space = matches!(c, ' ' | '\t' | '\n' | '#');
    }
    found
}

#[cfg(test)]
mod tests {
    use super::mend;

    #[test]
    fn a_scalar_with_an_unknown_escape_stands_for_itself() {
        let mended = mend(r#"pattern: "\bx\.py$" # it's "\.""#).unwrap();
        assert_eq!(mended.text, r#"pattern: "\\bx\\.py$" # it's "\.""#);
        assert_eq!(mended.scalars.len(), 1);
        assert_eq!(mended.scalars.first(), Some(&(9..19)));
        assert_eq!(mended.original_offset(9), 9);
        assert_eq!(mended.original_offset(15), 13);
    }

    #[test]
    fn known_escapes_other_quotes_and_plain_text_are_left_alone() {
        for text in [
            r#"a: "tab\t \"x\" \\. \u00e9""#,
            r"a: '\.py$'",
            r#"a: it is "\." here"#,
            "a: \"unclosed",
        ] {
            assert_eq!(mend(text), None, "{text}");
        }
    }

    #[test]
    fn quoted_quotes_are_understood() {
        let mended = mend(r#"a: ["it's", "\d", 'x "\d" y', "\"\w\""]"#).unwrap();
        assert_eq!(mended.text, r#"a: ["it's", "\\d", 'x "\d" y', "\"\\w\""]"#);
    }
}
