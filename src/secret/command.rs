//! Command lines: programs that are given a secret as a word, `mysql -phunter2`, `vault kv put secret/x key=hunter2`.

use std::ops::Range;

use super::name::is_secret_variable;
use super::table::{row_count, rows};
use super::value::is_expansion;
use crate::glob::glob;

const TEXT: &str = include_str!("../../policies/secrets/commands.tsv");
/// The rows: programs, words that must be there too, what is given a secret, an example, and what only looks like one.
pub(super) static ROWS: [[&str; 5]; row_count(TEXT)] = rows(TEXT);
/// The column of the programs.
pub(super) const PROGRAMS: usize = 0;

/// How many words of a command are looked at.
const MOST_WORDS: usize = 64;
/// How far something is looked for, so that no text is read again and again.
const NEAR: usize = 2 << 10;

/// A word of a command, without the quotes around it.
#[derive(Clone, Debug)]
struct Word<'t> {
    text: &'t str,
    start: usize,
    quote: Option<char>,
}

impl<'t> Word<'t> {
    /// Reads what stands here as a word: bare, or in quotes.
    fn new(text: &'t str, start: usize) -> Self {
        let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''));
        let inner = quote.and_then(|q| text.strip_prefix(q)?.strip_suffix(q));
        Self {
            text: inner.unwrap_or(text),
            start: start + usize::from(inner.is_some()),
            quote: quote.filter(|_| inner.is_some()),
        }
    }

    /// Returns what is left of the word behind so many bytes.
    fn behind(&self, length: usize) -> Self {
        let rest = self.text.get(length..).unwrap_or_default();
        match self.quote {
            Some(_) => Self {
                text: rest,
                start: self.start + length,
                quote: self.quote,
            },
            None => Self::new(rest, self.start + length),
        }
    }

    /// Returns where the secret stands in the word: all of it, or behind what it begins after.
    fn secret(&self, after: Option<&str>) -> Option<Range<usize>> {
        let secret = match after {
            // Of `http://me:hunter22@host` it is what stands before the host.
            Some(marks) if marks.ends_with('@') => {
                let end = self.text.rfind('@')?;
                let from = self.text.find("://").map_or(0, |scheme| scheme + 3);
                let named = self.text.get(from..end)?;
                let at = from + named.find(marks.trim_end_matches('@'))? + 1;
                Self {
                    text: self.text.get(at..end)?,
                    ..self.behind(at)
                }
            }
            Some(mark) => {
                let at = self.text.find(mark)?;
                // The name before a mark is not empty: `/nolog` names nobody.
                let is_named = at > 0 || mark.len() > 1;
                is_named.then(|| self.behind(at + mark.len()))?
            }
            None => self.clone(),
        };
        let is_reference = secret.text.is_empty()
            || secret.text.starts_with(['<', '`', '-'])
            || secret.text.starts_with("{{")
            || secret.text.starts_with("[redacted: ")
            || (secret.quote != Some('\'') && is_expansion(secret.text));
        (!is_reference).then_some(secret.start..secret.start + secret.text.len())
    }
}

/// Whether a command of this row may be given a secret in what follows, be the text escaped as in JSON or not.
pub(super) fn may_follow(row: u16, rest: &[u8]) -> bool {
    let Some([_, words, takes, ..]) = ROWS.get(usize::from(row)) else {
        return false;
    };
    let has = |word: &str| memchr::memmem::find(rest, word.as_bytes()).is_some();
    let mut words = words
        .split('|')
        .map(|word| word.split('*').next().unwrap_or_default());
    let mut names = takes.split('|').map(|take| {
        let name = take.split('~').next().unwrap_or_default();
        name.trim_start_matches('^')
            .trim_end_matches(['*', '?', '+'])
    });
    words.all(|word| word == "-" || word.starts_with('<') || has(word))
        && names.any(|name| name.starts_with(['#', '$']) || has(name))
}

/// Finds what the command whose program stands here is given as secrets.
pub(super) fn find(text: &str, row: u16, program: &Range<usize>) -> Vec<Range<usize>> {
    let Some([_, words, takes, ..]) = ROWS.get(usize::from(row)) else {
        return Vec::new();
    };
    let before = text.get(..program.start).unwrap_or_default();
    let is_begun = !before.ends_with(|c: char| c.is_alphanumeric() || "-_.=:".contains(c));
    let is_ended = text
        .get(program.end - 1..)
        .is_some_and(|rest| rest.chars().take(2).any(|c| matches!(c, ' ' | '\t')));
    let near = text
        .as_bytes()
        .get(program.end..text.len().min(program.end + NEAR));
    if !is_begun || !is_ended || !may_follow(row, near.unwrap_or_default()) {
        return Vec::new();
    }
    let outer = open_quote(before);
    let (command, end) = read(text, program.end, outer);
    let is_there = |command: &[Word<'_>], asked: &str| {
        let is_cluster = |word: &str| !word.starts_with("--") && glob(asked, word);
        let is_meant =
            |word: &Word<'_>| word.text == asked || (asked.contains('*') && is_cluster(word.text));
        command.iter().any(is_meant)
    };
    let asked = words.split('|').filter(|word| !matches!(*word, "-" | ""));
    let holds = if let Some(word) = words.strip_prefix('<') {
        let near = before.len().saturating_sub(NEAR);
        memchr::memmem::find(
            before.as_bytes().get(near..).unwrap_or_default(),
            word.as_bytes(),
        )
        .is_some()
    } else if words.starts_with('|') {
        let behind = text.get(end..).unwrap_or_default();
        let next = behind.strip_prefix('|').filter(|b| !b.starts_with('|'));
        let (next, _) = next.map_or((Vec::new(), 0), |_| read(text, end + 1, outer));
        asked.clone().all(|word| is_there(&next, word))
    } else {
        asked.clone().all(|word| is_there(&command, word))
    };
    if !holds {
        return Vec::new();
    }
    let asked: Vec<&str> = asked.collect();
    takes
        .split('|')
        .flat_map(|take| given(&command, &asked, take))
        .collect()
}

/// Finds what one option or operand is given.
fn given(command: &[Word<'_>], asked: &[&str], take: &str) -> Vec<Range<usize>> {
    let (name, after) = match take.split_once('~') {
        Some((name, after)) => (name, Some(after)),
        None => (take, None),
    };
    if let Some(which) = name.strip_prefix('#') {
        let (which, signs) = match which.strip_prefix('/') {
            Some(which) => (which, &['-', '/'][..]),
            None => (which, &['-'][..]),
        };
        let is_operand =
            |word: &&Word<'_>| !word.text.starts_with(signs) && !asked.contains(&word.text);
        // What stands behind a redirection is given to the shell.
        let is_own = |word: &&Word<'_>| {
            let is_redirect = |sign| {
                word.text
                    .trim_start_matches(['1', '2', '&'])
                    .starts_with(sign)
            };
            word.quote.is_some() || !(is_redirect('>') || is_redirect('<'))
        };
        let own = command.iter().take_while(is_own);
        let mut operands = own.filter(is_operand);
        let secret = |word: &Word<'_>| word.secret(after);
        return match which {
            "*" => operands.filter_map(secret).collect(),
            "last" => operands.last().and_then(secret).into_iter().collect(),
            nth => {
                let nth = nth.parse::<usize>().unwrap_or(1).saturating_sub(1);
                operands.nth(nth).and_then(secret).into_iter().collect()
            }
        };
    }
    let start = name.strip_suffix('+');
    if start.is_some() || name == "$" {
        let is_meant = |before: &Word<'_>| match start {
            Some(start) => before.text.starts_with(start),
            // Of `PASSWORD=%s` it is what stands before the sign.
            None => before
                .text
                .split('=')
                .next()
                .is_some_and(is_secret_variable),
        };
        let pairs = command.windows(2).filter_map(|pair| match pair {
            [before, word] if is_meant(before) => Some(word),
            _ => None,
        });
        let is_other = |word: &Word<'_>| word.text == "*" || word.text.starts_with('/');
        return pairs
            .filter(|word| !is_other(word))
            .filter_map(|word| word.secret(after))
            .collect();
    }
    let is_first = name.starts_with('^');
    let name = name.trim_start_matches('^');
    let (name, is_attached, is_next) = match (name.strip_suffix('*'), name.strip_suffix('?')) {
        (Some(name), _) => (name, true, false),
        (_, Some(name)) => (name, true, true),
        _ => (name, false, true),
    };
    let mut found = Vec::new();
    let mut words = command.iter().peekable();
    while let Some(word) = words.next() {
        if is_next && word.text == name {
            found.extend(words.next().and_then(|value| value.secret(after)));
        } else if let Some(value) = word.text.strip_prefix(name) {
            let skip = if value.starts_with('=') && name.starts_with("--") {
                name.len() + 1
            } else if is_attached && !value.is_empty() {
                name.len()
            } else {
                continue;
            };
            found.extend(word.behind(skip).secret(after));
        } else if is_first && !word.text.starts_with('-') {
            break;
        }
    }
    found
}

/// Reads the words of a command up to its end, which is told too.
fn read(text: &str, from: usize, outer: Option<u8>) -> (Vec<Word<'_>>, usize) {
    let bytes = text.as_bytes();
    let byte = |at: usize| bytes.get(at).copied();
    let mut words = Vec::new();
    let mut at = from;
    while words.len() < MOST_WORDS {
        while let Some(blank) = byte(at) {
            match blank {
                b' ' | b'\t' => at += 1,
                b'\\' if byte(at + 1) == Some(b'\n') => at += 2,
                _ => break,
            }
        }
        let start = at;
        while let Some(next) = byte(at) {
            match next {
                b'"' | b'\'' | b'`' if Some(next) == outer => break,
                b'"' | b'\'' => match closing(bytes, at) {
                    Some(close) => at = close + 1,
                    None => break,
                },
                b'\\' if matches!(byte(at + 1), Some(b'"' | b'\'' | b'\n') | None) => break,
                b'\\' => at += 2,
                b'|' | b';' | b'&' | b')' | b'\n' => break,
                next if next.is_ascii_whitespace() => break,
                _ => at += 1,
            }
        }
        at = text.ceil_char_boundary(at);
        let Some(word) = text.get(start..at).filter(|word| !word.is_empty()) else {
            break;
        };
        words.push(Word::new(word, start));
    }
    (words, at)
}

/// Returns where the quote that opens here is closed in its line.
fn closing(bytes: &[u8], open: usize) -> Option<usize> {
    let quote = bytes.get(open)?;
    let mut at = open + 1;
    while at < open + NEAR {
        match bytes.get(at)? {
            b'\n' => return None,
            b'\\' if *quote == b'"' => at += 2,
            byte if byte == quote => return Some(at),
            _ => at += 1,
        }
    }
    None
}

/// Returns the quote that was opened last and is open at the end of a text; messages quote commands by backticks.
fn open_quote(before: &str) -> Option<u8> {
    let near = before.as_bytes().get(before.len().saturating_sub(NEAR)..)?;
    let line = near.rsplit(|b| *b == b'\n').next()?;
    let mut open = None;
    let mut at = 0;
    while let Some(byte) = line.get(at) {
        match byte {
            b'\\' => at += 2,
            b'"' | b'\'' | b'`' => {
                let close = closing(line, at);
                if close.is_none() {
                    open = Some(*byte);
                }
                at = close.unwrap_or(at) + 1;
            }
            _ => at += 1,
        }
    }
    open
}
