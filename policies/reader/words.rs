//! The lists of `policies/words.txt`, by their words and by their lines.

use std::collections::BTreeMap;
use std::fmt::{Error, Write as _};

/// The lines of each list, by its name.
pub(super) type Lists<'t> = BTreeMap<&'t str, Vec<&'t str>>;

/// Returns the lists of the file.
pub(super) fn lists(text: &str) -> Lists<'_> {
    let parts = text.split("\n\n").filter_map(|part| {
        let mut lines = part.lines().skip_while(|line| line.starts_with('#'));
        let header = lines.next()?.strip_prefix('[')?;
        Some((header.strip_suffix(']')?, lines.collect()))
    });
    parts.collect()
}

/// Returns the words of a list.
pub(super) fn words<'t>(lines: &[&'t str]) -> Vec<&'t str> {
    let lines = lines.iter();
    lines
        .flat_map(|line| line.split_ascii_whitespace())
        .collect()
}

/// Returns the lists as a macro that knows each by its name, and a function that finds one.
pub(super) fn written(lists: &Lists<'_>) -> Result<String, Error> {
    let mut arms = String::new();
    let mut names = String::new();
    for (name, lines) in lists {
        let words = words(lines);
        writeln!(
            arms,
            "({name:?}) => {{ &{words:?} }};\n({name:?}, lines) => {{ &{lines:?} }};"
        )?;
        writeln!(names, "{name:?} => Some(&{words:?}),")?;
    }
    Ok(format!(
        "macro_rules! words {{\n{arms}}}\n\
         /// Returns the words of a list that a rule names.\n\
         pub(crate) fn find(name: &str) -> Option<&'static [&'static str]> {{\n\
         match name {{\n{names}_ => None,\n}}\n}}\n"
    ))
}
