//! Reads the Markdown of an issue: its task items, outside code fences and HTML comments, and its sections.

use std::sync::Arc;

use super::checklist::give_ids;
use super::{ChecklistItem, ItemState};

/// Finds all task items of `body`, whose first line is the line `first_line` of its file.
///
/// Any indentation is accepted: who indents an item too far for Markdown still means an item.
pub(super) fn find(body: &str, first_line: u32) -> Vec<ChecklistItem> {
    let mut items = scan(body, first_line).items;
    give_ids(&mut items);
    items
}

/// Returns the text of all headings of `body`, in order.
pub(super) fn headings(body: &str) -> Vec<String> {
    let sections = scan(body, 1).sections;
    sections
        .into_iter()
        .map(|section| section.heading)
        .collect()
}

/// Returns what stands below a heading and before the next, without comments; none where that is nothing.
pub(super) fn section(body: &str, heading: &str) -> Option<String> {
    let sections = scan(body, 1).sections;
    let section = sections
        .into_iter()
        .find(|section| section.heading.to_lowercase() == heading.to_lowercase())?;
    let text = section.text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

fn scan(body: &str, first_line: u32) -> Scan {
    let mut scan = Scan::default();
    let mut rest = body;
    let mut line = first_line;
    while !rest.is_empty() {
        let (text, after) = split_line(rest);
        if let Some(closed) = scan.step(text, after, line) {
            // A comment of several lines: go on behind it.
            line += newlines(rest, closed);
            rest = closed;
            continue;
        }
        rest = after;
        line += 1;
    }
    scan
}

#[derive(Debug, Default)]
struct Scan {
    items: Vec<ChecklistItem>,
    sections: Vec<Section>,
    /// Level and text of the headings that hold here.
    headings: Vec<(usize, String)>,
    path: Arc<[String]>,
    fence: Option<Fence>,
    /// The columns at which the content of the list items begins that are open here, outermost first.
    lists: Vec<usize>,
    /// The line before, where it can become a heading by being underlined.
    paragraph: Option<String>,
    /// Whether no comment is closed any more from here on.
    no_comments: bool,
}

/// A heading and the text below it.
#[derive(Debug)]
struct Section {
    heading: String,
    text: String,
}

#[derive(Debug)]
struct Fence {
    mark: char,
    length: usize,
    /// The column at which the list item begins that it lies in: a line further left ends both.
    container: usize,
    /// Whether it lies in a quote, which ends it too.
    is_quoted: bool,
}

impl Scan {
    /// Takes one line; returns where to go on, if the line opens a comment that ends on a later one.
    fn step<'a>(&mut self, line: &str, after: &'a str, number: u32) -> Option<&'a str> {
        let whole = line;
        let line = unquoted(line);
        let is_quoted = whole.trim_start().starts_with('>');
        self.fence.take_if(|fence| fence.is_quoted && !is_quoted);
        if let Some(fence) = &self.fence {
            if fence.is_closed_by(line) {
                self.fence = None;
                self.write(whole);
                return None;
            }
            if line.trim().is_empty() || indent(line) >= fence.container {
                self.write(whole);
                return None;
            }
            self.fence = None;
        }
        let (text, resume) = self.without_comments(line, after);
        if !self.take(&text, number) {
            self.write(&text);
        }
        if let Some(opened) = &mut self.fence {
            opened.is_quoted = is_quoted;
        }
        resume
    }

    /// Adds a line to the text of the section.
    fn write(&mut self, line: &str) {
        if let Some(section) = self.sections.last_mut() {
            section.text.push_str(line);
            section.text.push('\n');
        }
    }

    /// Takes a line without its comments; tells whether it belongs to a heading.
    fn take(&mut self, line: &str, number: u32) -> bool {
        let content = self.enter_list(line);
        let before = self.paragraph.take();
        if let Some(fence) = Fence::opened_by(content, self.lists.last().copied()) {
            self.fence = Some(fence);
            return false;
        }
        if let Some((level, text)) = heading(line) {
            self.enter(level, text);
            return true;
        }
        if let Some((state, text)) = task(line) {
            let (id, text) = own_id(text);
            self.items.push(ChecklistItem {
                id: id.unwrap_or_default(),
                text: text.to_owned(),
                state,
                headings: self.path.clone(),
                line: number,
                verification: None,
                depends_on: Vec::new(),
                is_id_written: false,
            });
            return false;
        }
        let trimmed = line.trim();
        if let Some(text) = before
            && let Some(level) = underline(trimmed)
        {
            // The line above was taken for text of the section before.
            if let Some(section) = self.sections.last_mut() {
                let kept = section.text.trim_end().strip_suffix(text.as_str());
                let end = kept.map_or(section.text.len(), str::len);
                section.text.truncate(end);
            }
            self.enter(level, &text);
            return true;
        }
        let plain = trimmed.starts_with(|c: char| c.is_alphanumeric()) && !line.starts_with("    ");
        self.paragraph = plain.then(|| trimmed.to_owned());
        false
    }

    /// Notes the list items that a line leaves and opens; returns what stands behind its list marker.
    fn enter_list<'a>(&mut self, line: &'a str) -> &'a str {
        let content = line.trim_start();
        if content.is_empty() {
            return content;
        }
        let column = indent(line);
        self.lists.retain(|open| *open <= column);
        match list_content(line) {
            Some(rest) => {
                let rest = rest.trim_start();
                self.lists.push(column + content.len() - rest.len());
                rest
            }
            None => content,
        }
    }

    fn enter(&mut self, level: usize, text: &str) {
        self.headings.retain(|(above, _)| *above < level);
        self.headings.push((level, text.to_owned()));
        self.path = self.headings.iter().map(|(_, text)| text.clone()).collect();
        self.sections.push(Section {
            heading: text.to_owned(),
            text: String::new(),
        });
    }

    /// Cuts comments out of a line; one that ends on a later line gives the text behind it, where to go on.
    ///
    /// What opens no comment stays: inside a code span, or where nothing ever closes it.
    fn without_comments<'a>(&mut self, line: &str, after: &'a str) -> (String, Option<&'a str>) {
        let mut kept = String::new();
        let mut rest = line;
        while let Some((before, inside)) = rest.split_once("<!--") {
            kept.push_str(before);
            if kept.matches('`').count() % 2 == 1 {
                kept.push_str("<!--");
                rest = inside;
            } else if let Some((_, behind)) = inside.split_once("-->") {
                rest = behind;
            } else {
                if !self.no_comments {
                    if let Some((_, behind)) = after.split_once("-->") {
                        return (kept, Some(behind));
                    }
                    self.no_comments = true;
                }
                kept.push_str("<!--");
                rest = inside;
            }
        }
        kept.push_str(rest);
        (kept, None)
    }
}

impl Fence {
    fn opened_by(content: &str, container: Option<usize>) -> Option<Self> {
        let mark = content.chars().next().filter(|c| matches!(c, '`' | '~'))?;
        let length = content.chars().take_while(|c| *c == mark).count();
        let info = content.trim_start_matches(mark);
        // "```x```" in one line is code in a paragraph.
        let inline = mark == '`' && info.contains('`');
        (length >= 3 && !inline).then(|| Self {
            mark,
            length,
            container: container.unwrap_or_default(),
            is_quoted: false,
        })
    }

    fn is_closed_by(&self, line: &str) -> bool {
        let text = line.trim();
        text.len() >= self.length && text.chars().all(|c| c == self.mark)
    }
}

/// Returns the column at which the text of a line begins; a tab reaches to the next multiple of four.
fn indent(line: &str) -> usize {
    line.chars()
        .take_while(|c| matches!(c, ' ' | '\t'))
        .fold(0, |column, c| {
            if c == '\t' {
                column / 4 * 4 + 4
            } else {
                column + 1
            }
        })
}

/// Splits off the first line, without its end.
fn split_line(text: &str) -> (&str, &str) {
    match text.split_once('\n') {
        Some((line, rest)) => (line.strip_suffix('\r').unwrap_or(line), rest),
        None => (text.strip_suffix('\r').unwrap_or(text), ""),
    }
}

/// Counts the line ends between the start of `text` and `rest`, which is its tail.
fn newlines(text: &str, rest: &str) -> u32 {
    let passed = text.len() - rest.len();
    let count =
        memchr::memchr_iter(b'\n', text.as_bytes().get(..passed).unwrap_or_default()).count();
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// Takes block quote marks off.
fn unquoted(mut line: &str) -> &str {
    while let Some(rest) = line.trim_start().strip_prefix('>') {
        line = rest.strip_prefix(' ').unwrap_or(rest);
    }
    line
}

/// Reads `## Text ##`.
fn heading(line: &str) -> Option<(usize, &str)> {
    let text = line.trim_start();
    if line.len() - text.len() > 3 {
        return None;
    }
    let level = text.chars().take_while(|c| *c == '#').count();
    let rest = text.trim_start_matches('#');
    let closed = rest.trim().trim_end_matches('#');
    let text = if closed.ends_with([' ', '\t']) || closed.is_empty() {
        closed.trim()
    } else {
        rest.trim()
    };
    ((1..=6).contains(&level) && (rest.is_empty() || rest.starts_with([' ', '\t'])))
        .then_some((level, text))
}

/// Returns the level of the heading that a line of `=` or `-` makes of the line above it.
fn underline(line: &str) -> Option<usize> {
    let mark = line.chars().next()?;
    let level = match mark {
        '=' => 1,
        '-' => 2,
        _ => return None,
    };
    line.chars().all(|c| c == mark).then_some(level)
}

/// Returns what stands behind a list marker.
fn list_content(line: &str) -> Option<&str> {
    let text = line.trim_start();
    let digits = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let rest = if digits.len() == text.len() {
        text.strip_prefix(['-', '*', '+'])?
    } else {
        digits.strip_prefix(['.', ')'])?
    };
    rest.starts_with([' ', '\t']).then_some(rest)
}

/// Reads `- [x] text`.
fn task(line: &str) -> Option<(ItemState, &str)> {
    let content = list_content(line)?.trim_start();
    // A list in a list in one line: `- - [ ] x`.
    if !content.starts_with('[') {
        return task(content);
    }
    let inside = content.strip_prefix('[')?;
    let mut characters = inside.chars();
    let (mark, rest) = match characters.next()? {
        ']' => (' ', characters.as_str()),
        mark => (mark, characters.as_str().strip_prefix(']')?),
    };
    // `- [x](url)` is a link.
    (rest.is_empty() || rest.starts_with([' ', '\t']))
        .then(|| (ItemState::of_mark(mark), rest.trim()))
}

/// Splits off an id that the text itself begins with: `chk-003: API docs`.
fn own_id(text: &str) -> (Option<String>, &str) {
    let end = text
        .find(|c: char| !c.is_ascii_alphanumeric() && c != '-')
        .unwrap_or(text.len());
    let (id, rest) = text.split_at(end);
    let digits = id.strip_prefix("chk-").or_else(|| id.strip_prefix("CHK-"));
    match digits {
        Some(digits) if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) => {
            let rest = rest.trim_start_matches([':', ' ', '.']);
            (Some(id.to_owned()), rest)
        }
        _ => (None, text),
    }
}
