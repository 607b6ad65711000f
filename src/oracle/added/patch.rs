//! Reads the patches that git prints: what each file gains, and what each commit says.

use super::{Added, text_of};
use crate::workspace::hunk;

/// What a patch, or a log with patches, tells.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// The files with their new lines, sorted by path; a new file without lines is one of them.
    pub(super) files: Vec<Added>,
    /// Each commit as it is kept: its header, and its message without the spaces that git puts before it.
    pub(super) commits: Vec<Added>,
    /// The submodules that are at another commit now: where they lie, and the two commits.
    pub(super) submodules: Vec<[String; 3]>,
}

/// What a line outside of a hunk may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// The header of a commit, up to an empty line.
    Header,
    /// Its message and notes, each line behind four spaces, and the heads of files.
    Rest,
}

/// Reads patches without context lines; commits stand in git's `raw` form.
pub(super) fn parse(diff: &[u8]) -> Told {
    let text = text_of(diff);
    let mut told = Told::default();
    let (mut next, mut left) = (0_u32, 0_u32);
    let mut removed = 0_u32;
    let mut part = Part::Rest;
    let mut commit = None;
    let mut both_names = "";
    for line in text.split_terminator('\n') {
        // Inside a hunk a line is content, whatever it looks like.
        if removed > 0 && line.starts_with('-') {
            removed -= 1;
        } else if left > 0 && line.starts_with('+') {
            left -= 1;
            if let Some(file) = told.files.last_mut() {
                file.text.push_str(line.get(1..).unwrap_or_default());
                file.text.push('\n');
                file.lines.push(next);
            }
            next = next.saturating_add(1);
        } else if part == Part::Header {
            match told.commits.last_mut() {
                Some(of_commit) if !line.is_empty() => {
                    of_commit.text.push_str(line);
                    of_commit.text.push('\n');
                }
                _ => part = Part::Rest,
            }
        } else if line.starts_with("@@ -") {
            if let Some([old, new]) = hunk(line) {
                removed = old.1;
                (next, left) = new;
            }
        } else if let Some(head) = line.strip_prefix("commit ") {
            // Behind the id stand the names of what points at it.
            let (id, names) = head.split_once(' ').unwrap_or((head, ""));
            commit = Some(id.to_owned());
            told.commits.push(Added {
                commit: commit.clone(),
                text: format!("{names}\n"),
                ..Added::default()
            });
            part = Part::Header;
        } else if let (Some(said), Some(of_commit)) =
            (line.strip_prefix("    "), told.commits.last_mut())
        {
            of_commit.text.push_str(said);
            of_commit.text.push('\n');
        } else if let Some(names) = line.strip_prefix("diff --git ") {
            both_names = names;
        } else if line.starts_with("new file mode ") {
            // An empty file has no other head, and a name.
            if let Some(path) = unquoted(half(both_names)).strip_prefix("b/") {
                told.files.push(file(path, commit.as_deref()));
            }
        } else if let Some(path) = line.strip_prefix("+++ ") {
            let last = told.files.last();
            let is_begun = last.is_some_and(|file| file.lines.is_empty());
            match unquoted(path).strip_prefix("b/") {
                Some(path) => {
                    let new = file(path, commit.as_deref());
                    if !(is_begun && last == Some(&new)) {
                        told.files.push(new);
                    }
                }
                // A deleted file: there is nothing added, and nothing to add it to.
                None => told.files.push(Added::default()),
            }
        } else if let Some(submodule) = line.strip_prefix("Submodule ") {
            told.submodules.extend(submodule_of(submodule));
        }
    }
    told.files.retain(|file| file.path.is_some());
    told.files.sort_by(|a, b| a.path.cmp(&b.path));
    told
}

/// Makes a file that has no lines yet.
fn file(path: &str, commit: Option<&str>) -> Added {
    Added {
        path: Some(path.trim_end_matches('\t').to_owned()),
        commit: commit.map(str::to_owned),
        ..Added::default()
    }
}

/// Returns one of the two names behind `diff --git`, which are the same.
fn half(both: &str) -> &str {
    both.get(..both.len() / 2).unwrap_or_default()
}

/// Reads `lib 1234567..89abcde:`, or with three dots where it is new, gone or has gone another way.
fn submodule_of(told: &str) -> Option<[String; 3]> {
    let told = match told.rsplit_once(" (") {
        Some((told, _)) => told,
        None => told.strip_suffix(':')?,
    };
    let (path, range) = told.rsplit_once(' ')?;
    let (before, now) = range.split_once("..")?;
    let is_id = |id: &str| !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    let now = now.trim_start_matches('.');
    (is_id(before) && is_id(now)).then(|| [path, before, now].map(str::to_owned))
}

/// Undoes git's quoting of a path with unusual characters.
fn unquoted(path: &str) -> String {
    let Some(inner) = path.strip_prefix('"').and_then(|p| p.strip_suffix('"')) else {
        return path.to_owned();
    };
    let mut bytes = Vec::with_capacity(inner.len());
    let mut rest = inner.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        match rest.next() {
            Some(b'n') => bytes.push(b'\n'),
            Some(b't') => bytes.push(b'\t'),
            Some(b'r') => bytes.push(b'\r'),
            Some(first @ b'0'..=b'7') => {
                let mut code = u32::from(first - b'0');
                for digit in rest.by_ref().take(2) {
                    code = code * 8 + u32::from(digit.saturating_sub(b'0'));
                }
                bytes.push(u8::try_from(code & 0xff).unwrap_or(b'?'));
            }
            Some(other) => bytes.push(other),
            None => {}
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn added_lines_keep_their_numbers() {
        let files = &parse(
            b"diff --git a/a.txt b/a.txt\nindex 1..2 100644\n--- a/a.txt\n+++ b/a.txt\n@@ -2 +2,2 @@ head\n-old\n+new one\n+++ b/not/a/header\n@@ -9,0 +11 @@\n+last\n\\ No newline at end of file\ndiff --git a/gone b/gone\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\ndiff --git \"a/\\303\\244\" \"b/\\303\\244\"\n--- /dev/null\n+++ \"b/\\303\\244\"\n@@ -0,0 +1 @@\n+y\ndiff --git b/e b/e\nnew file mode 100644\nindex 0..1\n",
        ).files;
        assert_eq!(files.len(), 3);
        assert_eq!(files[0].text, "new one\n++ b/not/a/header\nlast\n");
        assert_eq!(files[0].lines, [2, 3, 11]);
        assert_eq!(files[0].line_at(files[0].text.find("last").unwrap()), 11);
        assert!(files[0].touches(3, 5) && !files[0].touches(4, 10));
        assert_eq!(files[1].path.as_deref(), Some("e"));
        assert_eq!(files[2].path.as_deref(), Some("ä"));
    }
}
