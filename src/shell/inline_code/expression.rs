//! Expressions of inline code: the values that their literals tell.

use super::super::output::MADE_DIRECTORY;
use super::super::{Word, text};
use crate::words::{holds_any, words};

/// Splits what follows an opening parenthesis into its arguments, up to the closing one.
pub(super) fn split_arguments(text: &str) -> Vec<String> {
    split(text).0
}

/// Returns the arguments that follow an opening parenthesis, and what follows the closing one.
pub(super) fn closed_arguments(text: &str) -> Option<(Vec<String>, &str)> {
    let (arguments, after) = split(text);
    after.map(|after| (arguments, after))
}

/// Splits arguments; none follows where the parenthesis does not close.
fn split(text: &str) -> (Vec<String>, Option<&str>) {
    let mut after = None;
    let mut arguments = Vec::new();
    let mut current = String::new();
    let mut depth = 0_usize;
    let mut quote: Option<char> = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if let Some(open) = quote {
            current.push(c);
            if c == '\\' {
                current.extend(chars.next());
            } else if c == open {
                quote = None;
            }
            continue;
        }
        match c {
            '\'' | '"' | '`' => quote = Some(c),
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => {
                if depth == 0 {
                    after = Some(chars.as_str());
                    break;
                }
                depth -= 1;
            }
            ',' if depth == 0 => {
                arguments.push(std::mem::take(&mut current).trim().to_owned());
                continue;
            }
            _ => {}
        }
        current.push(c);
        if arguments.len() > 32 {
            break;
        }
    }
    let last = current.trim();
    if !last.is_empty() {
        arguments.push(last.to_owned());
    }
    (arguments, after)
}

/// Returns the literal that a text starts with, and what follows it.
pub(super) fn literal(text: &str) -> Option<(String, &str)> {
    let body = text.trim_start_matches(['r', 'b', 'f', 'u', 'R', 'B', 'F', 'U']);
    let quote = body
        .chars()
        .next()
        .filter(|c| matches!(c, '\'' | '"' | '`'))?;
    let triple: String = std::iter::repeat_n(quote, 3).collect();
    if let Some(rest) = body.strip_prefix(&triple) {
        let (inner, after) = rest.split_once(&triple)?;
        return Some((inner.to_owned(), after));
    }
    let rest = body.get(1..)?;
    let mut escaped = false;
    for (i, c) in rest.char_indices() {
        if escaped {
            escaped = false;
        } else if c == '\\' {
            escaped = true;
        } else if c == quote {
            let inner = rest.get(..i)?;
            let raw = text.starts_with(['r', 'R']);
            let inner = if raw {
                inner.to_owned()
            } else {
                text::unescape(inner)
            };
            return Some((inner, rest.get(i + 1..)?));
        }
    }
    None
}

/// Returns all literals of an expression, in order.
fn literals(expression: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = expression;
    while let Some(at) = rest.find(['\'', '"', '`']) {
        // Prefix letters matter only for a raw literal.
        let start = at - usize::from(at > 0 && rest.get(at - 1..at).is_some_and(|p| p == "r"));
        let Some((text, after)) = rest.get(start..).and_then(literal) else {
            break;
        };
        found.push(text);
        rest = after;
    }
    found
}

/// Calls that make or name a place for temporary files.
const TEMPORARY: &[&str] = words!("temporary-calls");

/// What such a call gives.
const TEMPORARY_DIRECTORY: &str = MADE_DIRECTORY;

fn is_temporary(expression: &str) -> bool {
    holds_any(expression, TEMPORARY)
}

/// Returns the value of an expression, as far as its literals tell it.
pub(super) fn value(expression: &str, code: &str) -> Word {
    let expression = expression.trim();
    if is_temporary(expression) {
        return Word::plain(TEMPORARY_DIRECTORY);
    }
    let is_home = holds_any(
        expression,
        &["home()", "expanduser", "HOME", "homedir()", "Dir.home"],
    );
    let literals: Vec<String> = literals(expression)
        .into_iter()
        .filter(|l| l != "HOME")
        .collect();
    if literals.is_empty() && !is_home {
        let is_name = expression
            .trim_start_matches('$')
            .chars()
            .all(|c| c.is_alphanumeric() || c == '_');
        if is_name && !expression.is_empty() && !expression.chars().all(|c| c.is_ascii_digit()) {
            if let Some(found) = assigned(expression, code) {
                return found;
            }
        } else if expression.chars().all(|c| c.is_ascii_digit() || c == '-') {
            return Word::plain(expression);
        }
        return Word {
            text: expression.to_owned(),
            dynamic: true,
            ..Word::default()
        };
    }
    let joins = expression.contains("join(")
        || expression.contains("/ '")
        || expression.contains("/ \"")
        || expression.contains("/'");
    let fills = expression.contains(" % ") || expression.contains(".format(");
    let mut text = match literals.split_first() {
        Some((template, given)) if fills && template.contains(['%', '{']) => {
            filled(template, given)
        }
        _ => literals.join(if joins { "/" } else { "" }),
    };
    if let Some(start) = started_by(expression, code) {
        text = format!("{}/{}", start.text, text.trim_start_matches('/'));
    }
    if is_home && !text.starts_with('~') {
        text = format!("~/{}", text.trim_start_matches('/'));
    }
    let interpolates = expression.starts_with("f'")
        || expression.starts_with("f\"")
        || expression.starts_with('`');
    Word {
        dynamic: interpolates && text.contains('{'),
        text,
        ..Word::default()
    }
}

/// Returns the place that an expression starts with by its name, where the code makes it for temporary files: `made + '/a'`,
/// `join(made, 'a')`.
fn started_by(expression: &str, code: &str) -> Option<Word> {
    let inner = expression.split_once("join(").map(|(_, inner)| inner);
    let start = inner.unwrap_or(expression).trim_start();
    let end = start.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$'))?;
    let (name, behind) = start.split_at(end);
    let goes_on = behind
        .trim_start()
        .starts_with(if inner.is_some() { ',' } else { '+' });
    let times = |given: &str| code.matches(&format!("{name}{given}")).count();
    let given = || {
        ["=", " =", "+=", " +="]
            .into_iter()
            .map(times)
            .sum::<usize>()
    };
    let is_told = goes_on && !name.is_empty() && given() == 1;
    let found = is_told.then(|| assigned(name, code))??;
    (found.text == TEMPORARY_DIRECTORY).then_some(found)
}

/// Returns a template with values in the places that it leaves for them: `rm -rf %s`, `rm -rf {}`.
fn filled(template: &str, given: &[String]) -> String {
    given.iter().fold(template.to_owned(), |text, value| {
        let place = ["%s", "{}"].iter().find(|place| text.contains(**place));
        place.map_or(text.clone(), |place| text.replacen(place, value, 1))
    })
}

/// Returns the literal that a name is assigned in the code.
fn assigned(name: &str, code: &str) -> Option<Word> {
    // `with TemporaryDirectory() as d:`
    let given = format!(" as {name}:");
    let mut named = code.match_indices(given.as_str()).peekable();
    let is_given_again = || {
        code.match_indices(name).any(|(at, _)| {
            let before = code.get(..at).unwrap_or_default();
            let after = code.get(at + name.len()..).unwrap_or_default().trim_start();
            let is_whole = !before.ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '.');
            let gives = after.trim_start_matches(['+', '/', '|']).strip_prefix('=');
            is_whole && gives.is_some_and(|rest| !rest.starts_with('='))
        })
    };
    if named.peek().is_some() && !is_given_again() {
        let is_made = |(at, _): (usize, &str)| {
            let line = code.get(..at).and_then(|before| before.rsplit('\n').next());
            line.is_some_and(|line| is_temporary(line.trim_start().trim_start_matches("with ")))
        };
        return named.all(is_made).then(|| Word::plain(TEMPORARY_DIRECTORY));
    }
    for (at, _) in code.match_indices(name) {
        let before = code.get(..at)?.chars().next_back();
        if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '.') {
            continue;
        }
        let rest = code.get(at + name.len()..)?.trim_start();
        if let Some(expression) = rest
            .strip_prefix('=')
            .filter(|r| !r.starts_with(['=', '>', '~']))
        {
            let end = expression.find([';', '\n']).unwrap_or(expression.len());
            let expression = expression.get(..end)?.trim();
            if expression.contains(['\'', '"', '`'])
                || expression.contains("home")
                || is_temporary(expression)
            {
                return Some(value(expression, ""));
            }
        }
    }
    None
}

/// Returns the elements of a list, or the one value.
pub(super) fn list(expression: &str, code: &str) -> Vec<Word> {
    let expression = expression.trim();
    // `c(…)` is R's.
    let listed = expression.strip_prefix("c(");
    if let Some(inner) = listed.or_else(|| expression.strip_prefix(['[', '('])) {
        return split_arguments(inner)
            .iter()
            .map(|e| value(e, code))
            .collect();
    }
    if expression.is_empty() {
        return Vec::new();
    }
    if let Some(split) = expression.strip_suffix(".split()") {
        return value(split, code)
            .text
            .split_whitespace()
            .map(Word::plain)
            .collect();
    }
    vec![value(expression, code)]
}

/// Returns the path on which a method is called: the literal or name right before it.
pub(super) fn receiver(before: &str, code: &str) -> Option<Word> {
    let before = before.trim_end();
    if before.ends_with(')') {
        let mut depth = 0_usize;
        for (i, c) in before.char_indices().rev() {
            match c {
                ')' => depth += 1,
                '(' => {
                    depth -= 1;
                    if depth == 0 {
                        let inner = before.get(i + 1..before.len() - 1)?;
                        let head = before.get(..i)?;
                        if inner.is_empty() || head.ends_with("glob") {
                            return Some(Word {
                                text: head.to_owned(),
                                dynamic: true,
                                ..Word::default()
                            });
                        }
                        let is_path = head.ends_with("Path")
                            || head.ends_with("File")
                            || head.is_empty()
                            || head.ends_with([' ', ';', '(', '=']);
                        return is_path.then(|| value(inner, code));
                    }
                }
                _ => {}
            }
        }
        return None;
    }
    let start = before
        .rfind(|c: char| !(c.is_alphanumeric() || c == '_'))
        .map_or(0, |i| i + 1);
    let name = before.get(start..)?;
    if name.is_empty() {
        return None;
    }
    let found = assigned(name, code);
    found.filter(|w| !w.text.is_empty())
}
