//! Rotation: full parts are packed with zstd and the oldest of them deleted, while others write and read.

use std::fs;
use std::io;
use std::io::Read as _;
use std::path::Path;

use rustix::fs::OFlags;

use super::backward::Backward;
use super::blocks::open_segment;
use super::files::{LogFiles, Segment};

/// The fastest one: the next ones take longer, and what they make of a log is not smaller.
const LEVEL: i32 = 1;

/// Packs the parts that are not, a crashed process's too, and where `full` says so deletes the oldest.
///
/// Nothing here can lose a record: a part is packed under another name, saved, named, and only then the plain one
/// deleted. What goes wrong is returned as warnings.
pub(super) fn tidy(files: &LogFiles, full: Option<Full>) -> Vec<String> {
    let segments = match files.segments() {
        Ok(segments) => segments,
        Err(error) => {
            return vec![format!(
                "cannot list `{}`: {error}",
                files.directory().display()
            )];
        }
    };
    let excess = full.map_or_else(Vec::new, |full| full.excess(files, &segments));
    let mut warnings = Vec::new();
    for segment in &segments {
        let done = if excess.contains(&segment.first_seq) {
            delete(files, segment)
        } else if segment.packed {
            Ok(())
        } else {
            pack(files, segment)
        };
        if let Err(error) = done
            && error.kind() != io::ErrorKind::NotFound
        {
            warnings.push(format!("cannot tidy `{}`: {error}", segment.path.display()));
        }
    }
    warnings
}

/// A file has become a full part.
#[derive(Clone, Copy, Debug)]
pub(super) struct Full {
    /// How many full parts are kept.
    pub(super) keep: u32,
    /// The number of the first record behind it.
    pub(super) next: u64,
}

impl Full {
    /// Returns the parts behind the newest full ones that are kept, by the numbers of their first records.
    ///
    /// Only parts that this machine began are among them, and those that another machine's turn has cut short do not count:
    /// whoever writes under another home pushes none of them out.
    fn excess(self, files: &LogFiles, segments: &[Segment]) -> Vec<u64> {
        let ends = segments.iter().skip(1).map(|s| s.first_seq);
        let lengths = segments.iter().zip(ends.chain([self.next]));
        let lengths: Vec<_> = lengths
            .map(|(segment, end)| (segment, end.saturating_sub(segment.first_seq)))
            .collect();
        let full = lengths.last().map_or(0, |(_, length)| *length);
        let mut kept = 0;
        let mut excess = Vec::new();
        for (segment, length) in lengths.into_iter().rev() {
            if !matches!(open_segment(files, segment), Ok(Some(_))) {
                continue;
            }
            if kept == self.keep {
                excess.push(segment.first_seq);
            } else {
                kept += u32::from(length.saturating_mul(2) >= full);
            }
        }
        excess
    }
}

fn delete(files: &LogFiles, segment: &Segment) -> io::Result<()> {
    // The packed twin of a part whose packing was cut short goes first: it would come back as the part.
    let packed = files.segment(segment.first_seq, true);
    if !segment.packed && packed.exists() {
        fs::remove_file(packed)?;
    }
    fs::remove_file(&segment.path)
}

fn pack(files: &LogFiles, segment: &Segment) -> io::Result<()> {
    let mut source = files.open(&segment.path, OFlags::RDONLY)?;
    if source.try_lock().is_err() {
        // Another process packs it at this moment.
        return Ok(());
    }
    let packed = files.segment(segment.first_seq, true);
    let mut unfinished = packed.clone().into_os_string();
    unfinished.push(".tmp");
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC;
    let target = files.open(Path::new(&unfinished), flags)?;
    let mut encoder = zstd::Encoder::new(target, LEVEL)?;
    encoder.include_checksum(true)?;
    let done = io::copy(&mut source, &mut encoder)
        .and_then(|_| encoder.finish())
        .and_then(|target| target.sync_all());
    if let Err(error) = done {
        fs::remove_file(&unfinished).ok();
        return Err(error);
    }
    fs::rename(&unfinished, &packed)?;
    fs::remove_file(&segment.path)
}

/// Returns the last line of the newest rotated part.
pub(super) fn last_line(files: &LogFiles) -> io::Result<Option<Vec<u8>>> {
    let Some(newest) = files.segments()?.pop() else {
        return Ok(None);
    };
    if !newest.packed {
        let file = files.open(&newest.path, OFlags::RDONLY)?;
        let length = file.metadata()?.len();
        return Ok(Backward::new(&file, length).next_line()?.map(|l| l.bytes));
    }
    // The numbers go on from another machine's file too.
    let mut bytes = Vec::new();
    if let Some(mut source) = open_segment(&files.whole(), &newest)? {
        source.read_to_end(&mut bytes)?;
    }
    let lines = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
    let begin = memchr::memrchr(b'\n', lines).map_or(0, |newline| newline + 1);
    Ok(lines.get(begin..).map(<[u8]>::to_vec))
}
