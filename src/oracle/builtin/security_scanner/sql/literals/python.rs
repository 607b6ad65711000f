//! The string literals of Python.

use super::{Lexer, Literal};

/// Takes a source of Python apart.
pub(super) struct Python<'s> {
    source: &'s str,
    /// Up to where the source was looked at.
    at: usize,
    /// How many brackets are open.
    depth: usize,
    /// The last character that is not blank, outside of comments; none at the beginning.
    sign: Option<u8>,
    /// Whether a line has begun after it.
    on_new_line: bool,
    unclosed: bool,
}

impl<'s> Python<'s> {
    pub(super) fn new(source: &'s str) -> Self {
        Self {
            source,
            at: 0,
            depth: 0,
            sign: None,
            on_new_line: true,
            unclosed: false,
        }
    }

    fn rest(&self) -> &'s [u8] {
        self.source.as_bytes().get(self.at..).unwrap_or_default()
    }

    /// Sees what stands between the last literal or comment and the next.
    fn follow_code(&mut self, code: &[u8]) {
        for byte in code {
            match byte {
                b'(' | b'[' | b'{' => self.depth += 1,
                b')' | b']' | b'}' => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
            match byte {
                b'\n' => self.on_new_line = true,
                _ if byte.is_ascii_whitespace() => {}
                _ => {
                    self.sign = Some(*byte);
                    self.on_new_line = false;
                }
            }
        }
    }

    /// Goes to the end of the string whose opening quote was passed.
    fn skip_string(&mut self, quote: u8) {
        let is_long = self.rest().starts_with(&[quote, quote]);
        if is_long {
            self.at += 2;
        }
        while let Some(found) = memchr::memchr3(quote, b'\\', b'\n', self.rest()) {
            self.at += found;
            match self.rest() {
                [b'\\', ..] => self.at += 2,
                [b'\n', ..] if !is_long => break,
                [b'\n', ..] => self.at += 1,
                rest if is_long && !rest.starts_with(&[quote; 3]) => self.at += 1,
                _ => {
                    self.at += if is_long { 3 } else { 1 };
                    return;
                }
            }
        }
        self.unclosed = true;
    }
}

impl<'s> Lexer<'s> for Python<'s> {
    fn source(&self) -> &'s str {
        self.source
    }

    fn advance(&mut self) -> Option<Literal> {
        loop {
            let rest = self.rest();
            let found = memchr::memchr3(b'"', b'\'', b'#', rest)?;
            let (code, after) = rest.split_at_checked(found)?;
            let sign = *after.first()?;
            if sign == b'#' {
                self.follow_code(code);
                self.at += memchr::memchr(b'\n', after).map_or(rest.len(), |end| found + end);
                continue;
            }
            // The prefix of a string: `rb"…"`.
            let prefix = code
                .iter()
                .rev()
                .take_while(|b| b"rRbBuUfF".contains(b))
                .count();
            self.follow_code(code.get(..found - prefix).unwrap_or_default());
            let begins_block = self.sign.is_none() || self.sign == Some(b':') && self.on_new_line;
            self.at += found + 1;
            let start = self.at;
            self.skip_string(sign);
            self.sign = Some(sign);
            self.on_new_line = false;
            return Some(Literal {
                range: start..self.at,
                idle: begins_block && self.depth == 0,
            });
        }
    }

    fn is_unclosed(&self) -> bool {
        self.unclosed
    }
}

#[cfg(test)]
mod tests {
    use super::super::all;
    use super::Python;

    #[test]
    fn strings_are_found_and_nothing_else() {
        let source = "f('one', \"tw'o\") # 'no'\nx = rb'''th\n'r'ee\\'''' + f\"\" + 'fo\\\nur'";
        assert_eq!(
            all(Python::new(source)),
            ["one'", "tw'o\"", "''th\n'r'ee\\''''", "\"", "fo\\\nur'"]
        );
    }
}
