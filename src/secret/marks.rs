//! Marks: what the log says where something was cut out.

use serde_json::Value;

/// What stands for a secret that is known by the name of its field alone.
pub(crate) const SECRET: &str = "[redacted: secret]";

/// Returns what stands for a secret of this kind.
pub(crate) fn redacted(kind: &str) -> String {
    format!("[redacted: {kind}]")
}

/// Returns what stands for so many things that were too much.
pub(crate) fn cut(count: usize, what: &str) -> String {
    format!("[cut: {count} {what}]")
}

/// Whether such a mark stands anywhere in a value.
pub(crate) fn is_cut(value: &Value) -> bool {
    match value {
        Value::String(text) => has_mark(text),
        Value::Array(values) => values.iter().any(is_cut),
        Value::Object(map) => map
            .iter()
            .any(|(name, value)| has_mark(name) || is_cut(value)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

fn has_mark(text: &str) -> bool {
    let is_kind =
        |kind: &str| !kind.is_empty() && kind.bytes().all(|b| b.is_ascii_lowercase() || b == b'-');
    let is_count = |count: &str| {
        let number = count
            .strip_suffix(" bytes")
            .or_else(|| count.strip_suffix(" entries"));
        number.is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
    };
    holds(text, "[redacted: ", is_kind) || holds(text, "[cut: ", is_count)
}

/// Whether a text holds a mark that begins so and says such a thing.
fn holds(text: &str, start: &str, says: impl Fn(&str) -> bool) -> bool {
    text.split(start).skip(1).any(|rest| {
        let (said, _) = rest.split_once(']').unwrap_or_default();
        says(said)
    })
}
