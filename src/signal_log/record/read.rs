//! Read: a record out of a line of the log, and why a line is none.

use serde::Deserialize;

use super::{Body, Notice, Record};
use crate::signal_log::frame::{Frame, Links};

/// Why a line is not a record that counts.
#[derive(Debug, thiserror::Error)]
pub enum BadRecord {
    /// It does not have the outside of a record.
    #[error("it is not a record of the log")]
    NoRecord,
    /// It was changed after it had been written.
    #[error("record {seq} does not have the hash of its bytes")]
    Edited {
        /// The number of the record.
        seq: u64,
    },
    /// A record was put in, taken out or replaced before it.
    #[error("record {seq} is not chained to the record before it")]
    Unchained {
        /// The number of the record.
        seq: u64,
    },
    /// Its content is not that of a record.
    #[error("{0}")]
    Content(#[from] serde_json::Error),
}

impl<'a, S, E> Record<S, E>
where
    S: Deserialize<'a> + From<&'a str>,
    E: Deserialize<'a>,
{
    /// Reads a line without its newline. Whether it is chained to the line before it, [`Links`] tell.
    ///
    /// # Errors
    /// The line is not a record, or not the one that was written.
    pub fn read(line: &'a [u8]) -> Result<Self, BadRecord> {
        let frame = Frame::read(line).ok_or(BadRecord::NoRecord)?;
        Self::of(&frame, line)
    }

    /// Reads a line of which the outside has been read.
    pub(crate) fn of(frame: &Frame<'a>, line: &'a [u8]) -> Result<Self, BadRecord> {
        if !frame.is_intact(line) {
            return Err(BadRecord::Edited { seq: frame.seq });
        }
        let text = std::str::from_utf8(line).map_err(|_| BadRecord::NoRecord)?;
        let body = match frame.kind {
            "evaluation" => Body::Evaluation(serde_json::from_str(text)?),
            "signal" => Body::Signal(serde_json::from_str(text)?),
            "response" => Body::Response(serde_json::from_str(text)?),
            _ => return Err(BadRecord::NoRecord),
        };
        Ok(Self {
            seq: frame.seq,
            timestamp: frame.timestamp.parse().map_err(|_| BadRecord::NoRecord)?,
            body,
            notice: notice(line),
            prev: frame.prev.into(),
            hash: frame.hash.into(),
        })
    }
}

impl Links {
    /// Reads the next line, without its newline.
    ///
    /// # Errors
    /// The line is not a record, not the one that was written, or does not go on from those before it.
    pub fn read<'a, S, E>(&mut self, line: &'a [u8]) -> Result<Record<S, E>, BadRecord>
    where
        S: Deserialize<'a> + From<&'a str>,
        E: Deserialize<'a>,
    {
        let frame = Frame::read(line).ok_or(BadRecord::NoRecord)?;
        if self.admit(&frame) {
            Record::of(&frame, line)
        } else {
            Err(BadRecord::Unchained { seq: frame.seq })
        }
    }
}

/// Returns what the writer of a line found amiss.
pub(crate) fn notice(line: &[u8]) -> Option<Notice> {
    #[derive(Deserialize)]
    struct Noticed {
        notice: Notice,
    }
    // A quotation mark within a text is escaped: this is found in no text.
    memchr::memmem::find(line, b",\"notice\":{\"")?;
    let noticed: Noticed = serde_json::from_slice(line).ok()?;
    Some(noticed.notice)
}
