//! PowerShell and `cmd`: their lines, said so that the parser of POSIX shells keeps what it would take for quoting.

/// Returns a line in which backslashes are plain characters and backticks quote the next one.
///
/// The elements of a list become words of their own, and the bodies of `if` and its like statements.
pub(crate) fn as_posix(line: &str) -> String {
    quoted(&without_blocks(line))
}

/// Words behind which a condition and a body stand, or a body alone.
const WITH_BODY: &[&str] = &[
    "catch", "do", "else", "elseif", "finally", "for", "foreach", "if", "try", "while",
];

/// Returns a line in which the bodies behind such words stand as statements, without their conditions.
fn without_blocks(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut quote: Option<char> = None;
    // Of each open brace whether it begins such a body.
    let mut braces = Vec::new();
    for c in line.chars() {
        match quote {
            Some(open) if open == c => quote = None,
            Some(_) => {}
            None if matches!(c, '\'' | '"') => quote = Some(c),
            None if c == '{' => {
                let start = body_start(&out);
                braces.push(start.is_some());
                if let Some(start) = start {
                    out.truncate(start);
                    out.push('\n');
                    continue;
                }
            }
            None if c == '}' && braces.pop() == Some(true) => {
                out.push('\n');
                continue;
            }
            None => {}
        }
        out.push(c);
    }
    out
}

/// Returns where the word stands that a brace behind a text is the body of.
fn body_start(before: &str) -> Option<usize> {
    let before = before.trim_end();
    let head = match before.strip_suffix(')') {
        Some(inner) => {
            let mut depth = 1_usize;
            let at = inner.char_indices().rev().find_map(|(at, c)| {
                match c {
                    ')' => depth += 1,
                    '(' => depth -= 1,
                    _ => {}
                }
                (depth == 0).then_some(at)
            })?;
            inner.get(..at)?.trim_end()
        }
        None => before,
    };
    let start = head
        .rfind(|c: char| !c.is_ascii_alphabetic())
        .map_or(0, |at| at + 1);
    let word = head.get(start..)?.to_ascii_lowercase();
    WITH_BODY.contains(&word.as_str()).then_some(start)
}

fn quoted(line: &str) -> String {
    let mut out = String::with_capacity(line.len() + 8);
    let mut quote: Option<char> = None;
    // Of each open bracket whether it begins a list: `@('a', 'b')`.
    let mut brackets = Vec::new();
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\'' | '"' => {
                match quote {
                    None => quote = Some(c),
                    Some(open) if open == c => quote = None,
                    Some(_) => {}
                }
                out.push(c);
            }
            '\\' if quote != Some('\'') => out.push_str("\\\\"),
            '`' if quote != Some('\'') => match chars.next() {
                None | Some('\n' | '\r') => out.push(' '),
                Some(quoted) => {
                    if !quoted.is_alphanumeric() {
                        out.push('\\');
                    }
                    out.push(quoted);
                }
            },
            ',' if quote.is_none() => out.push(' '),
            '@' if quote.is_none() && chars.next_if_eq(&'(').is_some() => brackets.push(true),
            '(' if quote.is_none() => {
                brackets.push(false);
                out.push(c);
            }
            ')' if quote.is_none() && brackets.pop() == Some(true) => out.push(' '),
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::as_posix;

    #[test]
    fn backslashes_are_kept_and_backticks_quote() {
        for (line, posix) in [
            (
                "Remove-Item .\\src -Recurse",
                "Remove-Item .\\\\src -Recurse",
            ),
            ("rm \"C:\\My Files\" -r", "rm \"C:\\\\My Files\" -r"),
            ("rm 'C:\\x' -r", "rm 'C:\\x' -r"),
            ("rm a `\n -r", "rm a   -r"),
            ("rm C:\\My` Files", "rm C:\\\\My\\ Files"),
            ("rm a,b", "rm a b"),
            ("rm @('a','b') (ls)", "rm 'a' 'b'  (ls)"),
            (
                "if (Test-Path a) { rm a } else { ls }",
                "\n rm a \n \n ls \n",
            ),
            ("ls | where { $_ -eq 'a' }", "ls | where { $_ -eq 'a' }"),
        ] {
            assert_eq!(as_posix(line), posix);
        }
    }
}
