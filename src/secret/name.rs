//! Names: secrets that are known by the name before them, `password=…`, `--token …`, `Authorization: Basic …`.

use std::ops::Range;

use super::placeholder::looks_random;
use super::table::{row_count, rows};
use super::value::{SecretValue, is_path, is_program, is_word};

const TEXT: &str = include_str!("../../policies/secrets/names.tsv");
/// The rows of the names: how a value behind them is known, and the names.
pub(super) static ROWS: [[&str; 2]; row_count(TEXT)] = rows(TEXT);
/// The column of the names.
pub(super) const NAMES: usize = 1;

/// How long a value is at least.
const SHORTEST: usize = 6;
/// How much longer a name may be than the word in it: `password_for_the_database`.
const LONGER: usize = 24;
/// How far around a name something is looked for, so that no text is read again and again.
const NEAR: usize = 512;

/// A value behind a name.
#[derive(Debug)]
pub(super) struct Named {
    /// All that belongs to the value.
    pub(super) range: Range<usize>,
    /// Whether the value looks random, and is not a name, a path or an example.
    pub(super) is_random: bool,
    /// Whether it stands in quotes or between marks of its own, and is no bare word.
    pub(super) is_bounded: bool,
}

/// Whether the name of a field says that its value is a secret: `password`, `GITHUB_TOKEN`, `apiKey`.
pub(crate) fn is_secret_field(name: &str) -> bool {
    let folded = |byte: u8| match byte {
        b'-' => b'_',
        other => other.to_ascii_lowercase(),
    };
    let ends_with = |label: &str| {
        let mut pairs = name.bytes().rev().zip(label.bytes().rev());
        label.len() <= name.len() && pairs.all(|(a, b)| folded(a) == folded(b))
    };
    // `max_tokens` and `token_count` count something; `pass` and `pwd` alone are of tests and directories.
    names(&["name", "header"]).any(ends_with) || ["_pass", "_pwd"].into_iter().any(ends_with)
}

/// Whether a name is that of a variable that holds a secret.
pub(crate) fn is_secret_variable(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    names(&["name", "random", "variable"]).any(|word| lower.contains(word))
        && !["tokenizer", "max_token", "tokens"]
            .iter()
            .any(|word| lower.contains(word))
}

/// Returns the names of which a value is known in one of these ways.
fn names(ways: &[&str]) -> impl Iterator<Item = &'static str> {
    ROWS.iter()
        .filter(move |[way, _]| ways.contains(way))
        .flat_map(|[_, names]| names.split('|'))
}

/// Finds the value behind a name of this row.
pub(super) fn find(text: &str, row: u16, word: &Range<usize>) -> Option<Named> {
    let [way, _] = ROWS.get(usize::from(row))?;
    match *way {
        "scheme" => SecretValue::at(text, word.end)
            .filter(|value| value.is_long(text))
            .map(|value| named(text, value, false)),
        "query" => SecretValue::at(text, word.end)
            .filter(|value| value.quote.is_none() && value.text(text).len() >= SHORTEST)
            .map(|value| named(text, value, false)),
        "pair" => second(text, word.end).map(|value| named(text, value, false)),
        "phrase" => argument(text, word.end, true).map(|value| named(text, value, false)),
        "variable" => None,
        way => behind_name(text, way, word),
    }
}

/// Returns the second of two values in parentheses, where it is a text: `db.auth("me", "hunter22")`.
fn second(text: &str, from: usize) -> Option<SecretValue> {
    let near = text.get(from..text.floor_char_boundary(from + NEAR))?;
    let comma = near.find([',', ')', '\n'])?;
    let behind = near.get(comma..)?.strip_prefix(',')?;
    let blank = behind.len() - behind.trim_start().len();
    let value = SecretValue::at(text, from + comma + 1 + blank)?;
    (value.quote.is_some() && !value.text(text).is_empty()).then_some(value)
}

fn named(text: &str, value: SecretValue, is_random: bool) -> Named {
    Named {
        is_bounded: value.quote.is_some(),
        range: value.whole(text),
        is_random,
    }
}

/// Finds the value of a name: behind `=` or `:`, as the argument of an option, or in an element of XML.
fn behind_name(text: &str, way: &str, word: &Range<usize>) -> Option<Named> {
    let name_end = word.end + longer(text, word)?;
    let is_exact = name_end == word.end && way != "random";
    let rest = text.get(name_end..)?;
    let is_password = text.get(word.start..)?.starts_with(['p', 'P']);
    let is_random = |value: &SecretValue| looks_random(value.text(text), is_password);
    if let Some(range) = element(text, word.start, name_end) {
        let value = text.get(range.clone())?;
        let is_secret = is_exact && value.len() >= SHORTEST && !is_word(value);
        let is_random = looks_random(value, is_password);
        return (is_secret || is_random).then_some(Named {
            range,
            is_random,
            is_bounded: true,
        });
    }
    let behind_name = rest.trim_start_matches(['\\', '"', '\'', '`']);
    let is_quoted_name = behind_name.len() < rest.len();
    // The backtick ends a command that a message quotes, and what follows are the message's own words.
    let quotes = rest.get(..rest.len() - behind_name.len())?;
    if quotes.contains('`') && !is_behind_backtick(text, word.start) {
        return None;
    }
    let behind_name = behind_name.strip_prefix(']').unwrap_or(behind_name);
    let after = behind_name.trim_start_matches([' ', '\t']);
    let is_apart = after.len() < behind_name.len();
    let from = |rest: &str| text.len() - rest.len();
    let Some(sign) = after.chars().next().filter(|c| matches!(c, '=' | ':')) else {
        if let Some(value) = is_quoted_name.then(|| attribute(after)).flatten() {
            let value = SecretValue::at(text, from(value)).filter(is_random)?;
            return Some(named(text, value, true));
        }
        if !is_apart || is_quoted_name {
            return None;
        }
        if is_exact && is_option(text, word.start) {
            return argument(text, from(after), false).map(|value| named(text, value, false));
        }
        // `password 'hunter22'` of SQL, `aws_secret_access_key k3Jx…` of a prompt.
        let is_quoted = is_exact && is_password && after.starts_with('\'');
        let value = argument(text, from(after), is_quoted)?;
        return (is_quoted || is_random(&value)).then(|| named(text, value, false));
    };
    if way == "word" {
        let before = word.start.checked_sub(1);
        let before = before.and_then(|at| text.as_bytes().get(at));
        let is_within = before.is_some_and(u8::is_ascii_alphanumeric);
        if is_within || is_apart || (sign == ':' && !is_quoted_name) {
            return None;
        }
    }
    let after = after.get(1..)?;
    // `x == token: ` and `::` are code; `:=` and `=>` are too, where no quote follows.
    let (after, is_code) = match (sign, after.chars().next()) {
        (':', Some('=')) | ('=', Some('>')) => (after.get(1..)?, true),
        (_, Some('=' | ':')) => return None,
        _ => (after, false),
    };
    let after = after.trim_start_matches([' ', '\t']);
    if let Some(value) = (sign == ':').then(|| behind_type(after)).flatten() {
        let value = SecretValue::at(text, from(value)).filter(is_random)?;
        return Some(named(text, value, true));
    }
    if let Some(inner) = after.strip_prefix('`') {
        let range = from(inner)..from(inner) + inner.find(['`', '\n'])?;
        let is_random = looks_random(text.get(range.clone())?, is_password);
        return is_random.then_some(Named {
            range,
            is_random,
            is_bounded: true,
        });
    }
    let value = SecretValue::at(text, from(after))?;
    let found = value.text(text);
    let is_random = is_random(&value) && !(is_code && value.quote.is_none());
    let is_none = match value.quote {
        // The quote closes a text before it: `"token=" + token`.
        Some(_) => found.starts_with(|c: char| c.is_whitespace()),
        None => is_code || is_program(text, &value, sign),
    };
    if is_none || is_word(found) || found.len() < SHORTEST {
        return None;
    }
    let is_fit = match way {
        "word" => !is_path(found),
        "header" => value.is_behind_scheme(text) || value.is_long(text),
        _ => true,
    };
    (is_exact && is_fit || is_random).then(|| Named {
        is_bounded: value.quote.is_some() || is_of_connection(text, word.start, &value),
        range: value.whole(text),
        is_random,
    })
}

/// Returns how much longer the name is than the word in it; none where the word is but the beginning of another.
fn longer(text: &str, word: &Range<usize>) -> Option<usize> {
    let behind = text.as_bytes().get(word.end..)?;
    let is_of_name = |b: &&u8| b.is_ascii_alphanumeric() || matches!(**b, b'_' | b'-' | b'.');
    let length = behind.iter().take(LONGER).take_while(is_of_name).count();
    let last = text.as_bytes().get(word.end.checked_sub(1)?)?;
    let is_next_word = match behind.first() {
        Some(b's') => length == 1,
        Some(b) if b.is_ascii_lowercase() => false,
        Some(b) if b.is_ascii_uppercase() => last.is_ascii_lowercase(),
        _ => true,
    };
    (length == 0 || is_next_word).then_some(length)
}

/// Whether the whole name in which this stands is quoted by backticks.
fn is_behind_backtick(text: &str, at: usize) -> bool {
    let before = text.as_bytes().get(..at).unwrap_or_default();
    let mut before = before.iter().rev().take(NEAR);
    before.find(|b| !b.is_ascii_alphanumeric() && !b"_-.\"'\\".contains(b)) == Some(&b'`')
}

/// Finds the content of an element that is named so: `<Password>hunter22</Password>`.
fn element(text: &str, start: usize, end: usize) -> Option<Range<usize>> {
    let content = text.get(end..)?.strip_prefix('>')?;
    let before = text.as_bytes().get(..start)?.iter().rev().take(LONGER);
    let mut before = before.skip_while(|b| b.is_ascii_alphanumeric() || b"_-.:".contains(b));
    let is_opened = before.next() == Some(&b'<');
    let length = content.find('<')?;
    let is_closed = content.get(length..)?.starts_with("</");
    let start = text.len() - content.len();
    (is_opened && is_closed).then_some(start..start + length)
}

/// Returns what follows `value=` of the attribute behind a name: `<add key="ApiKey" value="…"/>`.
fn attribute(after: &str) -> Option<&str> {
    let value = ["value=", "content="];
    value.iter().find_map(|name| after.strip_prefix(name))
}

/// Returns what follows the type between a name and its value: `password: String = "…"`.
fn behind_type(after: &str) -> Option<&str> {
    let is_of_type = |c: char| c.is_ascii_alphanumeric() || "_<>&' |?:".contains(c);
    let first = after.chars().next()?;
    if !first.is_ascii_alphabetic() && first != '&' {
        return None;
    }
    let end = after.find(|c: char| !is_of_type(c)).filter(|n| *n < 40)?;
    let value = after.get(end..)?.strip_prefix('=')?;
    let is_comparison = value.starts_with('=');
    (!is_comparison).then(|| value.trim_start_matches([' ', '\t']))
}

/// Whether a bare value is one of `Server=db;Password=hunter22;`, where quotes or `;` bound it.
fn is_of_connection(text: &str, start: usize, value: &SecretValue) -> bool {
    let before = text.get(..start).unwrap_or_default();
    let before = before.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == ' ');
    let behind = text.get(value.range.end..).unwrap_or_default();
    before.ends_with([';', '"', '\'']) && behind.starts_with([';', '"', '\''])
}

/// Finds the argument of an option such as `--password`, or what follows a word in quotes.
fn argument(text: &str, from: usize, is_quoted: bool) -> Option<SecretValue> {
    let after = text.get(from..)?;
    // Another option or the end of the command.
    let is_elsewhere = ["id=", "env:", "file:", "fd:"]
        .iter()
        .any(|way| after.starts_with(way));
    if is_elsewhere || after.starts_with(['-', '|', '>', '&', ';', '#', '`']) {
        return None;
    }
    let value = SecretValue::at(text, from)?;
    let found = value.text(text);
    let is_secret = found.len() >= SHORTEST && !is_word(found) && !is_path(found);
    let is_one_word = !is_quoted || value.quote.is_some() && !found.contains(char::is_whitespace);
    (is_secret && is_one_word).then_some(value)
}

/// Whether the word that this stands in is an option.
fn is_option(text: &str, at: usize) -> bool {
    let before = text.as_bytes().get(..at).unwrap_or_default();
    let mut word = before.iter().rev().take(NEAR);
    let length = word
        .position(|b| !b.is_ascii_alphanumeric() && !matches!(b, b'-' | b'_'))
        .unwrap_or_else(|| before.len().min(NEAR));
    before.get(before.len() - length) == Some(&b'-')
}
