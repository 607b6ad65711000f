//! SourceMap: file numbers to path and text, so that a label outlives the parse that made it.

use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Span;

/// The number of a file in a [`SourceMap`].
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct FileId(pub u16);

/// One file that configuration came from.
#[derive(Clone, Debug)]
pub struct Source {
    /// The name as shown: relative to the project where it lies in it, `ahp:NAME` for a shipped pack.
    pub name: Arc<str>,
    /// The text; empty where only the name is known (a cached policy).
    pub text: Arc<str>,
    is_approved: bool,
}

/// Stands behind the name of a file whose text is that which was approved, and not what lies there now.
const APPROVED: &str = " (approved)";

impl Source {
    /// Returns the path that the name shows.
    pub fn path(&self) -> &str {
        let plain = self.name.strip_suffix(APPROVED);
        plain.filter(|_| self.is_approved).unwrap_or(&self.name)
    }

    /// Whether it was read as a part of what was approved, beside what lies there now: nobody can change it.
    pub const fn is_approved(&self) -> bool {
        self.is_approved
    }
}

/// The files that configuration came from.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    files: Vec<Source>,
}

impl SourceMap {
    /// Adds a file and returns its number.
    ///
    /// Past 65,535 files the last number is used again; no configuration has so many layers.
    pub fn add(&mut self, name: impl Into<Arc<str>>, text: impl Into<Arc<str>>) -> FileId {
        let id = u16::try_from(self.files.len()).unwrap_or(u16::MAX);
        self.files.push(Source {
            name: name.into(),
            text: text.into(),
            is_approved: false,
        });
        FileId(id)
    }

    /// Adds the text of a file as it was approved, and returns its number.
    pub fn add_approved(&mut self, name: &str, text: impl Into<Arc<str>>) -> FileId {
        let first = self.files.len();
        let id = self.add(format!("{name}{APPROVED}"), text);
        self.approve_from(first);
        id
    }

    /// Notes that all files from this one on were read as a part of what was approved.
    pub(crate) fn approve_from(&mut self, first: usize) {
        for source in self.files.iter_mut().skip(first) {
            source.is_approved = true;
        }
    }

    /// Returns a file's name and text.
    pub fn get(&self, file: FileId) -> Option<&Source> {
        self.files.get(usize::from(file.0))
    }

    /// Whether a file was read as a part of what was approved, beside what lies there now: nobody can change it.
    pub fn is_approved(&self, file: FileId) -> bool {
        self.get(file).is_some_and(Source::is_approved)
    }

    /// Returns all files in the order of their numbers.
    pub fn files(&self) -> &[Source] {
        &self.files
    }

    /// Returns a file's name, or a question mark for a number that is not in the map.
    pub fn name(&self, file: FileId) -> &str {
        self.get(file).map_or("?", |source| &source.name)
    }

    /// Returns `file:line`, the form in which verdicts and the log name a binding's origin; the name alone of what stands
    /// on no line.
    pub fn line(&self, span: Span) -> String {
        if span.line == 0 {
            return self.name(span.file).to_owned();
        }
        format!("{}:{}", self.name(span.file), span.line)
    }

    /// Returns `file:line:column`.
    pub fn position(&self, span: Span) -> String {
        format!("{}:{}:{}", self.name(span.file), span.line, span.column)
    }

    /// Returns a path as it is shown in messages: relative to `base` where it lies below it.
    pub fn display_name(path: &Path, base: &Path) -> String {
        path.strip_prefix(base)
            .unwrap_or(path)
            .display()
            .to_string()
    }
}
