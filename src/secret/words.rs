//! Words: finds a few hundred words in a text, with nothing to be made ready first.
//!
//! Making an automaton takes longer than all else that `ahp` does for an event. Here the compiler makes the tables: a bit for
//! each three letters that a word begins with, and the words sorted by them. Megabytes are searched as fast as by an automaton.

/// Some words, of which each belongs to something that has a number.
#[derive(Debug)]
pub(crate) struct Words<const N: usize> {
    /// A bit for each three letters.
    heads: [u64; KEYS / 64],
    /// The words with their heads and owners, sorted by heads.
    words: [(u16, &'static str, u16); N],
}

/// A word that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hit {
    /// The number of what the word belongs to.
    pub(crate) owner: u16,
    /// Where it begins.
    pub(crate) start: usize,
    /// Where it ends.
    pub(crate) end: usize,
}

/// How many bytes of a word are looked at at once.
const HEAD: usize = 3;
/// How many heads there are: five bits of each byte, in which small and capital letters are the same.
const KEYS: usize = 1 << (5 * HEAD);

/// Returns the head of what was read before and the next byte.
const fn next_key(key: u16, byte: u8) -> u16 {
    ((key << 5) | (byte & 0x1f) as u16) & !(1 << 15)
}

impl<const N: usize> Words<N> {
    /// Makes the set of words of at least three ASCII characters each, and their owners.
    #[expect(
        clippy::indexing_slicing,
        reason = "it is run by the compiler, which would tell"
    )]
    pub(crate) const fn new(owned: &[(&'static str, u16); N]) -> Self {
        let mut heads = [0; KEYS / 64];
        let mut words = [(0, "", 0); N];
        let mut count = 0;
        while count < N {
            let (word, owner) = owned[count];
            let bytes = word.as_bytes();
            assert!(bytes.len() >= HEAD, "a word is too short");
            let key = next_key(next_key(next_key(0, bytes[0]), bytes[1]), bytes[2]);
            heads[key as usize / 64] |= 1 << (key % 64);
            let mut at = count;
            while at > 0 && words[at - 1].0 > key {
                words[at] = words[at - 1];
                at -= 1;
            }
            words[at] = (key, word, owner);
            count += 1;
        }
        Self { heads, words }
    }

    /// Finds each place of each word in any case, by where it begins; words may lie within others.
    pub(crate) fn find_iter<'a>(&'a self, text: &'a [u8]) -> impl Iterator<Item = Hit> + 'a {
        let mut key = 0;
        let heads = text.iter().enumerate().filter_map(move |(at, byte)| {
            key = next_key(key, *byte);
            let bits = self.heads.get(usize::from(key / 64))?;
            let start = (at + 1).checked_sub(HEAD)?;
            (bits >> (key % 64) & 1 == 1).then_some((start, key))
        });
        heads.flat_map(move |(start, key)| {
            let first = self.words.partition_point(|word| word.0 < key);
            let words = self.words.get(first..).unwrap_or_default();
            words
                .iter()
                .take_while(move |word| word.0 == key)
                .filter_map(move |(_, word, owner)| {
                    let end = start + word.len();
                    let found = text.get(start..end)?;
                    let is_there = found.eq_ignore_ascii_case(word.as_bytes());
                    is_there.then_some(Hit {
                        owner: *owner,
                        start,
                        end,
                    })
                })
        })
    }
}
