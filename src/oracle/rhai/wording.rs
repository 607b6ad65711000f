//! Wording: the interpreter's errors in the words of the manual.

use rhai::{EvalAltResult, LexError, ParseError, ParseErrorType};

use super::guard::Stop;
use super::{api, limits};
use crate::diagnostic::nearest;

/// Says why a script cannot be read.
pub(super) fn of_parse(source: &str, error: &ParseError) -> String {
    let told = match error.err_type() {
        ParseErrorType::BadInput(LexError::MalformedChar(text)) => {
            format!("a text stands in double quotes: \"{text}\"")
        }
        other => lower(&other.to_string()),
    };
    let last = source.trim_end().lines().count();
    if error.position().line().is_some_and(|line| line > last) || error.position().is_none() {
        format!("the script ends too early: {told} (is a `}}` or `)` missing?)")
    } else {
        told
    }
}

/// What is said where a script takes nothing for something.
const OF_NOTHING: &str = "nothing, `()`, is what a fact gives that this event does not have: ask first (`if x != () { … }`), or \
     put another value in its place (`x ?? \"\"`)";

/// Says why a run ended.
pub(super) fn of_run(source: &str, error: &EvalAltResult, stop: Option<Stop>) -> String {
    let told = why(source, error, stop);
    if stop.is_none() && is_of_nothing(error) {
        format!("{told}; {OF_NOTHING}")
    } else {
        told
    }
}

/// Whether a run ended because a value is nothing.
fn is_of_nothing(error: &EvalAltResult) -> bool {
    match error {
        EvalAltResult::ErrorFunctionNotFound(signature, _) => {
            let arguments = arguments(signature).1;
            arguments.split(", ").any(|argument| argument == NOTHING)
        }
        EvalAltResult::ErrorDotExpr(told, _) => told.contains(&format!("'{NOTHING}'")),
        EvalAltResult::ErrorIndexingType(told, _) => told.starts_with(NOTHING),
        EvalAltResult::ErrorMismatchDataType(_, given, _) => given == NOTHING,
        _ => false,
    }
}

/// The interpreter's name of the type of nothing.
const NOTHING: &str = "()";

/// Splits a call into its name and the types of its arguments.
fn arguments(signature: &str) -> (&str, &str) {
    let (name, arguments) = signature.split_once(" (").unwrap_or((signature, ")"));
    (name, arguments.strip_suffix(')').unwrap_or(arguments))
}

fn why(source: &str, error: &EvalAltResult, stop: Option<Stop>) -> String {
    match (error, stop) {
        (_, Some(Stop::Deadline)) => "the script took longer than its timeout".to_owned(),
        (_, Some(Stop::Memory)) => "the script uses too much memory".to_owned(),
        (_, Some(Stop::Operations)) | (EvalAltResult::ErrorTooManyOperations(_), _) => format!(
            "the script takes more than {} operations",
            limits::MAX_OPERATIONS
        ),
        (_, Some(Stop::Together)) => format!(
            "all scripts together take more than {} operations for this event",
            limits::MOST_OPERATIONS
        ),
        (EvalAltResult::ErrorStackOverflow(_), _) => format!(
            "functions call each other more than {} deep",
            limits::MAX_CALLS
        ),
        (EvalAltResult::ErrorTooManyModules(_) | EvalAltResult::ErrorModuleNotFound(..), _) => {
            "scripts cannot import".to_owned()
        }
        (EvalAltResult::ErrorDataTooLarge(what, _), _) => match what.as_str() {
            "Length of string" => format!(
                "a text, or all texts of a list together, is longer than {} bytes",
                limits::MAX_TEXT
            ),
            _ => format!("a list or map has more than {} items", limits::MAX_ITEMS),
        },
        (EvalAltResult::ErrorRuntime(value, _), _) if value.is_string() => value.to_string(),
        (EvalAltResult::ErrorDataRace(..), _) => {
            "a function uses the very value that it is called on; put what it needs of it into a \
             variable first"
                .to_owned()
        }
        (EvalAltResult::ErrorFunctionNotFound(signature, _), _) => no_function(source, signature),
        (EvalAltResult::ErrorVariableNotFound(name, _), _) => no_variable(source, name),
        (EvalAltResult::ErrorPropertyNotFound(name, _), _) => format!("there is no key `{name}`"),
        (error, _) => {
            let text = error.to_string();
            let place = format!(" ({})", error.position());
            lower(text.strip_suffix(place.as_str()).unwrap_or(&text))
        }
    }
}

/// Says that nothing can be called so: by this name, or with these arguments.
fn no_function(source: &str, signature: &str) -> String {
    let (name, arguments) = arguments(signature);
    let arguments: Vec<_> = arguments
        .split(", ")
        .filter(|argument| !argument.is_empty())
        .map(type_name)
        .collect();
    let called = format!("{name}({})", arguments.join(", "));
    let known: Vec<_> = api::signatures_of(name).collect();
    if !known.is_empty() {
        return format!("`{called}` does not fit `{}`", known.join("` or `"));
    }
    no_such_function(source, name, &called)
}

/// Says that nothing has this name; `called` is how the call is shown.
pub(super) fn no_such_function(source: &str, name: &str, called: &str) -> String {
    let own = words_behind(source, &["fn"]).into_iter();
    let offered = own.chain(api::names().map(|name| -> &str { name }));
    match nearest(name, offered.filter(|known| *known != name)) {
        Some(near) => format!("there is no function `{called}`; did you mean `{near}`?"),
        None => format!("there is no function `{called}`"),
    }
}

/// Says that nothing can be read by this name here.
pub(super) fn no_variable(source: &str, name: &str) -> String {
    if words_behind(source, &["const"]).contains(&name) {
        return format!(
            "functions do not see constants: hand `{name}` on as a parameter, or take it from `ctx.config`"
        );
    }
    let own = words_behind(source, &["let", "for"]);
    match nearest(name, own) {
        Some(near) => format!("there is no variable `{name}`; did you mean `{near}`?"),
        None => format!("there is no variable `{name}`"),
    }
}

/// Returns the words of a script that stand behind one of these.
pub(super) fn words_behind<'a>(source: &'a str, before: &[&str]) -> Vec<&'a str> {
    let words = source.split(|c: char| !c.is_alphanumeric() && c != '_');
    let words: Vec<_> = words.filter(|word| !word.is_empty()).collect();
    words
        .windows(2)
        .filter_map(|pair| match pair {
            [first, second] if before.contains(first) => Some(*second),
            _ => None,
        })
        .collect()
}

/// Returns the manual's name of a type of the interpreter's.
fn type_name(name: &str) -> &str {
    match name {
        "&str | ImmutableString | String" | "string" | "char" => "text",
        "i64" => "whole number",
        "f64" => "number",
        "bool" => "true or false",
        "array" | "List" => "list",
        NOTHING => "nothing",
        "Answer" => "answer",
        "Fn" => "function",
        other => other,
    }
}

/// Makes the interpreter's words a fragment like all other messages.
fn lower(text: &str) -> String {
    let mut chars = text.chars();
    let text = match (chars.next(), chars.next()) {
        (Some(first), Some(second)) if second.is_lowercase() || second == ' ' => {
            format!("{}{second}{}", first.to_lowercase(), chars.as_str())
        }
        _ => text.to_owned(),
    };
    text.trim_end_matches('.').to_owned()
}
