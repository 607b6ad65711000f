//! Formats: what keys and tokens look like, by their vendors' own documents.

use std::ops::Range;
use std::sync::OnceLock;

use super::placeholder;
use super::table::{row_count, rows};
use crate::pattern::Pattern;
use crate::signal::Severity;

const TEXT: &str = include_str!("../../policies/secrets/formats.tsv");
/// The rows of the formats: id, severity, entropy, place, least length, keywords, description, examples, pattern.
pub(super) static ROWS: [[&str; 10]; row_count(TEXT)] = rows(TEXT);
/// The column of the keywords.
pub(super) const KEYWORDS: usize = 5;
/// Made when the keyword of a format first turns up: making all of them takes longer than most scans.
static FORMATS: [OnceLock<Format>; ROWS.len()] = [const { OnceLock::new() }; ROWS.len()];

/// How many bytes of an address are looked at behind its scheme.
const LONGEST_ADDRESS: usize = 4096;

/// How many bytes around a keyword a match may take.
const REACH: usize = 640;

/// Where in a match its keyword stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// At its start: the pattern is tried there and nowhere else.
    Start,
    /// Within the secret.
    Inside,
    /// Anywhere in the same line.
    Line,
    /// In the first line of a block, all of which is secret.
    Block,
    /// Between the scheme of a URL and what may hold a password.
    Url,
}

/// What one kind of secret looks like.
#[derive(Clone, Debug)]
pub(crate) struct Format {
    /// Its id.
    pub(crate) id: String,
    /// What it is: `a GitHub personal access token`.
    pub(crate) description: String,
    /// How grave it is where one is found; none where it is only cut out of what is written.
    pub(crate) severity: Option<Severity>,
    /// The least entropy of the secret, in bits a character.
    pub(crate) entropy: f32,
    /// The words of which one must be there.
    pub(crate) keywords: Vec<String>,
    /// The group of the pattern that is the secret; 0 is the whole match.
    pub(crate) group: usize,
    /// The pattern.
    pub(crate) pattern: String,
    /// Where its keyword stands.
    place: Place,
    compiled: OnceLock<Option<Pattern>>,
}

impl Format {
    /// Makes a format of a pattern that compiles.
    pub(crate) fn new(id: String, pattern: String) -> Self {
        Self {
            id,
            description: String::new(),
            severity: Some(Severity::High),
            entropy: 0.0,
            keywords: Vec::new(),
            group: 0,
            pattern,
            place: Place::Line,
            compiled: OnceLock::new(),
        }
    }

    /// Returns the format of a row.
    pub(super) fn of(row: u16) -> Option<&'static Self> {
        let row = usize::from(row);
        let [id, severity, entropy, place, _, keywords, what, .., pattern] = ROWS.get(row)?;
        let format = FORMATS.get(row)?;
        Some(format.get_or_init(|| Self {
            description: (*what).to_owned(),
            severity: match *severity {
                "high" => Some(Severity::High),
                "medium" => Some(Severity::Medium),
                "low" => Some(Severity::Low),
                _ => None,
            },
            entropy: entropy.parse().unwrap_or_default(),
            keywords: keywords.split('|').map(str::to_owned).collect(),
            group: 1,
            place: place_of(place),
            ..Self::new((*id).to_owned(), (*pattern).to_owned())
        }))
    }

    /// Whether enough characters stand around a keyword, be the text escaped as in JSON or not.
    pub(super) fn may_stand(row: u16, text: &[u8], word: &Range<usize>) -> bool {
        let Some([_, _, _, place, least, ..]) = ROWS.get(usize::from(row)) else {
            return false;
        };
        let behind = text.get(word.end..).unwrap_or_default();
        let least: usize = least.parse().unwrap_or_default();
        match place_of(place) {
            // No more is counted than is asked: a long word without a blank may be made of keywords.
            Place::Start => run(behind.iter().take(least)) >= least,
            Place::Inside => {
                let before = text.get(..word.start).unwrap_or_default();
                let before = run(before.iter().rev().take(least));
                before + run(behind.iter().take(least)) >= least
            }
            Place::Url => password(text, word.end).is_some(),
            Place::Line | Place::Block => true,
        }
    }

    /// Finds the secrets around a keyword: what is cut out of what is written, and what is looked at more closely.
    pub(super) fn find(
        &self,
        text: &str,
        word: &Range<usize>,
    ) -> Vec<(Range<usize>, Option<Range<usize>>)> {
        let is_any_case = self.pattern.starts_with("(?i)");
        let found = text.get(word.clone()).unwrap_or_default();
        if !is_any_case && !self.keywords.iter().any(|k| k == found) {
            return Vec::new();
        }
        let line = line_at(text, word);
        let window = match self.place {
            Place::Start => {
                let before = text.as_bytes().get(word.start.wrapping_sub(1));
                let is_bounded = self.pattern.starts_with(r"\b");
                if is_bounded && before.is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_') {
                    return Vec::new();
                }
                word.start..floor(text, word.end + REACH)
            }
            Place::Block => line.start..floor(text, word.end + REACH),
            Place::Inside | Place::Line | Place::Url => line.clone(),
        };
        let part = text.get(window.clone()).unwrap_or_default();
        let ranges = self.groups(part, text.len() > part.len().max(4 << 10));
        let mut ranges = ranges.map(|range| window.start + range.start..window.start + range.end);
        if self.place == Place::Block {
            let block = block(text, &line, word);
            return block.map(|b| (b, ranges.next())).into_iter().collect();
        }
        ranges
            .map(|range| {
                let mut cut = range.clone();
                if cut.end == window.end {
                    cut.end += run(text.as_bytes().get(cut.end..).unwrap_or_default().iter());
                }
                (cut, Some(range))
            })
            .collect()
    }

    /// Returns where the secrets of a text are; of one that is a part of a long one, so that much is to come.
    pub(crate) fn groups(
        &self,
        text: &str,
        is_of_long: bool,
    ) -> impl Iterator<Item = Range<usize>> {
        let compiled = self.compiled.get_or_init(|| {
            let pattern = match self.place {
                Place::Start => &format!(r"\A(?:{})", self.pattern),
                _ => &self.pattern,
            };
            Pattern::new(pattern).ok()
        });
        let ranges = compiled
            .as_ref()
            .map(|pattern| pattern.groups(text, self.group, is_of_long));
        ranges.into_iter().flatten()
    }

    /// Whether what matched is not only an example of a secret.
    pub(crate) fn is_secret(&self, found: &str) -> bool {
        (self.entropy == 0.0 || placeholder::entropy(found) >= self.entropy)
            && !placeholder::is_one(found)
            && !placeholder::is_default_password(found)
    }
}

fn place_of(name: &str) -> Place {
    match name {
        "start" => Place::Start,
        "inside" => Place::Inside,
        "block" => Place::Block,
        "url" => Place::Url,
        _ => Place::Line,
    }
}

/// Returns how many characters of keys and tokens come first.
fn run<'a>(bytes: impl Iterator<Item = &'a u8>) -> usize {
    bytes
        .take_while(|b| b.is_ascii_alphanumeric() || b"_-.+/=~%$:".contains(b))
        .take(4096)
        .count()
}

/// Finds the password of `user:password@host`, which begins here.
pub(super) fn password(text: &[u8], start: usize) -> Option<Range<usize>> {
    let rest = text.get(start..)?;
    let rest = rest.get(..LONGEST_ADDRESS).unwrap_or(rest);
    let is_end = |b: &u8| b.is_ascii_whitespace() || matches!(b, b'/' | b'"' | b'\'' | b'?' | b'#');
    let length = rest.iter().position(is_end).unwrap_or(rest.len());
    let authority = rest.get(..length)?;
    let at = memchr::memrchr(b'@', authority)?;
    let colon = memchr::memchr(b':', authority.get(..at)?)?;
    let is_reference = matches!(authority.get(colon + 1), Some(b'$' | b'{' | b'<' | b'@'));
    (!is_reference).then_some(start + colon + 1..start + at)
}

/// Finds the block of a key in which first line this keyword stands: up to its last line, or to the end.
fn block(text: &str, line: &Range<usize>, word: &Range<usize>) -> Option<Range<usize>> {
    let (start, last) = match text.get(line.start..word.start)?.rfind("-----BEGIN ") {
        Some(at) => (line.start + at, "-----END "),
        None if text.get(word.clone())?.starts_with("Pu") => (word.start, "Private-MAC: "),
        None => return None,
    };
    let end = text.get(word.end..).and_then(|rest| {
        let at = rest.find(last)? + last.len();
        let tail = rest.get(at..)?;
        let length = match tail.find("-----") {
            Some(dashes) if last.starts_with('-') => dashes + 5,
            _ => tail.find(char::is_whitespace).unwrap_or(tail.len()),
        };
        Some(word.end + at + length)
    });
    Some(start..end.unwrap_or(text.len()))
}

/// Whether a text begins a private key that it does not end.
pub(crate) fn opens_key(text: &str) -> bool {
    let Some((_, rest)) = text.rsplit_once("-----BEGIN ") else {
        return false;
    };
    let (first_line, _) = rest.split_once('\n').unwrap_or((rest, ""));
    first_line.contains("PRIVATE KEY") && !ends_key(rest)
}

/// Whether a private key ends in a text.
pub(crate) fn ends_key(text: &str) -> bool {
    text.contains("-----END ")
}

/// Returns the line that a word lies in, without its end, and no further than a match may reach.
fn line_at(text: &str, word: &Range<usize>) -> Range<usize> {
    let first = floor(text, word.start.saturating_sub(REACH));
    let last = floor(text, word.end + REACH);
    let before = text.as_bytes().get(first..word.start).unwrap_or_default();
    let behind = text.as_bytes().get(word.end..last).unwrap_or_default();
    let start = memchr::memrchr(b'\n', before).map_or(first, |n| first + n + 1);
    let end = memchr::memchr(b'\n', behind).map_or(last, |n| word.end + n);
    start..end
}

/// Returns the nearest offset at or below `at` between two characters.
fn floor(text: &str, at: usize) -> usize {
    text.floor_char_boundary(at)
}
