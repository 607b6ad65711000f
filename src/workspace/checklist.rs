//! The checklist of an issue: front matter list or Markdown task items.

use std::collections::BTreeSet;
use std::sync::Arc;

/// How far an item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ItemState {
    /// `[ ]`: not begun; any mark that is not known counts so too.
    Open,
    /// `[/]`: begun.
    Doing,
    /// `[x]`: done.
    Done,
    /// `[~]` or `[-]`: given up; it does not count.
    Cancelled,
}

impl ItemState {
    /// Returns the state that the mark between the brackets stands for.
    pub(super) const fn of_mark(mark: char) -> Self {
        match mark {
            'x' | 'X' => Self::Done,
            '/' => Self::Doing,
            '~' | '-' => Self::Cancelled,
            _ => Self::Open,
        }
    }
}

/// One item of a checklist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChecklistItem {
    /// The id from the front matter, or that the text begins with; else made of the item's place (`chk-003`).
    /// No other item of the issue has it.
    pub id: String,
    /// Whether somebody wrote the id, so that it stays when the item is worded otherwise or moved.
    pub is_id_written: bool,
    /// What is to be done.
    pub text: String,
    /// How far it is.
    pub state: ItemState,
    /// The headings above it, outermost first; empty for an item of the front matter.
    pub headings: Arc<[String]>,
    /// The line in the file, from 1.
    pub line: u32,
    /// How it can be verified: `test_pass: …`, `file_exists: …`, `lint_clean: …`, `custom: …`.
    pub verification: Option<String>,
    /// The ids of the items that must be done before.
    pub depends_on: Vec<String>,
}

impl ChecklistItem {
    /// Whether it counts and is not done.
    pub const fn is_open(&self) -> bool {
        matches!(self.state, ItemState::Open | ItemState::Doing)
    }

    /// Returns the kind of its verification and what follows it: `custom` and the command.
    pub fn verification(&self) -> Option<(&str, &str)> {
        let text = self.verification.as_deref()?.trim();
        let (kind, rest) = text.split_once(':').unwrap_or((text, ""));
        (!text.is_empty()).then_some((kind.trim(), unquoted(rest.trim())))
    }

    /// Returns the nearest heading above it.
    pub fn section(&self) -> Option<&str> {
        self.headings.last().map(String::as_str)
    }
}

/// Returns a text without the quotes around the whole of it. A quote of a command that only ends or begins with one is its own.
fn unquoted(text: &str) -> &str {
    let inside = |quote: char| text.strip_prefix(quote)?.strip_suffix(quote);
    let whole = |quote: char| inside(quote).filter(|inside| !inside.contains(quote));
    whole('"').or_else(|| whole('\'')).unwrap_or(text)
}

/// Gives an id to each item that has none, of its place from 1 (`chk-003`), and sees to it that no two have one: whoever
/// writes an id has it, where two write the same the first, and the others get a number behind all places.
pub(super) fn give_ids(items: &mut [ChecklistItem]) {
    let mut taken = BTreeSet::new();
    for item in &mut *items {
        if !item.id.is_empty() && !taken.insert(item.id.to_lowercase()) {
            item.id.clear();
        }
        item.is_id_written = !item.id.is_empty();
    }
    let mut last = items.len();
    for (n, item) in items.iter_mut().enumerate() {
        if item.id.is_empty() {
            item.id = id_of_place(n + 1);
            while !taken.insert(item.id.clone()) {
                last += 1;
                item.id = id_of_place(last);
            }
        }
    }
}

fn id_of_place(place: usize) -> String {
    format!("chk-{place:03}")
}
