//! Lines: stdin cut into lines of bounded length; a longer one is passed over to its end.

use std::io::{self, BufRead};

use ahp::host::MOST_BYTES;

/// How much is kept of a line that is too long: enough to tell whose it is.
const HEAD: usize = 4096;

/// One line of input.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// The line, without its end.
    Whole(Vec<u8>),
    /// It had more bytes than any event; it was read to its end, and only its beginning is kept.
    TooLong(Vec<u8>),
}

/// Cuts a stream into lines; empty ones are left out.
#[derive(Debug)]
pub(super) struct Lines<R> {
    from: R,
}

impl<R: BufRead> Lines<R> {
    pub(super) const fn new(from: R) -> Self {
        Self { from }
    }

    /// Reads the next line; none at the end.
    pub(super) fn next(&mut self) -> io::Result<Option<Line>> {
        loop {
            let mut line = Vec::new();
            let mut is_too_long = false;
            let mut has_ended = false;
            while !has_ended {
                let held = match self.from.fill_buf() {
                    Ok(held) => held,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    Err(error) => return Err(error),
                };
                if held.is_empty() {
                    if line.is_empty() && !is_too_long {
                        return Ok(None);
                    }
                    break;
                }
                let end = held.iter().position(|byte| *byte == b'\n');
                has_ended = end.is_some();
                let part = held.split_at(end.unwrap_or(held.len())).0;
                is_too_long |= line.len() + part.len() > MOST_BYTES;
                if is_too_long {
                    line.truncate(HEAD);
                } else {
                    line.extend_from_slice(part);
                }
                let used = part.len() + usize::from(has_ended);
                self.from.consume(used);
            }
            if is_too_long {
                line.shrink_to_fit();
                return Ok(Some(Line::TooLong(line)));
            }
            if !line.trim_ascii().is_empty() {
                return Ok(Some(Line::Whole(line)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_cut_bounded_and_never_lost() {
        let mut text = b"one\n\n  \ntwo\n".to_vec();
        text.extend(std::iter::repeat_n(b'x', MOST_BYTES + 1));
        text.extend(b"\nthree");
        let mut lines = Lines::new(io::BufReader::with_capacity(1000, &*text));
        let whole = |text: &str| Some(Line::Whole(text.as_bytes().to_vec()));
        assert_eq!(lines.next().unwrap(), whole("one"));
        assert_eq!(lines.next().unwrap(), whole("two"));
        let head = vec![b'x'; HEAD];
        assert_eq!(lines.next().unwrap(), Some(Line::TooLong(head)));
        assert_eq!(lines.next().unwrap(), whole("three"));
        assert_eq!(lines.next().unwrap(), None);
    }
}
