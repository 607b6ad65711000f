//! Reader: the records of a log, over its rotated parts too, from either end.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::io::Read as _;
use std::ops::ControlFlow;
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::OFlags;

use super::backward::Backward;
use super::blocks::{Blocks, Part, bare_lines, lines, open_segment};
use super::files::{LogFiles, Segment};
use super::frame::{Frame, NO_HASH};
use super::{Line, Links, LogError, LogPlace, Record, frame};

/// Reads a log as it is at one moment; others may write and rotate it meanwhile.
#[derive(Debug)]
pub struct Reader {
    files: LogFiles,
    segments: Vec<Segment>,
    current: Option<(File, u64)>,
    /// Whether another machine began the current file, which therefore says nothing.
    is_foreign: bool,
    left_out: AtomicU64,
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
    /// Opens the log at a place; one that is not there has no records. What another machine wrote is left out.
    ///
    /// # Errors
    /// A file that cannot be opened, or is not a regular one.
    pub fn open(place: impl Into<LogPlace>) -> Result<Self, LogError> {
        Self::of(LogFiles::new(place))
    }

    pub(super) fn of(files: LogFiles) -> Result<Self, LogError> {
        // The current file first: if it is rotated now, it is still held here and left out below.
        let current = match files.open(&files.current, OFlags::RDONLY) {
            Ok(file) => {
                let length = file.metadata().map(|m| m.len());
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
        let begun = current
            .as_ref()
            .map_or(Ok(true), |(file, length)| files.has_begun(file, *length));
        let is_foreign = !begun.map_err(|e| LogError::io("read", &files.current, e))?;
        Ok(Self {
            files,
            segments,
            current: current.filter(|_| !is_foreign),
            is_foreign,
            left_out: AtomicU64::new(0),
        })
    }

    /// Returns the files that another machine began, or whose beginning is gone: they say nothing.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn foreign(&self) -> Result<Vec<PathBuf>, LogError> {
        let mut foreign = Vec::new();
        for segment in &self.segments {
            let opened = open_segment(&self.files, segment);
            let opened = opened.map_err(|e| LogError::io("read", &segment.path, e))?;
            if opened.is_none() && segment.path.exists() {
                foreign.push(segment.path.clone());
            }
        }
        foreign.extend(self.is_foreign.then(|| self.files.current.clone()));
        Ok(foreign)
    }

    /// Whether a record may be believed: an answer only if this machine wrote it.
    pub(crate) fn believes<S, E>(&self, record: &Record<S, E>) -> bool {
        self.files.believes(record)
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

    /// Returns how many lines the last reading came to that do not count.
    pub fn left_out(&self) -> u64 {
        self.left_out.load(Ordering::Relaxed)
    }

    pub(crate) fn leave_out(&self) {
        self.left_out.fetch_add(1, Ordering::Relaxed);
    }

    /// Calls with each line that is chained to those before it, oldest first, until told to stop: whether it is the line
    /// that was written, [`Record::of`] tells.
    pub(crate) fn each_line(
        &self,
        mut give: impl FnMut(&Frame<'_>, &[u8]) -> ControlFlow<()>,
    ) -> Result<(), LogError> {
        self.left_out.store(0, Ordering::Relaxed);
        let mut links = Links::default();
        let mut blocks = self.blocks(None);
        while let Some(block) = blocks.next_block()? {
            for line in bare_lines(block.bytes) {
                match Frame::read(line).filter(|frame| links.admit(frame)) {
                    Some(frame) if give(&frame, line).is_break() => return Ok(()),
                    Some(_) => {}
                    None => self.leave_out(),
                }
            }
        }
        Ok(())
    }

    /// Reads the records, oldest first. A torn last line is left out; another bad one is given as an error.
    pub fn records(&self) -> Records<'_> {
        Records {
            files: &self.files,
            blocks: self.blocks(None),
            links: Links::default(),
            skip: 0,
            ready: VecDeque::new(),
        }
    }

    /// Reads the records behind one that is known by its number and hash, oldest first; all of them where none is known.
    /// Where the first of them is not chained to the known one, it is given as an error.
    pub fn records_behind(&self, known: Option<(u64, &str)>) -> Records<'_> {
        let Some((seq, hash)) = known else {
            return self.records();
        };
        let parts = self.segments.iter().map(|s| s.first_seq);
        let holding = parts.filter(|first| *first <= seq + 1).max();
        let in_current = self
            .current_first_seq()
            .is_some_and(|first| first <= seq + 1);
        let from = if in_current { Some(u64::MAX) } else { holding };
        Records {
            files: &self.files,
            blocks: self.blocks(from),
            links: Links::behind(seq, hash),
            skip: seq,
            ready: VecDeque::new(),
        }
    }

    /// Returns the number of the oldest record that is still there.
    pub fn first_seq(&self) -> Option<u64> {
        let oldest = self.segments.first().map(|segment| segment.first_seq);
        oldest.or_else(|| self.current_first_seq())
    }

    /// Returns the number of the newest record that counts.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn last_seq(&self) -> Result<Option<u64>, LogError> {
        let mut newest = None;
        self.newest_first(|_, line| {
            newest = Some(line.seq);
            ControlFlow::Break(())
        })?;
        Ok(newest)
    }

    /// Returns the hash of a record; none where it is not there any more.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn hash_of(&self, seq: u64) -> Result<Option<String>, LogError> {
        let mut blocks = self
            .records_behind(Some((seq.saturating_sub(1), NO_HASH)))
            .blocks;
        while let Some(block) = blocks.next_block()? {
            let mut frames = bare_lines(block.bytes).filter_map(Frame::read);
            if let Some(found) = frames.find(|frame| frame.seq == seq) {
                return Ok(Some(found.hash.to_owned()));
            }
        }
        Ok(None)
    }

    /// Calls with each record that counts, newest first, until told to stop.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn newest_first(
        &self,
        mut give: impl FnMut(&[u8], Line<'_>) -> ControlFlow<()>,
    ) -> Result<(), LogError> {
        self.left_out.store(0, Ordering::Relaxed);
        let mut batch = Batch::default();
        let mut give = |bytes: &[u8], line: Option<Line<'_>>| match line {
            Some(line) if self.believes(&line) => give(bytes, line),
            _ => {
                self.leave_out();
                ControlFlow::Continue(())
            }
        };
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
        give: impl FnMut(&[u8], Option<Line<'_>>) -> ControlFlow<()>,
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

    fn end(self, give: impl FnMut(&[u8], Option<Line<'_>>) -> ControlFlow<()>) -> ControlFlow<()> {
        self.give(0, give)
    }

    /// Gives the records of the batch, newest first, but for its oldest lines; none for one that does not count.
    fn give(
        &self,
        but: usize,
        mut give: impl FnMut(&[u8], Option<Line<'_>>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let mut links = Links::default();
        let mut found: Vec<(Option<Frame<'_>>, &[u8])> = Vec::new();
        for (place, line) in self.0.iter().enumerate().rev() {
            let frame = Frame::read(line).filter(|frame| links.admit(frame));
            if place + but < self.0.len() && !line.is_empty() {
                found.push((frame, line));
            }
        }
        found.iter().rev().try_for_each(|(frame, line)| {
            let read = frame.as_ref().map(|frame| Line::of(frame, line));
            give(line, read.and_then(Result::ok))
        })
    }
}

pub(super) fn first_seq(file: &File) -> Option<u64> {
    let mut head = [0; 32];
    let read = file.read_at(&mut head, 0).ok()?;
    frame::read_seq(head.get(..read)?)
}

/// The records of a log, oldest first.
pub struct Records<'r> {
    files: &'r LogFiles,
    blocks: Blocks<'r>,
    links: Links,
    /// Records up to this one are passed over.
    skip: u64,
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
                        path: self.files.current.clone(),
                        line: 0,
                        reason: error.to_string(),
                    }));
                }
            };
            for (number, line) in (block.line..).zip(lines(block.bytes)) {
                let bytes = line.strip_suffix(b"\n");
                let seq = frame::read_seq(line);
                if seq.is_some_and(|seq| seq <= self.skip) {
                    continue;
                }
                match self.links.read(bytes.unwrap_or(line)) {
                    Ok(record) if self.files.believes(&record) => {
                        self.ready.push_back(Ok(record));
                    }
                    Ok(record) => self.ready.push_back(Err(BadLine {
                        path: block.part.to_owned(),
                        line: number,
                        reason: format!("record {} is an answer from elsewhere", record.seq),
                    })),
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
