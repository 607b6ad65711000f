//! Replaced: what of the project's own stands in the place of a runner, or of a part of one, as the run itself shows it.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use crate::words::words;

/// Directories of what was installed, which is no part of the change.
const INSTALLED: &[&str] = words!("installed-folders");

/// A file of the project that replaces something.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::oracle) struct Replaced {
    /// What it replaces: an option, a setting, a variable or a function, as it is written where it is set.
    pub(in crate::oracle) what: String,
    /// The file, relative to the project.
    pub(in crate::oracle) file: String,
}

/// Returns the files of the project that a value names, as a path of its own or in a list, with what they replace.
pub(super) fn named(root: &Path, what: &str, dir: &Path, value: &str) -> BTreeSet<Replaced> {
    let pieces = value.split(|c: char| c.is_whitespace() || "'\",;=[]\x1f".contains(c));
    let whole = std::iter::once(value.trim());
    let files = whole.chain(pieces).filter(|piece| !piece.is_empty());
    let files = files.filter_map(|piece| own_file(root, dir, piece));
    let what = what.trim_start_matches('-').to_owned();
    files
        .map(|file| Replaced {
            what: what.clone(),
            file,
        })
        .collect()
}

/// Returns a path relative to the project, if a file of the project's own is there.
fn own_file(root: &Path, dir: &Path, path: &str) -> Option<String> {
    let path = path.strip_prefix("file://").unwrap_or(path);
    let real_root = root.canonicalize().ok()?;
    [dir, root].into_iter().find_map(|dir| {
        let file: PathBuf = dir.join(path).canonicalize().ok()?;
        let relative = file.strip_prefix(&real_root).ok()?;
        let is_installed = relative.components().any(|part| {
            let Component::Normal(name) = part else {
                return false;
            };
            INSTALLED.iter().any(|installed| name == *installed)
        });
        (file.is_file() && !is_installed).then(|| relative.to_str().map(str::to_owned))?
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_the_project_itself_are_named() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        for file in ["good.sh", "sub/run.sh", "node_modules/x/index.js"] {
            std::fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
            std::fs::write(root.join(file), "").unwrap();
        }
        let absolute = root.join("good.sh");
        for (dir, value, expected) in [
            ("", "./good.sh", "good.sh"),
            ("", absolute.to_str().unwrap(), "good.sh"),
            ("sub", "run.sh -v", "sub/run.sh"),
            ("", "target.'cfg(unix)'.runner='./good.sh'", "good.sh"),
            ("", "-v -exec=sub/run.sh", "sub/run.sh"),
            ("", "-C\x1flinker=./good.sh", "good.sh"),
            (
                "",
                "-Clink-arg=-fuse-ld=sub/run.sh -Copt-level=1",
                "sub/run.sh",
            ),
            ("", "sccache", ""),
            ("", "true", ""),
            ("", "/bin/sh", ""),
            ("", "node_modules/x/index.js", ""),
        ] {
            let found = named(root, "-exec", &root.join(dir), value);
            let files: Vec<&str> = found.iter().map(|found| found.file.as_str()).collect();
            assert_eq!(files.join(" "), expected, "{value}");
            assert!(found.iter().all(|found| found.what == "exec"));
        }
    }
}
