//! Code: texts that programs run, and the words by which they are judged.

use super::found::Found;
use super::judged::Judged;
use super::spelling::named;
use crate::program;
use crate::program::Fact;
use crate::shell::{Invocation, Stdin, code_only_reads, lexical};

/// Words of code that changes files.
const WRITES: &[&str] = &[
    "write",
    "unlink",
    "remove",
    "rmtree",
    "rename",
    "rmsync",
    "rm(",
    "rm_",
    "truncate",
    "chmod",
    "replace(",
    "delete",
    "symlink",
    "copy",
    "move",
    "open(",
    "'w'",
    "\"w\"",
    "mkdir",
    "makedirs",
    "append",
    "dump(",
    "save",
    "system",
    "subprocess",
    "exec",
    "spawn",
    "shutil",
    "touch",
    "link(",
    "rmdir",
];

/// Words of shell commands that change files.
const CHANGES: &[&str] = &[
    ">", "rm ", "mv ", "cp ", "tee ", "sed -i", "unlink", "ln ", "truncate", "dd ", "git ",
];

/// Whether an interpreter is given code among its words.
pub(super) fn takes_code(invocation: &Invocation) -> bool {
    let known = program::find(&invocation.program);
    let options = invocation
        .arguments
        .iter()
        .map(|word| word.text.as_str())
        .take_while(|text| text.starts_with(['-', '+']));
    let is_code = |option: &str| {
        let letters = option.trim_start_matches('-');
        let ends = |code: &str| code.len() == 2 && code.chars().nth(1) == letters.chars().last();
        known.lists(Fact::Code, option)
            || known.is(Fact::Shell) && !option.starts_with("--") && letters.contains('c')
            || !option.starts_with("--") && known.words(Fact::Code).any(ends)
    };
    let mut options = options;
    options.any(is_code)
}

/// Returns what is guarded and is named by a text that holds a command which changes files.
pub(super) fn changes_named(text: &str) -> Option<&'static str> {
    let lower = text.to_lowercase();
    let changes = CHANGES.iter().any(|word| lower.contains(word));
    changes.then(|| named(&lower))?
}

/// Finds code that names what is guarded together with anything that changes files.
pub(super) fn find(invocation: &Judged<'_>) -> Option<Found> {
    let program = invocation.program.as_str();
    let may_run = is_interpreter(program) || RUNS_TEXT.contains(&program);
    if invocation.remote || !may_run || code_only_reads(invocation) {
        return None;
    }
    let stdin = match &invocation.stdin {
        Stdin::Text(text) => Some(text.as_str()),
        _ => None,
    };
    // A file that another program makes on the same line is as good as a text.
    let made = invocation
        .arguments
        .iter()
        .filter(|_| RUNS_TEXT.contains(&program))
        .filter_map(|word| invocation.analysis.invocations.get(word.made_by.clone()))
        .flatten()
        .flat_map(|i| &i.arguments)
        .map(|word| word.text.as_str());
    let commands = |text: &&str| is_editor(program) && text.contains(char::is_whitespace);
    let named = invocation
        .arguments
        .iter()
        .map(|word| word.text.as_str())
        .filter(|text| text.contains(['(', ';', '\n', '=', '>', '\'', '"']) || commands(text))
        .chain(stdin)
        .chain(made)
        .find_map(|text| {
            let code = text.to_lowercase();
            (is_editor(program) || writes(&code) || changes_named(&code).is_some())
                .then(|| named(&code))?
        })?;
    Some((
        format!("run code that may change `{named}`"),
        Some(lexical(
            named,
            invocation.guarded.root(),
            invocation.guarded.home(),
        )),
    ))
}

/// Whether code holds a word that changes files; `open(path)` alone reads.
fn writes(code: &str) -> bool {
    let others = WRITES.iter().filter(|w| **w != "open(" && **w != "exec");
    others.into_iter().any(|word| code.contains(word))
}

/// Programs that run texts which stand among their arguments or in what they read.
const RUNS_TEXT: &[&str] = &["gmake", "just", "make", "npm", "pnpm", "yarn"];

fn is_editor(program: &str) -> bool {
    matches!(program, "ed" | "ex" | "vim" | "vi" | "nvim" | "emacs")
}

/// Whether a program runs code.
pub(super) fn is_interpreter(program: &str) -> bool {
    let known = program::find(program);
    known.is(Fact::Language) || known.is(Fact::Console)
}
