//! Paths of command lines: resolved against the work dir, and through symbolic links where they exist.

use std::ffi::OsString;
use std::path::Component;
use std::path::Path;
use std::path::PathBuf;

/// Resolves a path against a directory without asking the file system: `.` and `..` are taken out.
pub fn lexical(path: &str, work_dir: &Path, home: Option<&Path>) -> PathBuf {
    let joined = match (path, home) {
        ("~", Some(home)) => home.to_owned(),
        (_, Some(home)) if path.starts_with("~/") => home.join(path.get(2..).unwrap_or_default()),
        _ => work_dir.join(path),
    };
    let mut clean = PathBuf::new();
    for component in joined.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                clean.pop();
            }
            other => clean.push(other),
        }
    }
    clean
}

/// Follows the symbolic links of the longest part of a path that exists.
pub fn real(path: &Path) -> PathBuf {
    let mut missing: Vec<OsString> = Vec::new();
    let mut existing = path;
    loop {
        if let Ok(mut found) = existing.canonicalize() {
            for part in missing.iter().rev() {
                found.push(part);
            }
            return found;
        }
        let (Some(parent), Some(name)) = (existing.parent(), existing.file_name()) else {
            return path.to_owned();
        };
        missing.push(name.to_owned());
        existing = parent;
    }
}
