//! Paths of command lines: resolved against the work dir, and through symbolic links where they exist.

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

/// How many links are followed that lead to what is not there: as many as Linux follows on one path.
const MOST_LINKS: usize = 40;

/// Resolves a path against a directory without asking the file system: `.` and `..` are taken out.
pub fn lexical(path: &str, work_dir: &Path, home: Option<&Path>) -> PathBuf {
    // The kernel's other names for the place where the shell stands, and for the root.
    let of_process = path
        .strip_prefix("/proc/")
        .and_then(|rest| rest.split_once('/'));
    let path = match of_process.map(|(_, rest)| rest) {
        Some(rest) if rest.starts_with("cwd") => {
            rest.trim_start_matches("cwd").trim_start_matches('/')
        }
        Some(rest) if rest.starts_with("root/") => rest.trim_start_matches("root"),
        _ => path,
    };
    let joined = match (path, home) {
        ("~", Some(home)) => home.to_owned(),
        (_, Some(home)) if path.starts_with("~/") => home.join(path.get(2..).unwrap_or_default()),
        _ => work_dir.join(path),
    };
    if is_clean(&joined) {
        joined
    } else {
        without_dots(&joined)
    }
}

/// Whether a path holds a pattern below a folder, of which it is known that its own name is none.
pub(crate) fn is_pattern(path: &Path, known: &Path) -> bool {
    let below = path.strip_prefix(known).unwrap_or(path);
    let bytes = below.as_os_str().as_encoded_bytes();
    bytes.iter().any(|byte| matches!(byte, b'*' | b'?' | b'['))
}

/// Whether a path surely has nothing in it that would be taken out.
pub(crate) fn is_clean(path: &Path) -> bool {
    let bytes = path.as_os_str().as_encoded_bytes();
    let mut names = bytes
        .strip_prefix(b"/")
        .unwrap_or(bytes)
        .split(|b| *b == b'/');
    names.all(|name| !matches!(name, b"" | b"." | b".."))
}

/// Returns an absolute path without `.` and `..`, by its words alone: what it names may be gone already.
pub(crate) fn without_dots(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for component in path.components() {
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

/// Follows the symbolic links of the longest part of a path that exists, and those that lead to what is not there yet:
/// who writes through such a link makes it.
pub fn real(path: &Path) -> PathBuf {
    follow(path, MOST_LINKS)
}

fn follow(path: &Path, links: usize) -> PathBuf {
    let mut missing: Vec<OsString> = Vec::new();
    let mut existing = path;
    loop {
        let with_missing = |mut found: PathBuf| {
            found.extend(missing.iter().rev());
            found
        };
        if let Ok(found) = existing.canonicalize() {
            return with_missing(found);
        }
        let (Some(parent), Some(name)) = (existing.parent(), existing.file_name()) else {
            return path.to_owned();
        };
        if let (Ok(target), 1..) = (existing.read_link(), links) {
            let dir = follow(parent, links - 1);
            return follow(&with_missing(without_dots(&dir.join(target))), links - 1);
        }
        missing.push(name.to_owned());
        existing = parent;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_clean_path_has_nothing_to_be_taken_out(path in "(/|\\.|\\.\\.|a|\\.b| |é){0,8}") {
            let path = Path::new(&path);
            if is_clean(path) {
                let without = without_dots(path);
                prop_assert_eq!(without.as_os_str(), path.as_os_str());
            }
        }
    }

    #[test]
    fn most_paths_are_clean() {
        for path in ["/", "", "/a/", "a//b", "./a", "/a/../b", "/a/."] {
            assert!(!is_clean(Path::new(path)), "{path}");
        }
        for path in ["/a/.b/c..d", "a", ".a", "/..a"] {
            assert!(is_clean(Path::new(path)), "{path}");
        }
    }
}
