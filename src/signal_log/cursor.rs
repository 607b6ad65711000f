//! Cursor: goes over a compact JSON text, value by value, without making anything of it.

use serde::Deserialize;
use uuid::Uuid;

use super::line::Text;

/// Deeper values are left to the general parser.
const DEEPEST: u32 = 64;

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

    /// Returns where the line ends, if it ends here.
    pub(super) fn line_end(&self) -> Option<usize> {
        matches!(self.peek(), None | Some(b'\n')).then_some(self.at)
    }

    /// Reads something; where that cannot be done, the cursor stands where it stood.
    #[inline]
    pub(super) fn try_to<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let at = self.at;
        let found = read(self);
        if found.is_none() {
            self.at = at;
        }
        found
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

    /// Goes over a text that is known.
    #[expect(
        clippy::inline_always,
        reason = "compared in few instructions where its length is known"
    )]
    #[inline(always)]
    pub(super) fn take_all(&mut self, known: &str) -> Option<()> {
        self.has(known).then_some(())
    }

    /// Goes over a text that is known, where it stands here.
    #[expect(
        clippy::inline_always,
        reason = "compared in few instructions where its length is known"
    )]
    #[inline(always)]
    pub(super) fn has(&mut self, known: &str) -> bool {
        let end = self.at + known.len();
        let is_here = self.text.as_bytes().get(self.at..end) == Some(known.as_bytes());
        if is_here {
            self.at = end;
        }
        is_here
    }

    /// Reads an object; each member is given its key and must read its value.
    ///
    /// A member that may have been there before is left to the general parser, which refuses it.
    #[inline]
    pub(super) fn object(
        &mut self,
        mut member: impl FnMut(&mut Self, &'a str) -> Option<()>,
    ) -> Option<()> {
        self.take(b'{')?;
        if self.peek()? == b'}' {
            return self.take(b'}');
        }
        let mut seen = 0_u64;
        loop {
            let key = self.string()?;
            let bit = 1 << place(key);
            if seen & bit != 0 {
                return None;
            }
            seen |= bit;
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
    #[inline]
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
    #[inline]
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
    #[inline]
    pub(super) fn word<T: Deserialize<'a>>(&mut self) -> Option<T> {
        let word: serde::de::value::BorrowedStrDeserializer<'a, serde::de::value::Error> =
            serde::de::value::BorrowedStrDeserializer::new(self.string()?);
        T::deserialize(word).ok()
    }

    /// Reads a whole number.
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
        let digits = self.text.as_bytes().get(start..self.at)?;
        is_number(digits).then_some(number)
    }

    pub(super) fn flag(&mut self) -> Option<bool> {
        let is_true = self.peek()? == b't';
        self.take_all(if is_true { "true" } else { "false" })?;
        Some(is_true)
    }

    /// Passes over a value of any kind; it must be one.
    #[inline]
    pub(super) fn skip(&mut self) -> Option<()> {
        self.skip_down_to(DEEPEST)
    }

    fn skip_down_to(&mut self, depth: u32) -> Option<()> {
        match self.peek()? {
            b'"' => self.skip_string(),
            b'{' => {
                let depth = depth.checked_sub(1)?;
                self.take(b'{')?;
                if self.peek()? == b'}' {
                    return self.take(b'}');
                }
                loop {
                    self.skip_string()?;
                    self.take(b':')?;
                    self.skip_down_to(depth)?;
                    match self.next()? {
                        b',' => {}
                        b'}' => return Some(()),
                        _ => return None,
                    }
                }
            }
            b'[' => {
                let depth = depth.checked_sub(1)?;
                self.array(|cursor| cursor.skip_down_to(depth))
            }
            b't' => self.take_all("true"),
            b'f' => self.take_all("false"),
            b'n' => self.take_all("null"),
            _ => self.skip_number(),
        }
    }

    fn skip_string(&mut self) -> Option<()> {
        self.take(b'"')?;
        loop {
            self.at = far_stop(self.text.as_bytes(), self.at)?;
            match self.next()? {
                b'"' => return Some(()),
                b'\\' => match self.next()? {
                    b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => {}
                    b'u' => {
                        let digits = self.text.as_bytes().get(self.at..self.at + 4)?;
                        if !digits.iter().all(u8::is_ascii_hexdigit) {
                            return None;
                        }
                        self.at += 4;
                    }
                    _ => return None,
                },
                // A control character, which stands in no string as it is.
                _ => return None,
            }
        }
    }

    fn skip_number(&mut self) -> Option<()> {
        let rest = self.text.as_bytes().get(self.at..)?;
        let digits = |from: usize| {
            let rest = rest.get(from..).unwrap_or_default();
            let digits = rest.iter().take_while(|b| b.is_ascii_digit()).count();
            from + digits
        };
        let sign = usize::from(rest.first() == Some(&b'-'));
        let mut end = digits(sign);
        if !is_number(rest.get(sign..end)?) {
            return None;
        }
        if rest.get(end) == Some(&b'.') {
            let behind = digits(end + 1);
            (behind > end + 1).then_some(())?;
            end = behind;
        }
        if matches!(rest.get(end), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(rest.get(end + 1), Some(b'-' | b'+')));
            let behind = digits(end + 1 + sign);
            (behind > end + 1 + sign).then_some(())?;
            end = behind;
        }
        self.at += end;
        Some(())
    }
}

/// Whether digits are a number: there are some, and no zero stands before another.
const fn is_number(digits: &[u8]) -> bool {
    matches!(digits, [b'1'..=b'9', ..] | [b'0'])
}

/// Returns a place below 64 for a key; the members of each kind of record have places of their own.
fn place(key: &str) -> u32 {
    match key.as_bytes() {
        [first, .., last] => {
            (u32::from(*first) * 15 + u32::from(*last) + u32::try_from(key.len()).unwrap_or(0)) % 64
        }
        _ => 0,
    }
}

/// Finds the next byte that ends a plain text: a quotation mark, a backslash or a control character.
#[inline]
fn stop(bytes: &[u8], mut at: usize) -> Option<usize> {
    while let Some(Ok(eight)) = bytes.get(at..at + 8).map(<[u8; 8]>::try_from) {
        if let Some(place) = first_end(eight) {
            return Some(at + place);
        }
        at += 8;
    }
    let rest = bytes.get(at..)?;
    let place = rest
        .iter()
        .position(|b| matches!(b, b'"' | b'\\' | 0..b' '))?;
    Some(at + place)
}

/// Finds the same, faster where it is far away: the compiler makes vectors of this.
#[inline]
fn far_stop(bytes: &[u8], mut at: usize) -> Option<usize> {
    while let Some(step) = bytes.get(at..)?.first_chunk::<32>() {
        let ends = step.iter().fold(0, |ends, b| {
            ends | u8::from(*b == b'"') | u8::from(*b == b'\\') | u8::from(*b < b' ')
        });
        if ends != 0 {
            break;
        }
        at += 32;
    }
    stop(bytes, at)
}

/// Finds the first of eight bytes that ends a plain text.
#[inline]
fn first_end(eight: [u8; 8]) -> Option<usize> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = ONES << 7;
    // The highest bit of each byte that is below a number, and perhaps of bytes behind the first of them.
    let below = |word: u64, number: u8| word.wrapping_sub(ONES * u64::from(number)) & !word & HIGH;
    let word = u64::from_le_bytes(eight);
    let ends = below(word ^ (ONES * u64::from(b'"')), 1)
        | below(word ^ (ONES * u64::from(b'\\')), 1)
        | below(word, b' ');
    (ends != 0).then(|| ends.trailing_zeros() as usize / 8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_end_at_the_first_quotation_mark_wherever_it_stands() {
        for before in 0..40 {
            for text in ["\"", "\\", "é\"x", "\u{1}\"\\", "\u{1f}"] {
                let line = format!("{}{text}tail", "x".repeat(before));
                let expected = line
                    .bytes()
                    .position(|b| matches!(b, b'"' | b'\\' | 0..b' '));
                assert_eq!(stop(line.as_bytes(), 0), expected, "{line}");
            }
        }
        assert_eq!(stop(b"no such byte in this text", 0), None);
    }
}
