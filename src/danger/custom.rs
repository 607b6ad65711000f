//! CommandPattern: a command as a person writes it into a policy, `rm -rf` or `DROP TABLE`.

use super::digest::Digest;
use super::sql;
use crate::glob::glob;
use crate::program;
use crate::program::Fact;
use crate::shell::Analysis;
use crate::shell::Invocation;

/// A command of a policy: a program with options and words, or the words of a statement.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandPattern {
    /// As it is written.
    pub text: String,
    program: String,
    letters: Vec<char>,
    options: Vec<String>,
    operands: Vec<String>,
    statement: Vec<String>,
}

impl CommandPattern {
    /// Reads a command of a policy.
    pub fn new(text: &str) -> Self {
        let mut pattern = Self {
            text: text.to_owned(),
            ..Self::default()
        };
        for word in text.split_whitespace() {
            if pattern.program.is_empty() {
                word.clone_into(&mut pattern.program);
            } else if let Some(letters) = word
                .strip_prefix('-')
                .filter(|l| !l.starts_with('-') && !l.is_empty() && l.len() <= 4)
            {
                pattern.letters.extend(letters.chars());
            } else if word.starts_with("--") && word.len() > 2 {
                pattern.options.push(word.to_owned());
            } else {
                pattern.operands.push(word.to_owned());
            }
        }
        pattern.statement = text
            .split_whitespace()
            .map(|w| {
                w.trim_matches(|c: char| !(c.is_alphanumeric() || c == '_'))
                    .to_ascii_lowercase()
            })
            .filter(|w| !w.is_empty())
            .collect();
        pattern
    }
}

/// Long options that mean the same as a short one of the same program.
fn long_of(program: &str, letter: char) -> &'static [&'static str] {
    match (program, letter) {
        ("rm" | "cp" | "chmod" | "chown" | "grep" | "chgrp", 'r' | 'R') => &["--recursive"],
        (_, 'f') => &["--force"],
        (_, 'r') => &["--recursive"],
        (_, 'v') => &["--verbose"],
        (_, 'n') => &["--dry-run"],
        (_, 'a') => &["--all"],
        _ => &[],
    }
}

/// Whether an invocation is what a pattern names, whatever the order and form of its options.
pub(super) fn meets(
    pattern: &CommandPattern,
    analysis: &Analysis,
    invocation: &Invocation,
) -> bool {
    if program::find(&invocation.program).is(Fact::Statements)
        && pattern.letters.is_empty()
        && pattern.options.is_empty()
        && pattern.statement.len() > 1
    {
        let holds = |text| sql::holds(text, &pattern.statement);
        if Digest::new(analysis, 0, invocation, "").texts().any(holds) {
            return true;
        }
    }
    if !glob(&pattern.program, &invocation.program) || pattern.program.is_empty() {
        return false;
    }
    let has_letters = pattern.letters.iter().all(|letter| {
        invocation.has_short(*letter)
            || (*letter == 'r' && pattern.program == "rm" && invocation.has_short('R'))
            || long_of(&pattern.program, *letter)
                .iter()
                .any(|long| invocation.has_long(long))
    });
    let has_options = pattern.options.iter().all(|option| {
        invocation.has_long(option)
            || (option == "--force" && invocation.has_short('f'))
            || (option == "--recursive" && invocation.has_short('r'))
    });
    if !(has_letters && has_options) {
        return false;
    }
    let digest = Digest::new(analysis, 0, invocation, "");
    let mut operands = digest.operands.iter();
    pattern
        .operands
        .iter()
        .all(|wanted| operands.any(|word| glob(wanted, &word.text)))
}
