//! A text as one word of a command line, for every shell that follows POSIX.

/// Writes a text as one word that no shell splits or expands.
pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Writes a text as such a word, without quotes where it is a plain name or path.
pub(crate) fn quoted_where_needed(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./+".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        text.to_owned()
    } else {
        quoted(text)
    }
}
