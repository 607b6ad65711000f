//! Fields: the words that one raw word becomes as its parts are expanded.

use std::ops::Range;

use super::Word;

/// The longest word that is followed, in bytes: `x=$x$x` doubles it each time.
const MAX_TEXT: usize = 32 * 1024;
/// The most words that one word is followed into: `set -- "$@" "$@"` doubles them each time.
pub(super) const MAX_FIELDS: usize = 1024;

/// How a part of a word stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quoting {
    /// Bare: results are split into words and matched against file names.
    Bare,
    /// Bare, but one word whatever is in it: assignments and targets of redirections.
    Whole,
    /// In double quotes or in a here-document.
    Double,
}

/// The words that a raw word becomes, the last still open.
#[derive(Debug, Default)]
pub(super) struct Fields {
    done: Vec<Word>,
    open: Word,
    present: bool,
    /// Whether a limit kept something out.
    is_cut: bool,
    /// What ends a word of an expansion, where `IFS` was set.
    separators: Option<String>,
}

impl Fields {
    /// Starts words that are split at other characters than blanks, where these are given.
    pub(super) fn split_at(separators: Option<String>) -> Self {
        Self {
            separators,
            ..Self::default()
        }
    }

    /// Notes that the open word is matched against file names.
    pub(super) fn matches_files(&mut self) {
        self.open.glob = true;
    }

    pub(super) fn push(&mut self, c: char) {
        self.present = true;
        if self.open.text.len() < MAX_TEXT {
            self.open.text.push(c);
        } else {
            self.cut();
        }
    }

    pub(super) fn push_str(&mut self, text: &str) {
        self.present = true;
        if self.open.text.len() + text.len() <= MAX_TEXT {
            self.open.text.push_str(text);
        } else {
            self.cut();
        }
    }

    fn cut(&mut self) {
        self.open.dynamic = true;
        self.is_cut = true;
    }

    /// Whether a limit kept a part of the words out.
    pub(super) const fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Notes that quotes were there: an empty word is a word then.
    pub(super) fn quoted(&mut self) {
        self.present = true;
    }

    fn end(&mut self) {
        if self.present {
            let word = std::mem::take(&mut self.open);
            if self.done.len() < MAX_FIELDS {
                self.done.push(word);
            } else {
                self.is_cut = true;
            }
        }
        self.present = false;
    }

    /// Adds a text that is known only when it runs, as it was written.
    pub(super) fn unknown(&mut self, written: &str, made_by: Range<usize>) {
        self.push_str(written);
        self.open.dynamic = true;
        if !made_by.is_empty() {
            self.open.made_by = made_by;
        }
    }

    /// Adds what an expansion gave.
    pub(super) fn add(&mut self, value: &Word, quoting: Quoting) {
        self.open.dynamic |= value.dynamic;
        self.open.each |= value.each;
        if !value.made_by.is_empty() {
            self.open.made_by = value.made_by.clone();
        }
        if quoting != Quoting::Bare || value.dynamic {
            self.push_str(&value.text);
            self.open.glob |= value.glob && quoting == Quoting::Bare;
            return;
        }
        for c in value.text.chars() {
            let separates = match &self.separators {
                Some(set) => set.contains(c),
                None => matches!(c, ' ' | '\t' | '\n'),
            };
            if separates {
                self.end();
            } else {
                self.open.glob |= matches!(c, '*' | '?' | '[');
                self.push(c);
            }
        }
    }

    /// Starts the next word of several, as `"$@"` does.
    pub(super) fn next(&mut self) {
        self.end();
    }

    pub(super) fn finish(mut self) -> Vec<Word> {
        self.end();
        self.done
    }
}
