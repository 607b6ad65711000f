//! Tail: where the chain of a log goes on, and what is amiss there.

use std::fs::File;
use std::io;

use chrono::{DateTime, TimeDelta, Utc};

use super::backward::Backward;
use super::files::LogFiles;
use super::frame::Frame;
use super::lock::Anchor;
use super::{LogError, Notice, frame, rotation};

/// How far back a last whole record is looked for before the file is taken for something else.
const FARTHEST: u64 = 16 << 20;
/// Writers of several processes read the clock before they get the lock: so much disorder means nothing.
const CLOCK_TOLERANCE: TimeDelta = TimeDelta::seconds(15);

/// Where the chain goes on.
#[derive(Debug)]
pub(super) struct Tail {
    pub(super) seq: u64,
    pub(super) hash: String,
    timestamp: Option<DateTime<Utc>>,
    /// Where the next record begins; what stands behind is torn.
    pub(super) end: u64,
    /// Whether the last record lacks its newline and nothing else.
    pub(super) unterminated: bool,
}

impl Tail {
    /// Finds where the chain of a log goes on.
    pub(super) fn find(files: &LogFiles, file: &File, length: u64) -> Result<Self, LogError> {
        if length > 0 {
            return last_record(file, length)
                .map_err(|source| LogError::io("read", &files.current, source))?
                .ok_or_else(|| LogError::Foreign {
                    path: files.current.clone(),
                });
        }
        // A new file: the first of all, or the one after a rotation that ended right after its rename.
        let last = rotation::last_line(files)
            .map_err(|source| LogError::io("read", files.directory(), source))?;
        let frame = last.as_deref().and_then(Frame::read);
        Ok(Self {
            seq: frame.map_or(0, |f| f.seq),
            hash: frame.map_or(frame::NO_HASH, |f| f.hash).to_owned(),
            timestamp: frame.and_then(|f| f.timestamp.parse().ok()),
            end: 0,
            unterminated: false,
        })
    }

    /// Makes the tail that an append leaves.
    pub(super) fn after(last: Anchor, timestamp: Option<DateTime<Utc>>, end: u64) -> Self {
        Self {
            seq: last.seq,
            hash: last.hash,
            timestamp,
            end,
            unterminated: false,
        }
    }

    /// Whether nobody has appended since to a file that has this length now. A record that somebody changed is found by
    /// [`verify`](super::verify): the next one does not go on from it.
    pub(super) fn is_at(&self, length: u64, anchor: Option<&Anchor>) -> bool {
        let is_last = |last: &Anchor| (last.seq, &last.hash) == (self.seq, &self.hash);
        self.end == length && anchor.is_some_and(is_last)
    }

    /// Says what is amiss in a file of this length, if anything is.
    pub(super) fn notice(
        &self,
        length: u64,
        anchor: Option<&Anchor>,
        now: DateTime<Utc>,
    ) -> Option<Notice> {
        let behind = self.timestamp.map_or(TimeDelta::zero(), |last| last - now);
        let notice = Notice {
            torn_bytes: length.saturating_sub(self.end),
            lost_records: anchor.map_or(0, |a| a.seq.saturating_sub(self.seq)),
            clock_back_ms: if behind > CLOCK_TOLERANCE {
                u64::try_from(behind.num_milliseconds()).unwrap_or(0)
            } else {
                0
            },
        };
        (notice != Notice::default()).then_some(notice)
    }
}

/// Finds the last whole record of a file; none where there is none and never was.
fn last_record(file: &File, length: u64) -> io::Result<Option<Tail>> {
    let mut lines = Backward::new(file, length);
    while let Some(line) = lines.next_line()? {
        let is_at_end = line.offset + line.bytes.len() as u64 == length;
        if let Some(frame) = Frame::read(&line.bytes)
            && (line.terminated || (is_at_end && frame.is_intact(&line.bytes)))
        {
            let newline = u64::from(line.terminated);
            return Ok(Some(Tail {
                seq: frame.seq,
                hash: frame.hash.to_owned(),
                timestamp: frame.timestamp.parse().ok(),
                end: line.offset + line.bytes.len() as u64 + newline,
                unterminated: !line.terminated,
            }));
        }
        if length - line.offset > FARTHEST {
            return Ok(None);
        }
        if line.offset == 0 {
            // The very first write was torn, or the power went before its bytes were on the disk.
            let is_ours = b"{\"seq\":1,".starts_with(line.bytes.get(..9).unwrap_or(&line.bytes))
                || line.bytes.iter().all(|b| *b == 0);
            return Ok(is_ours.then(|| Tail {
                seq: 0,
                hash: frame::NO_HASH.to_owned(),
                timestamp: None,
                end: 0,
                unterminated: false,
            }));
        }
    }
    Ok(None)
}
