//! Words: the lists of `policies/words.txt`, by which rules and code know programs, files and hosts. The build takes the file apart
//! (policies/reader/words.rs); a list that is not there is an error of the compiler.

// A macro, `words!("decoders")` for the words of a list and `words!("secret-owners", lines)` for its lines, and `find`.
include!(concat!(env!("OUT_DIR"), "/words.rs"));
pub(crate) use words;

/// Whether a text holds one of some words.
pub(crate) fn holds_any(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| text.contains(word))
}

/// Whether one of some lines, a name and those that it is for, has a name for one of them.
pub(crate) fn names_for(lines: &[&str], name: &str, what: &str) -> bool {
    let mut lines = lines.iter().map(|line| line.split(' '));
    lines.any(|mut words| words.next() == Some(name) && words.any(|word| word == what))
}
