//! Secrets: what keys, tokens and passwords look like, wherever they turn up.
//!
//! All that is known of them stands in `policies/secrets/`, once: formats of vendors, names of what holds a secret, programs
//! that are given one on their command line, and what only stands in the place of one. SecurityScanner finds by it what must not
//! be committed, and whatever is written (log, journal, report, export, messages) is cut by it: what is found is never kept.

mod command;
mod file;
mod format;
pub(crate) mod marks;
mod name;
mod placeholder;
mod table;
mod value;
mod words;

pub use self::file::is_secret_file;
pub(crate) use self::file::is_secret_folder;
pub(crate) use self::format::{Format, ends_key, opens_key};
pub(crate) use self::name::{is_secret_field, is_secret_variable};
pub(crate) use self::words::{Hit, Words};

use std::borrow::Cow;
use std::ops::Range;

use self::table::{entry_count, split};
use crate::signal::Payload;

/// How many words tell of secrets.
const WORD_COUNT: usize = entry_count(&format::ROWS, format::KEYWORDS)
    + entry_count(&name::ROWS, name::NAMES)
    + entry_count(&command::ROWS, command::PROGRAMS);

/// The first number of an owner that is a row of names, and of commands; before them are the formats.
const NAMES: u16 = 1 << 12;
const COMMANDS: u16 = 1 << 13;

static WORDS: Words<WORD_COUNT> = Words::new(&{
    let words = [("", 0); WORD_COUNT];
    let (words, count) = add(words, 0, &format::ROWS, format::KEYWORDS, 0);
    let (words, count) = add(words, count, &name::ROWS, name::NAMES, NAMES);
    add(words, count, &command::ROWS, command::PROGRAMS, COMMANDS).0
});

/// Adds the entries of a column, each owned by its row.
#[expect(
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "it is run by the compiler, which would tell; a table has a few hundred rows"
)]
const fn add<const ROWS: usize, const COLUMNS: usize>(
    mut words: [(&'static str, u16); WORD_COUNT],
    mut count: usize,
    rows: &[[&'static str; COLUMNS]; ROWS],
    column: usize,
    first: u16,
) -> ([(&'static str, u16); WORD_COUNT], usize) {
    let mut row = 0;
    while row < ROWS {
        let mut cell = rows[row][column];
        while !cell.is_empty() {
            let (word, rest) = split(cell, b'|');
            words[count] = (word, first + row as u16);
            count += 1;
            cell = rest;
        }
        row += 1;
    }
    (words, count)
}

/// A secret in a text.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    /// What is cut out of what is written.
    pub(crate) range: Range<usize>,
    /// The secret itself, where it is one for certain and no example, and what it is.
    pub(crate) certain: Option<Certain>,
    kind: &'static str,
}

/// A secret that is one for certain.
#[derive(Clone, Debug)]
pub(crate) struct Certain {
    /// Where it stands.
    pub(crate) range: Range<usize>,
    /// Its format; none for a random-looking value of a password, token or secret.
    pub(crate) format: Option<&'static Format>,
    /// Whether it stands in quotes or between marks of its own, and is no bare word.
    pub(crate) is_bounded: bool,
}

/// Whether a text holds a secret for certain, and not only something like one.
pub(crate) fn holds_secret(text: &str) -> bool {
    let found = find(text);
    let mut certain = found.iter().filter_map(|found| found.certain.as_ref());
    certain.any(|certain| certain.format.is_some() || certain.is_bounded)
}

/// Finds all secrets of a text, in the order of the words that tell of them; they may overlap.
pub(crate) fn find(text: &str) -> Vec<Found> {
    let mut found = Vec::new();
    let mut end_of_value = 0;
    for hit in WORDS.find_iter(text.as_bytes()) {
        let word = hit.start..hit.end;
        if hit.owner >= COMMANDS {
            let secrets = command::find(text, hit.owner - COMMANDS, &word);
            found.extend(secrets.into_iter().map(|range| Found {
                range,
                certain: None,
                kind: "secret",
            }));
        } else if hit.owner >= NAMES {
            // Each name is read once, and nothing within a value is one.
            if hit.start < end_of_value {
                continue;
            }
            if let Some(named) = name::find(text, hit.owner - NAMES, &word) {
                end_of_value = named.range.end;
                let certain = named.is_random.then(|| Certain {
                    range: named.range.clone(),
                    format: None,
                    is_bounded: named.is_bounded,
                });
                found.push(Found {
                    range: named.range,
                    certain,
                    kind: "secret",
                });
            }
        } else {
            find_format(text, hit.owner, &word, &mut found);
        }
    }
    found
}

fn find_format(text: &str, row: u16, word: &Range<usize>, found: &mut Vec<Found>) {
    if !Format::may_stand(row, text.as_bytes(), word) {
        return;
    }
    let Some(format) = Format::of(row) else {
        return;
    };
    let is_url = text.get(word.clone()) == Some("://");
    if let Some(range) = is_url
        .then(|| format::password(text.as_bytes(), word.end))
        .flatten()
    {
        found.push(Found {
            range,
            certain: None,
            kind: "url-password",
        });
    }
    for (range, secret) in format.find(text, word) {
        let is_secret = |secret: &Range<usize>| {
            let secret = text.get(secret.clone()).unwrap_or_default();
            format.severity.is_some() && format.is_secret(secret)
        };
        found.push(Found {
            range,
            certain: secret.filter(is_secret).map(|range| Certain {
                range,
                format: Some(format),
                is_bounded: true,
            }),
            kind: if is_url { "url-password" } else { &format.id },
        });
    }
}

/// Whether a text, be it escaped as in JSON, holds anything by which a secret in it or the name of one is known.
pub(crate) fn may_hold(text: &[u8]) -> bool {
    WORDS.find_iter(text).any(|hit| {
        let word = hit.start..hit.end;
        if hit.owner >= COMMANDS {
            let rest = text.get(hit.end..).unwrap_or_default();
            command::may_follow(hit.owner - COMMANDS, rest)
        } else {
            hit.owner >= NAMES || Format::may_stand(hit.owner, text, &word)
        }
    })
}

/// Returns a text with a mark in the place of each secret: `mysql -p[redacted: secret]`.
///
/// What is cut is whatever may be a secret, examples of secrets among it: this is for texts that are kept or sent on.
pub fn redact(text: &str) -> Cow<'_, str> {
    cut(text, std::iter::empty()).map_or(Cow::Borrowed(text), Cow::Owned)
}

/// Cuts secrets out of what a signal says; what a control sets stays as it is, for that is what runs.
pub(crate) fn redact_payload(payload: &mut Payload) {
    for text in payload.texts_mut() {
        if let Some(clean) = cut(text, std::iter::empty()) {
            *text = clean;
        }
    }
}

/// Returns a text without its secrets and without what `more` names, each a range and its kind; none where it has none.
pub(crate) fn cut(
    text: &str,
    more: impl Iterator<Item = (Range<usize>, &'static str)>,
) -> Option<String> {
    let found = find(text)
        .into_iter()
        .map(|found| (found.range, found.kind));
    let mut found: Vec<_> = found
        .chain(more)
        .filter(|(range, _)| !range.is_empty())
        .collect();
    if found.is_empty() {
        return None;
    }
    found.sort_by_key(|(range, kind)| (range.start, usize::MAX - range.end, *kind == "secret"));
    let mut clean = String::with_capacity(text.len());
    let mut at = 0;
    for (range, kind) in found {
        // Where two overlap, the rest of the later one goes too.
        if range.end <= at {
            continue;
        }
        if range.start >= at {
            clean.push_str(text.get(at..range.start).unwrap_or_default());
            clean.push_str(&marks::redacted(kind));
        }
        at = range.end;
    }
    clean.push_str(text.get(at..).unwrap_or_default());
    Some(clean)
}
