//! Node: a YAML value that remembers its file, line and column.

use serde::{Deserialize, Serialize};

use crate::diagnostic::Span;

/// A YAML value with its place, which is not stored.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Node {
    /// The value.
    pub value: Value,
    /// Where it stands.
    #[serde(skip)]
    pub span: Span,
}

/// A YAML value.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Value {
    /// Nothing, or `~`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number with a fraction.
    Float(f64),
    /// Text.
    Str(String),
    /// A list.
    Seq(Vec<Node>),
    /// A map, in the order of the file; no key twice.
    Map(Vec<(Key, Node)>),
}

/// A key of a map, with its place.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Key {
    /// The key.
    pub name: String,
    /// Where it stands.
    #[serde(skip)]
    pub span: Span,
}

impl Node {
    /// Makes a node.
    pub const fn new(value: Value, span: Span) -> Self {
        Self { value, span }
    }

    /// Makes an empty map.
    pub const fn empty_map(span: Span) -> Self {
        Self::new(Value::Map(Vec::new()), span)
    }

    /// Returns the entries of a map; none for anything else.
    pub fn entries(&self) -> &[(Key, Self)] {
        match &self.value {
            Value::Map(entries) => entries,
            _ => &[],
        }
    }

    /// Returns the value under a key of a map.
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.entries()
            .iter()
            .find(|(k, _)| k.name == key)
            .map(|(_, node)| node)
    }

    /// Whether it is an empty list or map.
    pub const fn is_empty(&self) -> bool {
        match &self.value {
            Value::Seq(items) => items.is_empty(),
            Value::Map(entries) => entries.is_empty(),
            _ => false,
        }
    }

    /// Lays another value over it: maps key by key, as deep as both are maps; anything else is replaced.
    pub fn overlay(&mut self, over: Self) {
        if let (Value::Map(entries), Value::Map(_)) = (&mut self.value, &over.value) {
            let Value::Map(later) = over.value else {
                return;
            };
            self.span = over.span;
            for (key, value) in later {
                match entries.iter_mut().find(|(known, _)| known.name == key.name) {
                    Some((known, below)) => {
                        below.overlay(value);
                        *known = key;
                    }
                    None => entries.push((key, value)),
                }
            }
        } else {
            *self = over;
        }
    }

    /// Returns the text of a string.
    pub fn as_str(&self) -> Option<&str> {
        match &self.value {
            Value::Str(text) => Some(text),
            _ => None,
        }
    }

    /// Whether a text stands in it, in a key or a value.
    pub fn names(&self, text: &str) -> bool {
        match &self.value {
            Value::Str(own) => own.contains(text),
            Value::Seq(items) => items.iter().any(|item| item.names(text)),
            Value::Map(entries) => {
                let mut entries = entries.iter();
                entries.any(|(key, node)| key.name.contains(text) || node.names(text))
            }
            _ => false,
        }
    }

    /// Returns what it is, in a user's words.
    pub const fn type_name(&self) -> &'static str {
        match &self.value {
            Value::Null => "nothing",
            Value::Bool(_) => "a boolean",
            Value::Int(_) => "a whole number",
            Value::Float(_) => "a number",
            Value::Str(_) => "text",
            Value::Seq(_) => "a list",
            Value::Map(_) => "a map",
        }
    }

    /// Returns what it is with its value where that is short, in a user's words.
    pub fn describe(&self) -> String {
        match &self.value {
            Value::Bool(truth) => format!("`{truth}`"),
            Value::Int(number) => format!("the number `{number}`"),
            Value::Float(number) => format!("the number `{number}`"),
            Value::Str(text) if text.chars().count() <= 60 => format!("the text `{text}`"),
            _ => self.type_name().to_owned(),
        }
    }

    /// Returns the value as JSON, without its places.
    pub fn to_json(&self) -> serde_json::Value {
        match &self.value {
            Value::Null => serde_json::Value::Null,
            Value::Bool(b) => (*b).into(),
            Value::Int(n) => (*n).into(),
            Value::Float(n) => (*n).into(),
            Value::Str(text) => text.as_str().into(),
            Value::Seq(items) => items.iter().map(Self::to_json).collect(),
            Value::Map(entries) => entries
                .iter()
                .map(|(key, node)| (key.name.clone(), node.to_json()))
                .collect(),
        }
    }
}
