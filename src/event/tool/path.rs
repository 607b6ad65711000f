//! Path: how a path that a tool names is written for policies.

use std::path::{Component, Path, PathBuf};

/// Returns a path relative to the project where it lies in it, else absolute; `/` is the separator.
///
/// Only the words are looked at, not the disk: the file need not exist yet. `~/` is kept, for who
/// runs the tool is not known here.
pub(super) fn written(path: &str, work_dir: &Path, root: &Path) -> String {
    let path = path.strip_prefix("file://").unwrap_or(path);
    if is_windows_absolute(path) {
        return windows(path, root);
    }
    if path.starts_with('~') {
        return path.to_owned();
    }
    let whole = normal(&work_dir.join(path));
    let shown = whole.strip_prefix(normal(root)).unwrap_or(&whole);
    if shown.as_os_str().is_empty() {
        ".".to_owned()
    } else {
        shown.to_string_lossy().into_owned()
    }
}

/// Resolves `.` and `..` by the words alone.
fn normal(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                // Above the root there is nothing to go up to; a relative path may leave its start.
                if !out.pop() && !out.has_root() {
                    out.push("..");
                }
            }
            other => out.push(other),
        }
    }
    out
}

fn is_windows_absolute(path: &str) -> bool {
    let mut chars = path.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic())
        && chars.next() == Some(':')
        && matches!(chars.next(), Some('\\' | '/'))
}

fn windows(path: &str, root: &Path) -> String {
    let path = path.replace('\\', "/");
    let root = root.to_string_lossy().replace('\\', "/");
    path.strip_prefix(root.trim_end_matches('/'))
        .and_then(|rest| rest.strip_prefix('/'))
        .map_or_else(|| path.clone(), str::to_owned)
}
