//! Filter: whether what lists files, or stands behind it in a pipe, lets a name through. What cannot be told does.

use std::sync::Arc;

use super::options::{INSTEAD_OF_PATTERN, Options, is_grep, is_steered, searches};
use crate::glob::glob;
use crate::pattern::Pattern;
use crate::shell::{Analysis, Invocation};
use crate::words::{holds_any, words};

/// Whether a text fits a pattern of file names in which `*` stands for a slash, too; none where that cannot be told.
pub(crate) fn wild(pattern: &str, text: &str, folds: bool) -> Option<bool> {
    if !pattern.contains(['[', '\\']) {
        return Some(if folds {
            glob(&pattern.to_lowercase(), &text.to_lowercase())
        } else {
            glob(pattern, text)
        });
    }
    let mut regex = String::from(if folds { "(?si)^" } else { "(?s)^" });
    let mut chars = pattern.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '*' => regex.push_str(".*"),
            '?' => regex.push('.'),
            '\\' => literal(chars.next()?, &mut regex),
            '[' => {
                regex.push('[');
                if chars.next_if(|c| matches!(c, '!' | '^')).is_some() {
                    regex.push('^');
                }
                if chars.next_if_eq(&']').is_some() {
                    regex.push_str("\\]");
                }
                loop {
                    match chars.next()? {
                        ']' => break,
                        // A class of characters by its name.
                        '[' => return None,
                        '-' => regex.push('-'),
                        c => literal(c, &mut regex),
                    }
                }
                regex.push(']');
            }
            _ => literal(c, &mut regex),
        }
    }
    regex.push('$');
    Some(Pattern::new(&regex).ok()?.is_match(text))
}

fn literal(c: char, regex: &mut String) {
    if c.is_ascii_punctuation() && !matches!(c, '<' | '>') {
        regex.push('\\');
    }
    regex.push(c);
}

/// The options of a search in a pipe by which it can be told of a line whether it is let through.
const READ: &[&str] = words!("plain-filter-options");

/// Whether a name comes through programs in a pipe. Behind one that makes another of it that cannot be told.
pub(crate) fn come_through(analysis: &Analysis, filters: &[Arc<Invocation>], name: &str) -> bool {
    let mut known = filters
        .iter()
        .take_while(|filter| keeps_names(filter) && !is_steered(analysis, filter));
    !known.any(|filter| keeps_out(filter, name))
}

/// Whether a program in the pipe does not let a name through.
fn keeps_out(filter: &Invocation, name: &str) -> bool {
    let options = Options::of(filter);
    // Other lines than those of the pipe are not looked at.
    let is_read = options.are_only(READ)
        && options.operands().len() <= usize::from(!options.has(INSTEAD_OF_PATTERN));
    is_read && meets(filter, name) == Some(false)
}

/// Whether a search prints a line, by its patterns; none where that cannot be told.
pub(crate) fn meets(search: &Invocation, line: &str) -> Option<bool> {
    meets_any(search, std::iter::once(line))
}

/// Whether a search prints one of these lines.
pub(super) fn meets_any<'a>(
    search: &Invocation,
    mut text: impl Iterator<Item = &'a str>,
) -> Option<bool> {
    let program = search.program.as_str();
    let options = Options::of(search);
    let is_rg = program == "rg";
    let is_ag = program == "ag";
    let mut patterns = options.patterns();
    if program == "git" && !options.has(INSTEAD_OF_PATTERN) {
        // Before it stands the subcommand.
        patterns = options.operands().into_iter().skip(1).take(1).collect();
    }
    let is_fixed = program == "fgrep" || options.has(&["-F", "--fixed-strings"]);
    let is_perl = is_ag || program == "ack" || options.has(&["-P", "--perl-regexp"]);
    let is_extended = program == "egrep" || options.has(&["-E", "--extended-regexp"]);
    // Of two syntaxes the last one would count.
    let is_read = (searches(program) || program == "git")
        && u8::from(is_fixed) + u8::from(is_perl) + u8::from(is_extended) <= 1
        // What `-E` of `rg` says is how a text is encoded.
        && !(is_rg && is_extended)
        && !options.has(&["-f", "--file"])
        && patterns.iter().all(|(_, is_dynamic)| !is_dynamic);
    if !is_read || patterns.is_empty() {
        return None;
    }
    let read = |pattern: &str| {
        let text = if is_fixed {
            let mut text = String::new();
            pattern.chars().for_each(|c| literal(c, &mut text));
            text
        } else if is_rg || is_perl {
            pattern.to_owned()
        } else if has_odd_class(pattern) {
            return None;
        } else if is_extended {
            pattern.to_owned()
        } else {
            extended(pattern)
        };
        let text = if options.has(&["-x", "--line-regexp"]) {
            format!("^(?:{text})$")
        } else if options.has(&["-w", "--word-regexp"]) {
            format!(r"\b(?:{text})\b")
        } else {
            text
        };
        let is_smart = is_ag || is_rg && options.has(&["-S", "--smart-case"]);
        // What is a capital letter to it, and what turns it off again, is not told.
        if is_smart && text.contains(char::is_uppercase) || is_rg && options.has(&["-s"]) {
            return None;
        }
        let folds = is_smart || options.has(&["-i", "--ignore-case"]);
        let text = if folds { format!("(?i){text}") } else { text };
        Pattern::new(&text).ok()
    };
    let lines = patterns.iter().flat_map(|(pattern, _)| pattern.split('\n'));
    let read: Vec<Pattern> = lines.map(read).collect::<Option<_>>()?;
    let is_inverted = options.has(&["-v", "--invert-match"]);
    Some(text.any(|line| read.iter().any(|one| one.is_match(line)) != is_inverted))
}

/// Whether names come through a program in the pipe as they are, if at all.
pub(crate) fn keeps_names(filter: &Invocation) -> bool {
    let options = Options::of(filter);
    let operands = options.operands();
    match filter.program.as_str() {
        "cat" | "head" | "sort" | "tail" | "uniq" => operands.is_empty() && options.are_known(),
        program if program == "rg" || is_grep(program) => options.are_only(READ),
        // A whole field, or all from a column on.
        "awk" | "gawk" | "mawk" => {
            options.are_only(&[]) && matches!(operands[..], [(code, false)] if is_field(code))
        }
        "cut" => options.are_only(&["-c", "-f"]),
        "tr" => operands.first().is_some_and(|(from, _)| *from == "\\n") && options.are_only(&[]),
        _ => false,
    }
}

/// Whether code of awk prints one field, and nothing else.
fn is_field(code: &str) -> bool {
    let inner = code
        .trim()
        .strip_prefix('{')
        .and_then(|code| code.strip_suffix('}'));
    let field = inner.and_then(|code| code.trim().strip_prefix("print $"));
    field.is_some_and(|field| field == "NF" || field.bytes().all(|b| b.is_ascii_digit()))
}

/// Whether a class of characters stands in an expression that other engines read otherwise.
fn has_odd_class(pattern: &str) -> bool {
    let Some((_, class)) = pattern.split_once('[') else {
        return false;
    };
    let class = class.rsplit_once(']').map_or(class, |(class, _)| class);
    holds_any(class, &["\\", "&&", "--", "~~"])
}

/// Returns a basic expression as an extended one: what has a meaning bare in one has it behind a `\` in the other.
fn extended(basic: &str) -> String {
    let mut text = String::new();
    let mut chars = basic.chars();
    let mut is_in_class = false;
    while let Some(c) = chars.next() {
        match c {
            '[' => is_in_class = true,
            ']' => is_in_class = false,
            _ if is_in_class => {}
            '\\' => {
                match chars.next() {
                    Some(c @ ('(' | ')' | '{' | '}' | '|' | '+' | '?')) => text.push(c),
                    Some(c) => text.extend(['\\', c]),
                    None => text.push_str("\\\\"),
                }
                continue;
            }
            '(' | ')' | '{' | '}' | '|' | '+' | '?' => text.push('\\'),
            _ => {}
        }
        text.push(c);
    }
    text
}
