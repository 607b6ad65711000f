//! Wording that several oracles share: counts and cut lists.

/// Says a count with its noun: `1 file`, `3 files`.
pub(super) fn counted(count: usize, noun: &str) -> String {
    if count == 1 {
        format!("1 {noun}")
    } else {
        format!("{count} {noun}s")
    }
}

/// Joins the first `most` texts, and says how many more there are.
pub(super) fn listed<T: AsRef<str>>(texts: &[T], most: usize) -> String {
    let shown: Vec<&str> = texts.iter().take(most).map(AsRef::as_ref).collect();
    let shown = shown.join(", ");
    match texts.len().saturating_sub(most) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// Returns a text with at most `limit` characters.
pub(super) fn shortened(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// Returns the last line of what a program said, in at most 200 characters.
pub(super) fn last_said(text: &str) -> String {
    let mut lines = text.lines().rev().map(str::trim);
    let last = lines.find(|line| !line.is_empty());
    shortened(last.unwrap_or("it said nothing"), 200)
}
