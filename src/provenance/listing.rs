//! Listing: which parts of a line are fields, where a tool made rows and headers for people.

use super::words;

/// Names of headers of what people write to each other.
const HEADERS: &[&str] = &[
    "author", "bcc", "cc", "channel", "chat", "date", "from", "group", "id", "name", "received",
    "reply-to", "sender", "sent", "subject", "to", "user",
];

/// Who wrote a text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    /// A tool, of what a service keeps.
    Service,
    /// Whoever keeps a page or prints a line: rows of tables alone are fields there.
    Page,
}

/// What parts the cells of a row.
const BETWEEN: &[&str] = &["|", "\t", COLUMNS, COMMA];

/// What parts the cells of a file of values.
const COMMA: &str = ",";

/// What parts columns, which people also write within a sentence.
const COLUMNS: &str = "  ";

/// Calls with each part of a text that is a field: the cells of a row, what stands behind the name of a header, and what
/// begins a line as its number. Prose is none of it.
pub(super) fn cells(text: &str, by: By, give: &mut dyn FnMut(&str)) {
    let lines: Vec<Line<'_>> = text.lines().map(Line::of).collect();
    for rows in lines.chunk_by(Line::is_row_below) {
        let is_table = rows.len() > 1;
        for line in rows {
            // One line alone may have two blanks by chance, and one of a page any sign.
            let is_row = line.cells.len() > 1
                && (is_table || by == By::Service && matches!(line.sign, Some("|" | "\t")));
            match by {
                // What an address in it is there for says whoever keeps the page.
                By::Page => {
                    let is_table = is_row && rows.iter().all(Line::is_short);
                    let cells = line
                        .cells
                        .iter()
                        .filter(|cell| is_table && !has(cell, words::points));
                    cells.for_each(|cell| give(cell));
                }
                By::Service if is_row => line.cells.iter().for_each(|cell| {
                    header(cell, give);
                    if words::is_value(cell) {
                        give(cell);
                    }
                }),
                By::Service => {
                    header(line.text, give);
                    if !line.text.contains(char::is_whitespace) {
                        give(line.text);
                    }
                }
            }
            if by == By::Service {
                beginning(line.text, give);
                elements(line.text, give);
            }
        }
    }
}

/// A line without the sign of a list before it.
struct Line<'t> {
    text: &'t str,
    /// What parts its cells; none where it has one.
    sign: Option<&'static str>,
    cells: Vec<&'t str>,
    /// Where its second cell begins.
    column: usize,
}

impl<'t> Line<'t> {
    fn of(line: &'t str) -> Self {
        let text = line.trim_start_matches(|c: char| c.is_whitespace() || "-*•#".contains(c));
        let before = line.len() - text.len();
        let text = text.trim_end();
        // Within a sentence a blank stands behind a comma.
        let is_between = |sign: &&str| match *sign {
            COMMA => text.contains(sign) && !text.contains(", "),
            _ => text.contains(sign),
        };
        let sign = BETWEEN.iter().copied().find(is_between);
        let parts = sign.map_or(vec![text], |sign| text.split(sign).collect());
        let rest = sign.and_then(|sign| text.split_once(sign));
        let column = rest.map_or(0, |(first, rest)| {
            before + first.len() + (rest.len() - rest.trim_start().len())
        });
        let cells = parts.iter().map(|part| part.trim());
        Self {
            text,
            sign,
            cells: cells.filter(|cell| !cell.is_empty()).collect(),
            column,
        }
    }

    /// Whether the next line goes on with the same columns.
    fn is_row_below(&self, next: &Self) -> bool {
        self.sign == next.sign
            && self.cells.len() > 1
            && match self.sign {
                Some(COLUMNS) => self.column == next.column && next.cells.len() > 1,
                _ => self.cells.len() == next.cells.len(),
            }
    }

    /// Whether none of its cells is a text.
    fn is_short(&self) -> bool {
        self.cells.iter().all(|cell| words::is_value(cell))
    }
}

/// Gives what stands before the text of a message: its number, or who wrote it. An address there begins a sentence.
fn beginning(line: &str, give: &mut dyn FnMut(&str)) {
    let line = line
        .strip_prefix('[')
        .and_then(|rest| rest.split_once(']'))
        .map_or(line, |(_, rest)| rest.trim());
    if let Some((first, rest)) = line.split_once(char::is_whitespace) {
        let is_number = first.contains(|c: char| c.is_ascii_digit() || "._#".contains(c));
        if is_number && !has(first, words::is_place) && words::is_value(first) {
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

/// Gives the names of what can be filled in or pressed on a page, as browsers tell them: `#send`, `[ref=e12]`.
fn elements(line: &str, give: &mut dyn FnMut(&str)) {
    let words = line.split(|c: char| c.is_whitespace() || "[](),;".contains(c));
    let names = words.filter_map(|word| word.strip_prefix('#').or(word.strip_prefix("ref=")));
    names
        .filter(|name| !has(name, words::points))
        .for_each(give);
}

fn has(text: &str, is_such: fn(&str) -> bool) -> bool {
    words::words(text).iter().any(|word| is_such(word))
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
