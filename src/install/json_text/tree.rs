//! Tree: JSON with comments, read into values that know their place in the text.

use std::ops::Range;

use serde_json::Map;
use serde_json::Value;

/// Why a settings file cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {expected}")]
pub struct JsonTextError {
    /// Counted from 1.
    pub line: usize,
    /// Counted from 1, in characters.
    pub column: usize,
    /// What was expected there.
    pub expected: &'static str,
}

/// A value with its place.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) span: Range<usize>,
    pub(super) kind: Kind,
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    Object(Vec<Member>),
    Array(Vec<Node>),
    Scalar(Value),
}

#[derive(Clone, Debug)]
pub(super) struct Member {
    /// From the key's quote to the value's end.
    span: Range<usize>,
    pub(super) key: String,
    value: Node,
}

impl Node {
    /// Returns it without its places and comments.
    pub(super) fn value(&self) -> Value {
        match &self.kind {
            Kind::Object(members) => {
                let mut map = Map::new();
                for member in members {
                    map.insert(member.key.clone(), member.value.value());
                }
                Value::Object(map)
            }
            Kind::Array(items) => Value::Array(items.iter().map(Self::value).collect()),
            Kind::Scalar(value) => value.clone(),
        }
    }

    /// Returns where the members or items stand.
    pub(super) fn parts(&self) -> Vec<Range<usize>> {
        match &self.kind {
            Kind::Object(members) => members.iter().map(|m| m.span.clone()).collect(),
            Kind::Array(items) => items.iter().map(|n| n.span.clone()).collect(),
            Kind::Scalar(_) => Vec::new(),
        }
    }

    /// Returns the member of a name or the item of a number.
    pub(super) fn step(&self, step: &str) -> Option<&Self> {
        match &self.kind {
            // Where a key stands twice, the last one counts, as it does to every reader.
            Kind::Object(members) => members
                .iter()
                .rev()
                .find(|m| m.key == step)
                .map(|m| &m.value),
            Kind::Array(items) => items.get(step.parse::<usize>().ok()?),
            Kind::Scalar(_) => None,
        }
    }
}

/// Reads a whole text.
pub(super) fn parse(text: &str) -> Result<Node, JsonTextError> {
    let mut parser = Parser { text, at: 0 };
    if parser.rest().starts_with('\u{feff}') {
        parser.at = '\u{feff}'.len_utf8();
    }
    parser.blank()?;
    let node = parser.value(0)?;
    parser.blank()?;
    if parser.rest().is_empty() {
        Ok(node)
    } else {
        Err(parser.expected("expected the end of the file"))
    }
}

/// Returns where the comma after a value stands that ends at a place; comments may lie between.
pub(super) fn comma_after(text: &str, end: usize) -> Option<usize> {
    let mut parser = Parser { text, at: end };
    parser.blank().ok()?;
    parser.rest().starts_with(',').then_some(parser.at)
}

/// How deep objects may be nested; settings files are nowhere near.
const DEPTH: usize = 128;

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn expected(&self, expected: &'static str) -> JsonTextError {
        let head = self.text.get(..self.at).unwrap_or_default();
        JsonTextError {
            line: head.matches('\n').count() + 1,
            column: head.rsplit('\n').next().unwrap_or_default().chars().count() + 1,
            expected,
        }
    }

    /// Passes blanks and comments.
    fn blank(&mut self) -> Result<(), JsonTextError> {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start();
            self.at += rest.len() - trimmed.len();
            if trimmed.starts_with("//") {
                self.at += trimmed.find('\n').unwrap_or(trimmed.len());
            } else if trimmed.starts_with("/*") {
                match trimmed.find("*/") {
                    Some(end) => self.at += end + 2,
                    None => return Err(self.expected("expected the end of this comment")),
                }
            } else {
                return Ok(());
            }
        }
    }

    fn take(&mut self, sign: char) -> bool {
        let there = self.rest().starts_with(sign);
        if there {
            self.at += sign.len_utf8();
        }
        there
    }

    fn value(&mut self, depth: usize) -> Result<Node, JsonTextError> {
        if depth > DEPTH {
            return Err(self.expected("expected fewer levels of nesting"));
        }
        let start = self.at;
        let kind = match self.rest().chars().next() {
            Some('{') => self.object(depth)?,
            Some('[') => self.array(depth)?,
            Some('"') => Kind::Scalar(Value::String(self.string()?)),
            Some(_) => {
                let rest = self.rest();
                let end = rest
                    .find(|c: char| c.is_whitespace() || ",]}/".contains(c))
                    .unwrap_or(rest.len());
                let word = rest.get(..end).unwrap_or_default();
                let value =
                    serde_json::from_str(word).map_err(|_| self.expected("expected a value"))?;
                self.at += end;
                Kind::Scalar(value)
            }
            None => return Err(self.expected("expected a value")),
        };
        Ok(Node {
            span: start..self.at,
            kind,
        })
    }

    fn object(&mut self, depth: usize) -> Result<Kind, JsonTextError> {
        self.take('{');
        let mut members = Vec::new();
        loop {
            self.blank()?;
            if self.take('}') {
                return Ok(Kind::Object(members));
            }
            let start = self.at;
            if !self.rest().starts_with('"') {
                return Err(self.expected("expected a key in double quotes, or `}`"));
            }
            let key = self.string()?;
            self.blank()?;
            if !self.take(':') {
                return Err(self.expected("expected `:`"));
            }
            self.blank()?;
            let value = self.value(depth + 1)?;
            members.push(Member {
                span: start..self.at,
                key,
                value,
            });
            self.blank()?;
            if !self.take(',') && !self.rest().starts_with('}') {
                return Err(self.expected("expected `,` or `}`"));
            }
        }
    }

    fn array(&mut self, depth: usize) -> Result<Kind, JsonTextError> {
        self.take('[');
        let mut items = Vec::new();
        loop {
            self.blank()?;
            if self.take(']') {
                return Ok(Kind::Array(items));
            }
            items.push(self.value(depth + 1)?);
            self.blank()?;
            if !self.take(',') && !self.rest().starts_with(']') {
                return Err(self.expected("expected `,` or `]`"));
            }
        }
    }

    fn string(&mut self) -> Result<String, JsonTextError> {
        let rest = self.rest();
        let mut escaped = false;
        for (at, c) in rest.char_indices().skip(1) {
            match c {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '"' => {
                    let word = rest.get(..=at).unwrap_or_default();
                    let text = serde_json::from_str(word)
                        .map_err(|_| self.expected("expected a string without bad escapes"))?;
                    self.at += at + 1;
                    return Ok(text);
                }
                _ => {}
            }
        }
        Err(self.expected("expected the end of this string"))
    }
}
