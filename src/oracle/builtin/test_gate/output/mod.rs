//! What a test runner printed, read: how many tests ran, which failed, and where.

mod go;
mod javascript;
mod jvm;
mod python;
mod rust;

use super::tally::Tally;

/// Reads the output of one or more runners; none where nothing in it is known to be a test run.
///
/// Runners of different languages add up (`make test` may call several); those of one language do not, since
/// one often shows the output of another inside its own.
pub(in crate::oracle::builtin) fn read(output: &[u8]) -> Option<Tally> {
    let text = without_colours(&String::from_utf8_lossy(output));
    let readers: [fn(&str) -> Option<Tally>; 5] = [
        rust::read,
        python::read,
        javascript::read,
        go::read,
        jvm::read,
    ];
    let mut found = None::<Tally>;
    for tally in readers.iter().filter_map(|read| read(&text)) {
        found.get_or_insert_default().add(tally);
    }
    found
}

/// Takes ANSI escape sequences and carriage returns out of a text.
fn without_colours(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' if chars.peek() == Some(&'[') => {
                chars.next();
                // The sequence ends with its first byte in `@`…`~`.
                for end in chars.by_ref() {
                    if ('@'..='~').contains(&end) {
                        break;
                    }
                }
            }
            '\u{1b}' | '\r' => {}
            _ => plain.push(c),
        }
    }
    plain
}

/// Finds the first `path:line` in a line of text; a column after it is left out.
pub(super) fn place(text: &str) -> Option<(String, u32)> {
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

/// Returns the number before a word: `3` of `3 passed`.
fn count_before(text: &str, word: &str) -> Option<u64> {
    let mut previous = "";
    for token in text.split(|c: char| c.is_whitespace() || c == ',' || c == ';' || c == '|') {
        if token.is_empty() {
            continue;
        }
        if token == word {
            return previous.parse().ok();
        }
        previous = token;
    }
    None
}

/// Returns the number after a label: `3` of `Failures: 3`.
fn count_after(text: &str, label: &str) -> Option<u64> {
    let (_, rest) = text.split_once(label)?;
    let digits: String = rest
        .trim_start()
        .chars()
        .take_while(char::is_ascii_digit)
        .collect();
    digits.parse().ok()
}

/// Returns the percentage at the end of a line or in its cell.
fn percent(text: &str) -> Option<f64> {
    text.trim()
        .trim_end_matches('%')
        .trim()
        .parse::<f64>()
        .ok()
        .filter(|p| (0.0..=100.0).contains(p))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    /// Writes what was read as the case's `.expected` file has it.
    fn written(tally: Option<&Tally>) -> String {
        let Some(tally) = tally else {
            return "no test run\n".to_owned();
        };
        let mut text = format!(
            "passed {} failed {} skipped {}\n",
            tally.passed, tally.failed, tally.skipped
        );
        if let Some(coverage) = tally.coverage {
            text.push_str(&format!("coverage {coverage}\n"));
        }
        for failure in &tally.failures {
            text.push_str(&format!(
                "{} | {} | {}\n",
                failure.name,
                failure.place().unwrap_or_default(),
                failure.message.as_deref().unwrap_or_default()
            ));
        }
        text
    }

    #[test]
    fn the_output_of_each_runner_is_read_as_its_case_says() {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/test_output");
        let mut wrong = String::new();
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|e| e != "txt") {
                continue;
            }
            let found = written(read(&fs::read(&path).unwrap()).as_ref());
            let expected = fs::read_to_string(path.with_extension("expected")).unwrap_or_default();
            if found != expected {
                wrong.push_str(&format!("{}\n{found}", path.display()));
                if std::env::var_os("AHP_BLESS").is_some() {
                    fs::write(path.with_extension("expected"), found).unwrap();
                }
            }
        }
        assert!(wrong.is_empty(), "{wrong}");
    }

    #[test]
    fn places_are_found_in_the_words_of_a_line() {
        let found = |text| place(text).map(|(file, line)| format!("{file} {line}"));
        assert_eq!(
            found("panicked at src/lib.rs:13:19:").unwrap(),
            "src/lib.rs 13"
        );
        assert_eq!(found("at f (file:///p/a.mjs:2:50)").unwrap(), "/p/a.mjs 2");
        assert_eq!(
            found("tests/test_a.py:5: AssertionError").unwrap(),
            "tests/test_a.py 5"
        );
        assert_eq!(
            found("location: '/p/a.test.js:2:23'").unwrap(),
            "/p/a.test.js 2"
        );
        assert_eq!(found("at process.run (node:internal/timers:483:21)"), None);
        assert_eq!(found("at 10:30:00"), None);
    }
}
