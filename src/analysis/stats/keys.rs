//! Keys: names as numbers, so that a log of millions of records is counted without comparing texts.
//!
//! Two names with one key would be counted as one. With 64 bits and a secret that is new in each process that does not
//! come about by chance, and nobody who writes into a log can bring it about.

use std::hash::BuildHasher as _;
use std::hash::BuildHasherDefault;
use std::hash::Hash;
use std::hash::Hasher;

use foldhash::quality::RandomState;
use uuid::Uuid;

/// A name, or several together, as a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Key(u64);

impl Key {
    /// Returns the key of two names together; their order matters.
    pub(super) const fn with(self, other: Self) -> Self {
        let product = (self.0 ^ 0x9e37_79b9_7f4a_7c15).wrapping_mul(other.0 | 1);
        Self((product ^ (product >> 32)).wrapping_add(other.0.rotate_left(23)))
    }
}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.0);
    }
}

/// Makes keys.
#[derive(Debug, Default)]
pub(super) struct Keys(RandomState);

impl Keys {
    pub(super) fn of(&self, name: &str) -> Key {
        Key(self.0.hash_one(name))
    }

    pub(super) fn of_id(&self, id: Uuid) -> Key {
        Key(self.0.hash_one(id))
    }
}

/// Looks up by keys, which need no hashing any more.
pub(super) type ByKey = BuildHasherDefault<AsItIs>;

/// A hasher for what is a hash already.
#[derive(Debug, Default)]
pub(super) struct AsItIs(u64);

impl Hasher for AsItIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn names_have_keys_of_their_own_alone_and_together() {
        let keys = Keys::default();
        assert_eq!(keys.of("a"), keys.of("a"));
        let mut seen: HashSet<Key, ByKey> = HashSet::default();
        for n in 0..300 {
            let one = keys.of(&n.to_string());
            assert!(seen.insert(one));
            for m in 0..300 {
                assert!(seen.insert(one.with(keys.of(&m.to_string()))), "{n} {m}");
            }
        }
    }
}
