//! Reader: the records of a log, over its rotated parts too, from either end.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::io::Read;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::path::PathBuf;

use super::LogError;
use super::Record;
use super::backward::Backward;
use super::files::LogFiles;
use super::files::Segment;
use super::frame;

/// How much is read at once; a longer line makes it more.
const BLOCK: usize = 4 << 20;

/// Reads a log as it is at one moment; others may write and rotate it meanwhile.
#[derive(Debug)]
pub struct Reader {
    files: LogFiles,
    segments: Vec<Segment>,
    current: Option<(File, u64)>,
}

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

/// A line that could not be read.
#[derive(Debug, thiserror::Error)]
#[error("`{}` line {line} is no record: {reason}", .path.display())]
pub struct BadLine {
    /// The file.
    pub path: PathBuf,
    /// The line, from 1.
    pub line: u64,
    /// What is wrong with it.
    pub reason: String,
}

impl Reader {
    /// Opens the log at a path; one that is not there has no records.
    ///
    /// # Errors
    /// A file that cannot be opened.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, LogError> {
        let files = LogFiles::new(path);
        // The current file first: if it is rotated now, it is still held here and left out below.
        let current = match File::open(&files.current) {
            Ok(file) => {
                let length = file.metadata().and_then(|m| {
                    if m.is_dir() {
                        Err(io::ErrorKind::IsADirectory.into())
                    } else {
                        Ok(m.len())
                    }
                });
                let length = length.map_err(|e| LogError::io("read", &files.current, e))?;
                Some((file, length))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(LogError::io("open", files.current, error)),
        };
        let mut segments = files
            .segments()
            .map_err(|error| LogError::io("read", files.directory(), error))?;
        if let Some(first) = current.as_ref().and_then(|(file, _)| first_seq(file)) {
            segments.retain(|s| s.first_seq < first);
        }
        Ok(Self {
            files,
            segments,
            current,
        })
    }

    /// Whether there is anything to read.
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty() && self.current.as_ref().is_none_or(|(_, length)| *length == 0)
    }

    /// Returns the bytes of all files, packed ones as they lie on the disk.
    pub fn size(&self) -> u64 {
        let packed = self.segments.iter();
        let packed = packed.filter_map(|s| std::fs::metadata(&s.path).ok());
        self.current.as_ref().map_or(0, |(_, length)| *length)
            + packed.map(|m| m.len()).sum::<u64>()
    }

    /// Returns the number of the current file's first record.
    pub(crate) fn current_first_seq(&self) -> Option<u64> {
        self.current.as_ref().and_then(|(file, _)| first_seq(file))
    }

    /// Returns the current file and its length when it was opened.
    pub(crate) fn current(&self) -> Option<(&File, u64)> {
        self.current.as_ref().map(|(file, length)| (file, *length))
    }

    pub(crate) fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// Reads the bytes of the log, oldest first; from the part with a first record on, where one is given.
    pub(crate) fn blocks(&self, from: Option<u64>) -> Blocks<'_> {
        let mut parts: VecDeque<Part<'_>> = self
            .segments
            .iter()
            .filter(|s| from.is_none_or(|from| s.first_seq >= from))
            .map(Part::Segment)
            .collect();
        parts.extend(
            self.current
                .as_ref()
                .map(|(file, length)| Part::Current(file, *length)),
        );
        Blocks {
            files: &self.files,
            parts,
            open: None,
            buffer: Vec::new(),
            given: 0,
            filled: 0,
        }
    }

    /// Reads the records, oldest first. A torn last line is left out; another bad one is given as an error.
    pub fn records(&self) -> Records<'_> {
        Records {
            blocks: self.blocks(None),
            ready: VecDeque::new(),
        }
    }

    /// Calls with each line, newest first, until told to stop; a torn last line is left out.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn newest_first(
        &self,
        mut give: impl FnMut(&[u8]) -> std::ops::ControlFlow<()>,
    ) -> Result<(), LogError> {
        if let Some((file, length)) = &self.current {
            let mut lines = Backward::new(file, *length);
            while let Some(line) = lines
                .next_line()
                .map_err(|error| LogError::io("read", &self.files.current, error))?
            {
                if (line.terminated || line.bytes.ends_with(b"}")) && give(&line.bytes).is_break() {
                    return Ok(());
                }
            }
        }
        for segment in self.segments.iter().rev() {
            let mut bytes = Vec::new();
            let read = open_segment(&self.files, segment)
                .and_then(|source| source.map_or(Ok(0), |mut s| s.read_to_end(&mut bytes)));
            read.map_err(|error| LogError::io("read", &segment.path, error))?;
            let lines = bytes.split(|b| *b == b'\n').rev();
            for line in lines.filter(|line| !line.is_empty()) {
                if give(line).is_break() {
                    return Ok(());
                }
            }
        }
        Ok(())
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

fn first_seq(file: &File) -> Option<u64> {
    let mut head = [0; 32];
    let read = file.read_at(&mut head, 0).ok()?;
    frame::read_seq(head.get(..read)?)
}

enum Part<'r> {
    Segment(&'r Segment),
    Current(&'r File, u64),
}

/// The bytes of a log in pieces; the memory is that of one piece.
pub(crate) struct Blocks<'r> {
    files: &'r LogFiles,
    parts: VecDeque<Part<'r>>,
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

impl Blocks<'_> {
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

    /// Returns the bytes of the next piece to keep, without their place; none at the end.
    ///
    /// The buffer itself is given out, and a spare one, of an earlier piece, takes its place.
    pub(crate) fn take_block(&mut self, mut spare: Vec<u8>) -> Result<Option<Vec<u8>>, LogError> {
        if self.next_block()?.is_none() {
            return Ok(None);
        }
        let rest = self.buffer.get(self.given..self.filled).unwrap_or_default();
        spare.resize(rest.len().max(BLOCK), 0);
        if let Some(begin) = spare.get_mut(..rest.len()) {
            begin.copy_from_slice(rest);
        }
        self.filled -= self.given;
        let mut block = std::mem::replace(&mut self.buffer, spare);
        block.truncate(self.given);
        self.given = 0;
        Ok(Some(block))
    }

    /// Reads until the buffer is full; true at the end of the part.
    fn fill(&mut self) -> Result<bool, LogError> {
        let Some(part) = &mut self.open else {
            return Ok(true);
        };
        if self.buffer.len() < BLOCK {
            self.buffer.resize(BLOCK, 0);
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

/// Opens a rotated part, under its packed name where it was packed meanwhile; none where it was pruned.
pub(crate) fn open_segment(
    files: &LogFiles,
    segment: &Segment,
) -> io::Result<Option<Box<dyn Read + Send>>> {
    for packed in [segment.packed, true] {
        match File::open(files.segment(segment.first_seq, packed)) {
            Ok(file) if packed => return Ok(Some(Box::new(zstd::Decoder::new(file)?))),
            Ok(file) => return Ok(Some(Box::new(file))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(None)
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

/// The records of a log, oldest first.
pub struct Records<'r> {
    blocks: Blocks<'r>,
    ready: VecDeque<Result<Record, BadLine>>,
}

impl std::fmt::Debug for Records<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Records").finish_non_exhaustive()
    }
}

impl Iterator for Records<'_> {
    type Item = Result<Record, BadLine>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(record) = self.ready.pop_front() {
                return Some(record);
            }
            let block = match self.blocks.next_block() {
                Ok(block) => block?,
                Err(error) => {
                    self.blocks.parts.clear();
                    self.blocks.open = None;
                    return Some(Err(BadLine {
                        path: self.blocks.files.current.clone(),
                        line: 0,
                        reason: error.to_string(),
                    }));
                }
            };
            for (number, line) in (block.line..).zip(lines(block.bytes)) {
                let bytes = line.strip_suffix(b"\n");
                match serde_json::from_slice::<Record>(bytes.unwrap_or(line)) {
                    Ok(record) => self.ready.push_back(Ok(record)),
                    Err(_) if bytes.is_none() => {}
                    Err(error) => self.ready.push_back(Err(BadLine {
                        path: block.part.to_owned(),
                        line: number,
                        reason: error.to_string(),
                    })),
                }
            }
        }
    }
}
