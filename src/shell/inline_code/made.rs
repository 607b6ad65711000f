//! Made: texts that code makes of what it reads: commands, names of files that it changes, and lines that it prints.

use super::calls::{Meaning, calls};
use super::expression::{literal, receiver, split_arguments, value};
use super::printed::PRINTING;
use super::walks::CHANGING;
use super::{Language, arguments_of, occurrences};
use crate::program::{self, Fact};
use crate::words::{holds_any, words};

/// Stands in a text for a line that a program reads, or for a part of one.
pub(in crate::shell) const LINE: &str = "\u{2}";

/// Names by which code reads what it is fed.
const INPUT: &[&str] = words!("reading-input");

/// Returns the commands that code runs and that are made of more than literals; those made of input only where it reads that.
pub(in crate::shell) fn made(language: Language, code: &str, goes_through: bool) -> Vec<String> {
    let mut texts = Vec::new();
    for (name, meaning) in calls(language) {
        for (before, after) in occurrences(code, name) {
            // Else it is a method of something else: `/a/.exec(line)`.
            let is_other = language == Language::JavaScript
                && name.ends_with("exec")
                && !code.contains("child_process");
            let arguments = arguments_of(language, name, before, after);
            let is_handed_over = after.starts_with(['"', '\'', ',', ')']);
            if !is_other && (arguments.is_some() || is_handed_over) {
                texts.extend(command(language, code, *meaning, before, arguments));
            }
        }
    }
    match language {
        Language::Awk => by_awk(code, &mut texts),
        Language::Perl | Language::Ruby | Language::Php => {
            let parts = code.split('`').skip(1).step_by(2);
            texts.extend(parts.map(|part| opened(language, part)));
        }
        _ => {}
    }
    let reads = goes_through || holds_any(code, INPUT);
    texts.retain(|text| reads || !text.contains(LINE));
    texts
}

/// Returns the lines that code prints, as far as its expressions tell.
pub(in crate::shell) fn prints(language: Language, code: &str) -> Vec<String> {
    if language == Language::Awk {
        let statements = statements(code).into_iter();
        return statements
            .filter(|statement| statement.target.is_none())
            .map(|statement| statement.printed(code))
            .collect();
    }
    let calls = PRINTING.iter().filter(|(known, _)| *known == language);
    let names = calls.flat_map(|(_, calls)| calls.iter());
    let mut names: Vec<&str> = names
        .map(|call| call.trim_end_matches([' ', '(']))
        .collect();
    // `print` and `print(` are one name.
    names.dedup();
    names
        .into_iter()
        .flat_map(|name| occurrences(code, name))
        .map(|(_, after)| {
            let after = after.trim_start();
            let inner = after.strip_prefix('(').unwrap_or(after);
            let end = inner.find([';', '\n']).unwrap_or(inner.len());
            joined(
                language,
                &split_arguments(inner.get(..end).unwrap_or_default()),
                code,
            )
        })
        .filter(|text| text.contains(LINE))
        .collect()
}

/// Returns what a call runs, if that is made of more than literals.
fn command(
    language: Language,
    code: &str,
    meaning: Meaning,
    before: &str,
    arguments: Option<Vec<String>>,
) -> Option<String> {
    let changes = |program: &str| CHANGING.contains(&program) || program == "cat";
    let Some(arguments) = arguments else {
        // It is handed over, to be called with each.
        return match meaning {
            Meaning::Paths(program, options) if CHANGING.contains(&program) => {
                Some(format!("{program} {options} {LINE}"))
            }
            _ => None,
        };
    };
    let is_named = |argument: &String| super::act::is_keyword_argument(argument);
    let own: Vec<String> = arguments.iter().filter(|a| !is_named(a)).cloned().collect();
    let is_made = |text: &String| text.contains(LINE) || own.iter().any(|a| joins(a));
    let text = match meaning {
        Meaning::Shell | Meaning::Program => joined(language, &own, code),
        Meaning::Code => {
            let text = joined(language, own.get(..1)?, code);
            return (text.trim() == LINE).then_some(text);
        }
        Meaning::Paths(program, options) if changes(program) => {
            let takes_one = matches!(program, "tee" | "cat") || options == "-rf";
            let taken = own.get(..1).filter(|_| takes_one).unwrap_or(&own);
            let bare = own.is_empty() && language == Language::Perl;
            let paths = joined(language, taken, code);
            let paths = if bare { LINE.to_owned() } else { paths };
            format!("{program} {options} {paths}")
        }
        Meaning::Receiver(program, options) if changes(program) => {
            let is_text = program == "mv" && own.len() != 1;
            let path = receiver(before, code);
            if is_text || path.is_some_and(|path| !path.dynamic) {
                return None;
            }
            let rest = if program == "mv" {
                joined(language, &own, code)
            } else {
                String::new()
            };
            format!("{program} {options} {LINE} {rest}")
        }
        Meaning::Open => {
            let (path, mode) = match own.as_slice() {
                [_, mode, path, ..] if language == Language::Perl => (path, mode.as_str()),
                [path, mode, ..] => (path, mode.as_str()),
                [path] => (path, ""),
                [] => return None,
            };
            let writes = mode.len() < 24 && mode.contains(['w', 'a', 'x', '+', '>']);
            let path = template(language, path, code);
            format!("{} {path}", if writes { "tee -a" } else { "cat" })
        }
        _ => return None,
    };
    Some(text).filter(is_made)
}

/// Whether an expression puts a text together from a literal and something else.
fn joins(expression: &str) -> bool {
    let quoted = literal(expression).is_some_and(|(_, after)| after.trim().is_empty());
    !quoted && expression.contains(['\'', '"'])
}

/// Returns the texts of several expressions, with blanks between them; of a list its elements.
fn joined(language: Language, expressions: &[String], code: &str) -> String {
    let texts = expressions
        .iter()
        .map(|one| match one.trim().strip_prefix(['[', '{']) {
            Some(inner) => joined(language, &split_arguments(inner), code),
            None => template(language, one, code),
        });
    texts.collect::<Vec<_>>().join(" ")
}

/// Returns the text of an expression, in which a line stands for what is known only when it runs.
fn template(language: Language, expression: &str, code: &str) -> String {
    let mut text = String::new();
    let mut rest = expression.trim();
    let fills = holds_any(expression, &["printf", "format", " % "]);
    while let Some(first) = rest.chars().next() {
        if let Some((own, after)) = literal(rest) {
            let is_raw = rest.starts_with('\'') || first == 'r';
            let own = if is_raw { own } else { opened(language, &own) };
            text.push_str(&if fills { filled(&own) } else { own });
            rest = after;
            continue;
        }
        if !(first.is_alphanumeric() || matches!(first, '_' | '$' | '@' | '<')) {
            rest = rest.get(first.len_utf8()..).unwrap_or_default();
            continue;
        }
        let (name, after) = chain(rest);
        rest = after;
        let inner = name
            .split_once('(')
            .map(|(call, inner)| (call, split_arguments(inner)));
        match inner {
            Some((call, given))
                if holds_any(call, &["printf", "format", "join"]) && !given.is_empty() =>
            {
                let parts: Vec<String> = given
                    .iter()
                    .map(|one| template(language, one, code))
                    .collect();
                text.push_str(&match parts.first().filter(|_| fills) {
                    Some(first) => filled(first),
                    None => parts.join("/"),
                });
            }
            _ if name.bytes().all(|byte| byte.is_ascii_digit()) => text.push_str(name),
            _ => {
                let known = value(name, code);
                if known.dynamic || known.text.is_empty() || inner.is_some() {
                    // One line stands for all that follows each other.
                    if !text.ends_with(LINE) {
                        text.push_str(LINE);
                    }
                } else if let Some(given) = assigned(name, code) {
                    text.push_str(&template(language, given, ""));
                } else {
                    text.push_str(&known.text);
                }
            }
        }
    }
    text
}

/// Returns the expression that code gives a name to.
fn assigned<'a>(name: &'a str, code: &'a str) -> Option<&'a str> {
    let given = occurrences(code, name).find_map(|(_, after)| {
        let given = after.trim_start().strip_prefix('=')?;
        let is_test = given.starts_with(['=', '~', '>']);
        given.split([';', '\n', '}']).next().filter(|_| !is_test)
    });
    given.filter(|given| given.contains(['"', '\'']))
}

/// Returns the name, with its members and what it is called with, that a text begins with, and what follows.
fn chain(text: &str) -> (&str, &str) {
    let mut depth = 0_usize;
    let mut quote = None;
    let end = text.char_indices().find_map(|(at, c)| {
        if let Some(open) = quote {
            if c == open {
                quote = None;
            }
            return None;
        }
        match c {
            '\'' | '"' if depth > 0 => quote = Some(c),
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' if depth == 0 => return Some(at),
            ')' | ']' | '}' => depth -= 1,
            _ if depth > 0 => {}
            _ if c.is_alphanumeric()
                || matches!(c, '_' | '$' | '@' | ':' | '-' | '>' | '<' | '!' | '?') => {}
            // Of two points the text goes on behind them.
            '.' if text
                .get(at + 1..)
                .is_some_and(|rest| rest.starts_with(|c: char| c.is_alphabetic() || c == '_')) => {}
            _ => return Some(at),
        }
        None
    });
    text.split_at(end.unwrap_or(text.len()))
}

/// Returns a text with a line in the places that it leaves for values.
fn filled(text: &str) -> String {
    ["%s", "%d", "%r", "%q", "{}"]
        .iter()
        .fold(text.to_owned(), |text, place| text.replace(place, LINE))
}

/// Returns a text with a line in the places where code stands in it.
fn opened(language: Language, text: &str) -> String {
    let mut open = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let starts = match language {
            Language::Python => rest.starts_with('{').then_some("{"),
            Language::JavaScript => rest.starts_with("${").then_some("${"),
            Language::Perl | Language::Php => rest.starts_with(['$', '@']).then_some("$"),
            Language::Ruby => rest.starts_with("#{").then_some("#{"),
            _ => None,
        };
        let Some(start) = starts else {
            open.push(first);
            rest = rest.get(first.len_utf8()..).unwrap_or_default();
            continue;
        };
        open.push_str(LINE);
        rest = if start == "$" {
            let name = rest.get(1..).unwrap_or_default();
            name.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_')
        } else {
            rest.split_once('}').map_or("", |(_, after)| after)
        };
    }
    open
}

/// A `print` of awk.
struct Statement<'a> {
    /// What is printed.
    printed: &'a str,
    is_format: bool,
    /// `|` or `>`, and what stands behind it.
    target: Option<(char, &'a str)>,
}

impl Statement<'_> {
    fn printed(&self, code: &str) -> String {
        let printed = self.printed.trim();
        let inner = printed
            .strip_prefix('(')
            .and_then(|text| text.strip_suffix(')'));
        let given = split_arguments(inner.unwrap_or(printed));
        match given.first() {
            None => LINE.to_owned(),
            Some(format) if self.is_format => filled(&template(Language::Awk, format, code)),
            Some(_) => joined(Language::Awk, &given, code),
        }
    }
}

/// Returns the statements of awk that print.
fn statements(code: &str) -> Vec<Statement<'_>> {
    let names = [("print", false), ("printf", true)].into_iter();
    let found = names.flat_map(|(name, is_format)| {
        occurrences(code, name).map(move |(_, after)| (is_format, after))
    });
    found
        .map(|(is_format, after)| {
            let mut depth = 0_usize;
            let (mut quoted, mut skips) = (false, false);
            let mut target = None;
            let end = after.char_indices().find_map(|(at, c)| {
                if std::mem::take(&mut skips) {
                    return None;
                }
                match c {
                    '\\' => skips = true,
                    '"' => quoted = !quoted,
                    _ if quoted => {}
                    '(' | '[' => depth += 1,
                    ')' | ']' => depth = depth.saturating_sub(1),
                    ';' | '\n' | '}' => return Some(at),
                    '|' | '>' if depth == 0 && target.is_none() => target = Some((at, c)),
                    _ => {}
                }
                None
            });
            let statement = after.get(..end.unwrap_or(after.len())).unwrap_or_default();
            let at = target.map_or(statement.len(), |(at, _)| at);
            let behind = statement.get(at..).unwrap_or_default();
            Statement {
                printed: statement.get(..at).unwrap_or_default(),
                is_format,
                target: target.map(|(_, c)| (c, behind.trim_start_matches(['>', '|', '&', ' ']))),
            }
        })
        .collect()
}

/// Adds what awk runs by its pipes, and writes or reads by names that it makes.
fn by_awk(code: &str, texts: &mut Vec<String>) {
    for statement in statements(code) {
        let Some((sign, target)) = statement.target else {
            continue;
        };
        let name = template(Language::Awk, target, code);
        let runs = || program::find(name.split_whitespace().next().unwrap_or_default());
        match sign {
            '>' if name.contains(LINE) => texts.push(format!("tee -a {name}")),
            '|' if name.contains(LINE) => texts.push(name),
            '|' if runs().is(Fact::Shell) => texts.push(statement.printed(code)),
            _ => {}
        }
    }
    for (before, after) in occurrences(code, "getline") {
        let from = after
            .split([';', ')', '}', '\n'])
            .next()
            .and_then(|rest| rest.split_once('<'));
        if let Some((_, file)) = from {
            texts.push(format!("cat {}", template(Language::Awk, file, code)));
        } else if let Some(command) = before.trim_end().strip_suffix('|') {
            let start = command.rfind(['{', ';', '(', '\n']).map_or(0, |at| at + 1);
            let command = command.get(start..).unwrap_or_default();
            texts.push(template(Language::Awk, command, code));
        }
    }
}
