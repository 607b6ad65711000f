//! Reader: the records of a log, over its rotated parts too, from either end.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::io::Read as _;
use std::ops::ControlFlow;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::path::PathBuf;

use super::Line;
use super::Links;
use super::LogError;
use super::Record;
use super::backward::Backward;
use super::blocks::Blocks;
use super::blocks::Part;
use super::blocks::bare_lines;
use super::blocks::lines;
use super::blocks::open_segment;
use super::files::LogFiles;
use super::files::Segment;
use super::frame;
use super::frame::Frame;

/// Reads a log as it is at one moment; others may write and rotate it meanwhile.
#[derive(Debug)]
pub struct Reader {
    files: LogFiles,
    segments: Vec<Segment>,
    current: Option<(File, u64)>,
}

/// A line that could not be read.
#[derive(Debug, thiserror::Error)]
#[error("`{}` line {line} does not count: {reason}", .path.display())]
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
        let segments = self.segments.iter();
        let segments = segments.filter(move |s| from.is_none_or(|from| s.first_seq >= from));
        let current = self.current();
        Blocks::new(
            &self.files,
            segments
                .map(Part::Segment)
                .chain(current.map(|(file, length)| Part::Current(file, length))),
        )
    }

    /// Calls with each line that is chained to those before it, oldest first, until told to stop.
    ///
    /// Whether it is the line that was written, [`Record::of`] tells.
    pub(crate) fn each_line(
        &self,
        mut give: impl FnMut(&Frame<'_>, &[u8]) -> ControlFlow<()>,
    ) -> Result<(), LogError> {
        let mut links = Links::default();
        let mut blocks = self.blocks(None);
        while let Some(block) = blocks.next_block()? {
            for line in bare_lines(block.bytes) {
                if let Some(frame) = Frame::read(line)
                    && links.admit(&frame)
                    && give(&frame, line).is_break()
                {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Reads the records, oldest first. A torn last line is left out; another bad one is given as an error.
    pub fn records(&self) -> Records<'_> {
        Records {
            path: &self.files.current,
            blocks: self.blocks(None),
            links: Links::default(),
            ready: VecDeque::new(),
        }
    }

    /// Calls with each record that counts, newest first, until told to stop.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn newest_first(
        &self,
        mut give: impl FnMut(&[u8], Line<'_>) -> ControlFlow<()>,
    ) -> Result<(), LogError> {
        let mut batch = Batch::default();
        if let Some((file, length)) = &self.current {
            let mut lines = Backward::new(file, *length);
            while let Some(line) = lines
                .next_line()
                .map_err(|error| LogError::io("read", &self.files.current, error))?
            {
                if batch.add(line.bytes, &mut give).is_break() {
                    return Ok(());
                }
            }
        }
        for segment in self.segments.iter().rev() {
            let mut bytes = Vec::new();
            let read = open_segment(&self.files, segment)
                .and_then(|source| source.map_or(Ok(0), |mut s| s.read_to_end(&mut bytes)));
            read.map_err(|error| LogError::io("read", &segment.path, error))?;
            for line in bytes.split(|b| *b == b'\n').rev() {
                if batch.add(line.to_vec(), &mut give).is_break() {
                    return Ok(());
                }
            }
        }
        batch.end(&mut give).is_break();
        Ok(())
    }
}

/// Lines that were read from the newest on: what is chained to what is told from the oldest of them on.
#[derive(Debug, Default)]
struct Batch(Vec<Vec<u8>>);

impl Batch {
    /// How many lines are looked at together.
    const SIZE: usize = 256;

    fn add(
        &mut self,
        line: Vec<u8>,
        give: impl FnMut(&[u8], Line<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        self.0.push(line);
        if self.0.len() < Self::SIZE {
            return ControlFlow::Continue(());
        }
        // The oldest waits: what it is chained to is in the next batch.
        self.give(1, give)?;
        self.0.drain(..Self::SIZE - 1);
        ControlFlow::Continue(())
    }

    fn end(self, give: impl FnMut(&[u8], Line<'_>) -> ControlFlow<()>) -> ControlFlow<()> {
        self.give(0, give)
    }

    /// Gives the records of the batch, newest first, but for so many of its oldest lines.
    fn give(
        &self,
        but: usize,
        mut give: impl FnMut(&[u8], Line<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let mut links = Links::default();
        let mut sound: Vec<(Frame<'_>, &[u8])> = Vec::new();
        for (place, line) in self.0.iter().enumerate().rev() {
            if let Some(frame) = Frame::read(line)
                && links.admit(&frame)
                && place + but < self.0.len()
            {
                sound.push((frame, line));
            }
        }
        sound
            .iter()
            .rev()
            .try_for_each(|(frame, line)| match Line::of(frame, line) {
                Ok(record) => give(line, record),
                Err(_) => ControlFlow::Continue(()),
            })
    }
}

fn first_seq(file: &File) -> Option<u64> {
    let mut head = [0; 32];
    let read = file.read_at(&mut head, 0).ok()?;
    frame::read_seq(head.get(..read)?)
}

/// The records of a log, oldest first.
pub struct Records<'r> {
    path: &'r Path,
    blocks: Blocks<'r>,
    links: Links,
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
                    self.blocks.stop();
                    return Some(Err(BadLine {
                        path: self.path.to_owned(),
                        line: 0,
                        reason: error.to_string(),
                    }));
                }
            };
            for (number, line) in (block.line..).zip(lines(block.bytes)) {
                let bytes = line.strip_suffix(b"\n");
                match self.links.read(bytes.unwrap_or(line)) {
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
