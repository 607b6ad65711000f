//! Input: where the hosts keep the paths and the text in a tool's input.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::words::words;

/// The fields of an object.
type Fields = serde_json::Map<String, Value>;

/// The fields that hold a path, or a list of paths, or a list of objects with paths.
pub(super) const PATH: &[&str] = words!("path-fields");

/// The fields that hold paths where they stand together: one alone may be anything.
const MOVES: &[(&str, &str)] = &[
    ("source", "destination"),
    ("source", "dest"),
    ("source", "target"),
    ("src", "destination"),
    ("src", "dest"),
    ("src", "dst"),
    ("from", "to"),
];

/// The fields that hold text that is written.
pub(super) const CONTENT: &[&str] = words!("content-fields");

/// How deep lists of edits and files are searched: `edits[].file_path` and the like.
const DEPTH: usize = 4;

/// Returns every path in the input, in order, each once.
pub(super) fn paths(input: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    let is_path = |map: &Fields, key: &str| {
        let of_move = |(from, to): &(&str, &str)| {
            (key == *from || key == *to) && map.contains_key(*from) && map.contains_key(*to)
        };
        PATH.contains(&key) || MOVES.iter().any(of_move)
    };
    collect(input, &is_path, DEPTH, &mut |text| {
        if !text.is_empty() && seen.insert(text) {
            found.push(text.to_owned());
        }
    });
    found
}

/// Returns the text that is written, beside some that were read; the parts of several edits are joined by lines.
pub(super) fn content(input: &Value, read: &[&str]) -> Option<String> {
    let mut parts: Vec<String> = Vec::new();
    let is_content = |_: &Fields, key: &str| CONTENT.contains(&key);
    collect(input, &is_content, DEPTH, &mut |text| {
        if !read.contains(&text) {
            parts.push(text.to_owned());
        }
    });
    (!parts.is_empty()).then(|| parts.join("\n"))
}

/// Returns the addresses that are fetched: of a field, else those in the words of a prompt.
pub(super) fn urls(input: &Value) -> Vec<String> {
    let Some(map) = input.as_object() else {
        return Vec::new();
    };
    let fields: Vec<&Value> = ["url", "urls"]
        .iter()
        .filter_map(|key| map.get(*key))
        .collect();
    if !fields.is_empty() {
        let texts = fields.into_iter().flat_map(|field| match field {
            Value::Array(urls) => urls.as_slice(),
            one => std::slice::from_ref(one),
        });
        return texts.filter_map(Value::as_str).map(str::to_owned).collect();
    }
    let texts = map.values().filter_map(Value::as_str);
    texts
        .flat_map(|text| text.split(|c: char| c.is_whitespace() || "\"'`<>()".contains(c)))
        .filter(|word| word.starts_with("https://") || word.starts_with("http://"))
        .map(str::to_owned)
        .collect()
}

/// Returns what a tool gave back, as text.
pub(super) fn output(value: &Value) -> Option<String> {
    /// The fields that hold the words, in the order in which a person would want to read them.
    const WORDS: &[&str] = words!("result-fields");
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        Value::Array(parts) => {
            let parts: Vec<String> = parts.iter().filter_map(output).collect();
            Some(parts.join("\n"))
        }
        Value::Object(map) => {
            let parts: Vec<String> = WORDS
                .iter()
                .filter_map(|key| map.get(*key).and_then(output))
                .filter(|part| !part.is_empty())
                .collect();
            if parts.is_empty() && !WORDS.iter().any(|key| map.contains_key(*key)) {
                return Some(value.to_string());
            }
            Some(parts.join("\n"))
        }
        other => Some(other.to_string()),
    }
}

/// Returns every string of the input with the key that it stands below, as it is written; a key that is a path counts as a
/// file.
pub(super) fn keyed_texts(input: &Value) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    collect_keyed(input, &|_, _| true, DEPTH, &mut |key, text| {
        found.push((key, text));
    });
    collect_keys(input, DEPTH, &mut |key| found.push(("file", key)));
    found
}

/// Whether the key of an object reads as a path: `{".env": "…"}`.
pub(crate) fn is_path_key(key: &str) -> bool {
    !key.contains(char::is_whitespace) && key.contains(['/', '.', '~'])
}

/// Hands out every key that reads as a path.
fn collect_keys<'v>(value: &'v Value, depth: usize, take: &mut impl FnMut(&'v str)) {
    let Some(less) = depth.checked_sub(1) else {
        return;
    };
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                if is_path_key(key) {
                    take(key);
                }
                collect_keys(value, less, take);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect_keys(item, less, take)),
        _ => {}
    }
}

/// Takes a value from what it may hold of values and of bytes of text, and returns what is left; none where it holds more.
pub(super) fn left_of(value: &Value, left: (usize, usize)) -> Option<(usize, usize)> {
    let (values, bytes) = left;
    let left = (values.checked_sub(1)?, bytes);
    match value {
        Value::String(text) => Some((left.0, bytes.checked_sub(text.len())?)),
        Value::Array(items) => items
            .iter()
            .try_fold(left, |left, item| left_of(item, left)),
        Value::Object(map) => map.iter().try_fold(left, |(values, bytes), (key, item)| {
            left_of(item, (values, bytes.checked_sub(key.len())?))
        }),
        _ => Some(left),
    }
}

/// Hands out every string below a wanted key, in lists and nested objects too.
fn collect<'v>(
    value: &'v Value,
    is_wanted: &impl Fn(&Fields, &str) -> bool,
    depth: usize,
    take: &mut impl FnMut(&'v str),
) {
    collect_keyed(value, is_wanted, depth, &mut |_, text| take(text));
}

/// Does the same, and hands out the key beside it.
fn collect_keyed<'v>(
    value: &'v Value,
    is_wanted: &impl Fn(&Fields, &str) -> bool,
    depth: usize,
    take: &mut impl FnMut(&'v str, &'v str),
) {
    if depth == 0 {
        return;
    }
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                match value {
                    Value::String(text) if is_wanted(map, key) => take(key, text),
                    Value::Array(items) if is_wanted(map, key) => {
                        for item in items {
                            match item {
                                Value::String(text) => take(key, text),
                                other => collect_keyed(other, is_wanted, depth - 1, take),
                            }
                        }
                    }
                    Value::Array(_) | Value::Object(_) => {
                        collect_keyed(value, is_wanted, depth - 1, take);
                    }
                    _ => {}
                }
            }
        }
        Value::Array(items) => {
            for item in items {
                collect_keyed(item, is_wanted, depth - 1, take);
            }
        }
        _ => {}
    }
}
