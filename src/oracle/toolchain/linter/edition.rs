//! Edition: the edition of Rust that a file is written in, as the manifest of its package says.

use serde_json::Value;

use crate::workspace::Workspace;

/// The edition of a package that names none.
const FIRST: &str = "2015";

/// Returns the edition of a file, by the nearest package above it, which may take it from its workspace.
pub(super) fn of(path: &str, workspace: &dyn Workspace) -> String {
    let mut dir = path;
    while !dir.is_empty() {
        dir = dir.rsplit_once('/').map_or("", |(above, _)| above);
        let Some(manifest) = manifest(dir, workspace) else {
            continue;
        };
        let of_workspace = manifest.pointer("/workspace/package/edition");
        let edition = match manifest
            .get("package")
            .map(|package| package.get("edition"))
        {
            Some(None) => return FIRST.to_owned(),
            Some(Some(Value::String(edition))) => return edition.clone(),
            // Its workspace says it, which may be this very manifest or one further up.
            Some(Some(_)) | None => of_workspace,
        };
        if let Some(edition) = edition.and_then(Value::as_str) {
            return edition.to_owned();
        }
    }
    FIRST.to_owned()
}

/// Reads the manifest in a directory; none where there is none, or none that is TOML: Cargo itself tells of that.
fn manifest(dir: &str, workspace: &dyn Workspace) -> Option<Value> {
    let path = format!("{dir}/Cargo.toml");
    let text = workspace.text(path.trim_start_matches('/'))?;
    toml_edit::de::from_str(&text).ok()
}
