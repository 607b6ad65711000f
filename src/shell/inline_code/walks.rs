//! Walks: folders that code lists in order to change what it finds there.

use super::bindings::variants;
use super::calls::{Meaning, calls};
use super::expression::{list, literal, receiver, split_arguments, value};
use super::imports::with_modules;
use super::listing::{CALLS, FILE_FIND, Listing, walked};
use super::{Language, arguments_of, occurrences, plain_names};
use crate::program::{self, Fact};
use crate::shell::{Word, file_name};
use crate::words::{holds_any, words};

/// A folder that code goes through to change what it finds there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CodeWalk {
    /// The folder as the code writes it; none where the code does not say it.
    pub(crate) root: Option<String>,
    /// Whether it goes down into the folders that it finds.
    pub(crate) goes_down: bool,
    /// Whether it changes files only, not folders.
    pub(crate) files_only: bool,
    /// Patterns of which a name has to meet one; none where every name is taken.
    pub(crate) picked: Vec<String>,
    /// Patterns of names that are left out.
    pub(crate) left_out: Vec<String>,
}

/// Commands whose calls change what they are given.
pub(super) const CHANGING: &[&str] = &[
    "chmod", "chown", "cp", "ln", "mv", "rm", "rmdir", "shred", "tee", "touch", "truncate",
];

/// Names in an expression that say nothing of which file it is.
const SAYING_NOTHING: &[&str] = &[
    "Path", "abspath", "dirname", "fs", "join", "new", "os", "path", "pathlib", "str",
];

/// What a comparison asks of a name, by the words in front of the text that it compares with.
const ENDS: &[&str] = words!("end-tests");
const STARTS: &[&str] = words!("start-tests");
const HOLDS: &[&str] = &[
    "==",
    " eq ",
    "includes(",
    "include?(",
    "contains(",
    "indexOf(",
    " in",
    "!=",
    " ne ",
];
/// The words in front of a regular expression in a text, and in front of one that stands between slashes.
const EXPRESSIONS: &[&str] = &["match(", "search(", "compile(", "=~", "!~"];
const TESTS: &[&str] = &[
    "if", "unless", "and", "or", "(", "!", "&&", "||", "grep", "{", "=~", "!~",
];
/// Words in front of a comparison, or part of it, by which it says the opposite.
const NOT: &[&str] = &["not", "!", "unless", "reject", "filterfalse"];
/// Words behind a comparison by which what meets it is passed over.
const PASSED_OVER: &[&str] = &[
    ": continue",
    ":\n",
    ") continue",
    "return false",
    "return;",
    ") return",
];
/// Calls that leave folders alone.
const FILES_ONLY: &[&str] = &[
    "isfile(", "is_file(", "isFile(", ".file?", "if -f", "&& -f", "(-f",
];

/// Returns the folders that a piece of code goes through to change what it finds there.
pub(in crate::shell) fn walks(language: Language, code: &str) -> Vec<CodeWalk> {
    let mut walks = Vec::new();
    for code in variants(language, &with_modules(language, code)) {
        let mut found = walks_of(language, &plain_names(language, &code));
        found.retain(|walk| !walks.contains(walk));
        walks.append(&mut found);
    }
    walks
}

fn walks_of(language: Language, code: &str) -> Vec<CodeWalk> {
    let mut listings: Vec<(Option<String>, &Listing, Option<String>)> = Vec::new();
    for call in CALLS {
        let sees_hidden = call.sees_hidden
            || holds_any(
                code,
                &["include_hidden", "DOTMATCH", "dot: true", "dot:true"],
            );
        for (before, after) in occurrences(code, call.name).filter(|_| sees_hidden) {
            let inner = after.trim_start().strip_prefix(['(', '[']);
            let arguments = inner.map(split_arguments).unwrap_or_default();
            let (root, pattern) = listed(call, before, &arguments, code);
            listings.push((root, call, pattern));
        }
    }
    if let Some(found) = walked(code).filter(|_| language == Language::Perl) {
        let root = found.text.rsplit_once('/').map(|(root, _)| root.to_owned());
        listings.push((root, &FILE_FIND, None));
    }
    if listings.is_empty() || !changes_what_it_finds(language, code) {
        return Vec::new();
    }
    // What a listing finds is often listed in turn.
    if listings.iter().any(|(root, ..)| root.is_some()) {
        listings.retain(|(root, ..)| root.is_some());
    }
    let (picked, left_out) = filters(code);
    let files_only = holds_any(code, FILES_ONLY);
    let goes_down = code.contains("recursive: true") || code.contains("recursive:true");
    let walk = |(root, call, pattern): (Option<String>, &Listing, Option<String>)| CodeWalk {
        root,
        goes_down: call.goes_down
            || goes_down
            || pattern.as_ref().is_some_and(|p| p.contains("**")),
        files_only,
        picked: match pattern {
            Some(pattern) if !pattern.ends_with("/*") && pattern != "*" => {
                vec![file_name(&pattern).to_owned()]
            }
            _ => picked.clone(),
        },
        left_out: left_out.clone(),
    };
    listings.into_iter().map(walk).collect()
}

/// Returns the folder that a call lists, and the pattern that it is given.
fn listed(
    call: &Listing,
    before: &str,
    arguments: &[String],
    code: &str,
) -> (Option<String>, Option<String>) {
    let known = |word: Word| (!word.dynamic).then_some(word.text);
    let first = arguments.first().map(String::as_str);
    let given = first.filter(|text| !text.trim_start().starts_with('{'));
    let of_call = || {
        let path = receiver(before.trim_end_matches('.'), code);
        path.map_or(Some(".".to_owned()), known)
    };
    if call.name == "readdir" {
        // Perl's handle was opened before.
        let opened = code.split_once("opendir").and_then(|(_, rest)| {
            let given = split_arguments(rest.trim_start().trim_start_matches('('));
            given.get(1).map(|path| value(path, code))
        });
        return (opened.and_then(known), None);
    }
    if call.is_pattern {
        let pattern = given.and_then(|text| known(value(text, code)));
        let is_method = call.name.starts_with('.') && !before.ends_with("Dir");
        let root = if is_method {
            of_call()
        } else {
            Some(".".to_owned())
        };
        let Some(pattern) = pattern else {
            return (root, None);
        };
        let fixed = pattern.find(['*', '?', '[']).unwrap_or(pattern.len());
        let folder = pattern.get(..fixed).and_then(|p| p.rsplit_once('/'));
        let root = match folder {
            Some(("", _)) => Some("/".to_owned()),
            Some((folder, _)) if !is_method => Some(folder.to_owned()),
            Some((folder, _)) => root.map(|root| format!("{root}/{folder}")),
            None => root,
        };
        return (root, Some(pattern));
    }
    match given {
        Some(path) if !is_open(path, code) => (known(value(path, code)), None),
        Some(_) => (None, None),
        None if call.name.starts_with('.') => (of_call(), None),
        None => (Some(".".to_owned()), None),
    }
}

/// Whether code changes files that it does not name.
fn changes_what_it_finds(language: Language, code: &str) -> bool {
    calls(language).iter().any(|(name, meaning)| {
        occurrences(code, name).any(|(before, after)| {
            let Some(arguments) = arguments_of(language, name, before, after) else {
                // It is handed over, to be called with each.
                return changes(*meaning) && after.starts_with(['"', '\'', ',', ')']);
            };
            let is_any_open = || arguments.iter().any(|a| is_open(a, code));
            match meaning {
                Meaning::Paths(..) => changes(*meaning) && is_any_open(),
                Meaning::Receiver("mv", _) if arguments.len() != 1 => false,
                Meaning::Receiver(..) => {
                    changes(*meaning) && receiver(before, code).is_none_or(|path| path.dynamic)
                }
                Meaning::Open => {
                    let mut modes = arguments.iter().skip(1);
                    let writes =
                        modes.any(|m| m.contains(['w', 'a', 'x', '+', '>']) && m.len() < 24);
                    writes && is_any_open()
                }
                Meaning::Shell | Meaning::Program => {
                    let first = arguments.first().map(String::as_str).unwrap_or_default();
                    let program = list(first, code).into_iter().next().unwrap_or_default();
                    let name = program.text.split_whitespace().next().unwrap_or_default();
                    let known = program::find(name);
                    let harmless = [Fact::Reads, Fact::Text, Fact::Fixes];
                    is_any_open() && !harmless.into_iter().any(|fact| known.is(fact))
                }
                Meaning::Sql | Meaning::Code | Meaning::Send => false,
            }
        })
    })
}

fn changes(meaning: Meaning) -> bool {
    match meaning {
        Meaning::Paths(program, _) | Meaning::Receiver(program, _) => CHANGING.contains(&program),
        _ => false,
    }
}

/// Whether an expression holds anything but literals and what is known of their making.
fn is_open(expression: &str, code: &str) -> bool {
    let mut rest = expression.trim();
    let mut plain = String::new();
    while let Some(at) = rest.find(['\'', '"', '`']) {
        let (before, quoted) = rest.split_at(at);
        plain.push_str(before.trim_end_matches(['r', 'b', 'f', 'u']));
        let Some((text, after)) = literal(quoted) else {
            break;
        };
        if text.contains("${") || text.contains("#{") || before.ends_with('f') && text.contains('{')
        {
            return true;
        }
        let interpolates = quoted.starts_with('"') && text.contains(['$', '@']);
        if interpolates {
            return true;
        }
        plain.push(' ');
        rest = after;
    }
    plain.push_str(rest);
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    // The value of a keyword is not a path.
    if plain
        .split_once('=')
        .is_some_and(|(name, _)| name.trim().chars().all(is_part))
    {
        return false;
    }
    plain
        .split(|c| !is_part(c))
        .filter(|name| {
            name.chars()
                .next()
                .is_some_and(|c| c.is_alphabetic() || c == '_')
        })
        .any(|name| !SAYING_NOTHING.contains(&name) && value(name, code).dynamic)
}

/// Returns what the comparisons in code ask of names: what they pick and what they leave out, as patterns.
fn filters(code: &str) -> (Vec<String>, Vec<String>) {
    let (mut picked, mut left_out) = (Vec::new(), Vec::new());
    let mut at = 0;
    while let Some(found) = code.get(at..).and_then(|rest| rest.find(['\'', '"', '/'])) {
        let start = at + found;
        at = start + 1;
        let (before, rest) = code.split_at(start);
        let is_pattern = rest.starts_with('/');
        let text_and_after = if is_pattern {
            let inner = rest.get(1..).unwrap_or_default();
            let end = inner.find('/').filter(|end| *end > 0);
            end.and_then(|end| Some((inner.get(..end)?.to_owned(), inner.get(end + 1..)?)))
        } else {
            literal(rest)
        };
        let Some((text, after)) = text_and_after else {
            continue;
        };
        let head = head(before);
        let bare = head.trim_end_matches(['(', '[', ' ']);
        let ends_with = |words: &[&str]| {
            let mut words = words.iter().map(|word| word.trim_end());
            words.any(|word| head.ends_with(word) || bare.ends_with(word))
        };
        let raw = rest
            .get(1..rest.len() - after.len() - 1)
            .unwrap_or_default();
        let follows = after.trim_start();
        if !is_pattern {
            at = code.len() - after.len();
        }
        let is_searched = follows.starts_with("in ") || follows.starts_with("not in ");
        let is_test = follows.starts_with(".test") || TESTS.iter().any(|word| head.ends_with(word));
        let glob = match text.to_lowercase() {
            text if is_pattern => is_test.then(|| glob_of(&text)),
            _ if ends_with(EXPRESSIONS) => Some(glob_of(raw)),
            text if ends_with(&["fnmatch(", "filter("]) => Some(text),
            text if ends_with(ENDS) => Some(format!("*{text}")),
            text if ends_with(STARTS) => Some(format!("{text}*")),
            text if is_searched || ends_with(HOLDS) => Some(format!("*{text}*")),
            _ => None,
        };
        let Some(glob) = glob else {
            continue;
        };
        at = code.len() - after.len();
        let line = head.rsplit(['\n', ';', '{']).next().unwrap_or(head);
        let nots: usize = NOT.iter().map(|word| line.matches(word).count()).sum();
        let is_not = (nots + usize::from(follows.starts_with("not in "))) % 2 == 1;
        let next: String = after.chars().take(24).collect();
        let is_passed_over = PASSED_OVER
            .iter()
            .any(|words| match words.split_once('\n') {
                Some((colon, _)) => next.split_once('\n').is_some_and(|(end, line)| {
                    end.ends_with(colon) && line.trim_start().starts_with("continue")
                }),
                None => next.contains(words),
            })
            || line.contains("next if");
        if is_not == is_passed_over {
            picked.push(glob);
        } else {
            left_out.push(glob);
        }
    }
    (picked, left_out)
}

/// Returns the code before a text that is compared, without the other texts of the same list.
fn head(before: &str) -> &str {
    let mut head = before.trim_end_matches(['r', 'b', 'f', 'u']).trim_end();
    loop {
        let shorter = head.trim_end_matches(['(', '[', ',']).trim_end();
        let Some(quote) = shorter
            .chars()
            .next_back()
            .filter(|c| matches!(c, '\'' | '"'))
        else {
            // The bracket of the call belongs to it, what it is given before the text does not.
            let call = head.ends_with(',').then(|| head.rfind('(')).flatten();
            return call.and_then(|at| head.get(..=at)).unwrap_or(head);
        };
        let inner = shorter.strip_suffix(quote).unwrap_or_default();
        let Some(start) = inner.rfind(quote) else {
            return head;
        };
        head = before.get(..start).unwrap_or_default().trim_end();
    }
}

/// Returns a glob that matches whatever a regular expression is found in, and may match more.
pub(crate) fn glob_of(pattern: &str) -> String {
    let pattern = pattern.to_lowercase();
    let (pattern, head) = match pattern.strip_prefix('^') {
        Some(rest) => (rest, ""),
        None => (pattern.as_str(), "*"),
    };
    let (pattern, tail) = match pattern.strip_suffix('$') {
        Some(rest) => (rest, ""),
        None => (pattern, "*"),
    };
    let mut glob = head.to_owned();
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some(c) if !c.is_alphanumeric() => glob.push(c),
                _ => glob.push('?'),
            },
            '?' | '*' | '+' => {
                glob.pop();
                glob.push('*');
            }
            '(' | '{' | '[' | '|' => return "*".to_owned(),
            '.' => glob.push('?'),
            c => glob.push(c),
        }
    }
    glob + tail
}
