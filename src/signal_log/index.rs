//! Index: the states up to one place of the log, so that asking for the past does not mean reading it.
//!
//! It is derived: lost, stale or damaged, it is made anew from the log. It holds one head line and one line for each
//! state that says anything, sorted by key:
//!
//! ```text
//! ahp-index 5 <first record of the part> <offset in the part> <hash of the record before that place>
//! <key> <state as JSON>
//! ```
//!
//! It holds for a log only where the part has that record at that place. What lies behind is read each time, and the
//! index is written anew when that has become more than a few hundred records.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};

use rustix::fs::OFlags;
use sha2::{Digest as _, Sha256};

use super::blocks::lines;
use super::chain::{Key, State, Step};
use super::files::LogFiles;
use super::frame::{Frame, Links};
use super::reader::Reader;
use super::{Line, LogError, chain, frame, reader};
use crate::signal::hex;

/// How many bytes behind the index are read again and again before it is written anew.
const FRESH: u64 = 64 << 10;

/// All states of a log at one moment.
#[derive(Debug, Default)]
pub(super) struct Snapshot {
    /// The index file behind its head line.
    states: Vec<u8>,
    /// What the records behind the index have changed.
    changed: HashMap<Key, State>,
    /// Which file was read, and how long it was.
    stamp: Option<LogFileState>,
    /// Where the index ends and where the records behind it do.
    indexed: Option<Place>,
    end: Option<Place>,
    /// The chain up to there.
    links: Links,
}

/// A file and its length: as long as they are the same, so are all answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LogFileState {
    device: u64,
    inode: u64,
    length: u64,
}

impl LogFileState {
    fn of(metadata: &fs::Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            length: metadata.len(),
        }
    }
}

/// A place between two records.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    /// The number of the first record of the file.
    first_seq: u64,
    offset: u64,
    /// The record before the place.
    seq: u64,
    hash: String,
}

impl Snapshot {
    /// Brings the states up to what the log is now.
    pub(super) fn renewed(old: Option<Self>, files: &LogFiles) -> Result<Self, LogError> {
        let stamp = fs::symlink_metadata(&files.current)
            .ok()
            .map(|m| LogFileState::of(&m));
        if let Some(mut old) = old {
            if old.stamp == stamp {
                return Ok(old);
            }
            // What has been read since the index is still small: go on from there.
            if let Some(end) = old.end.clone()
                && !is_worth_it(old.indexed.as_ref(), &end)
            {
                let reader = Reader::of(files.clone())?;
                if reader.current_first_seq() == Some(end.first_seq) && holds(&end, &reader) {
                    old.end = old.read_behind(&reader, Some(&end))?;
                    old.stamp = stamp;
                    return Ok(old);
                }
            }
        }
        let mut snapshot = Self::load(files)?;
        snapshot.stamp = stamp;
        Ok(snapshot)
    }

    /// Reads the states of a log; renews the index where it is worth it.
    fn load(files: &LogFiles) -> Result<Self, LogError> {
        let reader = Reader::of(files.clone())?;
        if reader.is_empty() {
            return Ok(Self::default());
        }
        let (place, states) = read_index(files)
            .filter(|(place, _)| holds(place, &reader))
            .unzip();
        let mut snapshot = Self {
            states: states.unwrap_or_default(),
            ..Self::default()
        };
        snapshot.end = snapshot.read_behind(&reader, place.as_ref())?;
        snapshot.indexed = place;
        if let Some(end) = &snapshot.end
            && is_worth_it(snapshot.indexed.as_ref(), end)
        {
            // Only time is lost when it cannot be written.
            snapshot.write(files, end).ok();
        }
        Ok(snapshot)
    }

    /// Returns one state.
    pub(super) fn state(&self, key: Key) -> State {
        match self.changed.get(&key) {
            Some(state) => state.clone(),
            None => self.indexed(key).unwrap_or_default(),
        }
    }

    /// Reads the records behind a place and returns where they end.
    fn read_behind(
        &mut self,
        reader: &Reader,
        place: Option<&Place>,
    ) -> Result<Option<Place>, LogError> {
        // In the current file only the bytes behind the place are read.
        if let Some(place) = place
            && reader.current_first_seq() == Some(place.first_seq)
            && let Some((file, length)) = reader.current()
        {
            let size = usize::try_from(length.saturating_sub(place.offset)).unwrap_or(usize::MAX);
            let mut bytes = vec![0; size];
            file.read_exact_at(&mut bytes, place.offset)
                .map_err(|source| LogError::io("read", "signals.jsonl", source))?;
            let mut end = place.clone();
            self.links = Links::behind(end.seq, &end.hash);
            self.take_lines(reader, &bytes, &mut end);
            return Ok(Some(end));
        }
        let mut end: Option<Place> = None;
        self.links = place.map_or_else(Links::default, |p| Links::behind(p.seq, &p.hash));
        let mut blocks = reader.blocks(place.map(|p| p.first_seq));
        while let Some(block) = blocks.next_block()? {
            if block.offset == 0 {
                end = frame::read_seq(block.bytes).map(|first_seq| Place {
                    first_seq,
                    offset: 0,
                    seq: 0,
                    hash: String::new(),
                });
            }
            let Some(end) = &mut end else { continue };
            let start = place
                .filter(|p| p.first_seq == end.first_seq)
                .map_or(0, |p| p.offset);
            let known = usize::try_from(start.saturating_sub(block.offset)).unwrap_or(usize::MAX);
            let news = block.bytes.get(known..).unwrap_or_default();
            end.offset = block.offset + (block.bytes.len() - news.len()) as u64;
            self.take_lines(reader, news, end);
        }
        Ok(end)
    }

    /// Takes what lines do; the end moves behind the last whole one.
    fn take_lines(&mut self, reader: &Reader, bytes: &[u8], end: &mut Place) {
        for line in lines(bytes) {
            let Some(content) = line.strip_suffix(b"\n") else {
                return;
            };
            end.offset += line.len() as u64;
            let Some(frame) = Frame::read(content) else {
                continue;
            };
            // What was put in or edited by hand says nothing: above all it waives nothing.
            let is_chained = self.links.admit(&frame);
            end.seq = frame.seq;
            frame.hash.clone_into(&mut end.hash);
            if is_chained
                && let Ok(record) = Line::of(&frame, content)
                && reader.believes(&record)
            {
                chain::steps(&record, |key, step| self.apply(key, &step));
            }
        }
    }

    fn apply(&mut self, key: Key, step: &Step) {
        let mut state = match self.changed.remove(&key) {
            Some(state) => state,
            None => self.indexed(key).unwrap_or_default(),
        };
        state.apply(step);
        // An empty state must be kept only where it hides one of the index.
        if !state.is_empty() || !self.states.is_empty() {
            self.changed.insert(key, state);
        }
    }

    fn indexed(&self, key: Key) -> Option<State> {
        let wanted = hex(&key.0);
        let mut low = 0;
        let mut high = self.states.len();
        while low < high {
            let middle = low + (high - low) / 2;
            let start = self
                .states
                .get(low..middle)
                .and_then(|part| memchr::memrchr(b'\n', part))
                .map_or(low, |newline| low + newline + 1);
            let rest = self.states.get(start..high)?;
            let length = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
            let line = std::str::from_utf8(rest.get(..length)?).ok()?;
            let (found, state) = line.split_once(' ')?;
            match wanted.as_str().cmp(found) {
                std::cmp::Ordering::Equal => return serde_json::from_str(state).ok(),
                std::cmp::Ordering::Less => high = start,
                std::cmp::Ordering::Greater => low = start + length + 1,
            }
        }
        None
    }

    /// Writes the index that holds up to a place.
    fn write(&self, files: &LogFiles, end: &Place) -> io::Result<()> {
        let changed: BTreeMap<String, &State> = self
            .changed
            .iter()
            .map(|(key, state)| (hex(&key.0), state))
            .collect();
        let mut bytes = Vec::new();
        let mut changed = changed.into_iter().peekable();
        let put = |bytes: &mut Vec<u8>, key: &str, state: &State| {
            if !state.is_empty() {
                bytes.extend_from_slice(key.as_bytes());
                bytes.push(b' ');
                serde_json::to_writer(&mut *bytes, state).ok();
                bytes.push(b'\n');
            }
        };
        for line in self.states.split_inclusive(|b| *b == b'\n') {
            let key = line.get(..32).unwrap_or_default();
            while let Some((new, state)) = changed.next_if(|(new, _)| new.as_bytes() < key) {
                put(&mut bytes, &new, state);
            }
            if let Some((new, state)) = changed.next_if(|(new, _)| new.as_bytes() == key) {
                put(&mut bytes, &new, state);
            } else {
                bytes.extend_from_slice(line);
            }
        }
        for (new, state) in changed {
            put(&mut bytes, &new, state);
        }
        let head = head(files, end, &bytes);
        files.replace(&files.index(), &[head.as_bytes(), &bytes].concat())
    }
}

/// Whether a text stands in the index or in the records behind it, or there may be others; neither is verified.
pub(super) fn may_mention(files: &LogFiles, text: &str) -> io::Result<bool> {
    let has = |bytes: &[u8]| memchr::memmem::find(bytes, text.as_bytes()).is_some();
    let absent = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
    let index = match files.read_small(&files.index()) {
        Err(error) if absent(&error) => Vec::new(),
        index => index?,
    };
    let file = match files.open(&files.current, OFlags::RDONLY) {
        Err(error) if absent(&error) => return Ok(!files.segments()?.is_empty()),
        file => file?,
    };
    let head = index.split(|b| *b == b'\n').next().unwrap_or_default();
    let start = match std::str::from_utf8(head).ok().and_then(place_in) {
        Some(place) if reader::first_seq(&file) == Some(place.first_seq) => place.offset,
        None if index.is_empty() && files.segments()?.is_empty() => 0,
        _ => return Ok(true),
    };
    let Some(length) = file.metadata()?.len().checked_sub(start) else {
        return Ok(true);
    };
    if length > 2 * FRESH {
        return Ok(true);
    }
    let mut bytes = vec![0; usize::try_from(length).unwrap_or(0)];
    file.read_exact_at(&mut bytes, start)?;
    Ok(has(&index) || has(&bytes))
}

/// Returns the first line of an index, which says what it holds, and by what this machine knows it as its own.
fn head(files: &LogFiles, end: &Place, states: &[u8]) -> String {
    let Place {
        first_seq,
        offset,
        seq,
        hash,
    } = end;
    let said = format!("{first_seq} {offset} {seq} {hash}");
    let mac = files.key.as_ref().and_then(|key| {
        let states = hex(&Sha256::digest(states));
        key.mac("ahp log index", &[&said, &states])
    });
    let mac = mac.unwrap_or_default();
    format!("{HEAD}{said} {mac}\n")
}

const HEAD: &str = "ahp-index 5 ";

fn read_index(files: &LogFiles) -> Option<(Place, Vec<u8>)> {
    let mut bytes = files.read_small(&files.index()).ok()?;
    let newline = memchr::memchr(b'\n', &bytes)?;
    let states = bytes.split_off(newline + 1);
    // Cut short by a crash of the machine.
    if states.last().is_some_and(|b| *b != b'\n') {
        return None;
    }
    let text = std::str::from_utf8(&bytes).ok()?;
    let place = place_in(text)?;
    (head(files, &place, &states) == text).then_some((place, states))
}

/// Returns the place that the first line of an index names.
fn place_in(head: &str) -> Option<Place> {
    let mut fields = head.trim_end().strip_prefix(HEAD)?.split(' ');
    Some(Place {
        first_seq: fields.next()?.parse().ok()?,
        offset: fields.next()?.parse().ok()?,
        seq: fields.next()?.parse().ok()?,
        hash: fields.next()?.to_owned(),
    })
}

/// Whether the log has the record that the index ends with, where it says.
fn holds(place: &Place, reader: &Reader) -> bool {
    let expected = format!("\"hash\":\"{}\"}}\n", place.hash);
    let Some(at) = place.offset.checked_sub(expected.len() as u64) else {
        return false;
    };
    if reader.current_first_seq() == Some(place.first_seq) {
        let mut found = vec![0; expected.len()];
        return reader
            .current()
            .is_some_and(|(file, _)| file.read_exact_at(&mut found, at).is_ok())
            && found == expected.as_bytes();
    }
    // Rotated since: its part must still be there, with that record at that place.
    if !reader
        .segments()
        .iter()
        .any(|s| s.first_seq == place.first_seq)
    {
        return false;
    }
    let mut blocks = reader.blocks(Some(place.first_seq));
    while let Ok(Some(block)) = blocks.next_block() {
        let end = block.offset + block.bytes.len() as u64;
        if place.offset <= end {
            return usize::try_from(place.offset - block.offset)
                .ok()
                .and_then(|end| block.bytes.get(..end))
                .is_some_and(|before| before.ends_with(expected.as_bytes()));
        }
    }
    false
}

fn is_worth_it(old: Option<&Place>, new: &Place) -> bool {
    let since = match old {
        Some(old) if old.first_seq == new.first_seq => new.offset - old.offset,
        Some(_) => u64::MAX,
        None => new.offset,
    };
    since > FRESH && !new.hash.is_empty()
}
