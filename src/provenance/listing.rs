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
    if by == By::Service {
        row(text, give);
    }
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
                members(line.text, give);
            }
        }
    }
}

/// Returns the host of the one address to which a message went, by its header.
pub(super) fn receiver(text: &str) -> Option<String> {
    let to = text
        .lines()
        .find_map(|line| line.trim().strip_prefix("To: "))?;
    let words = words::words(to);
    let mut mails = words.iter().filter_map(|word| word.rsplit_once('@'));
    let (_, host) = mails.next()?;
    mails.next().is_none().then(|| host.to_owned())
}

/// Gives the cells of the rows of a table whose first line has the names of its columns, parted by commas.
pub(super) fn table(text: &str, give: &mut dyn FnMut(&str)) {
    let mut rows = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(columns);
    let Some(names) = rows.next() else {
        return;
    };
    let is_name = |name: &String| !name.is_empty() && !name.contains(char::is_whitespace);
    if names.len() < 3 || !names.iter().all(is_name) {
        return;
    }
    for cell in rows.filter(|row| row.len() == names.len()).flatten() {
        if words::is_value(&cell) {
            give(&cell);
        }
    }
}

/// Parts a line at its commas, but those within quotes.
fn columns(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut is_quoted = false;
    for c in line.chars() {
        match c {
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => cells.push(String::new()),
            _ => cells.last_mut().into_iter().for_each(|cell| cell.push(c)),
        }
    }
    cells
}

/// Gives the members of a list as programs print it: `['Ada', 'ada@acme.example']`.
fn members(line: &str, give: &mut dyn FnMut(&str)) {
    let list = line
        .split_once("['")
        .and_then(|(_, rest)| rest.rsplit_once("']"));
    let members = list.into_iter().flat_map(|(list, _)| list.split("', '"));
    members
        .filter(|member| words::is_value(member))
        .for_each(give);
}

/// Gives what stands behind each name in lines below one that gives a thing its number.
fn row(text: &str, give: &mut dyn FnMut(&str)) {
    let mut is_row = false;
    for line in text.lines() {
        let pair = line.trim().split_once(": ");
        let Some((name, value)) = pair.filter(|(name, _)| name.split(' ').count() < 4) else {
            is_row = false;
            continue;
        };
        is_row |= name.to_lowercase().ends_with("id");
        if is_row {
            // `ada@acme.example (accepted)`
            for one in value.split(", ").filter(|one| words::is_value(one)) {
                give(one.split(" (").next().unwrap_or(one));
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

/// Whether that is the name of a header: `From`, `Thread ID`.
fn is_header(name: &str) -> bool {
    let name = name.trim().to_lowercase();
    let is_id = |name: &str| name.ends_with(" id") && name.matches(' ').count() == 1;
    HEADERS.contains(&&*name) || is_id(&name)
}

/// Gives what stands behind the name of a header, and both parts of `Name <mail>`.
fn header(part: &str, give: &mut dyn FnMut(&str)) {
    let value = match part.split_once(": ") {
        Some((name, value)) if is_header(name) => value.trim(),
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
