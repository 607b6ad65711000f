//! PowerShell and `cmd`: their lines, said so that the parser of POSIX shells keeps what it would take for quoting.

/// Returns a line in which backslashes are plain characters and backticks quote the next one.
pub(crate) fn as_posix(line: &str) -> String {
    let mut out = String::with_capacity(line.len() + 8);
    let mut quote: Option<char> = None;
    let mut chars = line.chars();
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
        ] {
            assert_eq!(as_posix(line), posix);
        }
    }
}
