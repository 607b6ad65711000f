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
