//! Finds the files that runs write, and when they were written.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::SystemTime;

use crate::words::words;

/// How many files a glob may give before it is taken for a mistake.
const MAX_FILES: usize = 20_000;

/// The extensions of files that hold code.
pub(in crate::oracle) const CODE: &[&str] = words!("code-endings");

/// What files of tests are called.
pub(in crate::oracle) const TEST_FILES: &[&str] = words!("test-files");

/// Whether a file of the project holds code of tests; `read` gives its text.
pub(in crate::oracle) fn holds_tests(path: &str, read: impl FnOnce() -> Option<String>) -> bool {
    let extension = path.rsplit_once('.').map_or("", |(_, extension)| extension);
    let is_called_so = || {
        TEST_FILES
            .iter()
            .any(|glob| fast_glob::glob_match(glob, path))
    };
    CODE.contains(&extension)
        && (is_called_so()
            || extension == "rs"
                && read().is_some_and(|text| text.lines().map(str::trim).any(is_test_attribute)))
}

/// Whether a line is `#[test]`, `#[cfg(test)]`, `#[tokio::test]` or the like.
pub(in crate::oracle) fn is_test_attribute(text: &str) -> bool {
    let Some(rest) = text.strip_prefix("#[") else {
        return false;
    };
    let mut words = rest.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.any(|word| matches!(word, "test" | "rstest" | "test_case")) && !rest.contains("not(test")
}

/// Returns the files that paths and globs name, relative to the project, sorted; a path that names nothing is kept.
pub(in crate::oracle) fn expand(root: &Path, patterns: &[String]) -> Vec<String> {
    let mut files = Vec::new();
    for pattern in patterns {
        if !pattern.contains(['*', '?', '[', '{']) {
            files.push(pattern.clone());
            continue;
        }
        // Reports commonly are ignored by git, so that the list of the project's files does not hold them.
        let fixed = pattern
            .split(['*', '?', '[', '{'])
            .next()
            .and_then(|head| head.rsplit_once('/'))
            .map_or("", |(dir, _)| dir);
        let found = ignore::WalkBuilder::new(root.join(fixed))
            .standard_filters(false)
            .filter_entry(|entry| {
                entry.file_name() != ".git" && entry.file_name() != "node_modules"
            })
            .build()
            .filter_map(Result::ok)
            .filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()))
            .filter_map(|entry| Some(entry.path().strip_prefix(root).ok()?.to_str()?.to_owned()))
            .filter(|path| fast_glob::glob_match(pattern, path))
            .take(MAX_FILES);
        files.extend(found);
    }
    files.sort_unstable();
    files.dedup();
    files
}

/// When files were last written; those that are not there are left out.
pub(in crate::oracle) fn times(root: &Path, files: &[String]) -> BTreeMap<String, SystemTime> {
    let time = |file: &String| fs::metadata(root.join(file)).ok()?.modified().ok();
    files
        .iter()
        .filter_map(|file| Some((file.clone(), time(file)?)))
        .collect()
}
