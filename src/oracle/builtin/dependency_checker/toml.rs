//! Toml: manifests in TOML, as far as this build can read them.

/// Returns what is wrong with a TOML document.
#[cfg(feature = "cli")]
pub(super) fn error(text: &str) -> Option<String> {
    let error = text.parse::<toml_edit::DocumentMut>().err()?;
    Some(error.to_string())
}

#[cfg(not(feature = "cli"))]
pub(super) fn error(_: &str) -> Option<String> {
    None
}

/// Returns a list of texts in a TOML document.
#[cfg(feature = "cli")]
pub(super) fn texts(text: &str, path: &[&str]) -> Vec<String> {
    let Ok(document) = text.parse::<toml_edit::DocumentMut>() else {
        return Vec::new();
    };
    let mut item = document.as_item();
    for key in path {
        match item.get(key) {
            Some(inner) => item = inner,
            None => return Vec::new(),
        }
    }
    let items = item.as_array().into_iter().flatten();
    items
        .filter_map(|value| value.as_str().map(str::to_owned))
        .collect()
}

#[cfg(not(feature = "cli"))]
pub(super) fn texts(_: &str, _: &[&str]) -> Vec<String> {
    Vec::new()
}
