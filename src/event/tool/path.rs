//! Path: how a path that a tool names is written for policies.

use std::borrow::Cow;
use std::path::{Component, Path, PathBuf};

/// Returns a path relative to the project where it lies in it, else absolute; `/` is the separator.
///
/// Only the words are looked at, not the disk: the file need not exist yet. `~/` is kept, for who
/// runs the tool is not known here.
pub(super) fn written(path: &str, work_dir: &Path, root: &Path) -> String {
    let path = &*local(path);
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

/// Returns the path that an address of a file stands for: `file:///a/%2Eb` is `/a/.b`; any other text as it is.
pub(super) fn local(text: &str) -> Cow<'_, str> {
    let path = text.strip_prefix("file:");
    let Some(path) = path.filter(|path| path.starts_with('/')) else {
        return Cow::Borrowed(text);
    };
    let path = path.strip_prefix("//").unwrap_or(path);
    let path = match path.strip_prefix("localhost") {
        Some(rest) if rest.starts_with('/') => rest,
        _ => path,
    };
    if !path.contains('%') {
        return Cow::Borrowed(path);
    }
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let [first, tail @ ..] = rest {
        let code = tail
            .get(..2)
            .and_then(|code| std::str::from_utf8(code).ok());
        let code = code.filter(|_| *first == b'%');
        let byte = code.and_then(|code| u8::from_str_radix(code, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = tail.get(byte.map_or(0, |_| 2)..).unwrap_or_default();
    }
    Cow::Owned(String::from_utf8_lossy(&bytes).into_owned())
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

#[cfg(test)]
mod tests {
    use super::local;

    #[test]
    fn an_address_of_a_file_is_its_path() {
        for (address, path) in [
            ("file:///a/%2Eahp/k%65y", "/a/.ahp/key"),
            ("file://localhost/a", "/a"),
            ("file:/a", "/a"),
            ("file://a/b", "a/b"),
            ("file:///100%", "/100%"),
            ("file: a note", "file: a note"),
            ("/a/%2E", "/a/%2E"),
        ] {
            assert_eq!(local(address), path);
        }
    }
}
