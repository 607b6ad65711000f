//! Committed: the files that a command line would commit.

use std::collections::BTreeSet;

use crate::fact::Facts;
use crate::shell::{Invocation, Word, lexical};
use crate::words::words;
use crate::workspace::{Change, ChangedFile, GitError};

/// Returns the files that the commits of the event's command line would take.
///
/// # Errors
/// Git cannot tell what has changed or what is staged.
pub(super) fn files(facts: &Facts) -> Result<BTreeSet<String>, GitError> {
    let mut committed = BTreeSet::new();
    let calls: Vec<Call<'_>> = facts
        .shell()
        .iter()
        .flat_map(|analysis| &analysis.invocations)
        .filter_map(|invocation| Call::of(facts, invocation))
        .collect();
    if !calls.iter().any(|call| call.name == "commit") {
        return Ok(committed);
    }
    let changes = facts.changes().map_err(Clone::clone)?;
    let mut staged: BTreeSet<String> = facts.workspace().staged()?.into_iter().collect();
    for call in calls {
        let named = changes.files.iter().filter(|file| call.names(&file.path));
        let known = |file: &&ChangedFile| file.change != Change::Added;
        let has =
            |letter, name| call.invocation.has_short(letter) || call.invocation.has_long(name);
        match call.name {
            "add" | "stage" if has('A', "--all") && call.operands.is_empty() => {
                staged.extend(changes.paths.iter().cloned());
            }
            "add" | "stage" if has('u', "--update") && call.operands.is_empty() => {
                let known = changes.files.iter().filter(known);
                staged.extend(known.map(|file| file.path.clone()));
            }
            "add" | "stage" | "rm" | "mv" => staged.extend(named.map(|file| file.path.clone())),
            "commit" => {
                let only: Vec<String> = named.map(|file| file.path.clone()).collect();
                if only.is_empty() || has('i', "--include") {
                    committed.extend(staged.iter().cloned());
                }
                committed.extend(only);
                if has('a', "--all") {
                    let known = changes.files.iter().filter(known);
                    committed.extend(known.map(|file| file.path.clone()));
                }
            }
            _ => {}
        }
    }
    Ok(committed)
}

struct Call<'a> {
    invocation: &'a Invocation,
    name: &'a str,
    /// What stands behind the subcommand and is neither an option nor a value of one.
    operands: Vec<&'a Word>,
    facts: &'a Facts,
}

impl<'a> Call<'a> {
    fn of(facts: &'a Facts, invocation: &'a Invocation) -> Option<Self> {
        if invocation.program != "git" || invocation.emulated || invocation.remote {
            return None;
        }
        let mut words = invocation.arguments.iter();
        let name = loop {
            match words.next()?.text.as_str() {
                "-C" | "-c" | "--git-dir" | "--work-tree" | "--namespace" => {
                    words.next();
                }
                option if option.starts_with('-') => {}
                name => break name,
            }
        };
        let mut operands = Vec::new();
        while let Some(word) = words.next() {
            if !word.is_option() {
                operands.push(word);
            } else if name == "commit" && takes_value(&word.text) {
                words.next();
            }
        }
        Some(Self {
            invocation,
            name,
            operands,
            facts,
        })
    }

    /// Whether an operand names a changed file, a folder above it or a pattern that it matches.
    fn names(&self, path: &str) -> bool {
        let root = self.facts.project_root();
        let home = self.facts.home();
        let mut dir = self
            .invocation
            .work_dir
            .as_deref()
            .unwrap_or(root)
            .to_owned();
        if let Some(other) = self.invocation.value_of(&["-C"]) {
            dir = lexical(&other.text, &dir, home);
        }
        let file = root.join(path);
        self.operands.iter().any(|word| {
            let named = lexical(&word.text, &dir, home);
            file.starts_with(&named)
                || (word.text.contains(['*', '?', '['])
                    && fast_glob::glob_match(
                        named.to_string_lossy().as_ref(),
                        file.to_string_lossy().as_ref(),
                    ))
        })
    }
}

/// Whether an option of `git commit` takes the next word: `--author`, `-m`, and so `-am`.
fn takes_value(option: &str) -> bool {
    match option.strip_prefix("--") {
        Some(name) => words!("git-commit-values").contains(&name),
        None => option.ends_with(['m', 'F', 'C', 'c', 't']),
    }
}
