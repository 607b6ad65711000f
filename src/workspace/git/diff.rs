//! Reads what `git diff --raw --numstat -z` writes.

use std::collections::BTreeMap;

use crate::workspace::{Change, ChangedFile};

/// One record: a file, and the objects that it was and is.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) file: ChangedFile,
    /// The content before; zeros where there was none.
    pub(super) before: String,
    /// The content now; zeros where there is none, or where it lies in the working tree alone.
    pub(super) now: String,
}

/// Reads all records; the paths are sorted, each stands once.
pub(super) fn parse(output: &[u8]) -> Vec<Entry> {
    let mut files = BTreeMap::<String, Entry>::new();
    let mut fields = paths(output);
    while let Some(field) = fields.next() {
        let field = field.trim_start_matches('\n');
        if let Some(raw) = field.strip_prefix(':') {
            let status = raw.rsplit(' ').next().unwrap_or_default();
            let (old_path, path) = match status.chars().next() {
                Some('R' | 'C') => (fields.next(), fields.next()),
                _ => (None, fields.next()),
            };
            let Some(path) = path else { break };
            let change = match status.chars().next() {
                Some('A' | 'C') => Change::Added,
                Some('D') => Change::Deleted,
                Some('R') => Change::Renamed,
                _ => Change::Modified,
            };
            let mut objects = raw.split(' ').skip(2);
            let mut object = || objects.next().unwrap_or_default().to_owned();
            let (before, now) = (object(), object());
            files.insert(
                path.clone(),
                Entry {
                    file: ChangedFile {
                        path,
                        old_path: old_path.filter(|_| change == Change::Renamed),
                        change,
                        added_lines: None,
                        removed_lines: None,
                    },
                    before,
                    now,
                },
            );
        } else if let Some((added, removed, path)) = numstat(field) {
            let path = if path.is_empty() {
                fields.next();
                fields.next().unwrap_or_default()
            } else {
                path.to_owned()
            };
            if let Some(entry) = files.get_mut(&path) {
                entry.file.added_lines = added;
                entry.file.removed_lines = removed;
            }
        }
    }
    files.into_values().collect()
}

/// Splits output into its NUL-terminated fields.
pub(super) fn paths(output: &[u8]) -> impl Iterator<Item = String> {
    output
        .split(|b| *b == 0)
        .filter(|field| !field.is_empty())
        .map(|field| String::from_utf8_lossy(field).into_owned())
}

/// Reads `@@ -1,2 +3 @@`: from where how many lines go, and from where how many come.
pub(crate) fn hunk(line: &str) -> Option<[(u32, u32); 2]> {
    let range = |range: &str| {
        let (start, count) = range.split_once(',').unwrap_or((range, "1"));
        Some((start.parse().ok()?, count.parse().ok()?))
    };
    let mut ranges = line.strip_prefix("@@ -")?.split(' ');
    let old = range(ranges.next()?)?;
    Some([old, range(ranges.next()?.strip_prefix('+')?)?])
}

fn numstat(field: &str) -> Option<(Option<u32>, Option<u32>, &str)> {
    let (added, rest) = field.split_once('\t')?;
    let (removed, path) = rest.split_once('\t')?;
    // A dash stands for a binary file.
    Some((added.parse().ok(), removed.parse().ok(), path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_renames_binaries_and_deletions() {
        let output = b":100644 100644 a b R090\0old name.rs\0new.rs\0:100644 000000 a 0 D\0gone\0\
            :000000 100644 0 b A\0bin\0\
            3\t1\t\0old name.rs\0new.rs\x000\t7\tgone\0-\t-\tbin\0";
        let files: Vec<_> = parse(output).into_iter().map(|entry| entry.file).collect();
        let shown: Vec<_> = files
            .iter()
            .map(|f| (&*f.path, f.change, f.added_lines, f.removed_lines))
            .collect();
        assert_eq!(
            shown,
            [
                ("bin", Change::Added, None, None),
                ("gone", Change::Deleted, Some(0), Some(7)),
                ("new.rs", Change::Renamed, Some(3), Some(1)),
            ]
        );
        assert_eq!(files[2].old_path.as_deref(), Some("old name.rs"));
    }

    #[test]
    fn cut_output_does_not_panic() {
        let output = b":100644 100644 a b R090\0old\0new\0";
        for end in 0..output.len() {
            parse(&output[..end]);
        }
    }
}
