//! Listing: which parts of a line are fields, where a tool made rows and headers for people.

use super::words;

/// Names of headers of what people write to each other.
const HEADERS: &[&str] = &[
    "author", "bcc", "cc", "channel", "chat", "date", "from", "group", "id", "name", "received",
    "reply-to", "sender", "sent", "subject", "to", "user",
];

/// What parts the cells of a row.
const BETWEEN: &[&str] = &["|", "\t", "  "];

/// Calls with each part of a line that is a field: the cells of a row, what stands behind the name of a header, and what
/// begins a line as its number. Of a page, which is written by whoever keeps it, rows alone.
pub(super) fn cells(line: &str, is_page: bool, give: &mut dyn FnMut(&str)) {
    let line = line.trim().trim_start_matches(['-', '*', '•', '#']).trim();
    let between = BETWEEN.iter().find(|sign| line.contains(**sign));
    let parts: Vec<&str> = match between {
        Some(sign) => line.split(sign).collect(),
        None => vec![line],
    };
    let is_row = parts.len() > 1;
    for part in parts.iter().map(|part| part.trim()) {
        if is_row && words::is_value(part) {
            give(part);
        }
        if is_page {
            continue;
        }
        header(part, give);
        if is_row || !part.contains(char::is_whitespace) {
            give(part);
        }
    }
    if is_page {
        return;
    }
    // What stands before the text of a message: its number, or who wrote it.
    let line = line
        .strip_prefix('[')
        .and_then(|rest| rest.split_once(']'))
        .map_or(line, |(_, rest)| rest.trim());
    if let Some((first, rest)) = line.split_once(char::is_whitespace) {
        let is_number = first.contains(|c: char| c.is_ascii_digit() || "._#".contains(c));
        if is_number && words::is_value(first) {
            give(first);
        }
        // `id 4411`, `#13 Joost <mail>`
        let second = rest.split_whitespace().next().unwrap_or_default();
        if HEADERS.contains(&&*first.to_lowercase()) {
            give(second);
        }
    }
    if let Some((who, _)) = line.split_once(':').filter(|(who, _)| !who.contains(' ')) {
        give(who);
    }
}

/// Gives what stands behind the name of a header, and both parts of `Name <mail>`.
fn header(part: &str, give: &mut dyn FnMut(&str)) {
    let value = match part.split_once(": ") {
        Some((name, value)) if HEADERS.contains(&&*name.trim().to_lowercase()) => value.trim(),
        _ if part.ends_with('>') && part.contains('@') => part,
        _ => return,
    };
    if !words::is_value(value) {
        return;
    }
    give(value);
    if let Some((name, mail)) = value.split_once('<') {
        give(name);
        give(mail);
    }
}
