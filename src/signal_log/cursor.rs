//! Cursor: goes over a compact JSON text, value by value, without making anything of it.

use serde::Deserialize;
use uuid::Uuid;

use super::line::Text;

/// A place in a line; each step either goes over what it reads or gives nothing.
#[derive(Debug)]
pub(super) struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) const fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    pub(super) const fn is_at_end(&self) -> bool {
        self.at == self.text.len()
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    #[inline]
    fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    #[inline]
    fn take(&mut self, byte: u8) -> Option<()> {
        (self.next()? == byte).then_some(())
    }

    fn take_all(&mut self, word: &str) -> Option<()> {
        self.text.get(self.at..)?.starts_with(word).then_some(())?;
        self.at += word.len();
        Some(())
    }

    /// Reads an object; each member is given its key and must read its value.
    pub(super) fn object(
        &mut self,
        mut member: impl FnMut(&mut Self, &'a str) -> Option<()>,
    ) -> Option<()> {
        self.take(b'{')?;
        if self.peek()? == b'}' {
            return self.take(b'}');
        }
        loop {
            let key = self.string()?;
            self.take(b':')?;
            member(self, key)?;
            match self.next()? {
                b',' => {}
                b'}' => return Some(()),
                _ => return None,
            }
        }
    }

    /// Reads an array; each item must be read.
    pub(super) fn array(&mut self, mut item: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.take(b'[')?;
        if self.peek()? == b']' {
            return self.take(b']');
        }
        loop {
            item(self)?;
            match self.next()? {
                b',' => {}
                b']' => return Some(()),
                _ => return None,
            }
        }
    }

    /// Reads what may be `null`.
    pub(super) fn optional<T>(
        &mut self,
        into: &mut Option<T>,
        read: impl FnOnce(&mut Self) -> Option<T>,
    ) -> Option<()> {
        if self.peek()? == b'n' {
            *into = None;
            return self.take_all("null");
        }
        *into = Some(read(self)?);
        Some(())
    }

    /// Reads a string in which nothing is escaped.
    #[inline]
    pub(super) fn string(&mut self) -> Option<&'a str> {
        self.take(b'"')?;
        let start = self.at;
        let end = stop(self.text.as_bytes(), start)?;
        self.at = end;
        self.take(b'"')?;
        self.text.get(start..end)
    }

    #[inline]
    pub(super) fn text(&mut self) -> Option<Text<'a>> {
        self.string().map(Text::plain)
    }

    pub(super) fn uuid(&mut self) -> Option<Uuid> {
        Uuid::try_parse(self.string()?).ok()
    }

    /// Reads one of the names of an enum.
    pub(super) fn word<T: Deserialize<'a>>(&mut self) -> Option<T> {
        let word: serde::de::value::BorrowedStrDeserializer<'a, serde::de::value::Error> =
            serde::de::value::BorrowedStrDeserializer::new(self.string()?);
        T::deserialize(word).ok()
    }

    #[inline]
    pub(super) fn number(&mut self) -> Option<u64> {
        let start = self.at;
        let mut number = 0_u64;
        while let byte @ b'0'..=b'9' = self.peek()? {
            number = number
                .checked_mul(10)?
                .checked_add(u64::from(byte - b'0'))?;
            self.at += 1;
        }
        (self.at > start).then_some(number)
    }

    pub(super) fn flag(&mut self) -> Option<bool> {
        let is_true = self.peek()? == b't';
        self.take_all(if is_true { "true" } else { "false" })?;
        Some(is_true)
    }

    /// Passes over a value of any kind.
    pub(super) fn skip(&mut self) -> Option<()> {
        let mut depth = 0_u32;
        loop {
            match self.peek()? {
                b'"' => self.skip_string()?,
                b'{' | b'[' => {
                    depth += 1;
                    self.at += 1;
                }
                // The end of what holds the value that is passed over.
                b'}' | b']' | b',' if depth == 0 => return Some(()),
                b'}' | b']' => {
                    depth -= 1;
                    self.at += 1;
                }
                _ => self.at += 1,
            }
        }
    }

    fn skip_string(&mut self) -> Option<()> {
        self.take(b'"')?;
        loop {
            self.at = stop(self.text.as_bytes(), self.at)?;
            match self.next()? {
                b'"' => return Some(()),
                // Whatever is escaped is one byte more at least, and that byte ends nothing.
                _ => self.at += 1,
            }
        }
    }
}

/// Finds the next quotation mark or backslash, eight bytes at a time.
#[inline]
fn stop(bytes: &[u8], mut at: usize) -> Option<usize> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = ONES << 7;
    // The highest bit of each byte that is zero, and perhaps of bytes behind the first of them.
    let zeros = |word: u64| word.wrapping_sub(ONES) & !word & HIGH;
    while let Some(Ok(eight)) = bytes.get(at..at + 8).map(<[u8; 8]>::try_from) {
        let word = u64::from_le_bytes(eight);
        let found =
            zeros(word ^ (ONES * u64::from(b'"'))) | zeros(word ^ (ONES * u64::from(b'\\')));
        if found != 0 {
            return Some(at + found.trailing_zeros() as usize / 8);
        }
        at += 8;
    }
    let rest = bytes.get(at..)?;
    let place = rest.iter().position(|b| matches!(b, b'"' | b'\\'))?;
    Some(at + place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_end_at_the_first_quotation_mark_wherever_it_stands() {
        for before in 0..40 {
            for text in ["\"", "\\", "é\"x", "\u{1}\"\\"] {
                let line = format!("{}{text}tail", "x".repeat(before));
                let expected = line.bytes().position(|b| matches!(b, b'"' | b'\\'));
                assert_eq!(stop(line.as_bytes(), 0), expected, "{line}");
            }
        }
        assert_eq!(stop(b"no such byte in this text", 0), None);
    }
}
