//! Guess: whether a text of which nobody says what it is reads as a command line.

use super::{Analysis, DoubtKind, Invocation, Surroundings, analyse, file_name};
use crate::program;
use crate::words::words;

/// What a text reads as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// A command line that starts a program which is known.
    Command,
    /// A text that a shell could run, though it starts nothing that is known.
    Shell,
    /// No text of a shell.
    Other,
}

/// Words that join a sentence and are hardly ever an argument.
const JOINING: &[&str] = words!("joining-words");

/// Whether a name is that of a program which is known.
pub(crate) fn is_program(name: &str) -> bool {
    program::find(name).is_known()
}

/// Tells what a text reads as.
pub(crate) fn reading(text: &str) -> Reading {
    let analysis = analyse(text, Surroundings::default());
    let has = |kind| analysis.doubts.iter().any(|doubt| doubt.kind == kind);
    if has(DoubtKind::Unparseable) {
        return Reading::Other;
    }
    let mut started = started(&analysis).filter(|i| !i.program.is_empty());
    let is_known = |i: &Invocation| is_program(&i.program) || i.path.text.contains('/');
    // What is too long to be followed is told by its first word.
    let first = text.split_whitespace().next().unwrap_or_default();
    if started.any(is_known) || has(DoubtKind::TooComplex) && is_program(first) {
        Reading::Command
    } else {
        Reading::Shell
    }
}

/// Whether a text is a command line from its first word on, and no sentence that begins with the name of a program.
pub(crate) fn is_plainly_command(text: &str) -> bool {
    let words = text.split_whitespace();
    let mut words = words.skip_while(|word| word.contains('='));
    let Some(first) = words.next() else {
        return false;
    };
    let first = file_name(first);
    if words.next().is_none() || !is_program(first) || reading(text) != Reading::Command {
        return false;
    }
    let is_closed = text.trim_end().ends_with(['?', '!', ':'])
        || text.trim_end().strip_suffix('.').is_some_and(|rest| {
            let last = rest.rsplit(char::is_whitespace).next().unwrap_or_default();
            last.len() > 1 && last.chars().all(char::is_alphabetic)
        });
    let analysis = analyse(text, Surroundings::default());
    let mut arguments = started(&analysis).flat_map(|i| &i.arguments);
    !is_closed && !arguments.any(|word| JOINING.contains(&word.text.to_lowercase().as_str()))
}

/// Returns the programs that the text itself starts.
fn started(analysis: &Analysis) -> impl Iterator<Item = &Invocation> {
    let all = analysis.invocations.iter().map(AsRef::as_ref);
    all.filter(|i: &&Invocation| !i.emulated)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_told_from_sentences() {
        for text in [
            "rm -rf build",
            "git push --force origin main",
            "FOO=1 make all",
            "cd src && ls -l .",
            "git commit -m 'fix the test'",
            "for f in *.o; do rm \"$f\"; done",
        ] {
            assert_eq!(reading(text), Reading::Command, "{text}");
        }
        for text in [
            "rm -rf build",
            "git push --force origin main",
            "git commit -m 'fix the test'",
        ] {
            assert!(is_plainly_command(text), "{text}");
        }
        for text in [
            "make the tests pass",
            "find out why rm -rf / is bad",
            "git push --force is what broke it",
            "Please run rm -rf build",
            "sort by date",
            "rm -rf build was wrong.",
            "read",
            "what does rm -rf do?",
            "echo \"",
        ] {
            assert!(!is_plainly_command(text), "{text}");
        }
        assert_eq!(
            reading("import os; os.remove(\"a\")"),
            Reading::Other,
            "Python"
        );
        assert_eq!(reading("frobnicate"), Reading::Shell);
    }
}
