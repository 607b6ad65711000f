//! Backward: the lines of a file from its end, so that the cost does not depend on its size.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

/// How much is read first; most last lines fit.
const FIRST: usize = 8 << 10;
/// How much is read at once at most; a longer line makes it more.
const STEP: usize = 256 << 10;
/// How long a line gets at most: records are far shorter, and a clone may bring a file without any newline.
pub(super) const LONGEST: usize = 16 << 20;

/// Reads lines from the end of a file to its beginning.
#[derive(Debug)]
pub(crate) struct Backward<'f> {
    file: &'f File,
    /// The place in the file of the buffer's first byte.
    start: u64,
    buffer: Vec<u8>,
    /// What of the buffer has not been given out.
    end: usize,
}

/// One line of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PlacedLine {
    /// The place of its first byte.
    pub(crate) offset: u64,
    /// Its bytes, without the newline.
    pub(crate) bytes: Vec<u8>,
    /// Whether a newline ends it.
    pub(crate) terminated: bool,
}

impl<'f> Backward<'f> {
    /// Starts at a place of the file, as a rule its length.
    pub(crate) const fn new(file: &'f File, end: u64) -> Self {
        Self {
            file,
            start: end,
            buffer: Vec::new(),
            end: 0,
        }
    }

    /// Returns the line before the one that was returned last.
    ///
    /// # Errors
    /// The file cannot be read, or a line is longer than any record.
    pub(crate) fn next_line(&mut self) -> io::Result<Option<PlacedLine>> {
        loop {
            let unread = self.buffer.get(..self.end).unwrap_or_default();
            if unread.is_empty() {
                if self.start == 0 {
                    return Ok(None);
                }
                self.fill()?;
                continue;
            }
            let (line, terminated) = match unread.strip_suffix(b"\n") {
                Some(line) => (line, true),
                None => (unread, false),
            };
            let begin = match memchr::memrchr(b'\n', line) {
                Some(newline) => newline + 1,
                None if self.start == 0 => 0,
                None => {
                    self.fill()?;
                    continue;
                }
            };
            let found = PlacedLine {
                offset: self.start + begin as u64,
                bytes: line.get(begin..).unwrap_or_default().to_vec(),
                terminated,
            };
            self.end = begin;
            return Ok(Some(found));
        }
    }

    /// Puts what stands before the buffer in front of it.
    fn fill(&mut self) -> io::Result<()> {
        if self.end >= LONGEST {
            let why = format!("a line is longer than {LONGEST} bytes");
            return Err(io::Error::new(io::ErrorKind::InvalidData, why));
        }
        self.buffer.truncate(self.end);
        let wanted = if self.buffer.is_empty() {
            FIRST
        } else {
            self.buffer.len().max(STEP)
        };
        let step = usize::try_from(self.start)
            .unwrap_or(usize::MAX)
            .min(wanted);
        let start = self.start - step as u64;
        let mut bytes = vec![0; step];
        self.file.read_exact_at(&mut bytes, start)?;
        bytes.append(&mut self.buffer);
        self.end = bytes.len();
        self.buffer = bytes;
        self.start = start;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    #[test]
    fn a_file_without_a_newline_is_not_read_whole() {
        let file = tempfile::tempfile().unwrap();
        // No byte of it is on the disk.
        let length = 1 << 40;
        file.set_len(length).unwrap();
        let error = Backward::new(&file, length).next_line().unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    }

    #[test]
    fn lines_come_last_first_across_buffers() {
        let mut file = tempfile::tempfile().unwrap();
        let long = "x".repeat(700_000);
        write!(file, "one\n\n{long}\ntwo\nthree").unwrap();
        let length = file.metadata().unwrap().len();
        let mut lines = Backward::new(&file, length);
        let mut seen = Vec::new();
        while let Some(line) = lines.next_line().unwrap() {
            seen.push((line.offset, line.bytes.len(), line.terminated));
        }
        assert_eq!(
            seen,
            [
                (700_010, 5, false),
                (700_006, 3, true),
                (5, 700_000, true),
                (4, 0, true),
                (0, 3, true)
            ]
        );
    }
}
