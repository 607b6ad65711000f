//! Mention: where a word or a text names what is guarded, in whatever form it stands there.

use std::path::PathBuf;

use super::judged::Judged;
use super::{binary, own};
use crate::program::{self, Fact};

/// How many parts of a text are looked at; what is longer is not judged by its parts but by its words.
const MAX_PARTS: usize = 4096;

impl Judged<'_> {
    /// Returns what is guarded and named by a word without blanks: as a whole, behind an option, in a list.
    pub(super) fn in_word(&self, text: &str, is_option: bool) -> Option<PathBuf> {
        part_of_word(text, is_option, |part| self.covers(part))
    }

    /// Returns what is guarded and named by a part of a text: a command, a script, a setting.
    pub(super) fn in_text(&self, text: &str) -> Option<PathBuf> {
        part_of(text, |part| self.covers(part))
    }

    /// Returns the same, but for parts that are patterns.
    pub(super) fn in_text_by_name(&self, text: &str) -> Option<PathBuf> {
        let is_pattern = |part: &str| part.contains(['*', '?', '[']);
        part_of(text, |part| {
            (!is_pattern(part)).then(|| self.covers(part))?
        })
    }
}

/// Returns what is found first of a word, or of a part of it that may name a file.
pub(super) fn part_of_word<T>(
    text: &str,
    is_option: bool,
    named: impl Fn(&str) -> Option<T>,
) -> Option<T> {
    if !is_option && let Some(hit) = named(text) {
        return Some(hit);
    }
    let mut parts = text.split(['=', ':', ',', '@']);
    if let Some(hit) = parts.find_map(|part| (part != text).then(|| named(part)).flatten()) {
        return Some(hit);
    }
    // `-oFILE`, and the same behind other letters.
    if !is_option || text.starts_with("--") {
        return None;
    }
    let begins = text.find(['/', '~', '.']).into_iter().chain([2, 3]);
    begins
        .filter_map(|at| text.get(at..).filter(|rest| !rest.is_empty()))
        .find_map(named)
}

/// Returns what is found first of a part of a text that may name a file.
pub(super) fn part_of<T>(text: &str, found: impl Fn(&str) -> Option<T>) -> Option<T> {
    let joined;
    let mut texts = vec![text];
    // Code may put a name together: `".a" "hp"`, `'.a'+'hp'`, `.a\hp`.
    if text.contains(['"', '\'', '\\']) {
        joined = ["\" \"", "\"+\"", "'+'", "\".\"", "'.'", "\"", "'", "\\"]
            .iter()
            .fold(text.to_owned(), |text, part| text.replace(part, ""));
        texts.push(&joined);
    }
    let is_border =
        |c: char| c.is_whitespace() || c.is_control() || "'\"`(){};|&<>,=:@!#\\$+".contains(c);
    texts
        .into_iter()
        .flat_map(|text| text.split(is_border))
        .filter(|part| part.contains(['.', '~', '/']) && part.len() > 2)
        .take(MAX_PARTS)
        .find_map(|part| found(part.trim_end_matches(['.', ']'])))
}

/// Whether a text holds a command of ours that disarms.
pub(super) fn disarms(text: &str) -> bool {
    let words: Vec<&str> = text
        .split(|c: char| c.is_whitespace() || "'\"`();|&,[]".contains(c))
        .filter(|word| !word.is_empty())
        .collect();
    words.iter().enumerate().any(|(at, word)| {
        // Code may say the name of the program twice.
        let mut next = words.iter().skip(at + 1).take(2);
        binary::is_named(word) && next.any(|next| own::is_refused(next))
    })
}

/// Whether a text with blanks in it reads as one that is written for people, not for a program.
pub(super) fn is_prose(text: &str) -> bool {
    text.contains(char::is_whitespace)
        && !text.contains([';', '|', '&', '<', '>', '$', '`', '{', '=', '!', '\\'])
        && !text.starts_with(['.', ':', '-', '/', '+', '%'])
        && !text.split_whitespace().next().is_some_and(is_command)
}

/// Whether a word is a program that may change files, or a command of a console.
fn is_command(word: &str) -> bool {
    let known = program::find(word);
    let changes = [Fact::Every, Fact::ToLast, Fact::Output, Fact::Language];
    changes.into_iter().any(|fact| known.is(fact))
        || known.is(Fact::Shell)
        || matches!(
            word,
            "w" | "write" | "wq" | "set" | "output" | "log" | "dump" | "save" | "saveas" | "source"
        )
}
