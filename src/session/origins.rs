//! Origins: in which texts of a session words have stood, in filters that hold no word.
//!
//! Four Bloom filters in blocks of 64 bytes (Putze, Sanders, Singler: Cache-, Hash- and Space-Efficient Bloom Filters, 2007).
//! What is in one is not put into a later one: text that was written to a file and is read back stays what it was.

use std::collections::{BTreeSet, HashSet};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use rustix::fs::{MemfdFlags, OFlags};

use super::own_file::{self, Against};
use super::{CallId, digest};

/// Where a word has stood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// In what the person typed.
    Prompt,
    /// In what the project, or what is trusted, gave back.
    Project,
    /// In what somebody else gave back, as the whole of one field.
    Record,
    /// In what somebody else gave back, within a text.
    Text,
}

impl Origin {
    /// All of them, in the order in which they are asked.
    pub const ALL: [Self; 4] = [Self::Prompt, Self::Project, Self::Record, Self::Text];
}

const MAGIC: [u8; 8] = *b"ahpO\x02\0\0\0";

/// Magic, salt, how many words each filter has, a checksum of all, the calls that are open, and the names of the tools of
/// others.
const HEAD: usize = 4096;

const SALT: usize = 8;

const WORDS: usize = 16;

const CHECKSUM: usize = 48;

/// Where the calls stand of which the result is awaited.
const OPEN: usize = 56;

/// How many calls may be open.
const MOST_OPEN: usize = 32;

/// Where the names stand: each with its length before it, the last followed by 0.
const NAMES: usize = OPEN + 8 * MOST_OPEN;

/// The longest name that is kept whole, in bytes.
const MOST_NAME: usize = 200;

/// How many bytes a filter has; four of them and the head are 512 KiB.
const FILTER: usize = 127 << 10;

const LENGTH: usize = HEAD + 4 * FILTER;

const BLOCK: usize = 64;

/// How many bits a word sets.
const BITS: usize = 4;

/// Of how many words a filter is half full: ln 2 times its bits by those of a word.
const MOST_WORDS: u64 = FILTER as u64 * 8 * 69 / 100 / BITS as u64;

/// The filters of one session, as they were read; what is added counts once it is saved.
#[derive(Debug)]
pub struct Origins {
    file: File,
    bytes: Vec<u8>,
    /// The blocks that are not saved.
    changed: BTreeSet<usize>,
}

impl Origins {
    /// Opens the filters of a file; none where there are none.
    ///
    /// # Errors
    /// They cannot be read, are not what was written, or others hold them for more than a second.
    pub fn open(path: &Path) -> io::Result<Option<Self>> {
        let open = || own_file::open(path, OFlags::RDONLY);
        match own_file::lock(path, Against::Writers, open) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            file => Self::read(file?.ok_or_else(busy)?).map(Some),
        }
    }

    /// Opens the filters to add words, and makes them where there are none; others wait.
    ///
    /// # Errors
    /// They cannot be read or made, are not what was written, or others hold them for more than a second.
    pub fn open_to_add(path: &Path, salt: u64) -> io::Result<Self> {
        let open = || match own_file::open(path, OFlags::RDWR) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                own_file::make(path, salt, |file| Self::begin(file, salt).map(drop))?;
                own_file::open(path, OFlags::RDWR)
            }
            file => file,
        };
        let file = own_file::lock(path, Against::All, open)?;
        Self::read(file.ok_or_else(busy)?)
    }

    /// Makes filters that are in no folder.
    ///
    /// # Errors
    /// The system has no memory for them.
    pub fn in_memory() -> io::Result<Self> {
        let file = rustix::fs::memfd_create("ahp-origins", MemfdFlags::CLOEXEC)?;
        Self::begin(file.into(), 0)
    }

    /// Returns the same filters once more.
    ///
    /// # Errors
    /// They cannot be read.
    pub fn again(&self) -> io::Result<Self> {
        Self::read(self.file.try_clone()?)
    }

    fn begin(file: File, salt: u64) -> io::Result<Self> {
        file.set_len(LENGTH as u64)?;
        let mut origins = Self {
            file,
            bytes: vec![0; LENGTH],
            changed: BTreeSet::new(),
        };
        origins.put(0, &MAGIC);
        origins.put(SALT, &salt.to_le_bytes());
        origins.save()?;
        Ok(origins)
    }

    fn read(file: File) -> io::Result<Self> {
        if file.metadata()?.len() != LENGTH as u64 {
            return Err(damaged());
        }
        let mut bytes = vec![0; LENGTH];
        file.read_exact_at(&mut bytes, 0)?;
        let origins = Self {
            file,
            bytes,
            changed: BTreeSet::new(),
        };
        if !origins.bytes.starts_with(&MAGIC) || origins.number(CHECKSUM) != origins.checksum() {
            return Err(damaged());
        }
        Ok(origins)
    }

    /// Writes what was added.
    ///
    /// # Errors
    /// It cannot be written: then nobody takes for whole what is there.
    pub fn save(&mut self) -> io::Result<()> {
        if self.changed.is_empty() {
            return Ok(());
        }
        self.put(CHECKSUM, &self.checksum().to_le_bytes());
        self.file.write_all_at(&[0; 8], CHECKSUM as u64)?;
        // The first block, which says that all is whole, comes last.
        for block in std::mem::take(&mut self.changed).into_iter().rev() {
            let at = block * BLOCK;
            let bytes = self.bytes.get(at..at + BLOCK).unwrap_or_default();
            self.file.write_all_at(bytes, at as u64)?;
        }
        Ok(())
    }

    /// Returns a number that is another where any byte is; never 0.
    fn checksum(&self) -> u64 {
        let numbers = self.bytes.as_chunks().0.iter().enumerate();
        let numbers = numbers.filter(|(at, _)| at * 8 != CHECKSUM);
        let sum = numbers.fold(0, |sum: u64, (_, bytes)| {
            let mixed = (sum ^ u64::from_le_bytes(*bytes)).wrapping_add(1);
            mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
        });
        sum | 1
    }

    fn number(&self, at: usize) -> u64 {
        let bytes = self.bytes.get(at..).and_then(<[u8]>::first_chunk);
        bytes.map_or(0, |bytes| u64::from_le_bytes(*bytes))
    }

    fn put(&mut self, at: usize, bytes: &[u8]) {
        if let Some(place) = self.bytes.get_mut(at..at + bytes.len()) {
            place.copy_from_slice(bytes);
            let last = (at + bytes.len()).saturating_sub(1) / BLOCK;
            self.changed.extend([0]);
            self.changed.extend(at / BLOCK..=last);
        }
    }

    /// Whether so much was seen that what is not found may have been there all the same.
    pub fn is_full(&self) -> bool {
        let mut counts = Origin::ALL.iter().map(|origin| self.number(count(*origin)));
        counts.any(|words| words > MOST_WORDS)
    }

    /// Whether the result of a call is awaited: of one that was let go, or of one that a person was asked about.
    pub fn awaits(&self, is_asked: bool) -> bool {
        self.calls().any(|call| (call & 1 == 1) == is_asked)
    }

    fn calls(&self) -> impl Iterator<Item = u64> {
        places().map(|at| self.number(at)).filter(|call| *call > 0)
    }

    /// Notes a call of which the result is awaited; whether there was room for it.
    pub fn await_call(&mut self, id: CallId, is_asked: bool) -> bool {
        let call = kept(id, is_asked);
        if id.is_named && self.calls().any(|known| known | 1 == call | 1) {
            return true;
        }
        let free = places().find(|at| self.number(*at) == 0);
        if let Some(at) = free {
            self.put(at, &call.to_le_bytes());
        }
        free.is_some()
    }

    /// Notes that the result of a call has come.
    pub fn end_call(&mut self, id: CallId) {
        if let Some(at) = places().find(|at| self.number(*at) | 1 == kept(id, true)) {
            self.put(at, &[0; 8]);
        }
    }

    /// Takes it that the calls that a person was asked about, and of which no result has come, were refused.
    pub fn drop_asked(&mut self) {
        for at in places() {
            if self.number(at) & 1 == 1 {
                self.put(at, &[0; 8]);
            }
        }
    }

    /// Whether a word has stood in texts of an origin.
    pub fn has(&self, origin: Origin, word: &str) -> bool {
        self.has_bits(place(origin, self.hash(word)))
    }

    fn has_bits(&self, bits: [usize; BITS]) -> bool {
        bits.iter().all(|bit| {
            let byte = self.bytes.get(bit / 8);
            byte.is_some_and(|byte| byte & (1 << (bit % 8)) != 0)
        })
    }

    fn set_bits(&mut self, bits: [usize; BITS]) {
        for bit in bits {
            if let Some(byte) = self.bytes.get_mut(bit / 8) {
                *byte |= 1 << (bit % 8);
            }
            self.changed.insert(bit / 8 / BLOCK);
        }
    }

    /// Returns the number of a tool of somebody else, by which words are told to be of its results; none where so many
    /// are known that there is no place for its name.
    pub fn tool(&mut self, name: &str) -> Option<usize> {
        let name = name
            .get(..name.floor_char_boundary(MOST_NAME))
            .unwrap_or_default();
        let known = self.tools();
        if let Some(number) = known.iter().position(|known| known == name) {
            return Some(number);
        }
        let used: usize = known.iter().map(|known| known.len() + 1).sum();
        let place = NAMES + used;
        let length = u8::try_from(name.len()).unwrap_or(0);
        if length == 0 || place + name.len() + 1 >= HEAD {
            return None;
        }
        let number = known.len();
        self.put(place, &[&[length], name.as_bytes()].concat());
        Some(number)
    }

    fn tools(&self) -> Vec<String> {
        let mut names = Vec::new();
        let mut rest = self.bytes.get(NAMES..HEAD).unwrap_or_default();
        while let Some((length, after)) = rest.split_first().filter(|(length, _)| **length > 0) {
            let Some((name, after)) = after.split_at_checked(usize::from(*length)) else {
                break;
            };
            names.push(String::from_utf8_lossy(name).into_owned());
            rest = after;
        }
        names
    }

    /// Returns the tools in whose results all of some words first stood.
    pub fn tools_with(&self, words: &[String]) -> Vec<String> {
        let tools = self.tools().into_iter().enumerate();
        let with_all = tools.filter(|(number, _)| {
            !words.is_empty()
                && words
                    .iter()
                    .all(|word| self.has_bits(place_of(*number, self.hash(word))))
        });
        with_all.map(|(_, name)| name).collect()
    }

    /// Adds words within a text that somebody else wrote, which a tool gave back.
    pub fn add_by<'w>(&mut self, tool: Option<usize>, words: impl Iterator<Item = &'w str>) {
        self.add_all(Origin::Text, tool, words);
    }

    /// Adds words: what the person typed in any case, else what no earlier origin has.
    pub fn add<'w>(&mut self, origin: Origin, words: impl Iterator<Item = &'w str>) {
        self.add_all(origin, None, words);
    }

    fn add_all<'w>(
        &mut self,
        origin: Origin,
        tool: Option<usize>,
        words: impl Iterator<Item = &'w str>,
    ) {
        let earlier: &[Origin] = match origin {
            Origin::Prompt => &[],
            Origin::Project => &Origin::ALL,
            Origin::Record | Origin::Text => &[Origin::Prompt, Origin::Project],
        };
        let mut added = 0;
        let mut seen = HashSet::new();
        for word in words.filter(|word| seen.insert(*word)) {
            let hash = self.hash(word);
            let bits = place(origin, hash);
            let is_earlier = |other: &Origin| self.has_bits(place(*other, hash));
            if self.has_bits(bits) || earlier.iter().any(is_earlier) {
                continue;
            }
            self.set_bits(bits);
            added += 1;
            // Of neighbours the words are enough to tell whose they are.
            if let Some(tool) = tool.filter(|_| !word.contains(' ')) {
                self.set_bits(place_of(tool, hash));
                added += 1;
            }
        }
        if added > 0 {
            let count = count(origin);
            self.put(count, &(self.number(count) + added).to_le_bytes());
        }
    }

    fn salt(&self) -> &[u8] {
        self.bytes.get(SALT..WORDS).unwrap_or_default()
    }

    /// Returns what a word is known by; it says nothing without the salt.
    fn hash(&self, word: &str) -> u64 {
        digest([self.salt(), word.as_bytes()])
    }
}

/// Returns the bits that a word sets in the filter of an origin, all of them in one block.
fn place(origin: Origin, hash: u64) -> [usize; BITS] {
    let blocks = (FILTER / BLOCK) as u64;
    bits(origin, hash % blocks, hash / blocks)
}

/// Returns the bits that say in the block of a word that a tool gave it back.
fn place_of(tool: usize, hash: u64) -> [usize; BITS] {
    let blocks = (FILTER / BLOCK) as u64;
    let mixed = (hash ^ (tool as u64 + 1)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits(Origin::Text, hash % blocks, mixed >> 20)
}

fn bits(origin: Origin, block: u64, hash: u64) -> [usize; BITS] {
    let to_size = |number: u64| usize::try_from(number).unwrap_or(0);
    let at = HEAD + origin as usize * FILTER + to_size(block) * BLOCK;
    let mut rest = hash;
    [(); BITS].map(|()| {
        let bit = to_size(rest % 512);
        rest /= 512;
        at * 8 + bit
    })
}

/// Returns the place of the number of words of an origin.
const fn count(origin: Origin) -> usize {
    WORDS + 8 * origin as usize
}

/// Returns where the calls stand of which the result is awaited.
fn places() -> impl Iterator<Item = usize> {
    (0..MOST_OPEN).map(|n| OPEN + 8 * n)
}

/// Returns what is kept of an open call; never 0. The last bit says whether a person was asked.
fn kept(id: CallId, is_asked: bool) -> u64 {
    (id.digest.max(2) & !1) | u64::from(is_asked)
}

fn busy() -> io::Error {
    io::Error::new(
        io::ErrorKind::TimedOut,
        "others held it for more than a second",
    )
}

fn damaged() -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        "it is damaged or not of this version",
    )
}
