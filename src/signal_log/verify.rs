//! Verify: checks the whole chain of a log and names the first bad record and what was done to it.

use std::fmt;
use std::path::{Path, PathBuf};

use rayon::iter::{
    IndexedParallelIterator as _, IntoParallelRefIterator as _, ParallelIterator as _,
};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use super::blocks::lines;
use super::files::LogFiles;
use super::frame::Frame;
use super::record::notice;
use super::{LogError, LogPlace, Notice, Reader, Record, frame, lock};

/// How many lines one thread checks at a time.
const SHARE: usize = 64;

/// What a log's check has found.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Verification {
    /// How many records were read.
    pub records: u64,
    /// The number of the oldest record that is there; more than 1 where older parts were pruned.
    pub first_seq: u64,
    /// The number of the newest.
    pub last_seq: u64,
    /// How many files were read.
    pub files: u64,
    /// How many bytes were read, unpacked.
    pub bytes: u64,
    /// The first bad place; none where the log is sound.
    pub damage: Option<Damage>,
    /// How many more bad places follow.
    pub further: u64,
    /// The bytes of a torn tail that the next writer will keep aside.
    pub torn_tail: u64,
    /// What the writers noted: how often, and what it adds up to.
    pub notices: u64,
    /// Bytes of torn tails that were kept aside.
    pub torn_bytes: u64,
    /// Records that were lost and noted.
    pub lost_records: u64,
}

/// One bad place of a log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Damage {
    /// What was done.
    pub kind: DamageKind,
    /// The number of the bad record, where it is known.
    pub seq: Option<u64>,
    /// The file.
    pub file: PathBuf,
    /// The line in the (unpacked) file, from 1.
    pub line: u64,
    /// What is to be seen there.
    pub detail: String,
}

/// What was done to a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DamageKind {
    /// A record's bytes are not those that were hashed.
    Edited,
    /// A record was replaced by another with a hash of its own.
    Rewritten,
    /// Records are missing.
    Deleted,
    /// Records are missing at the end.
    Truncated,
    /// Records stand in another order.
    Reordered,
    /// A line stands where none was written.
    Inserted,
    /// A line is no JSON.
    Garbled,
    /// A rotated file ends within a line.
    Torn,
    /// A file does not go on where the one before it ended.
    Broken,
    /// A file was begun elsewhere, or its beginning is gone.
    Foreign,
}

impl DamageKind {
    /// Returns the name as it is written.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Edited => "edited",
            Self::Rewritten => "rewritten",
            Self::Deleted => "deleted",
            Self::Truncated => "truncated",
            Self::Reordered => "reordered",
            Self::Inserted => "inserted",
            Self::Garbled => "garbled",
            Self::Torn => "torn",
            Self::Broken => "broken",
            Self::Foreign => "foreign",
        }
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: `{}` line {}: {}",
            self.kind.name(),
            self.file.display(),
            self.line,
            self.detail
        )
    }
}

/// One line, checked by itself.
enum Checked<'a> {
    Sound(Frame<'a>, Option<Notice>),
    Edited(Frame<'a>),
    /// An answer that this machine did not give, as every reader has it.
    Elsewhere(Frame<'a>),
    NoRecord,
    NoJson(String),
}

/// Checks the whole log at a path.
///
/// # Errors
/// A file that cannot be read. Damage is no error but a finding.
pub fn verify(place: impl Into<LogPlace>) -> Result<Verification, LogError> {
    let files = LogFiles::new(place);
    // Before the log: what is written meanwhile can only make the log longer than this.
    let anchor = lock::read_anchor(&files);
    let reader = Reader::of(files.whole())?;
    let mut walk = Walk {
        anchor,
        ..Walk::default()
    };
    let mut blocks = reader.blocks(None);
    while let Some(block) = blocks.next_block()? {
        let lines: Vec<&[u8]> = lines(block.bytes).collect();
        let checked: Vec<Checked<'_>> = lines
            .par_iter()
            .with_min_len(SHARE)
            .map(|line| check(line.strip_suffix(b"\n").unwrap_or(line), &files))
            .collect();
        if block.offset == 0 {
            walk.begin_file(block.part);
            if !files.began(block.bytes) {
                let detail = "its first record does not carry the mark of this machine: the file was begun elsewhere, or \
                              records are gone from its beginning";
                walk.bad(DamageKind::Foreign, None, 1, detail.to_owned());
            }
        }
        let is_current = block.part == files.current;
        for ((number, line), checked) in (block.line..).zip(&lines).zip(checked) {
            walk.found.bytes += line.len() as u64;
            let terminated = line.ends_with(b"\n");
            if !terminated && !matches!(checked, Checked::Sound(..)) {
                if is_current {
                    walk.found.torn_tail = line.len() as u64;
                } else {
                    let detail = format!("the last {} bytes are not a whole record", line.len());
                    walk.bad(DamageKind::Torn, None, number, detail);
                }
                continue;
            }
            walk.step(number, checked);
        }
    }
    Ok(walk.end(&files.current))
}

fn check<'a>(line: &'a [u8], files: &LogFiles) -> Checked<'a> {
    let Some(frame) = Frame::read(line) else {
        return match serde_json::from_slice::<IgnoredAny>(line) {
            Ok(_) => Checked::NoRecord,
            Err(error) => Checked::NoJson(error.to_string()),
        };
    };
    if !frame.is_intact(line) {
        return Checked::Edited(frame);
    }
    if frame.kind == "response"
        && let Ok(record) = Record::<&str, IgnoredAny>::of(&frame, line)
        && !files.believes(&record)
    {
        return Checked::Elsewhere(frame);
    }
    Checked::Sound(frame, notice(line))
}

/// The walk over all lines in their order.
#[derive(Default)]
struct Walk {
    found: Verification,
    anchor: Option<lock::Anchor>,
    file: PathBuf,
    /// Whether the next record is the first of its file.
    at_start: bool,
    /// The record before: number, hash and line.
    before: Option<(u64, String, u64)>,
    /// A number that was expected and not there: met later, the records were reordered, not deleted.
    missing: Option<u64>,
}

impl Walk {
    fn begin_file(&mut self, path: &Path) {
        path.clone_into(&mut self.file);
        self.at_start = true;
        self.found.files += 1;
    }

    fn bad(&mut self, kind: DamageKind, seq: Option<u64>, line: u64, detail: String) {
        if self.found.damage.is_some() {
            self.found.further += 1;
            return;
        }
        self.found.damage = Some(Damage {
            kind,
            seq,
            file: self.file.clone(),
            line,
            detail,
        });
    }

    fn step(&mut self, line: u64, checked: Checked<'_>) {
        let (frame, fault) = match checked {
            Checked::Sound(frame, notice) => {
                if let Some(notice) = notice {
                    self.found.notices += 1;
                    self.found.torn_bytes += notice.torn_bytes;
                    self.found.lost_records += notice.lost_records;
                }
                (frame, None)
            }
            Checked::Edited(frame) => {
                let detail = format!("record {} does not have the hash of its bytes", frame.seq);
                (frame, Some((DamageKind::Edited, detail)))
            }
            Checked::Elsewhere(frame) => {
                let detail = format!(
                    "record {} is an answer that this machine did not give",
                    frame.seq
                );
                (frame, Some((DamageKind::Inserted, detail)))
            }
            Checked::NoRecord => {
                let detail = "this line is not a record of the log".to_owned();
                return self.bad(DamageKind::Inserted, None, line, detail);
            }
            Checked::NoJson(reason) => {
                let detail = format!("this line is not JSON: {reason}");
                return self.bad(DamageKind::Garbled, None, line, detail);
            }
        };
        let at_start = std::mem::take(&mut self.at_start);
        self.found.records += 1;
        if self.found.first_seq == 0 {
            self.found.first_seq = frame.seq;
        }
        if let Some((kind, detail)) = fault {
            self.bad(kind, Some(frame.seq), line, detail);
        }
        if self.missing == Some(frame.seq)
            && let Some(damage) = &mut self.found.damage
            && damage.kind == DamageKind::Deleted
        {
            damage.kind = DamageKind::Reordered;
            damage.detail = format!("record {} stands after it, at line {line}", frame.seq);
        }
        self.check_link(frame, line, at_start);
        if let Some(anchor) = &self.anchor
            && anchor.seq == frame.seq
            && anchor.hash != frame.hash
        {
            let detail = format!("record {} is not the one that its writer noted", frame.seq);
            self.bad(DamageKind::Rewritten, Some(frame.seq), line, detail);
        }
        self.found.last_seq = self.found.last_seq.max(frame.seq);
        self.before = Some((frame.seq, frame.hash.to_owned(), line));
    }

    /// Checks that a record goes on where the one before it ended.
    fn check_link(&mut self, frame: Frame<'_>, line: u64, at_start: bool) {
        let (seq, hash, line_before) = match self.before.take() {
            Some(before) => before,
            // Where older parts were pruned, nothing can be said of what the first record goes on from.
            None if frame.seq == 1 => (0, frame::NO_HASH.to_owned(), line),
            None => return,
        };
        let expected = seq + 1;
        if frame.seq == expected && frame.prev == hash {
            return;
        }
        if frame.seq > expected {
            self.missing.get_or_insert(expected);
            let last = frame.seq - 1;
            let what = if last == expected {
                format!("record {expected} is missing before it")
            } else {
                format!("records {expected} to {last} are missing before it")
            };
            self.bad(DamageKind::Deleted, Some(frame.seq), line, what);
        } else if frame.seq < expected {
            let detail = format!("record {} stands behind record {seq}", frame.seq);
            self.bad(DamageKind::Inserted, Some(frame.seq), line, detail);
        } else if at_start {
            let detail = format!("record {expected} does not go on from the file before");
            self.bad(DamageKind::Broken, Some(expected), line, detail);
        } else {
            let detail = format!("record {expected} was chained to another record {seq}");
            self.bad(DamageKind::Rewritten, Some(seq), line_before, detail);
        }
    }

    fn end(mut self, current: &Path) -> Verification {
        let last = self.found.last_seq;
        if let Some(anchor) = self.anchor.take()
            && anchor.seq > last
        {
            current.clone_into(&mut self.file);
            let detail = format!(
                "records {} to {} had been written and are gone from the end",
                last + 1,
                anchor.seq
            );
            let line = self.before.as_ref().map_or(0, |(_, _, line)| *line);
            self.bad(DamageKind::Truncated, Some(last + 1), line, detail);
        }
        self.found
    }
}
