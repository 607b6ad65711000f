//! Frame: the fixed outside of a line, which the writer and `verify` read without parsing JSON.

use sha2::{Digest as _, Sha256};

use crate::signal::hex;

/// The hash before the first record.
pub(crate) const NO_HASH: &str = "0000000000000000000000000000000000000000000000000000000000000000";

const HEAD: &[u8] = b"{\"seq\":";
const PREV: &[u8] = b",\"prev\":\"";
const HASH: &[u8] = b"\",\"hash\":\"";
const MAC: &[u8] = b"\",\"mac\":\"";
const END: &[u8] = b"\"}";
const DIGITS: usize = 64;
/// The length of `"hash":"…"}` with what stands before it up to the end of `prev`'s value.
const TAIL: usize = HASH.len() + DIGITS + END.len();

/// What stands at fixed places of a line: `{"seq":N,"timestamp":"…","kind":"…",…,"prev":"…","hash":"…"}`; in the first one of a
/// file `,"mac":"…"` follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Frame<'a> {
    /// The record's number.
    pub(crate) seq: u64,
    /// When it was written, in RFC 3339.
    pub(crate) timestamp: &'a str,
    /// What it is: `evaluation`, `signal` or `response`.
    pub(crate) kind: &'a str,
    /// The hash of the record before.
    pub(crate) prev: &'a str,
    /// The hash of this one.
    pub(crate) hash: &'a str,
    /// By what the machine that began the file knows it.
    pub(crate) mac: Option<&'a str>,
}

impl<'a> Frame<'a> {
    /// Reads the outside of a line without its newline; none where the line has another shape.
    pub(crate) fn read(line: &'a [u8]) -> Option<Self> {
        let (seq, rest) = split_seq(line)?;
        let (timestamp, rest) = split_member(rest, b"\"timestamp\":\"")?;
        let (kind, _) = split_member(rest.strip_prefix(b",")?, b"\"kind\":\"")?;
        let rest = line.strip_suffix(END)?;
        let (rest, last) = rest.split_at_checked(rest.len().checked_sub(DIGITS)?)?;
        let (rest, hash, mac) = match rest.strip_suffix(MAC) {
            Some(rest) => {
                let (rest, hash) = rest.split_at_checked(rest.len().checked_sub(DIGITS)?)?;
                (rest, hash, Some(digits(last)?))
            }
            None => (rest, last, None),
        };
        let rest = rest.strip_suffix(HASH)?;
        let (rest, prev) = rest.split_at_checked(rest.len().checked_sub(DIGITS)?)?;
        rest.strip_suffix(PREV)?;
        Some(Self {
            seq,
            timestamp,
            kind,
            prev: digits(prev)?,
            hash: digits(hash)?,
            mac,
        })
    }

    /// Whether the line's hash is the hash of the line.
    pub(crate) fn is_intact(&self, line: &[u8]) -> bool {
        let mac = self.mac.map_or(0, |mac| MAC.len() + mac.len());
        line.len()
            .checked_sub(TAIL + mac)
            .and_then(|end| line.get(..end))
            .is_some_and(|head| hash_of(head) == self.hash)
    }
}

/// Tells which records of a log are chained to each other, asked for all of them in their order.
///
/// What was put between two records says nothing, and keeps the ones behind it from nothing. Where records were taken out,
/// the first one behind the gap says nothing.
#[derive(Clone, Debug, Default)]
pub struct Links {
    /// The last record that was chained to the one before it.
    sound: Option<(u64, Hash)>,
    /// The record before, whatever it was chained to.
    before: Option<Hash>,
}

type Hash = [u8; DIGITS];

impl Links {
    /// The records behind one that is known.
    pub(crate) fn behind(seq: u64, hash: &str) -> Self {
        let hash = to_array(hash);
        Self {
            sound: hash.map(|hash| (seq, hash)),
            before: hash,
        }
    }

    /// Whether the next record goes on from those before it.
    pub(crate) fn admit(&mut self, frame: &Frame<'_>) -> bool {
        let prev = to_array(frame.prev);
        let goes_on = self.sound.is_none_or(|(seq, hash)| {
            prev == Some(hash) || (prev == self.before && frame.seq > seq)
        });
        self.before = to_array(frame.hash);
        if goes_on {
            self.sound = self.before.map(|hash| (frame.seq, hash));
        }
        goes_on
    }
}

fn to_array(digits: &str) -> Option<Hash> {
    digits.as_bytes().try_into().ok()
}

/// Reads the number that a line, or the beginning of one, opens with.
pub(crate) fn read_seq(line: &[u8]) -> Option<u64> {
    split_seq(line).map(|(seq, _)| seq)
}

/// Splits a line behind its number and the comma.
fn split_seq(line: &[u8]) -> Option<(u64, &[u8])> {
    let rest = line.strip_prefix(HEAD)?;
    let (digits, rest) = rest.split_at_checked(rest.iter().position(|b| !b.is_ascii_digit())?)?;
    let seq: u64 = std::str::from_utf8(digits).ok()?.parse().ok()?;
    // No log grows so long; one that says so was made to have the next number overflow.
    (seq < 1 << 53).then_some((seq, rest.strip_prefix(b",")?))
}

/// Splits a text behind a member whose value has nothing escaped in it.
fn split_member<'a>(text: &'a [u8], key: &[u8]) -> Option<(&'a str, &'a [u8])> {
    let rest = text.strip_prefix(key)?;
    let (value, rest) = rest.split_at_checked(memchr::memchr2(b'"', b'\\', rest)?)?;
    Some((std::str::from_utf8(value).ok()?, rest.strip_prefix(b"\"")?))
}

/// Finishes a line whose JSON lacks its last two members and the closing brace; returns its hash.
///
/// The hash is over all bytes of the line without the `hash` member: `head` + `"prev":"…"` + `}`.
pub(crate) fn close_line(line: &mut Vec<u8>, start: usize, prev: &str) -> String {
    line.extend_from_slice(PREV);
    line.extend_from_slice(prev.as_bytes());
    let hash = hash_of(line.get(start..).unwrap_or_default());
    line.extend_from_slice(HASH);
    line.extend_from_slice(hash.as_bytes());
    line.extend_from_slice(END);
    line.push(b'\n');
    hash
}

/// Adds the mark of a file's first record to the first of some finished lines.
pub(crate) fn mark_first(lines: &mut Vec<u8>, mark: impl FnOnce(&str) -> Option<String>) {
    let Some(end) = memchr::memchr(b'\n', lines) else {
        return;
    };
    let frame = lines.get(..end).and_then(Frame::read);
    if let Some(mac) = frame.and_then(|frame| mark(frame.hash)) {
        let at = end - END.len();
        lines.splice(at..at, [MAC, mac.as_bytes()].concat());
    }
}

/// Hashes a line, given up to the last digit of `prev`.
fn hash_of(head: &[u8]) -> String {
    let mut hash = Sha256::new();
    hash.update(head);
    hash.update(END);
    hex(&hash.finalize())
}

fn digits(bytes: &[u8]) -> Option<&str> {
    let is_digit = |b: &u8| matches!(b, b'0'..=b'9' | b'a'..=b'f');
    bytes
        .iter()
        .all(is_digit)
        .then(|| std::str::from_utf8(bytes).ok())
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_was_closed_reads_back() {
        let mut line = b"{\"seq\":7,\"timestamp\":\"t\",\"kind\":\"x\"".to_vec();
        let hash = close_line(&mut line, 0, NO_HASH);
        let line = line.strip_suffix(b"\n").unwrap();
        let frame = Frame::read(line).unwrap();
        assert_eq!((frame.seq, frame.prev, frame.hash), (7, NO_HASH, &*hash));
        assert_eq!((frame.timestamp, frame.kind), ("t", "x"));
        assert!(frame.is_intact(line));
        assert!(serde_json::from_slice::<serde_json::Value>(line).is_ok());

        let edited = String::from_utf8(line.to_vec()).unwrap().replace('x', "y");
        assert!(
            !Frame::read(edited.as_bytes())
                .unwrap()
                .is_intact(edited.as_bytes())
        );
    }

    #[test]
    fn the_hash_is_that_of_the_line_without_its_hash_member() {
        let mut line = b"{\"seq\":1".to_vec();
        let hash = close_line(&mut line, 0, NO_HASH);
        let text = String::from_utf8(line).unwrap();
        let without = text
            .trim_end()
            .replace(&format!(",\"hash\":\"{hash}\""), "");
        assert_eq!(hash, hex(&Sha256::digest(without.as_bytes())));
    }

    #[test]
    fn other_shapes_are_no_frames() {
        for line in ["", "{}", "{\"seq\":1}", "hello", "{\"seq\":", "\0\0\0\0"] {
            assert_eq!(Frame::read(line.as_bytes()), None, "{line}");
        }
    }
}
