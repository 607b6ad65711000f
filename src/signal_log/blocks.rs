//! Blocks: the bytes of a log in pieces of whole lines, over its rotated parts too.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::io::{BufRead as _, BufReader, Cursor, Read};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use super::LogError;
use super::files::{LONGEST_HEAD, LogFiles, Segment};

/// How much is read at once; a longer line makes it more.
const BLOCK: usize = 4 << 20;

/// A piece of one file of a log: whole lines, but for a torn one at the very end.
#[derive(Debug)]
pub(crate) struct Block<'b> {
    /// The file.
    pub(crate) part: &'b Path,
    /// The place of the first byte in the (unpacked) file.
    pub(crate) offset: u64,
    /// The number of the first line in the file, from 1.
    pub(crate) line: u64,
    pub(crate) bytes: &'b [u8],
}

/// One file of a log.
pub(super) enum Part<'r> {
    /// A rotated one.
    Segment(&'r Segment),
    /// The one that is written to, and its length.
    Current(&'r File, u64),
}

/// The bytes of a log in pieces; the memory is that of one piece.
pub(crate) struct Blocks<'r> {
    files: &'r LogFiles,
    parts: VecDeque<Part<'r>>,
    /// How much is read at once.
    block: usize,
    /// How much of the open part is: a small file needs no more.
    room: usize,
    open: Option<OpenPart<'r>>,
    buffer: Vec<u8>,
    /// How much of the buffer the block before held.
    given: usize,
    filled: usize,
}

struct OpenPart<'r> {
    path: PathBuf,
    source: Box<dyn Read + Send + 'r>,
    offset: u64,
    line: u64,
}

impl<'r> Blocks<'r> {
    /// Reads some files one after the other.
    pub(super) fn new(files: &'r LogFiles, parts: impl Iterator<Item = Part<'r>>) -> Self {
        Self {
            files,
            parts: parts.collect(),
            block: BLOCK,
            room: BLOCK,
            open: None,
            buffer: Vec::new(),
            given: 0,
            filled: 0,
        }
    }

    /// Reads so much at once.
    pub(crate) const fn of_size(mut self, block: usize) -> Self {
        self.block = block;
        self
    }

    /// Gives no more pieces.
    pub(super) fn stop(&mut self) {
        self.parts.clear();
        self.open = None;
        self.filled = 0;
        self.given = 0;
    }

    /// Returns the next piece; none at the end.
    pub(crate) fn next_block(&mut self) -> Result<Option<Block<'_>>, LogError> {
        loop {
            let Some(part) = &mut self.open else {
                if !self.open_next()? {
                    return Ok(None);
                }
                continue;
            };
            // What was given out goes; its lines are counted.
            let gone = self.buffer.get(..self.given).unwrap_or_default();
            part.offset += self.given as u64;
            part.line += memchr::memchr_iter(b'\n', gone).count() as u64;
            self.buffer.copy_within(self.given..self.filled, 0);
            self.filled -= self.given;
            self.given = 0;

            let ended = self.fill()?;
            let filled = self.buffer.get(..self.filled).unwrap_or_default();
            let whole = if ended {
                self.filled
            } else {
                memchr::memrchr(b'\n', filled).map_or(0, |newline| newline + 1)
            };
            if whole == 0 {
                if ended {
                    self.open = None;
                } else {
                    self.buffer.resize(self.buffer.len() * 2, 0);
                }
                continue;
            }
            self.given = whole;
            return Ok(self.open.as_ref().map(|part| Block {
                part: &part.path,
                offset: part.offset,
                line: part.line,
                bytes: self.buffer.get(..whole).unwrap_or_default(),
            }));
        }
    }

    /// Reads until the buffer is full; true at the end of the part.
    fn fill(&mut self) -> Result<bool, LogError> {
        let Some(part) = &mut self.open else {
            return Ok(true);
        };
        if self.buffer.len() < self.room {
            self.buffer.resize(self.room, 0);
        }
        loop {
            let Some(room) = self.buffer.get_mut(self.filled..).filter(|r| !r.is_empty()) else {
                return Ok(false);
            };
            match part.source.read(room) {
                Ok(0) => return Ok(true),
                Ok(read) => self.filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(LogError::io("read", &part.path, error)),
            }
        }
    }

    /// Opens the next part; false where there is none.
    fn open_next(&mut self) -> Result<bool, LogError> {
        self.given = 0;
        self.filled = 0;
        while let Some(part) = self.parts.pop_front() {
            self.room = match part {
                Part::Current(_, length) => usize::try_from(length).map_or(self.block, |length| {
                    self.block.min(length.saturating_add(1))
                }),
                Part::Segment(_) => self.block,
            };
            let (path, source): (_, Option<Box<dyn Read + Send>>) = match part {
                Part::Current(file, length) => (
                    self.files.current.clone(),
                    Some(Box::new(At { file, at: 0 }.take(length))),
                ),
                Part::Segment(segment) => (
                    segment.path.clone(),
                    open_segment(self.files, segment)
                        .map_err(|error| LogError::io("open", &segment.path, error))?,
                ),
            };
            if let Some(source) = source {
                self.open = Some(OpenPart {
                    path,
                    source,
                    offset: 0,
                    line: 1,
                });
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Opens a rotated part, under its packed name where it was packed meanwhile; none where it was pruned, or another machine
/// began it.
pub(crate) fn open_segment(
    files: &LogFiles,
    segment: &Segment,
) -> io::Result<Option<Box<dyn Read + Send>>> {
    for packed in [segment.packed, true] {
        match files.open(&files.segment(segment.first_seq, packed), OFlags::RDONLY) {
            Ok(file) if packed => {
                let most = most_unpacked(file.metadata()?.len());
                let source = zstd::Decoder::new(file)?;
                return begun_here(files, Box::new(Bounded { source, most }));
            }
            Ok(file) => return begun_here(files, Box::new(file)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

/// Returns to how many bytes an archive of ours may unpack: every record holds hashes that cannot be packed.
const fn most_unpacked(packed: u64) -> u64 {
    packed.saturating_mul(256).saturating_add(64 << 20)
}

/// Gives back a file that this machine began, read from its beginning.
fn begun_here(
    files: &LogFiles,
    source: Box<dyn Read + Send>,
) -> io::Result<Option<Box<dyn Read + Send>>> {
    if files.key.is_none() {
        return Ok(Some(source));
    }
    let mut source = BufReader::new(source);
    let mut head = Vec::new();
    source
        .by_ref()
        .take(LONGEST_HEAD)
        .read_until(b'\n', &mut head)?;
    let is_ours = files.began(&head);
    Ok(is_ours.then(|| Box::new(Cursor::new(head).chain(source)) as Box<dyn Read + Send>))
}

/// A source that must end within so many bytes.
struct Bounded<R> {
    source: R,
    most: u64,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(buffer)?;
        self.most = self
            .most
            .checked_sub(read as u64)
            .ok_or_else(|| io::Error::other("the archive unpacks to far more than a log does"))?;
        Ok(read)
    }
}

/// Reads a shared file from its own place.
struct At<'f> {
    file: &'f File,
    at: u64,
}

impl Read for At<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(buffer, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

/// Cuts bytes into lines, each with its newline; the last one may lack it.
pub(crate) fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut start = 0;
    memchr::memchr_iter(b'\n', bytes)
        .map(|newline| newline + 1)
        .chain(std::iter::once(bytes.len()))
        .filter_map(move |end| {
            let line = bytes.get(start..end).filter(|line| !line.is_empty());
            start = end;
            line
        })
}

/// Cuts bytes into lines without their newlines; empty ones are left out.
pub(crate) fn bare_lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    lines(bytes)
        .map(|line| line.strip_suffix(b"\n").unwrap_or(line))
        .filter(|line| !line.is_empty())
}
