//! Comments: lines of inline code that surely say nothing to the interpreter.

use std::borrow::Cow;

use super::Language;
use crate::words::holds_any;

/// Returns code without the lines that are nothing but a comment.
///
/// A line that begins as a comment could stand within a text that goes over several lines, and be code that the text
/// interpolates. So where the code has such a text, or may have, every line stays.
pub(super) fn without_comments(language: Language, code: &str) -> Cow<'_, str> {
    let (begin, long_texts): (_, &[&str]) = match language {
        Language::Python => ("#", &["\"\"\"", "'''", "\\\n"]),
        Language::JavaScript => ("//", &["`", "\\\n"]),
        _ => return Cow::Borrowed(code),
    };
    let is_comment = |line: &&str| line.trim_start().starts_with(begin);
    if !code.lines().any(|line| is_comment(&line)) || holds_any(code, long_texts) {
        return Cow::Borrowed(code);
    }
    let kept: Vec<&str> = code.lines().filter(|line| !is_comment(line)).collect();
    Cow::Owned(kept.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::{Language, without_comments};

    #[test]
    fn a_line_goes_only_where_it_is_surely_a_comment() {
        for (language, code, kept) in [
            (Language::Python, "# rm()\n  # rm()\nls()", "ls()"),
            (Language::JavaScript, "// rm()\nls()", "ls()"),
            // Within a text such a line may be code, or what the code writes.
            (
                Language::Python,
                "f'''\n# {rm()}\n'''",
                "f'''\n# {rm()}\n'''",
            ),
            (Language::Python, "f'a\\\n# {rm()}'", "f'a\\\n# {rm()}'"),
            (Language::JavaScript, "`\n// ${rm()}\n`", "`\n// ${rm()}\n`"),
            // Ruby, Perl and PHP have texts that begin in too many ways.
            (Language::Ruby, "<<A\n# #{rm}\nA", "<<A\n# #{rm}\nA"),
        ] {
            assert_eq!(without_comments(language, code), kept, "{code}");
        }
    }
}
