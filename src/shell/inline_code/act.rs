//! Acts: what a known call with its literal arguments does, said as a command.

use super::calls::Meaning;
use super::expression::{list, receiver, value};
use super::listing::listed;
use super::memory::only_in_memory;
use super::secrecy::takes_environment;
use super::{Action, Language, collect};
use crate::shell::{Word, text};
use crate::words::{holds_any, words};

/// Calls that return what a server sends.
const FETCHES: &[&str] = words!("fetching-calls");
/// Calls that make text of what nobody can read.
const DECODES: &[&str] = words!("decoding-calls");
/// How often code may hold code (`exec("exec(…)")`).
const MAX_NESTING: usize = 4;

/// Adds what one call does; `before` is the code before it.
pub(super) fn act(
    language: Language,
    code: &str,
    before: &str,
    arguments: &[String],
    meaning: Meaning,
    nesting: usize,
    actions: &mut Vec<Action>,
) {
    let arguments = &by_place(language, arguments);
    let first = arguments.first().map(String::as_str).unwrap_or_default();
    let paths = || -> Vec<Word> {
        arguments
            .iter()
            .filter(|a| !is_keyword_argument(a))
            .filter(|a| !a.trim_start().starts_with(['{', '(']) && !a.contains("=>"))
            .map(|a| value(a, code))
            .collect()
    };
    match meaning {
        Meaning::Shell => {
            let texts = list(first, code);
            if texts.len() > 1 {
                actions.push(Action::Program(texts));
            } else if arguments.len() > 1
                && matches!(language, Language::Perl | Language::Ruby)
                && !is_keyword_argument(arguments.get(1).map_or("", String::as_str))
            {
                actions.push(Action::Program(paths()));
            } else {
                actions.push(Action::Shell(value(first, code).text));
            }
        }
        Meaning::Program => {
            let in_shell = arguments.iter().any(|a| {
                let a = a.replace(' ', "");
                a == "shell=True" || a.contains("shell:true")
            });
            let mut words = list(first, code);
            if words.len() < 2 {
                let second = arguments.get(1).map_or("", |text| text.trim_start());
                // Deno takes them by name: `{args: ["push"]}`.
                let named = second
                    .split_once("args:")
                    .map(|(_, listed)| listed.trim_start());
                let listed = named.unwrap_or(second);
                if listed.starts_with('[') || listed.starts_with("c(") {
                    words.extend(list(listed, code));
                } else if language == Language::Python && second.starts_with(['\'', '"']) {
                    // `execlp("git", "git", "push")` names it twice.
                    let rest = paths();
                    let skip = 1 + usize::from(rest.first() == rest.get(1));
                    words.extend(rest.into_iter().skip(skip));
                }
            }
            match words.as_slice() {
                [] => {}
                [one] if in_shell || one.text.contains(' ') => {
                    actions.push(Action::Shell(one.text.clone()));
                }
                many if in_shell => {
                    let texts: Vec<_> = many.iter().map(|w| w.text.as_str()).collect();
                    actions.push(Action::Shell(texts.join(" ")));
                }
                _ => actions.push(Action::Program(words)),
            }
        }
        Meaning::Paths(program, options) => {
            let mut words: Vec<Word> = options.split_ascii_whitespace().map(Word::plain).collect();
            let mut given = paths();
            if program == "tee" && arguments.get(1).is_some_and(|a| is_empty(a)) {
                given.truncate(1);
                words.push(Word::plain("-s0"));
                words.extend(given);
                actions.push(Action::Does("truncate", words));
                return;
            }
            // What stands behind the path says how; a library may take a list of paths.
            if matches!(program, "tee" | "cat") || options == "-rf" {
                given.truncate(1);
                if first.trim_start().starts_with('[') {
                    given = list(first, code);
                }
            }
            if matches!(program, "chmod" | "chown") && options == "0" {
                given.truncate(1);
            }
            if program == "rm"
                && given.iter().all(|w| w.dynamic)
                && let Some((found, goes_down)) = listed(code)
            {
                let option = Word::plain(if goes_down { "-rf" } else { "-f" });
                actions.push(Action::Does(program, vec![option, found]));
            } else if !given.is_empty() {
                if arguments.iter().any(|a| a.contains("glob")) {
                    for word in &mut given {
                        word.glob = true;
                    }
                }
                words.extend(given);
                actions.push(Action::Does(program, words));
            }
        }
        // A text is replaced by two arguments, a file by one.
        Meaning::Receiver("mv", _) if arguments.len() != 1 => {}
        Meaning::Receiver(program, options) => {
            let path = receiver(before, code);
            let unknown = path.as_ref().is_none_or(|w| w.dynamic);
            if program == "rm"
                && unknown
                && let Some((found, goes_down)) = listed(code)
            {
                let option = Word::plain(if goes_down { "-rf" } else { "-f" });
                actions.push(Action::Does(program, vec![option, found]));
                return;
            }
            if program == "tee" && is_empty(first) {
                let found = path.filter(|w| !w.dynamic);
                let found = found.or_else(|| listed(code).map(|(found, _)| found));
                let words = std::iter::once(Word::plain("-s0")).chain(found);
                actions.push(Action::Does("truncate", words.collect()));
                return;
            }
            let Some(path) = path else {
                return;
            };
            let mut words: Vec<Word> = options.split_ascii_whitespace().map(Word::plain).collect();
            words.push(path);
            if program == "mv" {
                words.extend(paths());
            }
            actions.push(Action::Does(program, words));
        }
        Meaning::Open => {
            let mode = arguments.get(1).map_or("", |m| m.as_str());
            let path_at_end = language == Language::Perl && arguments.len() > 2;
            let path = if path_at_end {
                arguments.get(2).map_or("", String::as_str)
            } else {
                first
            };
            let writes = mode.contains(['w', 'a', 'x', '+', '>'])
                && mode.len() < 24
                && (mode.contains(['\'', '"']));
            let path = value(path, code);
            let empties = writes
                && !mode.contains(['a', '+', 'x'])
                && !mode.contains(">>")
                && (writes_nothing(code) || reads_after(code, before, first));
            if !path.text.is_empty() {
                actions.push(match writes {
                    true if empties => Action::Does("truncate", vec![Word::plain("-s0"), path]),
                    true => Action::Does("tee", vec![path]),
                    false => Action::Does("cat", vec![path]),
                });
            }
        }
        // Groovy's `"command".execute()`.
        Meaning::Sql if arguments.is_empty() => {
            let command = before.trim_end().rsplit(['(', ';', '\n', '=']).next();
            actions.extend(command.map(|text| Action::Shell(value(text, code).text)));
        }
        Meaning::Sql => {
            let statement = value(first, code);
            if !statement.dynamic && !only_in_memory(code) {
                actions.push(Action::Does("sql", vec![statement]));
            }
        }
        Meaning::Code => {
            let inner = value(first, code).text;
            if holds_any(first, FETCHES) || holds_any(&inner, FETCHES) {
                actions.push(Action::Does("download-and-run", Vec::new()));
            }
            if holds_any(first, DECODES) {
                actions.push(Action::Does("decode-and-run", Vec::new()));
            }
            if nesting < MAX_NESTING && !inner.is_empty() && inner != code {
                collect(language, &inner, nesting + 1, actions);
                if let Some(decoded) = text::base64(&inner).filter(|d| d.len() > 8) {
                    collect(language, &decoded, nesting + 1, actions);
                    actions.push(Action::Does("decode-and-run", Vec::new()));
                }
            }
        }
        Meaning::Send => {
            let mut words = vec![Word::plain("-d"), Word::plain("data")];
            let posts = arguments.len() > 1;
            if !posts {
                words.clear();
            }
            words.push(value(first, code));
            if arguments.iter().any(|a| takes_environment(a)) {
                words.push(Word::plain("-d@/proc/self/environ"));
            }
            actions.push(Action::Does("curl", words));
        }
    }
}

/// How Python's functions call what they are given by name: first what is read, deleted or run, then where it goes or how.
const NAMED: [&[&str]; 2] = [
    &[
        "args", "cmd", "command", "file", "filename", "path", "source", "src",
    ],
    &["destination", "dst", "mode", "target"],
];

/// Returns the arguments of a call in the order of their places, where some are given by name: `copytree(dst=b, src=a)`.
fn by_place(language: Language, arguments: &[String]) -> Vec<String> {
    let rank = |argument: &String| {
        let (name, value) = argument.split_once('=')?;
        let rank = NAMED
            .iter()
            .position(|names| names.contains(&name.trim()))?;
        (!value.starts_with('=')).then(|| (rank, value.trim().to_owned()))
    };
    if language != Language::Python || !arguments.iter().any(|a| rank(a).is_some()) {
        return arguments.to_vec();
    }
    let is_named = |argument: &&String| is_keyword_argument(argument);
    let mut ordered: Vec<String> = arguments.iter().filter(|a| !is_named(a)).cloned().collect();
    let mut named: Vec<_> = arguments.iter().filter_map(rank).collect();
    named.sort_by_key(|(rank, _)| *rank);
    ordered.extend(named.into_iter().map(|(_, value)| value));
    let others = arguments
        .iter()
        .filter(is_named)
        .filter(|a| rank(a).is_none());
    ordered.extend(others.cloned());
    ordered
}

/// Whether an argument is an empty text.
fn is_empty(argument: &str) -> bool {
    matches!(argument.trim(), "''" | "\"\"" | "``" | "b''" | "b\"\"")
}

/// Whether code that opens a file to write it puts nothing into it.
fn writes_nothing(code: &str) -> bool {
    !holds_any(
        code,
        &[
            "write", "dump", "print", "puts", "<<", "save", "copy", "to_", "put", "file=",
            "stdout", "extract", "send", "= open", "=open",
        ],
    ) && !code.split(" as ").skip(1).any(uses_name)
}

/// Whether code behind ` as ` uses the name that it gives: `f: json.load(f)`, not `f: pass`.
fn uses_name(behind: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let end = behind.find(|c| !is_part(c)).unwrap_or(behind.len());
    let (name, rest) = behind.split_at(end);
    rest.match_indices(name).any(|(at, _)| {
        let (before, after) = (rest.get(..at), rest.get(at + name.len()..));
        !before.is_some_and(|text| text.ends_with(is_part))
            && !after.is_some_and(|text| text.starts_with(is_part))
    })
}

/// Whether code reads a file only after it has opened it to write, so that it reads nothing:
/// `with open(f, "w") as out: out.write(open(f).read())`.
fn reads_after(code: &str, before: &str, file: &str) -> bool {
    let file = file.trim();
    let is_name = !file.is_empty() && !file.contains(['(', '{', '+']);
    let reads = |text: &str| {
        let opened = format!("open({file})");
        let read = format!("{file}.read_text(");
        text.contains(&opened) || text.contains(&read)
    };
    let behind = code.get(before.len()..).unwrap_or_default();
    is_name && !reads(before) && reads(behind)
}

/// Whether an argument is `name=value` or `name: value`, not a value of its own.
pub(super) fn is_keyword_argument(argument: &str) -> bool {
    let end = argument
        .find(|c: char| !(c.is_alphanumeric() || c == '_'))
        .unwrap_or(argument.len());
    let rest = argument.get(end..).unwrap_or_default().trim_start();
    end > 0
        && ((rest.starts_with('=') && !rest.starts_with("=="))
            || (rest.starts_with(':') && !rest.starts_with("::")))
}
