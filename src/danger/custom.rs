//! CommandPattern: a command as a person writes it into a policy, `rm -rf` or `DROP TABLE`.

use super::digest::Digest;
use super::knowledge::NothingKnown;
use super::{index, sql};
use crate::glob::glob;
use crate::program;
use crate::program::Fact;
use crate::shell::{Analysis, Invocation, Redirect, Stdin, Surroundings, Word, analyse};

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
    /// The one command that is meant, where it is written with `=` before it.
    exact: Option<Box<Exact>>,
}

/// A command with all of its words: what differs in anything is another one.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Exact {
    path: Word,
    arguments: Vec<Word>,
    redirects: Vec<Redirect>,
    environment: Vec<(String, Word)>,
    wrappers: Vec<String>,
}

impl Exact {
    /// Takes an invocation; none where what it does is not told by its own words.
    fn of(invocation: &Invocation) -> Option<Self> {
        let is_told = |word: &Word| !word.dynamic && word.made_by.is_empty() && !word.each;
        let all_told = invocation.fed_by.is_empty()
            && matches!(invocation.stdin, Stdin::Inherited)
            && is_told(&invocation.path)
            && invocation.arguments.iter().all(is_told)
            && invocation
                .redirects
                .iter()
                .all(|redirect| is_told(&redirect.target));
        all_told.then(|| Self {
            path: invocation.path.clone(),
            arguments: invocation.arguments.clone(),
            redirects: invocation.redirects.clone(),
            environment: invocation.environment.clone(),
            wrappers: invocation.wrappers.clone(),
        })
    }

    /// Reads one command; none where the text is several, or not told by its own words.
    fn read(text: &str) -> Option<Self> {
        let analysis = analyse(text, Surroundings::default());
        let mut own = analysis
            .invocations
            .iter()
            .filter(|invocation| !invocation.emulated);
        let wrappers = |invocation: &Invocation| invocation.wrappers.len();
        let last = own.clone().next_back()?;
        // Each one runs through all that stand before it: `sudo env x`.
        let is_one = own
            .by_ref()
            .enumerate()
            .all(|(at, invocation)| wrappers(invocation) >= at);
        (is_one && analysis.doubts.is_empty())
            .then(|| Self::of(last))
            .flatten()
    }
}

impl CommandPattern {
    /// Reads a command of a policy.
    pub fn new(text: &str) -> Self {
        let mut pattern = Self {
            text: text.to_owned(),
            ..Self::default()
        };
        if let Some(command) = text.strip_prefix('=') {
            // What is not one command means none.
            pattern.exact = Exact::read(command).map(Box::new);
            return pattern;
        }
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

impl CommandPattern {
    /// Makes the pattern that means one command and no other.
    ///
    /// # Errors
    /// The text is several commands, or what it does is known only when it runs.
    pub fn exactly(command: &str) -> Result<Self, String> {
        let pattern = Self::new(&format!("={command}"));
        if pattern.exact.is_some() {
            return Ok(pattern);
        }
        Err(format!(
            "`{command}` is not one command whose words say all that it does: give the one that is stopped, without pipes, \
             variables and here-documents"
        ))
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
    if let Some(exact) = &pattern.exact {
        return Exact::of(invocation).as_ref() == Some(exact);
    }
    if program::find(&invocation.program).is(Fact::Statements)
        && pattern.letters.is_empty()
        && pattern.options.is_empty()
        && pattern.statement.len() > 1
    {
        let holds = |text| sql::holds(text, &pattern.statement);
        if Digest::new(analysis, 0, invocation, "", &NothingKnown)
            .texts()
            .any(holds)
        {
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
    let sections = index::sections(&invocation.program);
    let values: Vec<&str> = sections.map(|(_, section)| section.values.trim()).collect();
    let values = values.join(" ");
    let digest = Digest::new(analysis, 0, invocation, &values, &NothingKnown);
    let mut operands = digest.operands.iter();
    pattern
        .operands
        .iter()
        .all(|wanted| operands.any(|word| glob(wanted, &word.text)))
}
