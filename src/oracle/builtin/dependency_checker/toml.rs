//! Toml: manifests in TOML, as a tree of plain values.

use serde_json::Value;

/// Reads a document.
///
/// # Errors
/// What is wrong with it, with its place.
pub(super) fn read(text: &str) -> Result<Value, String> {
    toml_edit::de::from_str(text).map_err(|error| error.to_string())
}

/// Returns the texts of a list in a document; none where there is no such list.
pub(super) fn texts(document: &Value, pointer: &str) -> Vec<String> {
    let items = document.pointer(pointer).and_then(Value::as_array);
    let texts = items.into_iter().flatten().filter_map(Value::as_str);
    texts.map(str::to_owned).collect()
}
