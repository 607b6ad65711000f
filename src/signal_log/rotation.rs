//! Rotation: full parts are packed with zstd and the oldest of them deleted, while others write and read.

use std::fs;
use std::fs::File;
use std::fs::OpenOptions;
use std::io;

use super::backward::Backward;
use super::files::LogFiles;
use super::files::Segment;

/// The fastest one: the next ones take longer, and what they make of a log is no smaller.
const LEVEL: i32 = 1;

/// Packs the parts that are not, a crashed process's too, and deletes all but the newest `keep`.
///
/// Nothing here can lose a record: a part is packed under another name, saved, named, and only then the plain one
/// deleted. What goes wrong is returned as warnings.
pub(super) fn tidy(files: &LogFiles, keep: u32) -> Vec<String> {
    let mut warnings = Vec::new();
    let segments = match files.segments() {
        Ok(segments) => segments,
        Err(error) => {
            return vec![format!(
                "cannot list `{}`: {error}",
                files.directory().display()
            )];
        }
    };
    let excess = segments.len().saturating_sub(keep as usize);
    for (i, segment) in segments.iter().enumerate() {
        let done = if i < excess {
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

fn delete(files: &LogFiles, segment: &Segment) -> io::Result<()> {
    // The packed twin of a part whose packing was cut short goes first: it would come back as the part.
    let packed = files.segment(segment.first_seq, true);
    if !segment.packed && packed.exists() {
        fs::remove_file(packed)?;
    }
    fs::remove_file(&segment.path)
}

fn pack(files: &LogFiles, segment: &Segment) -> io::Result<()> {
    let mut source = File::open(&segment.path)?;
    if source.try_lock().is_err() {
        // Another process packs it at this moment.
        return Ok(());
    }
    let packed = files.segment(segment.first_seq, true);
    let mut unfinished = packed.clone().into_os_string();
    unfinished.push(".tmp");
    let target = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .open(&unfinished)?;
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
    let file = File::open(&newest.path)?;
    if !newest.packed {
        let length = file.metadata()?.len();
        return Ok(Backward::new(&file, length).next_line()?.map(|l| l.bytes));
    }
    let bytes = zstd::decode_all(file)?;
    let lines = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
    let begin = memchr::memrchr(b'\n', lines).map_or(0, |newline| newline + 1);
    Ok(lines.get(begin..).map(<[u8]>::to_vec))
}
