//! Form: which short values name nobody and nothing, whoever wrote them.

use crate::event::name_words;

/// Last words of the names of fields that hold what a call says, not whom or what it acts on.
const SAID: &[&str] = &[
    "body",
    "comment",
    "content",
    "description",
    "location",
    "message",
    "note",
    "notes",
    "subject",
    "summary",
    "text",
    "title",
];

/// Days as programs write them: `0` stands for any digit.
const DAY: &str = "0000-00-00";

/// Hours, and both in one.
const HOURS: &[&str] = &[
    "00:00",
    "00:00:00",
    "0000-00-00t00:00",
    "0000-00-00t00:00:00",
    "0000-00-00t00:00:00z",
];

/// Whether words are a day, an hour, or both: `2026-03-01 14:30`.
pub(super) fn is_date(words: &[String]) -> bool {
    let is_hour = |word: &str| HOURS.iter().any(|form| has_form(word, form));
    match words {
        [one] => has_form(one, DAY) || is_hour(one),
        [day, hour] => has_form(day, DAY) && hour.len() < DAY.len() && is_hour(hour),
        _ => false,
    }
}

fn has_form(word: &str, form: &str) -> bool {
    let fits = |(byte, form): (u8, u8)| match form {
        b'0' => byte.is_ascii_digit(),
        form => byte == form,
    };
    word.len() == form.len() && word.bytes().zip(form.bytes()).all(fits)
}

/// Whether a field only holds what is said: the name of it, with its signs around it.
pub(super) fn is_said(field: &str) -> bool {
    let words = name_words(field.trim_matches('`'));
    words
        .last()
        .is_some_and(|word| SAID.contains(&word.as_str()))
}

/// Whether a text is several plain words that name nothing: no number, no sign that addresses have, and a capital at the
/// beginning alone. Only letters that have capitals tell.
pub(super) fn is_prose(text: &str) -> bool {
    let is_plain = |word: &str| {
        word.chars()
            .all(|c| c.is_ascii_lowercase() || "'’,;:.!?".contains(c))
    };
    let mut words = text.split_whitespace();
    let first = words.next().unwrap_or_default();
    let rest = first.strip_prefix(|c: char| c.is_ascii_uppercase());
    let mut others = words.peekable();
    is_plain(rest.unwrap_or(first)) && others.peek().is_some() && others.all(is_plain)
}

/// Whether a word of a command line tells what it is about: usual words and options do not.
pub(super) fn tells(word: &str) -> bool {
    word.len() > 3
        && word.contains(|c: char| c.is_ascii_digit() || "@.:/-_".contains(c))
        && !word.starts_with('/')
        && word.contains(char::is_alphabetic)
}
