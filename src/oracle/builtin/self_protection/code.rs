//! Code: texts that programs run, and the words by which they are judged.

use super::found::Found;
use super::judged::Judged;
use super::spelling::named;
use crate::program::Fact;
use crate::shell::{code_only_reads, lexical};
use crate::words::{holds_any, words};

/// Words of code that changes files; `open(path)` alone reads.
const WRITES: &[&str] = words!("changing-code");

/// Words of shell commands that change files.
const CHANGES: &[&str] = &[
    ">", "rm ", "mv ", "cp ", "tee ", "sed -i", "unlink", "ln ", "truncate", "dd ", "git ",
];

/// Whether an interpreter is given code among its words.
pub(super) fn takes_code(invocation: &Judged<'_>) -> bool {
    let known = invocation.own();
    let is_code = |option: &str| {
        let is_letters = !option.starts_with("--");
        let ends = |code: &str| {
            let letter = code.get(1..).filter(|letter| letter.len() == 1);
            letter.is_some_and(|letter| option.ends_with(letter))
        };
        known.lists(Fact::Code, option)
            || known.is(Fact::Shell)
                && (option == "--command" || is_letters && option.contains('c'))
            || is_letters && known.words(Fact::Code).any(ends)
    };
    let mut options = invocation
        .texts()
        .take_while(|text| text.starts_with(['-', '+']));
    options.any(is_code)
}

/// Returns what is guarded and is named by a text that holds a command which changes files.
pub(super) fn changes_named(text: &str) -> Option<&'static str> {
    let lower = text.to_lowercase();
    holds_any(&lower, CHANGES).then(|| named(&lower))?
}

/// Finds code that names what is guarded together with anything that changes files.
pub(super) fn find(invocation: &Judged<'_>) -> Option<Found> {
    let program = invocation.program.as_str();
    let runs_text = RUNS_TEXT.contains(&program);
    if invocation.remote
        || !(is_interpreter(invocation) || runs_text)
        || code_only_reads(invocation)
    {
        return None;
    }
    // A file that another program makes on the same line is as good as a text.
    let words = invocation.arguments.iter().filter(|_| runs_text);
    let made = words.flat_map(|word| invocation.makers(&word.made_by));
    let made = made
        .flat_map(|i| &i.arguments)
        .map(|word| word.text.as_str());
    let is_editor = matches!(program, "ed" | "ex" | "vim" | "vi" | "nvim" | "emacs");
    let commands = |text: &&str| is_editor && text.contains(char::is_whitespace);
    let changes = |code: &str| holds_any(code, WRITES) || changes_named(code).is_some();
    let named = invocation
        .texts()
        .filter(|text| text.contains(['(', ';', '\n', '=', '>', '\'', '"']) || commands(text))
        .chain(invocation.stdin.text())
        .chain(made)
        .map(str::to_lowercase)
        .find_map(|code| (is_editor || changes(&code)).then(|| named(&code))?)?;
    let guarded = invocation.guarded;
    let path = lexical(named, guarded.root(), guarded.home());
    Some((format!("run code that may change `{named}`"), Some(path)))
}

/// Programs that run texts which stand among their arguments or in what they read.
const RUNS_TEXT: &[&str] = &["gmake", "just", "make", "npm", "pnpm", "yarn"];

pub(super) fn is_interpreter(invocation: &Judged<'_>) -> bool {
    let known = invocation.own();
    known.is(Fact::Language) || known.is(Fact::Console)
}
