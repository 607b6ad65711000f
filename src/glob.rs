//! Glob: patterns of `*` and `?`, in which `[*]` is a star; those of a shell; and what is wrong with a glob of paths.

use std::borrow::Cow;

/// Whether a whole text fits a pattern.
#[inline]
pub(crate) fn glob(pattern: &str, text: &str) -> bool {
    // Most pairs differ in their first byte, or in their last.
    let (wanted, given) = (pattern.as_bytes(), text.as_bytes());
    let differ = |wanted: Option<&u8>, given: Option<&u8>| {
        wanted != given && !matches!(wanted, Some(b'*' | b'?' | b'[' | b']'))
    };
    !differ(wanted.first(), given.first())
        && !differ(wanted.last(), given.last())
        && fits(pattern, text)
}

fn fits(pattern: &str, text: &str) -> bool {
    if !pattern.contains(['*', '?']) {
        return pattern == text;
    }
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    let (mut p, mut t) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while t < text.len() {
        let rest = pattern.get(p..).unwrap_or_default();
        match rest {
            [b'[', b'*', b']', ..] if text.get(t) == Some(&b'*') => {
                p += 3;
                t += 1;
            }
            [b'*', ..] => {
                retry = Some((p, t));
                p += 1;
            }
            [b'?', ..] => {
                p += 1;
                t += 1;
                // The rest of a character of several bytes.
                while text.get(t).is_some_and(|b| b & 0xc0 == 0x80) {
                    t += 1;
                }
            }
            [byte, ..] if Some(byte) == text.get(t) => {
                p += 1;
                t += 1;
            }
            _ => match &mut retry {
                Some((star, from)) => {
                    *from += 1;
                    p = *star + 1;
                    t = *from;
                }
                None => return false,
            },
        }
    }
    pattern
        .get(p..)
        .is_some_and(|rest| rest.iter().all(|&b| b == b'*'))
}

/// Whether a whole name fits a pattern of a shell, which may name classes of characters: `[[:lower:]]`.
pub(crate) fn shell_glob(pattern: &str, name: &str) -> bool {
    fast_glob::glob_match(&*without_classes(pattern), name)
}

/// The classes of characters that a shell knows by name, with their characters as a bracket lists them.
const CLASSES: &[(&str, &str)] = &[
    ("alnum", "a-zA-Z0-9"),
    ("alpha", "a-zA-Z"),
    ("digit", "0-9"),
    // Names are compared in lower case.
    ("lower", "a-zA-Z"),
    ("upper", "a-zA-Z"),
    ("word", "a-zA-Z0-9_"),
    ("xdigit", "a-fA-F0-9"),
];

/// Returns a pattern with the named classes in its brackets written out. A bracket that cannot be read may be any character.
fn without_classes(pattern: &str) -> Cow<'_, str> {
    if !["[:", "[=", "[."]
        .iter()
        .any(|start| pattern.contains(start))
    {
        return Cow::Borrowed(pattern);
    }
    let mut written = String::new();
    let mut rest = pattern;
    while let Some(at) = rest.find('[') {
        let (before, bracket) = rest.split_at(at);
        written.push_str(before);
        let Some((read, behind)) = bracket.get(1..).and_then(bracketed) else {
            written.push_str(bracket);
            return Cow::Owned(written);
        };
        match read {
            Some(read) => written.extend(["[", &read, "]"]),
            None => written.push('?'),
        }
        rest = behind;
    }
    written.push_str(rest);
    Cow::Owned(written)
}

/// Reads what stands behind a `[`: what it lists, if that can be told, and what stands behind the bracket that closes it; none
/// where nothing closes it.
fn bracketed(text: &str) -> Option<(Option<String>, &str)> {
    let mut listed = String::new();
    let mut is_known = true;
    let mut rest = text;
    if let Some(behind) = rest.strip_prefix(['!', '^']) {
        listed.push('!');
        rest = behind;
    }
    let first = rest.len();
    loop {
        let named = ["[:", "[=", "[."].iter().find_map(|start| {
            let end = format!("{}]", start.get(1..)?);
            rest.strip_prefix(start)?.split_once(end.as_str())
        });
        if let Some((name, behind)) = named {
            let class = CLASSES.iter().find(|(class, _)| *class == name);
            match class {
                Some((_, characters)) => listed.push_str(characters),
                None if name.chars().count() == 1 => listed.push_str(name),
                None => is_known = false,
            }
            rest = behind;
            continue;
        }
        let mut chars = rest.chars();
        match chars.next()? {
            ']' if rest.len() < first => return Some((is_known.then_some(listed), chars.as_str())),
            c => listed.push(c),
        }
        rest = chars.as_str();
    }
}

/// How to write a bracket in a glob.
pub(crate) const HELP: &str = "close it, or write `\\[` or `\\{` for the character itself";

/// Returns what is wrong with a glob of paths: one with a bracket that is never closed meets nothing.
pub(crate) fn fault(glob: &str) -> Option<String> {
    let open = unclosed(glob)?;
    Some(format!(
        "the glob `{glob}` is never met: its `{open}` is not closed"
    ))
}

/// Returns the first bracket of a glob that is never closed.
fn unclosed(glob: &str) -> Option<char> {
    let mut open = Vec::new();
    let mut chars = glob.chars();
    while let Some(c) = chars.next() {
        match (c, open.last()) {
            ('\\', _) => {
                chars.next();
            }
            (']', Some('[')) | ('}', Some('{')) => {
                open.pop();
            }
            // In a class, brackets stand for themselves.
            (_, Some('[')) => {}
            ('[' | '{', _) => open.push(c),
            _ => {}
        }
    }
    open.first().copied()
}

#[cfg(test)]
mod tests {
    use super::{glob, shell_glob};

    #[test]
    fn brackets_may_name_classes() {
        for pattern in [
            ".[[:alpha:]]hp",
            ".[a[:digit:]]hp",
            ".[![:digit:]]hp",
            ".[[=a=]]hp",
            ".[[.a.]]h[p]",
            ".[[:unheard-of:]]hp",
            ".[[:lower:]]*",
        ] {
            assert!(shell_glob(pattern, ".ahp"), "{pattern}");
        }
        for pattern in [".[[:digit:]]hp", ".[![:alpha:]]*", ".[[:alpha:]", "[]a.]hp"] {
            assert!(!shell_glob(pattern, ".ahp"), "{pattern}");
        }
    }

    #[test]
    fn globs_match_whole_texts() {
        for (pattern, text) in [
            ("delete-*", "delete-bucket"),
            ("*://*", "https://x"),
            ("a?c", "abc"),
            ("a?c", "aéc"),
            ("*a*b*", "xxaxxbxx"),
            ("s3://*/[*]", "s3://b/*"),
        ] {
            assert!(glob(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in [("a?c", "ac"), ("delete", "delete-bucket"), ("*/[*]", "a/b")] {
            assert!(!glob(pattern, text), "{pattern} {text}");
        }
    }
}
