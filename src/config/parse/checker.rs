//! Checker: takes typed values out of nodes, and notes what does not fit.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::config::{Key, LayerSource, Node, Value, parse_duration, parse_size};
use crate::diagnostic::{Code, Diagnostic, Span};
use crate::glob;

/// Takes values out of the nodes of one layer.
pub(super) struct Checker<'a> {
    /// The layer that is read.
    pub(super) source: LayerSource,
    /// What `~/` stands for.
    pub(super) home: Option<&'a Path>,
    /// The folder of a pack's file, seen from the project; none for what no other file has named.
    pub(super) pack_dir: Option<&'a Path>,
    /// Where faults go.
    pub(super) diagnostics: &'a mut Vec<Diagnostic>,
}

impl Checker<'_> {
    /// Notes a fault.
    pub(super) fn push(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// Notes a value of the wrong type.
    pub(super) fn wrong(&mut self, node: &Node, expected: &str) {
        let message = format!("expected {expected}, found {}", node.describe());
        let help = format!("write {expected}");
        self.push(Diagnostic::error(Code::WrongType, message, node.span).help(help));
    }

    /// Notes a value that is out of its range, with what is allowed.
    fn bad(&mut self, code: Code, node: &Node, message: impl Into<String>, help: &str) {
        self.push(Diagnostic::error(code, message, node.span).help(help));
    }

    /// Returns the entries of a map; nothing at all is an empty map.
    pub(super) fn entries<'n>(&mut self, node: &'n Node, expected: &str) -> &'n [(Key, Node)] {
        match &node.value {
            Value::Map(entries) => entries,
            Value::Null => &[],
            _ => {
                self.wrong(node, expected);
                &[]
            }
        }
    }

    /// Returns the entries of a map with known keys; an unknown key is noted, and left in.
    pub(super) fn map<'n>(
        &mut self,
        node: &'n Node,
        expected: &str,
        known: &[&str],
    ) -> &'n [(Key, Node)] {
        let entries = self.entries(node, expected);
        for (key, _) in entries {
            if !known.contains(&key.name.as_str()) {
                let listed: Vec<_> = known.iter().map(|name| format!("`{name}`")).collect();
                self.push(
                    Diagnostic::error(
                        Code::UnknownKey,
                        format!("unknown key `{}`", key.name),
                        key.span,
                    )
                    .did_you_mean(&key.name, known.iter().copied())
                    .help(format!("the keys here are {}", listed.join(", "))),
                );
            }
        }
        entries
    }

    /// Returns a text that is not blank.
    pub(super) fn text(&mut self, node: &Node, expected: &str) -> Option<String> {
        match &node.value {
            Value::Str(text) if text.trim().is_empty() => {
                let message = format!("expected {expected}, found empty text");
                self.bad(Code::BadValue, node, message, "write it, or remove the key");
                None
            }
            Value::Str(text) => Some(text.clone()),
            Value::Bool(_) | Value::Int(_) | Value::Float(_) => {
                let message = format!("expected {expected}, found {}", node.describe());
                self.bad(Code::WrongType, node, message, "put it in quotes");
                None
            }
            _ => {
                self.wrong(node, expected);
                None
            }
        }
    }

    /// Returns a list of texts, each with its place; one text alone is a list of one.
    pub(super) fn texts(&mut self, node: &Node, expected: &str) -> Vec<(String, Span)> {
        match &node.value {
            Value::Null => Vec::new(),
            Value::Seq(items) => items
                .iter()
                .filter_map(|item| Some((self.text(item, expected)?, item.span)))
                .collect(),
            _ => self
                .text(node, expected)
                .map(|text| (text, node.span))
                .into_iter()
                .collect(),
        }
    }

    /// Returns a list of globs, each with its place; one that could never be met is noted.
    pub(super) fn globs(&mut self, node: &Node) -> Vec<(String, Span)> {
        let globs = self.texts(node, "a glob");
        for (text, span) in &globs {
            if let Some(fault) = glob::fault(text) {
                self.push(Diagnostic::error(Code::BadGlob, fault, *span).help(glob::HELP));
            }
        }
        globs
    }

    /// Returns a path, `~/` resolved.
    pub(super) fn path(&mut self, node: &Node) -> Option<PathBuf> {
        self.text(node, "a path").map(|text| self.resolved(&text))
    }

    /// Returns a list of paths, `~/` resolved.
    pub(super) fn paths(&mut self, node: &Node) -> Vec<PathBuf> {
        let texts = self.texts(node, "a path");
        texts.iter().map(|(text, _)| self.resolved(text)).collect()
    }

    /// Returns a list of folders: what a pack names lies beside it, or in the project.
    pub(super) fn folders(&mut self, node: &Node) -> Vec<PathBuf> {
        let named = self.paths(node);
        let beside = named
            .iter()
            .filter_map(|dir| Some(self.pack_dir?.join(dir)));
        let mut all: Vec<PathBuf> = beside.chain(named.iter().cloned()).collect();
        all.dedup();
        all
    }

    fn resolved(&self, text: &str) -> PathBuf {
        match (text.strip_prefix("~/"), self.home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => PathBuf::from(text),
        }
    }

    /// Returns a boolean.
    pub(super) fn boolean(&mut self, node: &Node) -> Option<bool> {
        if let Value::Bool(truth) = node.value {
            return Some(truth);
        }
        self.wrong(node, "`true` or `false`");
        None
    }

    /// Returns a whole number of a range.
    pub(super) fn integer(&mut self, node: &Node, range: RangeInclusive<i64>) -> Option<i64> {
        let expected = format!("a whole number from {} to {}", range.start(), range.end());
        match node.value {
            Value::Int(number) if range.contains(&number) => Some(number),
            Value::Int(number) => {
                let message = format!("`{number}` is out of range");
                self.bad(
                    Code::BadValue,
                    node,
                    message,
                    &format!("expected {expected}"),
                );
                None
            }
            _ => {
                self.wrong(node, &expected);
                None
            }
        }
    }

    /// Returns a count up to the given one.
    pub(super) fn count(&mut self, node: &Node, most: u32) -> Option<u32> {
        let number = self.integer(node, 0..=i64::from(most))?;
        u32::try_from(number).ok()
    }

    /// Returns one of a few words.
    pub(super) fn choice<T: Copy>(&mut self, node: &Node, choices: &[(&str, T)]) -> Option<T> {
        let words = choices.iter().map(|(word, _)| *word);
        let listed: Vec<_> = words.clone().map(|word| format!("`{word}`")).collect();
        let listed = listed.join(", ");
        let Some(text) = node.as_str() else {
            self.wrong(node, &format!("one of {listed}"));
            return None;
        };
        let found = choices.iter().find(|(word, _)| *word == text);
        if found.is_none() {
            self.push(
                Diagnostic::error(Code::BadValue, format!("unknown value `{text}`"), node.span)
                    .did_you_mean(text, words)
                    .help(format!("expected one of {listed}")),
            );
        }
        found.map(|(_, value)| *value)
    }

    /// Returns a duration.
    pub(super) fn duration(&mut self, node: &Node) -> Option<Duration> {
        let text = match &node.value {
            Value::Str(text) => text.clone(),
            Value::Int(number) => number.to_string(),
            Value::Float(number) => number.to_string(),
            _ => {
                self.wrong(node, "a duration such as `30s`");
                return None;
            }
        };
        parse_duration(&text)
            .map_err(|message| {
                let help = "write `500ms`, `30s`, `2m`, `1h`, or a number of seconds; at most 24h";
                self.bad(Code::BadDuration, node, message, help);
            })
            .ok()
    }

    /// Returns a size in bytes.
    pub(super) fn size(&mut self, node: &Node) -> Option<u64> {
        let text = match &node.value {
            Value::Str(text) => text.clone(),
            Value::Int(number) => number.to_string(),
            _ => {
                self.wrong(node, "a size such as `64MiB`");
                return None;
            }
        };
        parse_size(&text)
            .map_err(|message| {
                let help = "write `512KiB`, `64MiB`, `1GiB`, or a number of bytes";
                self.bad(Code::BadSize, node, message, help);
            })
            .ok()
    }

    /// Returns a condition: a map, whose keys are checked where facts are known; none where it is empty.
    pub(super) fn condition(&mut self, node: &Node) -> Option<Node> {
        match &node.value {
            Value::Map(_) => Some(node.clone()),
            Value::Null => None,
            _ => {
                self.wrong(node, "a map from facts to what they must be");
                None
            }
        }
    }
}
