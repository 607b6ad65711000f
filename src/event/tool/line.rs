//! Line: where the hosts keep the command line in a tool's input, and the directory that it runs in.

use serde_json::Value;

use crate::shell_word::quoted;
use crate::words::words;

/// The fields of an object.
type Fields = serde_json::Map<String, Value>;

/// How deep an input in no known form is searched for its texts.
const DEPTH: usize = 16;

/// The fields that say outright that they hold a command line, best first.
const NAMES_COMMAND: &[&str] = words!("command-fields");

/// The fields of a shell that hold its command line where none says so outright, best first.
const MAY_BE_COMMAND: &[&str] = &["script", "chars", "input"];

/// The fields that hold the arguments of a program that is named beside them.
const ARGUMENTS: &[&str] = &["args", "arguments", "argv"];

/// The fields that name a program where its arguments stand beside it: one alone may be anything.
const PROGRAM: &[&str] = &["program", "executable", "binary", "exe"];

/// The fields that hold the directory in which a tool runs its command, in lower case and without `_` and `-`; the first one that
/// is there counts. A place that is guarded is one under any other name.
const WORK_DIR: &[&str] = words!("work-directory-fields");

/// Returns the command line, or those of all fields that say that they hold one: which of them is run nobody knows. The words
/// of an argument vector are quoted and joined.
pub(super) fn command(input: &Value) -> Option<String> {
    match input {
        Value::String(text) => Some(text.clone()),
        Value::Array(words) if is_flat(words) => Some(line_of_words(words)),
        Value::Object(map) => {
            if !reads_all(map) {
                return None;
            }
            let mut lines = named_lines(map);
            if lines.is_empty() {
                lines.extend(MAY_BE_COMMAND.iter().find_map(|key| line_of(key, map)));
            }
            (!lines.is_empty()).then(|| lines.join("\n"))
        }
        _ => None,
    }
}

/// Returns the command line of a tool that is not known to be a shell, where its input says outright that it is one.
pub(super) fn named_command(input: &Value) -> Option<String> {
    let lines = named_lines(input.as_object()?);
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// Returns the one field that holds the command line; none where there are several, or where its arguments stand beside it.
pub(super) fn command_field(map: &Fields) -> Option<&'static str> {
    let is_there = |key: &&&str| map.contains_key(**key);
    let named: Vec<&str> = NAMES_COMMAND.iter().filter(is_there).copied().collect();
    match *named {
        [] if !names_program(map) => MAY_BE_COMMAND.iter().find(is_there).copied(),
        [key] if arguments(map).is_empty() => Some(key),
        _ => None,
    }
}

/// Returns the command lines that an input says outright that it holds.
fn named_lines(map: &Fields) -> Vec<String> {
    let named = NAMES_COMMAND.iter().filter_map(|key| line_of(key, map));
    let programs = PROGRAM.iter().filter_map(|key| map.get(*key)?.as_str());
    let programs = programs.filter(|_| names_program(map));
    let mut lines = Vec::new();
    for line in named.chain(programs.map(|program| started(program, map))) {
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines
}

/// Whether a program is named beside arguments.
fn names_program(map: &Fields) -> bool {
    !arguments(map).is_empty()
        && PROGRAM
            .iter()
            .any(|key| map.get(*key).is_some_and(Value::is_string))
}

/// Returns the command line that a field holds.
fn line_of(key: &str, map: &Fields) -> Option<String> {
    match (key, map.get(key)?) {
        ("commands", Value::Array(lines)) => Some(lines_of(lines)),
        ("commands", Value::String(text)) => Some(encoded_lines(text)),
        ("command" | "cmd", Value::String(program)) => Some(started(program, map)),
        (_, Value::String(text)) => Some(text.clone()),
        (_, Value::Array(words)) if is_flat(words) => Some(line_of_words(words)),
        _ => None,
    }
}

/// Returns the command line of an argument vector. One text alone, or a program with blanks in its name that is no path, is a line
/// that its host splits.
fn line_of_words(words: &[Value]) -> String {
    match words {
        [Value::String(line)] => line.clone(),
        [Value::String(first), ..]
            if first.trim().contains(char::is_whitespace) && !first.trim().starts_with('/') =>
        {
            let texts = words.iter().filter_map(Value::as_str);
            texts.collect::<Vec<_>>().join(" ")
        }
        _ => join(words),
    }
}

/// Whether the lists of command lines of an input hold nothing but lines, lists of words and what says that it is a command.
fn reads_all(map: &Fields) -> bool {
    let is_read = |item: &Value| match item {
        Value::Array(words) => is_flat(words),
        Value::Object(map) => !named_lines(map).is_empty(),
        _ => true,
    };
    match map.get("commands") {
        Some(Value::Array(items)) => items.iter().all(is_read),
        Some(Value::String(text)) => {
            let items = serde_json::from_str::<Vec<Value>>(text);
            items.map_or(true, |items| items.iter().all(is_read))
        }
        _ => true,
    }
}

/// Whether a field of an input is read as a part of the command line of a shell, or as its directory.
pub(super) fn is_of_command(map: &Fields, key: &str) -> bool {
    let is_named = || map.keys().any(|key| NAMES_COMMAND.contains(&key.as_str()));
    let reads_other = || !is_named() && !names_program(map);
    NAMES_COMMAND.contains(&key)
        || is_work_dir(key)
        || ARGUMENTS.contains(&key)
        || PROGRAM.contains(&key) && names_program(map)
        || MAY_BE_COMMAND.iter().find(|key| map.contains_key(**key)) == Some(&key) && reads_other()
}

/// Whether an input that is given to a shell says nothing of what is run though it holds something: no text at all, and more than
/// a look at what runs already. What is missing altogether runs nothing.
pub(super) fn says_nothing(input: &Value) -> bool {
    match input {
        Value::Null => false,
        Value::Object(map) => map.keys().any(|key| names_command(key)) && !has_text(input),
        other => !has_text(other),
    }
}

fn names_command(key: &str) -> bool {
    NAMES_COMMAND.contains(&key) || MAY_BE_COMMAND.contains(&key)
}

fn has_text(value: &Value) -> bool {
    match value {
        Value::String(_) => true,
        Value::Array(items) => items.iter().any(has_text),
        Value::Object(map) => map.values().any(has_text),
        _ => false,
    }
}

/// Whether a list can be the words of a command.
fn is_flat(words: &[Value]) -> bool {
    !words.iter().any(|word| word.is_array() || word.is_object())
}

/// Returns every string of the input of a shell that is in no known form: any of them may be what it runs.
pub(super) fn every_text(input: &Value) -> Option<String> {
    let mut texts = Vec::new();
    texts_of(input, DEPTH, &mut texts);
    (!texts.is_empty()).then(|| texts.join("\n"))
}

fn texts_of(value: &Value, depth: usize, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(text.clone()),
        Value::Array(words) if words.iter().all(Value::is_string) => {
            texts.push(line_of_words(words));
        }
        Value::Array(items) if depth > 0 => {
            for item in items {
                texts_of(item, depth - 1, texts);
            }
        }
        Value::Object(map) if depth > 0 => {
            for value in map.values() {
                texts_of(value, depth - 1, texts);
            }
        }
        _ => {}
    }
}

fn folded(key: &str) -> String {
    let letters = key.chars().filter(char::is_ascii_alphanumeric);
    letters.map(|c| c.to_ascii_lowercase()).collect()
}

fn is_work_dir(key: &str) -> bool {
    WORK_DIR.contains(&&*folded(key))
}

/// Returns the directory in which a tool runs its command, as its input says it.
pub(super) fn work_dir(input: &Value) -> Option<&str> {
    let fields = input.as_object()?;
    WORK_DIR.iter().find_map(|name| {
        let mut named = fields.iter().filter(|(key, _)| folded(key) == **name);
        named.find_map(|(_, dir)| dir.as_str().filter(|dir| !dir.is_empty()))
    })
}

/// Returns what each field of arguments holds, as a shell reads it: words, or a text that is split.
fn arguments(map: &Fields) -> Vec<String> {
    let held = |key: &&str| match map.get(*key)? {
        Value::Array(words) => Some(join(words)),
        Value::String(text) => Some(text.clone()),
        _ => None,
    };
    let held = ARGUMENTS.iter().filter_map(held);
    held.filter(|words| !words.is_empty()).collect()
}

/// Returns a program with the arguments that the input has beside it, a line for each field of them.
fn started(program: &str, map: &Fields) -> String {
    let arguments = arguments(map);
    if arguments.is_empty() {
        return program.to_owned();
    }
    let lines = arguments.iter().map(|words| format!("{program} {words}"));
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns a list of command lines as a script.
fn lines_of(lines: &[Value]) -> String {
    let lines: Vec<String> = lines.iter().filter_map(command).collect();
    lines.join("\n")
}

/// Reads a list of command lines that was put into a string as JSON.
fn encoded_lines(text: &str) -> String {
    match serde_json::from_str::<Vec<Value>>(text) {
        Ok(lines) => lines_of(&lines),
        Err(_) => text.to_owned(),
    }
}

/// Joins the words of an argument vector, each quoted where a shell would split or expand it.
pub(super) fn join(words: &[Value]) -> String {
    let words: Vec<String> = words
        .iter()
        .map(|word| match word {
            Value::String(word) => quote(word),
            other => quote(&other.to_string()),
        })
        .collect();
    words.join(" ")
}

/// Quotes a word for a POSIX shell where it needs it.
pub(in crate::event) fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./=:,@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    quoted(word)
}
