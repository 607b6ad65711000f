//! Marks: what the log says where something was cut out.

use serde_json::Value;

/// What stands for a secret that is known by the name of its field alone.
pub(super) const SECRET: &str = "[redacted: secret]";

/// Returns what stands for a secret of this kind.
pub(super) fn redacted(kind: &str) -> String {
    format!("[redacted: {kind}]")
}

/// Returns what stands for so many things that were too much.
pub(super) fn cut(count: usize, what: &str) -> String {
    format!("[cut: {count} {what}]")
}

/// Whether such a mark stands anywhere in a value.
pub(super) fn is_cut(value: &Value) -> bool {
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn marks_are_known_wherever_they_stand() {
        for value in [
            json!({"a": ["x [redacted: github-token] y"]}),
            json!({"[redacted: jwt] #2": 1}),
            json!([SECRET]),
            json!(redacted("pattern")),
            json!("[cut: x [cut: 12 bytes]"),
            json!({"…": cut(3, "entries")}),
        ] {
            assert!(is_cut(&value), "{value}");
        }
        for value in [
            json!("format!(\"[redacted: {kind}]\")"),
            json!("[redacted: "),
            json!("[cut: some bytes]"),
            json!({"redacted": 1}),
        ] {
            assert!(!is_cut(&value), "{value}");
        }
    }
}
