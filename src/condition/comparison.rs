//! Comparison: equality, lists, `"> 10"`, patterns and globs.

use chrono::{DateTime, Utc};

use crate::event::ToolKind;
use crate::fact::FactValue;
use crate::pattern::Pattern;

/// A value that a user compares a fact with.
#[derive(Clone, Debug, PartialEq)]
pub enum Scalar {
    /// Text.
    Text(String),
    /// A number.
    Number(f64),
    /// True or false.
    Boolean(bool),
    /// A moment.
    Time(DateTime<Utc>),
}

/// An ordering operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// `>`
    More,
    /// `>=`
    AtLeast,
    /// `<`
    Less,
    /// `<=`
    AtMost,
}

/// What a fact is compared with. An absent fact meets none of them.
#[derive(Debug)]
pub enum Comparison {
    /// Equal to one of these; for a list fact, an element is.
    AnyOf(Vec<Scalar>),
    /// The tool has one of these names, or is of the kind that they name (or neither).
    Tool {
        /// The names, each with the kind of the tool that it names.
        names: Vec<(String, Option<ToolKind>)>,
        /// Whether it must be none of them.
        negated: bool,
    },
    /// Not equal; for a list fact, no element is.
    Not(Scalar),
    /// Ordered against a number or a time.
    Ordered(Order, Scalar),
    /// The regular expression is found (or not).
    Matches {
        /// The expression.
        pattern: Pattern,
        /// Whether it must not be found.
        negated: bool,
    },
    /// The glob matches; for a list fact, an element does.
    Glob(String),
}

impl Comparison {
    /// Whether a fact's value meets it; a tool's name alone meets none.
    pub fn holds(&self, found: &FactValue<'_>) -> bool {
        if matches!(found, FactValue::Absent | FactValue::Unknown) {
            return false;
        }
        match self {
            Self::AnyOf(values) => values.iter().any(|value| equal(found, value)),
            Self::Tool { .. } => false,
            Self::Not(value) => !equal(found, value),
            Self::Ordered(order, value) => ordering(found, value).is_some_and(|o| match order {
                Order::More => o.is_gt(),
                Order::AtLeast => o.is_ge(),
                Order::Less => o.is_lt(),
                Order::AtMost => o.is_le(),
            }),
            Self::Matches { pattern, negated } => {
                any_text(found, |text| pattern.is_match(text)) != *negated
            }
            Self::Glob(glob) => any_text(found, |text| fast_glob::glob_match(glob, text)),
        }
    }
}

/// Up to how many numbers are tried one by one.
const FEW: u64 = 64;

impl Comparison {
    /// Whether it holds for every whole number from one to another, or for none of them; none where it depends on which.
    pub(super) fn holds_between(&self, least: u64, most: u64) -> Option<bool> {
        let one = |number: u64| {
            let number = i64::try_from(number).unwrap_or(i64::MAX);
            self.holds(&FactValue::Integer(number))
        };
        let agree = |mut all: std::iter::Map<std::ops::RangeInclusive<u64>, _>| {
            let first = all.next()?;
            all.all(|other| other == first).then_some(first)
        };
        let is_inside = |scalar: &Scalar| match scalar {
            #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
            Scalar::Number(number) => (least as f64..=most as f64).contains(number),
            _ => false,
        };
        match self {
            _ if most.saturating_sub(least) <= FEW => agree((least..=most).map(one)),
            // What has an order holds in between where it holds at both ends.
            Self::Ordered(..) => (one(least) == one(most)).then(|| one(least)),
            Self::AnyOf(values) => (!values.iter().any(is_inside)).then_some(false),
            Self::Not(value) => (!is_inside(value)).then_some(true),
            Self::Tool { .. } | Self::Matches { .. } | Self::Glob(_) => None,
        }
    }
}

fn any_text(found: &FactValue<'_>, test: impl Fn(&str) -> bool) -> bool {
    match found {
        FactValue::List(list) => list.iter().any(|text| test(text)),
        single => single.as_text().is_some_and(|text| test(&text)),
    }
}

fn equal(found: &FactValue<'_>, value: &Scalar) -> bool {
    match (found, value) {
        (FactValue::List(list), _) => match value {
            Scalar::Text(text) => list.contains(text),
            Scalar::Number(number) => list.iter().any(|e| e.parse() == Ok(*number)),
            Scalar::Boolean(_) | Scalar::Time(_) => false,
        },
        (FactValue::Text(found), Scalar::Text(text)) => found == text,
        // `environment: 5` in YAML is a number, and the fact is text.
        (FactValue::Text(found), Scalar::Number(number)) => found.parse() == Ok(*number),
        (FactValue::Boolean(found), Scalar::Boolean(value)) => found == value,
        (FactValue::Boolean(found), Scalar::Text(text)) => {
            text == if *found { "true" } else { "false" }
        }
        _ => ordering(found, value).is_some_and(std::cmp::Ordering::is_eq),
    }
}

fn ordering(found: &FactValue<'_>, value: &Scalar) -> Option<std::cmp::Ordering> {
    match (found, value) {
        (FactValue::Integer(n), Scalar::Number(value)) => {
            #[expect(
                clippy::cast_precision_loss,
                reason = "facts are counts, far below 2^52"
            )]
            let n = *n as f64;
            n.partial_cmp(value)
        }
        (FactValue::Number(n), Scalar::Number(value)) => n.partial_cmp(value),
        (FactValue::Time(time), Scalar::Time(value)) => time.partial_cmp(value),
        _ => None,
    }
}
