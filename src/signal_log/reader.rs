//! Reader: the records of a log, over its rotated parts too, from either end.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::io::Read as _;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::path::PathBuf;

use super::LogError;
use super::Record;
use super::backward::Backward;
use super::blocks::Blocks;
use super::blocks::Part;
use super::blocks::lines;
use super::blocks::open_segment;
use super::files::LogFiles;
use super::files::Segment;
use super::frame;

/// Reads a log as it is at one moment; others may write and rotate it meanwhile.
#[derive(Debug)]
pub struct Reader {
    files: LogFiles,
    segments: Vec<Segment>,
    current: Option<(File, u64)>,
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

    /// Reads the records, oldest first. A torn last line is left out; another bad one is given as an error.
    pub fn records(&self) -> Records<'_> {
        Records {
            path: &self.files.current,
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

fn first_seq(file: &File) -> Option<u64> {
    let mut head = [0; 32];
    let read = file.read_at(&mut head, 0).ok()?;
    frame::read_seq(head.get(..read)?)
}

/// The records of a log, oldest first.
pub struct Records<'r> {
    path: &'r Path,
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
