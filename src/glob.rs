//! Glob: patterns of `*` and `?`, in which `[*]` is a star; and what is wrong with a glob of paths.

/// Whether a whole text fits a pattern.
#[inline]
pub(crate) fn glob(pattern: &str, text: &str) -> bool {
    // Most pairs differ in their first byte.
    let first = pattern.as_bytes().first();
    if !matches!(first, Some(b'*' | b'?' | b'[')) && first != text.as_bytes().first() {
        return false;
    }
    fits(pattern, text)
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
    use super::glob;

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
