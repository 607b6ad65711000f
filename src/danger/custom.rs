//! CommandPattern: a command as a person writes it into a policy, `rm -rf` or `DROP TABLE`.

use std::path::{Path, PathBuf};

use super::digest::Digest;
use super::knowledge::NothingKnown;
use super::{index, sql};
use crate::glob::glob;
use crate::program::{self, Fact};
use crate::shell::{Analysis, DoubtKind, Invocation, Redirect, Stdin, Surroundings, Word, analyse};
use crate::shell_word::quoted_where_needed;

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
    /// The one command that is meant, where it is written with `=` before it or is fed by another.
    exact: Option<Box<Exact>>,
}

/// A command with all of its words, behind those that feed it: what differs in anything is another one.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Exact(Vec<Part>);

/// One of the programs of such a command.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Part {
    path: Word,
    arguments: Vec<Word>,
    redirects: Vec<Redirect>,
    environment: Vec<(String, Word)>,
    wrappers: Vec<String>,
    stdin: Stdin,
    /// Where it runs, seen from the root of the project: elsewhere the same words mean other files.
    dir: PathBuf,
}

impl Part {
    /// Takes an invocation; none where what it does is not told by its own words.
    fn of(invocation: &Invocation, root: &Path) -> Option<Self> {
        let is_told = |word: &Word| !word.dynamic && word.made_by.is_empty() && !word.each;
        let mut words = invocation.arguments.iter();
        let mut targets = invocation.redirects.iter().map(|redirect| &redirect.target);
        let all_told = is_told(&invocation.path) && words.all(is_told) && targets.all(is_told);
        let dir = invocation.work_dir.as_ref().filter(|_| all_told)?;
        Some(Self {
            path: invocation.path.clone(),
            arguments: invocation.arguments.clone(),
            redirects: invocation.redirects.clone(),
            environment: invocation.environment.clone(),
            wrappers: invocation.wrappers.clone(),
            stdin: invocation.stdin.clone(),
            dir: dir.strip_prefix(root).unwrap_or(dir).to_owned(),
        })
    }
}

impl Exact {
    /// Takes an invocation with what feeds it; none where what they do is not told by their own words.
    fn of(analysis: &Analysis, invocation: &Invocation) -> Option<Self> {
        let root = &analysis.surroundings.project_root;
        let feeders = analysis.part(invocation.fed_by.clone());
        let feeders = feeders.iter().map(AsRef::as_ref);
        let parts = feeders
            .filter(|feeder: &&Invocation| !feeder.emulated)
            .chain([invocation]);
        parts
            .map(|part| Part::of(part, root))
            .collect::<Option<_>>()
            .map(Self)
    }

    /// Reads one command, which `cd DIR &&` may stand before; none where the text is several, or not told by its own words.
    fn read(text: &str) -> Option<Self> {
        let analysis = analyse(text, Surroundings::default());
        let all = analysis.invocations.iter().enumerate();
        let mut own = all.filter(|(_, i)| !i.emulated && i.program != "cd");
        let (_, last) = own.clone().next_back()?;
        // Each one feeds it, or runs through all that stand before it: `sudo env x`.
        let is_one = own
            .by_ref()
            .filter(|(at, _)| !last.fed_by.contains(at))
            .enumerate()
            .all(|(nth, (_, invocation))| invocation.wrappers.len() >= nth);
        let mut doubts = analysis.doubts.iter();
        (is_one && doubts.all(|doubt| doubt.kind == DoubtKind::DynamicCode))
            .then(|| Self::of(&analysis, last))
            .flatten()
    }

    /// Whether an invocation is this command.
    fn is(&self, analysis: &Analysis, invocation: &Invocation) -> bool {
        self.0
            .last()
            .is_some_and(|part| part.path == invocation.path)
            && Self::of(analysis, invocation).as_ref() == Some(self)
    }
}

impl CommandPattern {
    /// Reads a command of a policy.
    pub fn new(text: &str) -> Self {
        let mut pattern = Self {
            text: text.to_owned(),
            ..Self::default()
        };
        // What feeds what is told by no word: such a line is taken as it stands, too.
        let as_it_stands = || text.contains(" | ").then_some(text);
        if let Some(command) = text.strip_prefix('=').or_else(as_it_stands) {
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
    /// Makes the pattern that means one command in one directory, seen from the root of the project, and no other.
    ///
    /// # Errors
    /// The text is several commands, or what it does is known only when it runs.
    pub fn exactly(command: &str, dir: &Path) -> Result<Self, String> {
        let there = match dir.to_string_lossy() {
            root if root.is_empty() => String::new(),
            dir => format!("cd {} && ", quoted_where_needed(&dir)),
        };
        let pattern = Self::new(&format!("={there}{command}"));
        if pattern.exact.is_some() {
            return Ok(pattern);
        }
        Err(format!(
            "`{command}` is not one command whose words say all that it does, so no entry of `allow_commands` can mean it: give the one that is stopped, without variables"
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
        return exact.is(analysis, invocation);
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
    let values: Vec<&str> = sections.map(|section| section.values.trim()).collect();
    let values = values.join(" ");
    let digest = Digest::new(analysis, 0, invocation, &values, &NothingKnown);
    let mut operands = digest.operands.iter();
    pattern
        .operands
        .iter()
        .all(|wanted| operands.any(|word| glob(wanted, &word.text)))
}
