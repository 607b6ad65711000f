//! Comments: lines of inline code that surely say nothing to the interpreter.

use std::borrow::Cow;

use super::Language;

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
    if !code.lines().any(|line| is_comment(&line)) || long_texts.iter().any(|t| code.contains(t)) {
        return Cow::Borrowed(code);
    }
    let kept: Vec<&str> = code.lines().filter(|line| !is_comment(line)).collect();
    Cow::Owned(kept.join("\n"))
}
