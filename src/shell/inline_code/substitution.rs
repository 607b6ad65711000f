//! Substitution: code in which names stand as the values that they are bound to.

use std::collections::BTreeMap;

use super::Language;
use super::tokens::{Kind, Token};

/// The longest text that is put in the place of a name, in bytes: a longer one is the content of a file.
const MAX_TEXT: usize = 256;

/// A value that stands in the code itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    Text(String),
    List(Vec<Self>),
}

/// What each name stands for, one after another.
pub(super) type Bindings<'a> = BTreeMap<&'a str, Vec<Value>>;

/// Returns the code in which each name stands for one of its values.
pub(super) fn replaced(
    language: Language,
    code: &str,
    tokens: &[Token<'_>],
    bindings: &Bindings<'_>,
    sites: &[usize],
    number: usize,
) -> String {
    let standing = |name: &str| {
        let values = bindings.get(name)?;
        values.get(number % values.len().max(1))
    };
    let mut out = String::with_capacity(code.len());
    let mut copied = 0;
    for (at, token) in tokens.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| tokens.get(at));
        let next = tokens.get(at + 1);
        let new = match &token.kind {
            Kind::Name(name) => {
                let is_member = before.is_some_and(|before| before.is('.') || before.is(':'));
                let names_something = next.is_some_and(|next| next.is('='))
                    && tokens.get(at + 2).is_none_or(|second| !second.is('='))
                    || next.is_some_and(|next| next.is(':') && language != Language::Python);
                let stays = is_member || names_something || sites.contains(&at);
                standing(name).filter(|_| !stays).and_then(rendered)
            }
            Kind::Text(text, true) => interpolated(language, text, |name| match standing(name) {
                Some(Value::Text(text)) => Some(text),
                _ => None,
            })
            .and_then(|text| {
                // A command in backticks stays one.
                let quoted = code.get(token.start..token.end).unwrap_or_default();
                let is_command = quoted.starts_with('`') && language != Language::JavaScript
                    || code.get(..token.start).is_some_and(|c| c.ends_with('$'));
                if is_command {
                    Some(format!("`{text}`"))
                } else {
                    rendered(&Value::Text(text))
                }
            }),
            _ => None,
        };
        if let Some(new) = new {
            out.push_str(code.get(copied..token.start).unwrap_or_default());
            out.push_str(&new);
            copied = token.end;
        }
    }
    out.push_str(code.get(copied..).unwrap_or_default());
    out
}

/// Returns a value as code; none where it is too long to be a name or a command.
fn rendered(value: &Value) -> Option<String> {
    match value {
        Value::Text(text) if text.len() > MAX_TEXT => None,
        Value::Text(text) => {
            let escaped = text.replace('\\', "\\\\").replace('\'', "\\'");
            Some(format!("'{}'", escaped.replace('\n', "\\n")))
        }
        Value::List(items) => {
            let items: Option<Vec<String>> = items.iter().map(rendered).collect();
            Some(format!("[{}]", items?.join(", ")))
        }
    }
}

/// Returns a text with the values of the names that it holds: `rm -rf ${d}`.
fn interpolated<'a>(
    language: Language,
    text: &str,
    standing: impl Fn(&str) -> Option<&'a String>,
) -> Option<String> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let has_sigil = matches!(language, Language::Perl | Language::Php);
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut is_changed = false;
    while let Some(at) = rest.find(if has_sigil { '$' } else { '{' }) {
        let (before, from) = rest.split_at(at);
        let begin = from.find(is_part).unwrap_or(from.len());
        let name = from.get(begin..).unwrap_or_default();
        let length = name.find(|c| !is_part(c)).unwrap_or(name.len());
        let (name, after) = name.split_at(length);
        let is_braced = after.starts_with('}');
        let found = if has_sigil {
            standing(&format!("${name}"))
        } else {
            standing(name).filter(|_| is_braced)
        };
        let Some(found) = found.filter(|_| begin <= 2) else {
            let (sign, after) = from.split_at(1);
            out.push_str(before);
            out.push_str(sign);
            rest = after;
            continue;
        };
        is_changed = true;
        out.push_str(before.trim_end_matches(['$', '#', '{']));
        out.push_str(found);
        rest = after.strip_prefix('}').unwrap_or(after);
    }
    out.push_str(rest);
    is_changed.then_some(out)
}
