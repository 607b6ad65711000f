//! FactValue: what a fact turned out to be.

use std::borrow::Cow;

use chrono::{DateTime, Utc};
use serde_json::Value;

/// The value of a fact, borrowed from the event or the workspace where that is possible.
#[derive(Clone, Debug, PartialEq)]
pub enum FactValue<'a> {
    /// This event or project does not have it.
    Absent,
    /// It cannot be told, because what would tell it cannot be read or is known only when the command runs.
    Unknown,
    /// Text.
    Text(Cow<'a, str>),
    /// A whole number.
    Integer(i64),
    /// A number with a fraction.
    Number(f64),
    /// True or false.
    Boolean(bool),
    /// A list of texts.
    List(&'a [String]),
    /// A moment.
    Time(DateTime<Utc>),
}

impl<'a> FactValue<'a> {
    /// Makes text, or nothing.
    pub fn text(value: Option<&'a str>) -> Self {
        value.map_or(Self::Absent, |v| Self::Text(Cow::Borrowed(v)))
    }

    /// Makes a whole number of a count.
    pub fn count(value: usize) -> Self {
        Self::Integer(i64::try_from(value).unwrap_or(i64::MAX))
    }

    /// Whether the event or project does not have it.
    pub const fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }

    /// Returns the value as JSON; null where it is absent or cannot be told.
    pub fn to_json(&self) -> Value {
        match self {
            Self::Absent | Self::Unknown => Value::Null,
            Self::Text(text) => Value::from(text.as_ref()),
            Self::Integer(n) => Value::from(*n),
            Self::Number(n) => Value::from(*n),
            Self::Boolean(b) => Value::from(*b),
            Self::List(list) => Value::from(list.to_vec()),
            Self::Time(time) => {
                Value::from(time.to_rfc3339_opts(chrono::SecondsFormat::AutoSi, true))
            }
        }
    }

    /// Returns the value as one text, as it would stand in a configuration; none where there is none, or where it is a list.
    pub fn as_text(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Absent | Self::Unknown | Self::List(_) => None,
            Self::Text(text) => Some(Cow::Borrowed(text)),
            Self::Integer(n) => Some(Cow::Owned(n.to_string())),
            Self::Number(n) => Some(Cow::Owned(n.to_string())),
            Self::Boolean(b) => Some(Cow::Borrowed(if *b { "true" } else { "false" })),
            Self::Time(time) => Some(Cow::Owned(
                time.to_rfc3339_opts(chrono::SecondsFormat::AutoSi, true),
            )),
        }
    }
}
