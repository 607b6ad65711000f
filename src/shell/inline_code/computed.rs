//! Computed calls: functions of a module that can do harm, whose name is known only when the code runs.

use super::Language;
use super::expression::{closed_arguments, literal};
use crate::words::words;

/// Modules whose functions delete, overwrite or run things.
const PYTHON: &[&str] = words!("harmful-modules");
const JAVASCRIPT: &[&str] = &["child_process", "fs", "fs.promises", "fsPromises"];
const RUBY: &[&str] = &["Dir", "File", "FileUtils", "IO", "Kernel", "Process"];

/// Returns the module of the first call of such a function: `getattr(os, name)(x)`, `fs[name](x)`, `FileUtils.send(name, x)`.
pub(super) fn computed_call(language: Language, code: &str) -> Option<&'static str> {
    match language {
        Language::Python => PYTHON.iter().copied().find(|module| {
            by_getattr(code, module) || by_member(code, &format!("{module}.__dict__"))
        }),
        Language::JavaScript => JAVASCRIPT
            .iter()
            .copied()
            .find(|module| by_member(code, module)),
        Language::Ruby => RUBY.iter().copied().find(|module| {
            [".send(", ".public_send(", ".__send__("]
                .iter()
                .any(|call| sends(code, &format!("{module}{call}")))
        }),
        _ => None,
    }
}

/// Whether a part of an object is called that no literal names: `fs[name](x)`.
fn by_member(code: &str, object: &str) -> bool {
    places(code, object).any(|(_, after)| {
        let inner = after.strip_prefix('[');
        let closed = inner.and_then(closed_arguments);
        closed.is_some_and(|(name, after)| is_computed(name.first()) && is_called(after))
    })
}

fn by_getattr(code: &str, module: &str) -> bool {
    places(code, "getattr").any(|(before, after)| {
        let closed = after.strip_prefix('(').and_then(closed_arguments);
        closed.is_some_and(|(arguments, after)| {
            let is_meant = arguments.first().is_some_and(|object| object == module);
            let is_kept = || {
                let name = assigned_name(before);
                name.is_some_and(|name| code.contains(&format!("{name}(")))
            };
            is_meant && is_computed(arguments.get(1)) && (is_called(after) || is_kept())
        })
    })
}

fn sends(code: &str, call: &str) -> bool {
    code.match_indices(call).any(|(at, _)| {
        let inner = code.get(at + call.len()..);
        let (arguments, _) = inner.and_then(closed_arguments).unwrap_or_default();
        let name = arguments.first();
        name.is_some_and(|name| !name.starts_with(':')) && is_computed(name)
    })
}

/// Returns what stands before and behind each place where a name stands for itself.
fn places<'a>(code: &'a str, name: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
    code.match_indices(name).filter_map(move |(at, _)| {
        let (before, after) = (code.get(..at)?, code.get(at + name.len()..)?);
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '$');
        (!before.ends_with(is_part)).then_some((before, after))
    })
}

/// Whether an expression is no literal.
fn is_computed(expression: Option<&String>) -> bool {
    expression.is_some_and(|text| {
        let is_literal = literal(text).is_some_and(|(_, after)| after.trim().is_empty());
        let is_number = text.chars().all(|c| c.is_ascii_digit());
        !is_literal && !is_number || text.contains("${")
    })
}

fn is_called(after: &str) -> bool {
    after.trim_start().starts_with('(')
}

/// Returns the name that is assigned what follows.
fn assigned_name(before: &str) -> Option<&str> {
    let before = before.trim_end().strip_suffix('=')?.trim_end();
    let start = before
        .rfind(|c: char| !(c.is_alphanumeric() || c == '_'))
        .map_or(0, |at| at + 1);
    before.get(start..).filter(|name| !name.is_empty())
}
