//! Statements: what a change says of tests that are to go, in its commit messages and in its issue.

use crate::oracle::toolchain::test_run::short;

/// How the words begin that say so.
const STEMS: &[&str] = &[
    "remov", "delet", "drop", "skip", "ignor", "disabl", "retir", "renam", "mov", "merg", "replac",
];
/// How they end.
const ENDINGS: &[&str] = &["", "e", "es", "ed", "ing", "s", "ped", "ping"];
/// What turns such a word into its opposite, where it stands before it.
const DENIALS: &[&str] = &[
    "not", "never", "cannot", "don", "doesn", "won", "without", "nor",
];
/// How a sentence calls tests.
const TESTS: &[&str] = &["test", "tests", "case", "cases", "spec", "specs", "suite"];
/// What may stand around a name.
const QUOTES: &[char] = &['`', '"', '\'', '“', '”', '‘', '’'];

/// Whether a text says of the test of this (short) name that it goes: `Removed: NAME, NAME` on a line, or a sentence that
/// says so of the test, with its name in quotes or a name that is no ordinary word.
pub(super) fn says_so(text: &str, name: &str) -> bool {
    text.lines().any(|line| lists(line, name))
        || sentences(text).any(|sentence| is_of_removal(&sentence) && names(&sentence, name))
}

/// Whether a text says that tests go, without a name.
pub(super) fn says_so_of_any(text: &str) -> bool {
    sentences(text).any(|sentence| is_of_removal(&sentence))
}

/// Reads `Removed: NAME, NAME`.
fn lists(line: &str, name: &str) -> bool {
    let line = line.trim().trim_start_matches(['-', '*', ' ']);
    let Some((head, rest)) = line.split_once(':') else {
        return false;
    };
    let head = words(head);
    let is_head = head.first().is_some_and(|word| is_removal(word))
        && head
            .get(1)
            .is_none_or(|word| TESTS.contains(&word.as_str()))
        && head.len() <= 2;
    is_head && (rest.split(',')).any(|part| is_name(part.trim(), name))
}

/// Returns the sentences of a text: a paragraph, cut where one ends.
fn sentences(text: &str) -> impl Iterator<Item = String> {
    let mut paragraphs = vec![String::new()];
    for line in text.lines().map(str::trim) {
        match paragraphs.last_mut() {
            Some(last) if !line.is_empty() => {
                last.push_str(line);
                last.push(' ');
            }
            _ => paragraphs.push(String::new()),
        }
    }
    paragraphs.into_iter().flat_map(|paragraph| {
        let sentences = paragraph.split(". ").flat_map(|part| part.split("; "));
        sentences.map(str::to_owned).collect::<Vec<_>>()
    })
}

fn words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric());
    let words = words.filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

fn is_removal(word: &str) -> bool {
    let rests = STEMS.iter().filter_map(|stem| word.strip_prefix(stem));
    rests.into_iter().any(|rest| ENDINGS.contains(&rest))
}

/// Whether a sentence says that tests go.
fn is_of_removal(sentence: &str) -> bool {
    let words = words(sentence);
    let says = words.iter().enumerate().any(|(at, word)| {
        let before = words.get(at.saturating_sub(3)..at).unwrap_or_default();
        is_removal(word) && !before.iter().any(|word| DENIALS.contains(&word.as_str()))
    });
    says && words.iter().any(|word| TESTS.contains(&word.as_str()))
}

/// Whether a sentence names a test: in quotes, or bare where no ordinary word is written so.
fn names(sentence: &str, name: &str) -> bool {
    let in_quotes = sentence.split(QUOTES).skip(1).step_by(2);
    if in_quotes.into_iter().any(|part| is_name(part, name)) {
        return true;
    }
    let is_ordinary = name.chars().all(|c| c.is_lowercase() || c == ' ')
        || name.contains(' ')
        || name.chars().skip(1).all(char::is_lowercase);
    !is_ordinary && sentence.split_whitespace().any(|word| is_name(word, name))
}

/// Whether a word is this name, as it stands in the source or as its runner writes it.
fn is_name(word: &str, name: &str) -> bool {
    let is_around = |c: char| QUOTES.contains(&c) || ",.;:!?()".contains(c);
    let word = word.trim_matches(is_around);
    word == name || short(word) == name
}

#[cfg(test)]
mod tests {
    use super::says_so;

    #[test]
    fn a_text_says_so_or_only_happens_to_hold_the_name() {
        for (text, name, expected) in [
            (
                "Drop the test `subtracts`, since nothing subtracts",
                "subtracts",
                true,
            ),
            ("Removed: adds, subtracts", "subtracts", true),
            ("Skipped tests: `subtracts`", "subtracts", true),
            (
                "x\n\n- removed: sums::tests::subtracts\n",
                "subtracts",
                true,
            ),
            ("Rename the test\n`test_a` to `test_b`.", "test_a", true),
            ("The case test_a is deleted, as b covers it", "test_a", true),
            (
                "Remove the tests of the old form:\n- `adds two`\n- `adds three`",
                "adds three",
                true,
            ),
            // It only holds the name.
            ("Make it add: it adds and subtracts", "subtracts", false),
            ("Remove what subtracts from the tests", "subtracts", false),
            ("Fix test_a", "test_a", false),
            ("Removed: adds", "subtracts", false),
            ("Removed: subtracts_more", "subtracts", false),
            ("Drop the test `subtracts more`", "subtracts", false),
            (
                "Remove the parser. The test `subtracts` is faster now",
                "subtracts",
                false,
            ),
            // It says the opposite.
            ("Do not remove the test `subtracts`", "subtracts", false),
            (
                "We never ever skip the test `subtracts`",
                "subtracts",
                false,
            ),
            // It is of something else.
            ("Remove `subtracts` from the API", "subtracts", false),
            ("Note: subtracts", "subtracts", false),
        ] {
            assert_eq!(says_so(text, name), expected, "{text}");
        }
    }
}
