//! Places in what runners print: `path:line`.

use std::path::Path;

use crate::oracle::toolchain::relative;

/// Finds the first `path:line` in a line of text; a column after it is left out.
pub(super) fn in_line(text: &str) -> Option<(String, u32)> {
    text.split(|c: char| c.is_whitespace() || "()'\"".contains(c))
        .find_map(|word| {
            let word = word.trim_end_matches([':', ',']);
            let word = word.strip_prefix("file://").unwrap_or(word);
            let mut parts = word.rsplitn(3, ':');
            let last = parts.next()?.parse::<u32>().ok()?;
            let middle = parts.next()?;
            let (path, line) = match (middle.parse::<u32>(), parts.next()) {
                (Ok(line), Some(path)) => (path.to_owned(), line),
                (_, Some(drive)) => (format!("{drive}:{middle}"), last),
                (_, None) => (middle.to_owned(), last),
            };
            let is_path = path.contains('.') && !path.starts_with("node:");
            is_path.then_some((path, line))
        })
}

/// Finds the first place of a trace that lies in the project itself, relative to it.
pub(super) fn in_project(trace: &str, root: &Path) -> Option<(String, u32)> {
    let places = trace.lines().filter_map(in_line);
    let mut own = places.map(|(file, line)| (relative(root, &file), line));
    own.find(|(file, _)| {
        let is_foreign = ["node_modules/", "site-packages/"]
            .iter()
            .any(|dir| file.contains(dir));
        !is_foreign && root.join(file).is_file()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_found_in_the_words_of_a_line() {
        let found = |text| in_line(text).map(|(file, line)| format!("{file} {line}"));
        for (text, expected) in [
            ("panicked at src/lib.rs:13:19:", Some("src/lib.rs 13")),
            ("at f (file:///p/a.mjs:2:50)", Some("/p/a.mjs 2")),
            (
                "tests/test_a.py:5: AssertionError",
                Some("tests/test_a.py 5"),
            ),
            ("location: '/p/a.test.js:2:23'", Some("/p/a.test.js 2")),
            ("at process.run (node:internal/timers:483:21)", None),
            ("at 10:30:00", None),
        ] {
            assert_eq!(found(text).as_deref(), expected);
        }
    }
}
