//! Names that code makes of strings: `getattr(os, 'sys' + 'tem')` is `os.system`.

use std::borrow::Cow;

use super::Language;
use super::expression::{closed_arguments, literal};
use crate::words::{holds_any, words};

/// How often code is looked through for one more name.
const MAX_NAMES: usize = 32;

/// Returns code in which names that strings make stand as names.
pub(super) fn plain_names(language: Language, code: &str) -> Cow<'_, str> {
    let marks: &[&str] = match language {
        Language::Python => words!("python-name-marks"),
        Language::JavaScript => &["['", "[\"", "[`", "require(", ".call(", ".bind("],
        Language::Ruby => &["send(", "method(", ".call("],
        Language::Php => &["call_user_func(", "'("],
        _ => return Cow::Borrowed(code),
    };
    if !holds_any(code, marks) {
        return Cow::Borrowed(code);
    }
    let joins = if language == Language::Php { '.' } else { '+' };
    let mut plain = joined_literals(code, joins);
    for _ in 0..MAX_NAMES {
        let Some(next) = replaced(language, &plain) else {
            break;
        };
        plain = next;
    }
    Cow::Owned(plain)
}

/// Joins literals that are added: `'sys' + 'tem'`.
pub(super) fn joined(language: Language, code: &str) -> Cow<'_, str> {
    let is_known = matches!(
        language,
        Language::JavaScript | Language::Python | Language::Ruby
    );
    if is_known && code.contains('+') {
        Cow::Owned(joined_literals(code, '+'))
    } else {
        Cow::Borrowed(code)
    }
}

fn joined_literals(code: &str, joins: char) -> String {
    let mut out = code.to_owned();
    for quote in ['\'', '"'] {
        let mut joined = String::with_capacity(out.len());
        let mut rest = out.as_str();
        while let Some((before, after)) = rest.split_once(quote) {
            let next = after
                .trim_start()
                .strip_prefix(joins)
                .and_then(|t| t.trim_start().strip_prefix(quote));
            joined.push_str(before);
            if next.is_none() {
                joined.push(quote);
            }
            rest = next.unwrap_or(after);
        }
        joined.push_str(rest);
        out = joined;
    }
    out
}

/// Replaces the first name that a string makes.
fn replaced(language: Language, code: &str) -> Option<String> {
    match language {
        Language::Python => call(code, "getattr(", |arguments| match arguments {
            [object, name, ..] => Some(format!("{object}.{}", identifier(name)?)),
            _ => None,
        })
        .or_else(|| call(code, "importlib.import_module(", module))
        .or_else(|| call(code, "import_module(", module))
        .or_else(|| call(code, "__import__(", module))
        .or_else(|| {
            call(code, "vars(", |arguments| match arguments {
                [object] => Some(format!("{object}.__dict__")),
                _ => None,
            })
        })
        .or_else(|| member(code).filter(|_| code.contains(".__dict__[")))
        .or_else(|| call(code, "functools.partial(", applied))
        .or_else(|| call(code, "partial(", applied)),
        Language::JavaScript => call(code, "require(", module)
            .or_else(|| member(code))
            .or_else(|| bound(code, ".call("))
            .or_else(|| bound(code, ".bind(")),
        Language::Ruby => ["public_send(", "__send__(", "send("]
            .iter()
            .find_map(|mark| handed(code, mark, '.'))
            .or_else(|| {
                call(code, "method(", |arguments| match arguments {
                    [name] => name
                        .strip_prefix(':')
                        .filter(|name| is_name(name))
                        .map(str::to_owned),
                    _ => None,
                })
            }),
        Language::Php => handed(code, "call_user_func(", ' ').or_else(|| called(code)),
        _ => None,
    }
}

/// Replaces the first member that a string names: `fs['rmSync']`.
fn member(code: &str) -> Option<String> {
    ["['", "[\"", "[`"].iter().find_map(|mark| {
        code.match_indices(mark).find_map(|(at, _)| {
            let before = code.get(..at)?;
            let is_member = before.ends_with(|c: char| c.is_alphanumeric() || "_)]$".contains(c));
            let (name, after) = literal(code.get(at + 1..)?)?;
            let after = after
                .strip_prefix(']')
                .filter(|_| is_member && is_name(&name))?;
            // The table of a module's names stands for the module.
            let before = before.strip_suffix(".__dict__").unwrap_or(before);
            Some(format!("{before}.{name}{after}"))
        })
    })
}

/// Returns the call that a function with some of its arguments would be: of `partial(rmtree, 'x')`.
fn applied(arguments: &[String]) -> Option<String> {
    let (function, rest) = arguments.split_first()?;
    let is_path = function.split('.').all(is_name);
    is_path.then(|| format!("{function}({})", rest.join(", ")))
}

/// Replaces the first call by way of the function itself: `fs.rmSync.call(fs, 'x')`.
fn bound(code: &str, name: &str) -> Option<String> {
    code.match_indices(name).find_map(|(at, _)| {
        let inner = code.get(at + name.len()..)?;
        let (arguments, after) = closed_arguments(inner)?;
        let rest = arguments.get(1..)?.join(", ");
        let before = code.get(..at)?;
        before
            .ends_with(|c: char| c.is_alphanumeric())
            .then(|| format!("{before}({rest}){after}"))
    })
}

/// Replaces the first call of a function that a string names: `'unlink'('x')`.
fn called(code: &str) -> Option<String> {
    code.match_indices("'(").find_map(|(end, _)| {
        let start = code.get(..end)?.rfind('\'')?;
        let name = code.get(start + 1..end)?;
        let (before, after) = (code.get(..start)?, code.get(end + 1..)?);
        let is_called = is_name(name) && !before.ends_with(|c: char| c.is_alphanumeric());
        is_called.then(|| format!("{before}{name}{after}"))
    })
}

fn module(arguments: &[String]) -> Option<String> {
    arguments.first().and_then(|name| identifier(name))
}

/// Replaces a call by what its arguments tell.
fn call(code: &str, name: &str, told: impl Fn(&[String]) -> Option<String>) -> Option<String> {
    code.match_indices(name).find_map(|(at, _)| {
        let inner = code.get(at + name.len()..)?;
        let (arguments, after) = closed_arguments(inner)?;
        let told = told(&arguments)?;
        Some(format!("{}{told}{after}", code.get(..at)?))
    })
}

/// Replaces a call that hands the name of another over: `Kernel.send(:system, 'x')`.
fn handed(code: &str, name: &str, before_name: char) -> Option<String> {
    code.match_indices(name).find_map(|(at, _)| {
        let inner = code.get(at + name.len()..)?;
        let (first, rest) = inner.split_once(',')?;
        let called = match first.trim().strip_prefix(':') {
            Some(symbol) => symbol.to_owned(),
            None => identifier(first.trim())?,
        };
        let before = code.get(..at)?.trim_end_matches(before_name);
        is_name(&called).then(|| format!("{before}{before_name}{called}({}", rest.trim_start()))
    })
}

/// Returns what a literal names.
fn identifier(expression: &str) -> Option<String> {
    let (text, after) = literal(expression)?;
    let is_path = text.split('.').all(is_name);
    (after.trim().is_empty() && is_path).then_some(text)
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::{Language, plain_names};

    #[test]
    fn what_no_literal_names_stays_as_it_is() {
        for (language, code) in [
            (Language::Python, "getattr(x, name)"),
            (Language::JavaScript, "const a = ['x', 'y']"),
        ] {
            assert_eq!(plain_names(language, code), code);
        }
    }
}
