//! Follow: the lines that come to a log while one looks at it, across rotations.

use std::fs;
use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};

use rustix::fs::OFlags;

use super::backward::Backward;
use super::files::LogFiles;
use super::frame::Frame;
use super::{Links, LogError, LogPlace, Reader, Record, frame};

/// The lines that come to a log from now on. It is asked, and does not wait.
#[derive(Debug)]
pub struct Follow {
    files: LogFiles,
    open: Option<Open>,
    last_seq: u64,
    /// The chain up to the last record that was given.
    links: Links,
}

#[derive(Debug)]
struct Open {
    file: File,
    inode: u64,
    offset: u64,
}

impl Follow {
    /// Starts behind the last line that is there now; a log that is not there yet is waited for.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn new(place: impl Into<LogPlace>) -> Result<Self, LogError> {
        let mut follow = Self {
            files: LogFiles::new(place),
            open: None,
            last_seq: 0,
            links: Links::default(),
        };
        follow.reopen()?;
        if let Some(open) = &mut follow.open {
            let error = |error| LogError::io("read", &follow.files.current, error);
            let length = open.file.metadata().map_err(error)?.len();
            let mut lines = Backward::new(&open.file, length);
            while let Some(line) = lines.next_line().map_err(error)? {
                if line.terminated {
                    if let Some(frame) = Frame::read(&line.bytes) {
                        follow.last_seq = frame.seq;
                        follow.links = Links::behind(frame.seq, frame.hash);
                    }
                    open.offset = line.offset + line.bytes.len() as u64 + 1;
                    break;
                }
            }
        }
        Ok(follow)
    }

    /// Returns the chain up to the last line that was there: the lines that come are to be read by it.
    pub fn links(&self) -> Links {
        self.links.clone()
    }

    /// Returns the records that have come since it was asked last, oldest first; lines that do not count are left out.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn records(&mut self) -> Result<Vec<Record>, LogError> {
        let lines = self.news()?;
        let records = lines.iter().map(|line| self.links.read(line));
        Ok(records.filter_map(Result::ok).collect())
    }

    #[doc(hidden)]
    /// Returns the lines that have come since it was asked last, oldest first.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn news(&mut self) -> Result<Vec<Vec<u8>>, LogError> {
        let mut lines = self.read_on()?;
        let now = fs::symlink_metadata(&self.files.current).ok();
        let is_same = match (&now, &self.open) {
            (Some(now), Some(open)) => now.ino() == open.inode && now.len() >= open.offset,
            (None, _) => true,
            (Some(_), None) => false,
        };
        if !is_same {
            // Rotated, more than once perhaps: what lies between is read from the rotated parts.
            let before = self.last_seq;
            let reader = Reader::of(self.files.clone())?;
            let between = reader.segments().iter().map(|s| s.first_seq);
            if let Some(first) = between.filter(|first| *first > before).min() {
                let mut blocks = reader.blocks(Some(first));
                while let Some(block) = blocks.next_block()? {
                    if block.part != self.files.current {
                        let new = block.bytes.split(|b| *b == b'\n');
                        lines.extend(new.filter(|l| !l.is_empty()).map(<[u8]>::to_vec));
                    }
                }
            }
            self.reopen()?;
            let mut new = self.read_on()?;
            // A repaired file is read again from its beginning.
            new.retain(|line| frame::read_seq(line) > Some(before));
            lines.append(&mut new);
        }
        Ok(lines)
    }

    fn reopen(&mut self) -> Result<(), LogError> {
        self.open = match self.files.open(&self.files.current, OFlags::RDONLY) {
            Ok(file) => {
                let metadata = file
                    .metadata()
                    .map_err(|error| LogError::io("read", &self.files.current, error))?;
                Some(Open {
                    file,
                    inode: metadata.ino(),
                    offset: 0,
                })
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(LogError::io("open", &self.files.current, error)),
        };
        Ok(())
    }

    /// Reads the whole lines behind the last one that was read.
    fn read_on(&mut self) -> Result<Vec<Vec<u8>>, LogError> {
        let Some(open) = &mut self.open else {
            return Ok(Vec::new());
        };
        let error = |error| LogError::io("read", &self.files.current, error);
        let length = open.file.metadata().map_err(error)?.len();
        let size = usize::try_from(length.saturating_sub(open.offset)).unwrap_or(usize::MAX);
        let mut bytes = vec![0; size];
        let read = open.file.read_at(&mut bytes, open.offset).map_err(error)?;
        bytes.truncate(read);
        let whole = memchr::memrchr(b'\n', &bytes).map_or(0, |newline| newline + 1);
        bytes.truncate(whole);
        open.offset += whole as u64;
        let lines: Vec<Vec<u8>> = bytes
            .split(|b| *b == b'\n')
            .filter(|line| !line.is_empty())
            .map(<[u8]>::to_vec)
            .collect();
        if let Some(seq) = lines.last().and_then(|line| frame::read_seq(line)) {
            self.last_seq = seq;
        }
        Ok(lines)
    }
}
