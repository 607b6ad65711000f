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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn toml_is_read_whatever_the_features_of_this_build() {
        let document = read("[project]\ndependencies = [\"a>=1\", \"b\"]\n").unwrap();
        assert_eq!(texts(&document, "/project/dependencies"), ["a>=1", "b"]);
        assert!(texts(&document, "/project/none").is_empty());
        assert!(read("[project\n").unwrap_err().contains("line 1"));
    }
}
