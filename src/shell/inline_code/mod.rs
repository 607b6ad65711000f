//! Inline code: what `python -c`, `node -e`, `perl -e` and their like obviously do.
//!
//! No interpreter of these languages: known calls are found with their literal arguments, and each is
//! said as the command that does the same (`shutil.rmtree("x")` is `rm -rf x`), so that one set of rules judges both.

mod act;
mod bindings;
mod calls;
mod comment;
mod computed;
mod expression;
mod imports;
mod lexer;
mod listing;
mod made;
mod memory;
mod names;
mod printed;
mod reading;
mod secrecy;
mod substitution;
mod tokens;
mod walks;

use std::borrow::Cow;

use self::act::act;
use self::bindings::variants;
use self::calls::{Meaning, calls};
use self::comment::without_comments;
use self::computed::computed_call;
use self::expression::{literal, split_arguments};
use self::imports::with_modules;
use self::listing::listed;
pub(crate) use self::listing::may_list;
pub(super) use self::made::{LINE, made, prints};
pub(crate) use self::memory::only_in_memory;
use self::names::{joined, plain_names};
pub(super) use self::printed::printed;
pub(crate) use self::reading::code_only_reads;
use self::secrecy::{printed_secret, sends_environment};
pub(super) use self::walks::walks;
pub(crate) use self::walks::{CodeWalk, glob_of};
use super::Word;
use crate::program::{self, Fact};
use crate::words::{holds_any, words};

/// The longest code that is looked at, in bytes.
const MAX_LENGTH: usize = 64 * 1024;

/// A language whose interpreter takes code on its command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    Python,
    JavaScript,
    Perl,
    Ruby,
    Php,
    Lua,
    Awk,
    AppleScript,
    PowerShell,
    Expect,
    Julia,
    /// One of those of which only the calls that delete or run something are known.
    Other,
}

/// What a call in inline code does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// It gives a text to a shell.
    Shell(String),
    /// It starts a program.
    Program(Vec<Word>),
    /// It does what this program does with these arguments.
    Does(&'static str, Vec<Word>),
}

/// Returns the language of an interpreter.
pub(super) fn language(program: &str) -> Option<Language> {
    let language = program::find(program).words(Fact::Language).next()?;
    Some(match language {
        "applescript" => Language::AppleScript,
        "awk" => Language::Awk,
        "expect" => Language::Expect,
        "javascript" => Language::JavaScript,
        "julia" => Language::Julia,
        "lua" => Language::Lua,
        "perl" => Language::Perl,
        "php" => Language::Php,
        "powershell" => Language::PowerShell,
        "python" => Language::Python,
        "ruby" => Language::Ruby,
        _ => Language::Other,
    })
}

impl Language {
    /// Whether its first operand is code.
    pub(super) const fn takes_code_operand(self) -> bool {
        matches!(self, Self::Awk)
    }
}

/// Returns the code that a program is given, without its comments; a text as it is where the program takes no code.
pub(crate) fn code_of<'a>(program: &str, text: &'a str) -> Cow<'a, str> {
    match language(program) {
        Some(language) => without_comments(language, text),
        None => Cow::Borrowed(text),
    }
}

/// Returns what a piece of code obviously does.
pub(super) fn actions(language: Language, code: &str) -> Vec<Action> {
    let mut actions = Vec::new();
    if code.len() > MAX_LENGTH {
        return actions;
    }
    let code = without_comments(language, code);
    let code = joined(language, &code);
    for code in variants(language, &with_modules(language, &code)) {
        let mut found = Vec::new();
        // A name that a string makes may be given another in turn.
        let mut plain = plain_names(language, &code);
        if plain != code {
            let again = with_modules(language, &plain);
            plain = Cow::Owned(plain_names(language, &again).into_owned());
        }
        if let Some(module) = computed_call(language, &plain) {
            found.push(Action::Does("computed-call", vec![Word::plain(module)]));
        }
        collect(language, &plain, 0, &mut found);
        found.retain(|action| !actions.contains(action));
        actions.append(&mut found);
    }
    actions
}

fn collect(language: Language, code: &str, nesting: usize, actions: &mut Vec<Action>) {
    match language {
        Language::PowerShell => {
            actions.push(Action::Shell(super::powershell::as_posix(code)));
            return;
        }
        Language::AppleScript => {
            for part in code.split("do shell script").skip(1) {
                if let Some((text, _)) = literal(part.trim_start()) {
                    actions.push(Action::Shell(text));
                }
            }
            return;
        }
        Language::Julia | Language::Perl | Language::Ruby | Language::Php => {
            actions.extend(
                code.split('`')
                    .skip(1)
                    .step_by(2)
                    .map(|text| Action::Shell(text.to_owned())),
            );
        }
        Language::JavaScript => {
            // A template that Bun and zx run: $`command`.
            let parts = code.split("$`").skip(1);
            let texts = parts.filter_map(|part| part.split('`').next());
            actions.extend(texts.map(|text| Action::Shell(text.to_owned())));
        }
        Language::Awk => {
            // `"command" | getline` and `print | "command"` start a shell.
            for part in code.split('|').skip(1) {
                if let Some((text, _)) = literal(part.trim_start()) {
                    actions.push(Action::Shell(text));
                }
            }
            for part in code.split('>').skip(1) {
                let file = part.trim_start_matches('>').trim_start();
                if let Some((file, _)) = literal(file) {
                    actions.push(Action::Does(
                        "tee",
                        vec![Word::plain("-a"), Word::plain(file)],
                    ));
                }
            }
            for part in code.split("getline").take(code.matches("getline").count()) {
                if let Some((before, _)) = part.trim_end().rsplit_once('|')
                    && let Some(text) = before.trim_end().strip_suffix('"')
                    && let Some((_, text)) = text.rsplit_once('"')
                {
                    actions.push(Action::Shell(text.to_owned()));
                }
            }
        }
        _ => {}
    }
    if let Some(name) = printed_secret(code) {
        actions.push(Action::Does("printenv", vec![Word::plain(name)]));
    }
    if sends_environment(code) {
        let words = ["-d@/proc/self/environ", "https://somewhere"];
        actions.push(Action::Does("curl", words.map(Word::plain).to_vec()));
    }
    if spawns_endlessly(code) {
        actions.push(Action::Does("fork-bomb", Vec::new()));
    }
    if is_reverse_shell(code) {
        actions.push(Action::Does("reverse-shell", Vec::new()));
    }
    for (name, meaning) in calls(language) {
        for (before, after) in occurrences(code, name) {
            let Some(arguments) = arguments_of(language, name, before, after) else {
                // Named to be called with each file: `map(os.remove, glob("*"))`.
                let is_handed_over = after.starts_with(['"', '\'', ',', ')']);
                if let Meaning::Paths("rm", options) | Meaning::Receiver("rm", options) = meaning
                    && is_handed_over
                    && let Some((found, _)) = listed(code)
                {
                    let mut words: Vec<Word> =
                        options.split_ascii_whitespace().map(Word::plain).collect();
                    words.push(found);
                    actions.push(Action::Does("rm", words));
                }
                continue;
            };
            act(
                language, code, before, &arguments, *meaning, nesting, actions,
            );
        }
    }
}

/// Returns the code before and behind each place where a name is called, or handed over.
fn occurrences<'a>(code: &'a str, name: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
    code.match_indices(name).filter_map(move |(at, _)| {
        let (before, after) = (code.get(..at)?, code.get(at + name.len()..)?);
        // A longer name is another call.
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        let starts_inside = !name.starts_with('.') && before.ends_with(is_part);
        (!starts_inside && !after.starts_with(is_part)).then_some((before, after))
    })
}

/// Returns the arguments of a call; none where it is only named.
fn arguments_of(language: Language, name: &str, before: &str, after: &str) -> Option<Vec<String>> {
    if let Some(inner) = after.trim_start().strip_prefix('(') {
        return Some(split_arguments(inner));
    }
    let takes_bare = matches!(
        language,
        Language::Perl | Language::Ruby | Language::Expect | Language::Other
    );
    if !takes_bare || name.starts_with('.') || is_mentioned(before, after) {
        return None;
    }
    let statement = after.trim_start();
    let end = statement.find([';', '\n', '}']).unwrap_or(statement.len());
    let bare = statement.get(..end).unwrap_or_default();
    Some(if matches!(name, "qx" | "%x") {
        let inner = bare.get(1..).unwrap_or_default();
        vec![format!(
            "{:?}",
            inner.trim_end_matches(['}', ')', '/', ']', '|'])
        )]
    } else if language == Language::Expect {
        vec![format!("{bare:?}")]
    } else {
        split_arguments(bare)
    })
}

/// Whether a bare word stands in a string or in a regular expression, where it calls nothing.
fn is_mentioned(before: &str, after: &str) -> bool {
    let in_pattern = after.starts_with(['/', '\\', '|']) && !after.starts_with("||");
    let mut open: Option<(char, usize)> = None;
    let mut chars = before.char_indices();
    while let Some((at, c)) = chars.next() {
        match open {
            _ if c == '\\' => {
                chars.next();
            }
            Some((quote, _)) if c == quote => open = None,
            None if matches!(c, '"' | '\'') => open = Some((c, at)),
            _ => {}
        }
    }
    let in_string = open.is_some_and(|(_, at)| {
        let text = before.get(at..).unwrap_or_default();
        // What is interpolated is code again.
        !text.contains("#{")
    });
    in_pattern || in_string
}

/// Whether code starts programs in a loop that nothing ends, and waits for none.
fn spawns_endlessly(code: &str) -> bool {
    let bare: String = code.split_whitespace().collect();
    let loops = &["while", "loop", "for(;;)"];
    let forks = code.contains("fork") && holds_any(&bare, loops);
    let endless = words!("endless-loops");
    let spawns = &["fork", ".spawn(", "Popen(", "Process.spawn"];
    let is_endless = holds_any(&bare, endless);
    let waits = words!("waiting-words");
    !code.contains("wait") && forks
        || is_endless && holds_any(code, spawns) && !holds_any(code, waits)
}

/// Whether code connects a socket to a shell.
fn is_reverse_shell(code: &str) -> bool {
    let connects = holds_any(code, words!("connecting-calls", lines));
    let runs = holds_any(code, words!("shell-words", lines));
    // Under other names of the modules.
    let hands_over = code.contains("dup2") && code.contains("socket");
    connects && runs || hands_over
}
