//! Names that code imports or gives to functions: after `from shutil import rmtree as r` or `r = shutil.rmtree`, `r("x")` is
//! `shutil.rmtree("x")`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::Language;
use super::calls::calls;
use super::tokens::{Kind, Token, tokens};
use crate::words::holds_any;

/// What imported names stand for.
type Imports<'a> = BTreeMap<&'a str, String>;

/// Returns code in which imported names stand with the module that they are of.
pub(super) fn with_modules(language: Language, code: &str) -> Cow<'_, str> {
    let marks: &[&str] = match language {
        Language::Python => &["import ", "="],
        Language::JavaScript => &["import", "require(", "="],
        Language::Ruby => &["="],
        _ => return Cow::Borrowed(code),
    };
    if !holds_any(code, marks) {
        return Cow::Borrowed(code);
    }
    let tokens = tokens(language, code);
    let mut imports = Imports::new();
    let mut statements = Vec::new();
    let mut at = 0;
    while let Some(rest) = tokens.get(at..).filter(|rest| !rest.is_empty()) {
        let before = at.checked_sub(1).and_then(|at| tokens.get(at));
        let length = match language {
            Language::Python => of_python(rest, &mut imports),
            Language::JavaScript => of_javascript(rest, &mut imports),
            _ => None,
        };
        let length = length.or_else(|| of_function(language, before, rest, &mut imports));
        statements.extend(length.map(|length| at..at + length));
        at += length.unwrap_or(1);
    }
    imports.retain(|name, meant| name != meant);
    if imports.is_empty() {
        return Cow::Borrowed(code);
    }
    let mut out = String::with_capacity(code.len() * 2);
    let mut copied = 0;
    for (at, token) in tokens.iter().enumerate() {
        let is_member = at > 0 && tokens.get(at - 1).is_some_and(|before| before.is('.'));
        let is_key = tokens.get(at + 1).is_some_and(|next| next.is('='));
        if is_member || is_key || statements.iter().any(|statement| statement.contains(&at)) {
            continue;
        }
        if let Kind::Name(name) = token.kind
            && let Some(meant) = imports.get(name)
        {
            out.push_str(code.get(copied..token.start).unwrap_or_default());
            out.push_str(meant);
            copied = token.end;
        }
    }
    out.push_str(code.get(copied..).unwrap_or_default());
    Cow::Owned(out)
}

/// Notes that a name stands for a known function, `r = shutil.rmtree`, and returns how many tokens that takes.
fn of_function<'a>(
    language: Language,
    before: Option<&Token<'a>>,
    tokens: &[Token<'a>],
    imports: &mut Imports<'a>,
) -> Option<usize> {
    let alias = name_at(tokens, 0)?;
    let is_member = before.is_some_and(|token| token.is('.') || token.is('(') || token.is(','));
    tokens.get(1).filter(|token| token.is('=') && !is_member)?;
    let mut at = 2;
    let function = dotted(tokens, &mut at)?;
    let ends = tokens
        .get(at)
        .is_none_or(|next| ['\n', ';', ',', '}', ')'].iter().any(|sign| next.is(*sign)));
    let (first, rest) = function.split_once('.').unwrap_or((&function, ""));
    let meant = match imports.get(first) {
        Some(known) if rest.is_empty() => known.clone(),
        Some(known) => format!("{known}.{rest}"),
        None => function.clone(),
    };
    let is_known = calls(language).iter().any(|(name, _)| {
        let before = meant.strip_suffix(name);
        before.is_some_and(|before| {
            before.is_empty() || before.ends_with('.') || name.starts_with('.')
        })
    });
    if !ends || !is_known {
        return None;
    }
    imports.insert(alias, meant);
    Some(at)
}

/// Notes what `import a.b as c` or `from a import b as c, d` names, and returns how many tokens it takes.
fn of_python<'a>(tokens: &[Token<'a>], imports: &mut Imports<'a>) -> Option<usize> {
    let first = tokens.first()?;
    let imports_names = first.is_name("from");
    if !imports_names && !first.is_name("import") {
        return None;
    }
    let mut at = 1;
    let mut module = dotted(tokens, &mut at)?;
    if imports_names {
        tokens.get(at).filter(|token| token.is_name("import"))?;
        if tokens.get(at + 1).is_some_and(|token| token.is('*')) {
            let known = calls(Language::Python).iter().filter_map(|(name, _)| {
                let (of, function) = name.rsplit_once('.')?;
                (of == module).then(|| (function, (*name).to_owned()))
            });
            imports.extend(known);
            return Some(at + 2);
        }
        at += 1 + usize::from(tokens.get(at + 1).is_some_and(|token| token.is('(')));
    }
    loop {
        let name = if imports_names {
            let name = dotted(tokens, &mut at)?;
            format!("{module}.{name}")
        } else {
            module.clone()
        };
        if tokens.get(at).is_some_and(|token| token.is_name("as")) {
            at += 1;
            let alias = name_at(tokens, at)?;
            at += 1;
            imports.insert(alias, name);
        } else if imports_names {
            imports.insert(name_at(tokens, at - 1)?, name);
        }
        if !tokens.get(at).is_some_and(|token| token.is(',')) {
            return Some(at);
        }
        at += 1;
        if !imports_names {
            module = dotted(tokens, &mut at)?;
        }
    }
}

/// Notes what `import {a as b} from "m"`, `const {a: b} = require("m")` or `const m = require("m")` names, and returns how many
/// tokens it takes.
fn of_javascript<'a>(tokens: &[Token<'a>], imports: &mut Imports<'a>) -> Option<usize> {
    let words = ["import", "const", "let", "var"];
    let begins = words
        .iter()
        .any(|word| tokens.first().is_some_and(|t| t.is_name(word)));
    if !begins {
        return None;
    }
    if !tokens.get(1)?.is('{') {
        // `import * as m from "m"` names the module as `import m from "m"` does.
        let named = if tokens.get(1)?.is('*') { 3 } else { 1 };
        let alias = name_at(tokens, named)?;
        let (module, end) = loaded(tokens, named + 1)?;
        let closes = tokens.get(end).is_some_and(|token| token.is(')'));
        let mut at = end + usize::from(closes);
        let mut meant = module.to_owned();
        while tokens.get(at).is_some_and(|token| token.is('.')) {
            meant = format!("{meant}.{}", name_at(tokens, at + 1)?);
            at += 2;
        }
        // What a function of it returns is something else; what the module itself returns is taken for the module.
        let is_result = meant != module && tokens.get(at).is_some_and(|token| token.is('('));
        imports.extend((!is_result).then_some((alias, meant)));
        return Some(end);
    }
    let mut at = 2;
    let mut names = Vec::new();
    while let Some(name) = name_at(tokens, at) {
        at += 1;
        let renames = tokens
            .get(at)
            .is_some_and(|token| token.is(':') || token.is_name("as"));
        let alias = if renames {
            at += 2;
            name_at(tokens, at - 1)?
        } else {
            name
        };
        names.push((alias, name));
        at += usize::from(tokens.get(at).is_some_and(|token| token.is(',')));
    }
    tokens.get(at).filter(|token| token.is('}'))?;
    let (module, end) = match loaded(tokens, at + 1) {
        Some((module, end)) => Some((module.to_owned(), end)),
        None => named(tokens, at + 1, imports),
    }?;
    let of_module = names
        .into_iter()
        .map(|(alias, name)| (alias, format!("{module}.{name}")));
    imports.extend(of_module);
    Some(end)
}

/// Returns the module that `= fs` names, and the token behind it.
fn named(tokens: &[Token<'_>], at: usize, imports: &Imports<'_>) -> Option<(String, usize)> {
    tokens.get(at).filter(|token| token.is('='))?;
    let mut end = at + 1;
    let module = dotted(tokens, &mut end)?;
    let module = imports.get(module.as_str()).cloned().unwrap_or(module);
    let is_known = matches!(module.as_str(), "fs" | "fs.promises" | "child_process");
    is_known.then_some((module, end))
}

/// Returns the module that `from "m"`, `= require("m")` or `= await import("m")` loads, and the token behind its name.
fn loaded<'t>(tokens: &'t [Token<'_>], at: usize) -> Option<(&'t str, usize)> {
    let mut rest = tokens.get(at..)?.iter().take(5);
    let offset = rest.position(|token| matches!(token.kind, Kind::Text(..)))?;
    let before = tokens.get(at..at + offset)?;
    let loads = ["from", "require", "import"];
    let is_loaded = before
        .iter()
        .any(|token| loads.iter().any(|word| token.is_name(word)));
    let Kind::Text(module, _) = &tokens.get(at + offset)?.kind else {
        return None;
    };
    let module = module.trim_start_matches("node:").split('/').next()?;
    let is_name = module.chars().all(|c| c.is_alphanumeric() || c == '_');
    (is_loaded && is_name).then_some((module, at + offset + 1))
}

fn name_at<'a>(tokens: &[Token<'a>], at: usize) -> Option<&'a str> {
    match tokens.get(at)?.kind {
        Kind::Name(name) => Some(name),
        _ => None,
    }
}

/// Returns the name with dots that stands at a token, and goes behind it.
fn dotted(tokens: &[Token<'_>], at: &mut usize) -> Option<String> {
    let mut name = name_at(tokens, *at)?.to_owned();
    *at += 1;
    while tokens.get(*at).is_some_and(|token| token.is('.')) {
        name = format!("{name}.{}", name_at(tokens, *at + 1)?);
        *at += 2;
    }
    Some(name)
}

#[cfg(test)]
mod tests {
    use super::{Language, with_modules};

    #[test]
    fn what_names_no_import_stays_as_it_is() {
        for (language, code) in [
            (Language::Python, "import os\nos.system(x)"),
            (Language::Python, "'from here import it'"),
            (Language::JavaScript, "const {a} = options; a(x)"),
        ] {
            assert_eq!(with_modules(language, code), code);
        }
    }
}
