//! The string literals of Rust.

use super::{Lexer, Literal};

/// Takes a source of Rust apart.
pub(super) struct Rust<'s> {
    source: &'s str,
    /// Up to where the source was looked at.
    at: usize,
    /// Where the code begins that was not looked at yet for attributes.
    code: usize,
    /// Whether one is open there.
    in_attribute: bool,
    unclosed: bool,
}

impl<'s> Rust<'s> {
    pub(super) fn new(source: &'s str) -> Self {
        Self {
            source,
            at: 0,
            code: 0,
            in_attribute: false,
            unclosed: false,
        }
    }

    /// Sees whether the code that ends here opens or closes an attribute.
    fn follow_code(&mut self, end: usize) {
        let code = self.source.get(self.code..end).unwrap_or_default();
        let opened = code.rfind("#[").max(code.rfind("#!["));
        let after = opened.map_or(code, |open| code.get(open..).unwrap_or_default());
        self.in_attribute = (opened.is_some() || self.in_attribute) && !after.contains(']');
    }

    fn rest(&self) -> &'s [u8] {
        self.source.as_bytes().get(self.at..).unwrap_or_default()
    }

    fn byte(&self, n: usize) -> u8 {
        self.source.as_bytes().get(n).copied().unwrap_or_default()
    }

    /// Goes to the end of the string that begins with the quote at `quote`.
    fn skip_string(&mut self, quote: usize) {
        let hashes = hashes_of_raw(self.source.as_bytes().get(..quote).unwrap_or_default());
        while let Some(found) = memchr::memchr2(b'"', b'\\', self.rest()) {
            let is_quote = self.byte(self.at + found) == b'"';
            self.at += found + 1;
            match hashes {
                None if is_quote => return,
                // What is escaped may be a quote.
                None => self.at += 1,
                Some(hashes) => {
                    let closing = self.rest().iter().take_while(|b| **b == b'#').count();
                    if is_quote && closing >= hashes {
                        return;
                    }
                }
            }
        }
        self.end();
    }

    /// Goes to the end of a comment, whose second sign is here; in a block others may lie.
    fn skip_comment(&mut self) {
        if self.byte(self.at) == b'/' {
            self.at = match memchr::memchr(b'\n', self.rest()) {
                Some(length) => self.at + length,
                None => self.source.len(),
            };
            return;
        }
        let mut depth = 1;
        self.at += 1;
        while let Some(found) = memchr::memchr2(b'*', b'/', self.rest()) {
            self.at += found + 1;
            match (self.byte(self.at - 1), self.byte(self.at)) {
                (b'*', b'/') => depth -= 1,
                (b'/', b'*') => depth += 1,
                _ => continue,
            }
            self.at += 1;
            if depth == 0 {
                return;
            }
        }
        self.end();
    }

    /// Goes to the end of a character, if it is one and no lifetime.
    fn skip_character(&mut self) {
        let length = if self.byte(self.at) == b'\\' {
            // What is escaped may be a quote, and more than one character long.
            let after = self.rest().get(2..).unwrap_or_default();
            memchr::memchr(b'\'', after).map(|found| found + 2)
        } else {
            let after = self.source.get(self.at..).unwrap_or_default();
            after.chars().next().map(char::len_utf8)
        };
        if let Some(length) = length.filter(|length| self.byte(self.at + length) == b'\'') {
            self.at += length + 1;
        }
    }

    fn end(&mut self) {
        self.at = self.source.len();
        self.unclosed = true;
    }
}

impl<'s> Lexer<'s> for Rust<'s> {
    fn source(&self) -> &'s str {
        self.source
    }

    fn advance(&mut self) -> Option<Literal> {
        loop {
            let found = memchr::memchr3(b'"', b'\'', b'/', self.rest())?;
            let sign = self.at + found;
            self.at = sign + 1;
            match (self.byte(sign), self.rest()) {
                (b'"', _) => {
                    self.follow_code(sign);
                    let start = self.at;
                    self.skip_string(sign);
                    self.code = self.at;
                    return Some(Literal {
                        range: start..self.at,
                        idle: self.in_attribute,
                    });
                }
                (b'/', [b'/' | b'*', ..]) => {
                    self.follow_code(sign);
                    self.skip_comment();
                    self.code = self.at;
                }
                (b'\'', _) => self.skip_character(),
                _ => {}
            }
        }
    }

    fn is_unclosed(&self) -> bool {
        self.unclosed
    }
}

/// How many hashes end the raw string whose quote follows; none where it is not raw.
fn hashes_of_raw(before: &[u8]) -> Option<usize> {
    let hashes = before.iter().rev().take_while(|b| **b == b'#').count();
    let prefix = before
        .len()
        .checked_sub(hashes)
        .and_then(|end| before.get(..end))?;
    let name = prefix.strip_suffix(b"r")?;
    let name = name
        .strip_suffix(b"b")
        .or_else(|| name.strip_suffix(b"c"))
        .unwrap_or(name);
    // The `r` of `for"` is not a prefix.
    let is_prefix = !name
        .last()
        .is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
    is_prefix.then_some(hashes)
}

#[cfg(test)]
mod tests {
    use super::super::all;
    use super::Rust;

    #[test]
    fn strings_are_found_and_nothing_else() {
        assert_eq!(
            all(Rust::new(
                r##"f::<'a>("one", '"', '\'', b"two\" \\", r"\", br#"a"b"#, 'ä', "three"); // "no"#?"##
            )),
            [r#"one""#, r#"two\" \\""#, r#"\""#, r#"a"b""#, r#"three""#]
        );
        assert_eq!(
            all(Rust::new(
                "/* \" /* ' */ \" */ 'b: loop { \"x\ny\" } '\u{22}' for\"z\" // \"\n'c'"
            )),
            ["x\ny\"", "z\""]
        );
    }
}
