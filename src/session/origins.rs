//! Origins: in which texts of a session words have stood, in filters that hold no word.
//!
//! Four Bloom filters in blocks of 64 bytes (Putze, Sanders, Singler: Cache-, Hash- and Space-Efficient Bloom Filters, 2007).
//! What is in one is not put into a later one: text that was written to a file and is read back stays what it was.

use std::collections::BTreeSet;
use std::fs::{DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, FileExt as _};
use std::path::Path;

use rustix::fs::{MemfdFlags, OFlags};

use super::digest;
use crate::regular_file;

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

const MAGIC: [u8; 8] = *b"ahpO\x01\0\0\0";

/// Magic, salt, how many words each filter has, and the names of the tools of others.
const HEAD: u64 = 4096;

/// Where the names stand: each with its length before it, the last followed by 0.
const NAMES: u64 = 48;

/// The longest name that is kept whole, in bytes.
const MOST_NAME: usize = 200;

/// How many bytes a filter has; four of them and the head are 512 KiB.
const FILTER: u64 = 127 << 10;

const BLOCK: usize = 64;

/// How many bits a word sets.
const BITS: u32 = 4;

/// Of how many words a filter is half full: ln 2 times its bits by those of a word.
const MOST_WORDS: u64 = FILTER * 8 * 69 / 100 / BITS as u64;

/// The filters of one session.
#[derive(Debug)]
pub struct Origins {
    file: File,
    salt: [u8; 8],
    words: [u64; 4],
}

impl Origins {
    /// Opens the filters of a file; none where there are none.
    ///
    /// # Errors
    /// They cannot be read, or are not what was written.
    pub fn open(path: &Path) -> io::Result<Option<Self>> {
        match regular_file::open(None, path, OFlags::RDONLY) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            file => Self::read(file?).map(Some),
        }
    }

    /// Opens the filters to add words, and makes them where there are none; others wait.
    ///
    /// # Errors
    /// They cannot be read or made.
    pub fn open_to_add(path: &Path, salt: u64) -> io::Result<Self> {
        if let Some(dir) = path.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
        }
        let file = regular_file::open(None, path, OFlags::RDWR | OFlags::CREATE)?;
        file.lock()?;
        Self::begin(file, salt)
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
        if file.metadata()?.len() == 0 {
            file.write_all_at(&MAGIC, 0)?;
            file.write_all_at(&salt.to_le_bytes(), 8)?;
        }
        Self::read(file)
    }

    fn read(file: File) -> io::Result<Self> {
        let mut head = [0; 48];
        let read = file.read_at(&mut head, 0)?;
        let rest = head.strip_prefix(&MAGIC).filter(|_| read >= 16);
        let Some((salt, rest)) = rest.and_then(<[u8]>::split_first_chunk) else {
            return Err(io::ErrorKind::InvalidData.into());
        };
        let mut words = [0; 4];
        for (word, bytes) in words.iter_mut().zip(rest.chunks_exact(8)) {
            let bytes = bytes.iter().rev();
            *word = bytes.fold(0, |number, byte| number << 8 | u64::from(*byte));
        }
        Ok(Self {
            salt: *salt,
            file,
            words,
        })
    }

    /// Whether anything of an origin was seen.
    pub fn has_any(&mut self, origin: Origin) -> bool {
        *self.count(origin) > 0
    }

    /// Whether so much was seen that what is not found may have been there all the same.
    pub fn is_full(&self) -> bool {
        self.words.iter().any(|words| *words > MOST_WORDS)
    }

    /// Whether a word has stood in texts of an origin.
    ///
    /// # Errors
    /// The filters cannot be read.
    pub fn has(&self, origin: Origin, word: &str) -> io::Result<bool> {
        let (place, mask) = self.place(origin, word);
        let mut block = [0; BLOCK];
        self.file.read_at(&mut block, place)?;
        Ok(block
            .iter()
            .zip(mask)
            .all(|(byte, bits)| byte & bits == bits))
    }

    /// Returns the number of a tool of somebody else, by which words are told to be of its results; none where so many
    /// are known that there is no place for its name.
    ///
    /// # Errors
    /// The filters cannot be read or written.
    pub fn tool(&self, name: &str) -> io::Result<Option<usize>> {
        let name = name
            .get(..name.floor_char_boundary(MOST_NAME))
            .unwrap_or_default();
        let known = self.tools()?;
        if let Some(number) = known.iter().position(|known| known == name) {
            return Ok(Some(number));
        }
        let used: usize = known.iter().map(|known| known.len() + 1).sum();
        let place = NAMES + used as u64;
        let length = u8::try_from(name.len()).unwrap_or(0);
        if length == 0 || place + u64::from(length) + 1 >= HEAD {
            return Ok(None);
        }
        let entry = [&[length], name.as_bytes()].concat();
        self.file.write_all_at(&entry, place)?;
        Ok(Some(known.len()))
    }

    fn tools(&self) -> io::Result<Vec<String>> {
        let mut head = vec![0; usize::try_from(HEAD - NAMES).unwrap_or(0)];
        let read = self.file.read_at(&mut head, NAMES)?;
        head.truncate(read);
        let mut names = Vec::new();
        let mut rest = &head[..];
        while let Some((length, after)) = rest.split_first().filter(|(length, _)| **length > 0) {
            let Some((name, after)) = after.split_at_checked(usize::from(*length)) else {
                break;
            };
            names.push(String::from_utf8_lossy(name).into_owned());
            rest = after;
        }
        Ok(names)
    }

    /// Returns the tools in whose results all of some words first stood.
    ///
    /// # Errors
    /// The filters cannot be read.
    pub fn tools_with(&self, words: &[String]) -> io::Result<Vec<String>> {
        let mut found = Vec::new();
        for (number, name) in self.tools()?.into_iter().enumerate() {
            let mut is_of_all = !words.is_empty();
            for word in words {
                let (place, _) = self.place(Origin::Text, word);
                let mask = self.mask_of(number, word);
                let mut block = [0; BLOCK];
                self.file.read_at(&mut block, place)?;
                let mut bytes = block.iter().zip(mask);
                is_of_all &= bytes.all(|(byte, bits)| byte & bits == bits);
            }
            if is_of_all {
                found.push(name);
            }
        }
        Ok(found)
    }

    /// Adds words within a text that somebody else wrote, which a tool gave back.
    ///
    /// # Errors
    /// The filters cannot be read or written.
    pub fn add_by<'w>(
        &mut self,
        tool: Option<usize>,
        words: impl Iterator<Item = &'w str>,
    ) -> io::Result<()> {
        self.add_all(Origin::Text, tool, words)
    }

    /// Adds words: what the person typed in any case, else what no earlier origin has.
    ///
    /// # Errors
    /// The filters cannot be read or written.
    pub fn add<'w>(
        &mut self,
        origin: Origin,
        words: impl Iterator<Item = &'w str>,
    ) -> io::Result<()> {
        self.add_all(origin, None, words)
    }

    fn add_all<'w>(
        &mut self,
        origin: Origin,
        tool: Option<usize>,
        words: impl Iterator<Item = &'w str>,
    ) -> io::Result<()> {
        // All at once: of a long text each word would be a call of the system.
        let mut blocks = vec![0; usize::try_from(4 * FILTER).unwrap_or(0)];
        let mut read = 0;
        while let Some(rest) = blocks.get_mut(read..).filter(|rest| !rest.is_empty()) {
            match self.file.read_at(rest, HEAD + read as u64)? {
                0 => break,
                more => read += more,
            }
        }
        let earlier: &[Origin] = match origin {
            Origin::Prompt => &[],
            Origin::Project => &Origin::ALL,
            Origin::Record | Origin::Text => &[Origin::Prompt, Origin::Project],
        };
        let mut changed = BTreeSet::new();
        for word in words {
            let block = |blocks: &[u8], origin| {
                let (place, mask) = self.place(origin, word);
                let at = usize::try_from(place - HEAD).unwrap_or(0);
                let own = blocks.get(at..at + BLOCK).unwrap_or_default();
                let has = own.iter().zip(mask).all(|(byte, bits)| byte & bits == bits);
                (at, mask, has)
            };
            let (at, mask, has) = block(&blocks, origin);
            if has || earlier.iter().any(|other| block(&blocks, *other).2) {
                continue;
            }
            let own = blocks.get_mut(at..at + BLOCK).unwrap_or_default();
            for (byte, bits) in own.iter_mut().zip(mask) {
                *byte |= bits;
            }
            *self.count(origin) += 1;
            // Of neighbours the words are enough to tell whose they are.
            if let Some(tool) = tool.filter(|_| !word.contains(' ')) {
                let mask = self.mask_of(tool, word);
                let own = blocks.get_mut(at..at + BLOCK).unwrap_or_default();
                for (byte, bits) in own.iter_mut().zip(mask) {
                    *byte |= bits;
                }
                *self.count(origin) += 1;
            }
            changed.insert(at);
        }
        for at in changed {
            let block = blocks.get(at..at + BLOCK).unwrap_or_default();
            self.file.write_all_at(block, HEAD + at as u64)?;
        }
        let counts: Vec<u8> = self
            .words
            .iter()
            .flat_map(|words| words.to_le_bytes())
            .collect();
        self.file.write_all_at(&counts, 16)
    }

    fn count(&mut self, origin: Origin) -> &mut u64 {
        let [prompt, project, record, text] = &mut self.words;
        match origin {
            Origin::Prompt => prompt,
            Origin::Project => project,
            Origin::Record => record,
            Origin::Text => text,
        }
    }

    /// Returns the block of a word, and the bits that it sets there.
    fn place(&self, origin: Origin, word: &str) -> (u64, [u8; BLOCK]) {
        let mut bits = digest([&self.salt[..], word.as_bytes()]);
        let blocks = FILTER / BLOCK as u64;
        let block = bits % blocks;
        bits /= blocks;
        (
            HEAD + origin as u64 * FILTER + block * BLOCK as u64,
            mask(bits),
        )
    }

    /// Returns the bits that say in the block of a word that a tool gave it back.
    fn mask_of(&self, tool: usize, word: &str) -> [u8; BLOCK] {
        let tool = tool.to_le_bytes();
        mask(digest([
            &self.salt[..],
            &b"tool"[..],
            &tool[..],
            word.as_bytes(),
        ]))
    }
}

fn mask(mut bits: u64) -> [u8; BLOCK] {
    let mut mask = [0; BLOCK];
    for _ in 0..BITS {
        let bit = usize::try_from(bits % 512).unwrap_or(0);
        bits /= 512;
        if let Some(byte) = mask.get_mut(bit / 8) {
            *byte |= 1 << (bit % 8);
        }
    }
    mask
}
