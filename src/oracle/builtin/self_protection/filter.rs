//! Filter: whether what lists files, or stands behind it in a pipe, lets a name through. What cannot be told does.

use std::fs;
use std::path::Path;

use super::file;
use crate::pattern::Pattern;
use crate::shell::Invocation;

/// The longest file in which is looked for what a search looks for, in bytes.
const MOST_LOOKED_AT: u64 = 1 << 20;

/// Whether a text fits a pattern of file names in which `*` stands for a slash, too; none where that cannot be told.
pub(super) fn wild(pattern: &str, text: &str, folds: bool) -> Option<bool> {
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

/// Whether a program in the pipe does not let a name through.
pub(super) fn keeps_out(filter: &Invocation, name: &str) -> bool {
    let program = filter.program.as_str();
    let is_grep = matches!(program, "grep" | "egrep" | "fgrep" | "rg");
    let has = |letter: char, long: &str| has_letter(filter, letter) || filter.has_long(long);
    // Patterns of a file, and other lines than those of the pipe, are not looked at.
    let is_plain = |from: usize| filter.own_operands(filter.known()).count() <= from;
    if !is_grep || has('f', "--file") || has('L', "--files-without-match") {
        return false;
    }
    let given = values(filter, &["-e", "--regexp"]);
    let patterns: Vec<&str> = if given.is_empty() {
        let own = filter.own_operands(filter.known()).next();
        own.map(|word| (word.text.as_str(), word.dynamic))
            .into_iter()
            .filter_map(known)
            .collect()
    } else {
        let all = given.iter().copied();
        all.filter_map(known).collect()
    };
    let is_whole = patterns.len() == given.len().max(1) && is_plain(usize::from(given.is_empty()));
    if !is_whole {
        return false;
    }
    let is_fixed = program == "fgrep" || has('F', "--fixed-strings");
    let is_basic =
        program == "grep" && !has('E', "--extended-regexp") && !has('P', "--perl-regexp");
    let meets = |pattern: &str| {
        let lines = pattern.lines().map(|line| {
            let text = if is_fixed {
                let mut text = String::new();
                line.chars().for_each(|c| literal(c, &mut text));
                text
            } else if is_basic {
                extended(line)
            } else {
                line.to_owned()
            };
            let text = if has('x', "--line-regexp") {
                format!("^(?:{text})$")
            } else if has('w', "--word-regexp") {
                format!(r"\b(?:{text})\b")
            } else {
                text
            };
            let folds = has('i', "--ignore-case") || (program == "rg" && has('S', "--smart-case"));
            let text = if folds { format!("(?i){text}") } else { text };
            Some(Pattern::new(&text).ok()?.is_match(name))
        });
        lines
            .collect::<Option<Vec<bool>>>()
            .map(|met| met.contains(&true))
    };
    let met: Option<Vec<bool>> = patterns.into_iter().map(meets).collect();
    met.is_some_and(|met| met.contains(&true) == has('v', "--invert-match"))
}

/// Letters of `grep` and `rg` behind which a value stands.
const TAKING: &[char] = &['A', 'B', 'C', 'd', 'D', 'e', 'f', 'g', 'm', 't', 'T'];

/// Whether an option of one letter is given, and is not a letter of another's value.
fn has_letter(search: &Invocation, letter: char) -> bool {
    let mut words = search
        .before_dashes()
        .filter(|word| !word.text.starts_with("--"));
    words.any(|word| {
        let letters = word.text.strip_prefix('-').unwrap_or_default();
        let taking = letters.find(TAKING).map_or(letters.len(), |at| at + 1);
        letters
            .get(..taking)
            .is_some_and(|own| own.contains(letter))
    })
}

/// Returns a pattern that is known.
fn known((text, is_dynamic): (&str, bool)) -> Option<&str> {
    (!is_dynamic).then_some(text)
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

/// Returns every value of an option, by each of its names, and whether it is known only when it runs.
pub(super) fn values<'a>(invocation: &'a Invocation, names: &[&str]) -> Vec<(&'a str, bool)> {
    let (_, values): (Vec<_>, Vec<_>) = options(invocation, names).into_iter().unzip();
    values
}

/// Returns every option of some names with its value, in order.
fn options<'a>(invocation: &'a Invocation, names: &[&str]) -> Vec<(&'a str, (&'a str, bool))> {
    let mut found = Vec::new();
    let mut words = invocation.before_dashes();
    while let Some(word) = words.next() {
        let text = word.text.as_str();
        let (name, attached) = match text.split_once('=') {
            Some((name, value)) if text.starts_with("--") => (name, Some(value)),
            _ if text.starts_with("--") => (text, None),
            // Behind its letter, or behind those of others that take no value.
            _ => {
                let letters = text.strip_prefix('-').unwrap_or_default();
                let at = letters.char_indices().find_map(|(at, letter)| {
                    let name = names.iter().find(|name| name.chars().eq(['-', letter]));
                    name.map(|_| at)
                });
                let Some(at) = at else { continue };
                let value = letters.get(at + 1..).filter(|value| !value.is_empty());
                (letters.get(at..=at).unwrap_or_default(), value)
            }
        };
        let is_wanted = names
            .iter()
            .any(|wanted| *wanted == name || wanted.strip_prefix('-') == Some(name));
        if !is_wanted {
            continue;
        }
        if let Some(value) = attached {
            found.push((name, (value, word.dynamic)));
        } else if let Some(next) = words.next() {
            found.push((name, (next.text.as_str(), next.dynamic)));
        }
    }
    found
}

/// Whether a program that goes through folders lists a file, given by its way from where it was sent, and where it lies.
pub(super) fn lists(lister: &Invocation, way: &Path, path: &Path) -> bool {
    match lister.program.as_str() {
        "grep" | "egrep" | "fgrep" => by_grep(lister, way) && holds(lister, path),
        "rg" => by_rg(lister, way) && holds(lister, path),
        _ => true,
    }
}

fn by_grep(grep: &Invocation, way: &Path) -> bool {
    let name = name_of(way);
    let fits = |(pattern, is_dynamic): (&str, bool), name: &str, open: bool| {
        let told = (!is_dynamic).then(|| wild(pattern.trim_end_matches('/'), name, false));
        told.flatten().unwrap_or(open)
    };
    let is_in_left_out = values(grep, &["--exclude-dir"]).into_iter().any(|value| {
        let mut folders = way.iter().rev().skip(1);
        folders.any(|folder| fits(value, &folder.to_string_lossy(), false))
    });
    // The last one that fits decides; where none does, the first says what is usual.
    let told = options(grep, &["--include", "--exclude"]);
    let is_usual = told
        .first()
        .is_none_or(|(option, _)| *option != "--include");
    let decides = told
        .into_iter()
        .rfind(|(option, value)| fits(*value, &name, *option == "--include"));
    !is_in_left_out && decides.map_or(is_usual, |(option, _)| option == "--include")
}

/// The kinds of files that have to do with what is guarded, as `rg` calls them, with their endings.
const KINDS: &[(&str, &[&str])] = &[
    ("c", &["c", "h"]),
    ("cpp", &["cpp", "cc", "hpp", "h"]),
    ("css", &["css"]),
    ("go", &["go"]),
    ("html", &["html"]),
    ("java", &["java"]),
    ("js", &["js", "cjs", "mjs", "jsx"]),
    ("json", &["json", "jsonl"]),
    ("markdown", &["md", "mdx", "markdown"]),
    ("md", &["md", "mdx", "markdown"]),
    ("php", &["php"]),
    ("py", &["py"]),
    ("python", &["py"]),
    ("ruby", &["rb"]),
    ("rust", &["rs"]),
    ("toml", &["toml"]),
    ("ts", &["ts", "tsx", "mts", "cts"]),
    ("yaml", &["yaml", "yml"]),
];

fn by_rg(rg: &Invocation, way: &Path) -> bool {
    let text = way.to_string_lossy();
    let meets = |pattern: &str| {
        let bare = pattern.trim_matches('/');
        if bare.contains('/') || pattern.starts_with('/') {
            let mut folders = way
                .ancestors()
                .filter(|folder| !folder.as_os_str().is_empty());
            return folders.any(|folder| fast_glob::glob_match(bare, &*folder.to_string_lossy()));
        }
        way.iter()
            .any(|part| fast_glob::glob_match(bare, &*part.to_string_lossy()))
    };
    let globs = options(rg, &["-g", "--glob", "--iglob"]);
    let mut is_listed = !globs.iter().any(|(_, (glob, _))| !glob.starts_with('!'));
    for (_, (glob, is_dynamic)) in globs {
        match glob.strip_prefix('!') {
            Some(out) if !is_dynamic && meets(out) => is_listed = false,
            None if is_dynamic || meets(glob) || text.eq_ignore_ascii_case(glob) => {
                is_listed = true;
            }
            _ => {}
        }
    }
    let kinds = values(rg, &["-t", "--type"]);
    let ending = way.extension().map(|e| e.to_string_lossy().to_lowercase());
    let may_be = |(kind, is_dynamic): &(&str, bool)| {
        let known = KINDS.iter().find(|(name, _)| name == kind);
        let endings = known.map(|(_, endings)| *endings).filter(|_| !is_dynamic);
        endings.is_none_or(|endings| ending.as_deref().is_some_and(|e| endings.contains(&e)))
    };
    is_listed && (kinds.is_empty() || kinds.iter().any(may_be))
}

/// Whether a file may hold what is looked for: a plain text can be looked for here as well.
fn holds(search: &Invocation, path: &Path) -> bool {
    let is_listing = has_letter(search, 'l') || search.has_long("--files-with-matches");
    let given = values(search, &["-e", "--regexp"]);
    let own = search.own_operands(search.known()).next();
    let patterns: Vec<(&str, bool)> = match (given.is_empty(), own) {
        (true, Some(own)) => vec![(own.text.as_str(), own.dynamic)],
        (true, None) => return true,
        (false, _) => given,
    };
    let is_plain = |(text, is_dynamic): &(&str, bool)| {
        let plain = |c: char| c.is_alphanumeric() || " _-/:=,'\"<>".contains(c);
        !is_dynamic && !text.is_empty() && text.chars().all(plain)
    };
    let is_other = ['f', 'v', 'L', 'z', 'c']
        .iter()
        .any(|l| has_letter(search, *l))
        || [
            "--file",
            "--invert-match",
            "--files-without-match",
            "--files",
        ]
        .iter()
        .any(|name| search.has_long(name));
    if !is_listing || is_other || !patterns.iter().all(is_plain) {
        return true;
    }
    // Of a longer one only a part would be read.
    let is_short = fs::metadata(path).is_ok_and(|found| found.len() < MOST_LOOKED_AT);
    let Some(text) = is_short.then(|| file::read(path)).flatten() else {
        return true;
    };
    let text = text.to_lowercase();
    patterns
        .iter()
        .any(|(pattern, _)| text.contains(&pattern.to_lowercase()))
}

fn name_of(way: &Path) -> String {
    way.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}
