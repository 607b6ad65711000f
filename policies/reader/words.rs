//! The lists of `policies/words.txt`, by their words and by their lines.

use std::fmt::{Error, Write as _};

/// Returns the lists as a macro that knows each by its name, and a function that finds one.
pub(super) fn written(text: &str) -> Result<String, Error> {
    let mut arms = String::new();
    let mut names = String::new();
    for part in text.split("\n\n") {
        let mut lines = part.lines().skip_while(|line| line.starts_with('#'));
        let header = lines.next().unwrap_or_default();
        let Some(name) = header
            .strip_prefix('[')
            .and_then(|name| name.strip_suffix(']'))
        else {
            continue;
        };
        let lines: Vec<_> = lines.collect();
        let words: Vec<_> = lines
            .iter()
            .flat_map(|line| line.split_ascii_whitespace())
            .collect();
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
