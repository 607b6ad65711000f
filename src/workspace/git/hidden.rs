//! Hidden: files whose lines git does not count although they are text, because attributes say so.

use super::Repository;
use super::diff::{Entry, hunk};

/// Git takes a file for binary that holds a zero byte in its beginning.
const BINARY_PROBE: usize = 8000;

impl Repository {
    /// Counts the lines of those files that are text before and now and that git did not count: `-diff` in `.gitattributes`, which
    /// comes with the change, makes nothing binary. What cannot be counted stays as it is.
    pub(super) fn count_hidden(&self, base: &str, entries: &mut [Entry]) {
        let is_uncounted =
            |entry: &&mut Entry| entry.file.added_lines.is_none() && self.is_text(entry);
        let mut hidden: Vec<&mut Entry> = entries.iter_mut().filter(is_uncounted).collect();
        let files = hidden.iter().map(|entry| &entry.file);
        let paths = files.flat_map(|file| file.old_path.iter().chain([&file.path]));
        let paths: Vec<&str> = paths.map(String::as_str).collect();
        if paths.is_empty() {
            return;
        }
        // A count of lines heeds attributes whatever it is told; a patch does not.
        let form = [
            "--literal-pathspecs",
            "diff",
            "--patch",
            "--text",
            "--unified=0",
            "--inter-hunk-context=0",
            "--find-renames",
            "-l400",
            "--no-color",
            "--no-ext-diff",
            "--no-textconv",
            "--ignore-submodules=dirty",
            "--relative",
            base,
            "--",
        ];
        let Ok(patch) = self.git().run(&[&form, &*paths].concat()) else {
            return;
        };
        let counts = counts(&patch);
        // The files stand in one order in both; where git pairs them otherwise now, nobody can tell which is which.
        if counts.len() == hidden.len() {
            for (entry, (removed, added)) in hidden.iter_mut().zip(counts) {
                entry.file.added_lines = Some(added);
                entry.file.removed_lines = Some(removed);
            }
        }
    }

    fn is_text(&self, entry: &Entry) -> bool {
        // The file that lies there is looked at first: most that are binary are so now, and need no git.
        let beginning = self.git().beginning(&entry.file.path, BINARY_PROBE);
        if beginning.is_some_and(|beginning| is_binary(&beginning)) {
            return false;
        }
        let objects = [entry.now.as_str(), entry.before.as_str()];
        let objects: Vec<&str> = objects.into_iter().filter(|o| !is_none(o)).collect();
        // What is no file, such as the commit of a submodule, has no lines.
        let contents = self.contents(&objects);
        contents.is_ok_and(|contents| !contents.iter().any(|content| is_binary(content)))
    }
}

/// Returns how many lines a patch takes from each of its files and adds to it.
fn counts(patch: &[u8]) -> Vec<(u32, u32)> {
    let mut counts: Vec<(u32, u32)> = Vec::new();
    // What stands in a file has a sign before it.
    for line in patch.split(|byte| *byte == b'\n') {
        if line.starts_with(b"diff --git ") {
            counts.push((0, 0));
        } else if line.starts_with(b"@@ -")
            && let Some(of_file) = counts.last_mut()
            && let Some([removed, added]) = hunk(&String::from_utf8_lossy(line))
        {
            of_file.0 = of_file.0.saturating_add(removed.1);
            of_file.1 = of_file.1.saturating_add(added.1);
        }
    }
    counts
}

fn is_none(object: &str) -> bool {
    object.bytes().all(|digit| digit == b'0')
}

fn is_binary(content: &[u8]) -> bool {
    let beginning = content.get(..BINARY_PROBE).unwrap_or(content);
    memchr::memchr(0, beginning).is_some()
}
