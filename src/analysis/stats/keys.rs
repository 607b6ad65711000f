//! Keys: names as numbers, so that millions of records are looked up by name without keeping one.

use std::collections::HashMap;
use std::hash::BuildHasher as _;

use foldhash::quality::RandomState;

/// A name, or several together, as a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key(u64);

impl Key {
    /// Returns the key of two names together; their order matters.
    pub(super) const fn with(self, other: Self) -> Self {
        let product = (self.0 ^ 0x9e37_79b9_7f4a_7c15).wrapping_mul(other.0 | 1);
        Self((product ^ (product >> 32)).wrapping_add(other.0.rotate_left(23)))
    }
}

/// Makes keys.
#[derive(Debug, Default)]
pub(super) struct Keys(RandomState);

impl Keys {
    pub(super) fn of(&self, name: &str) -> Key {
        Key(self.0.hash_one(name))
    }
}

/// A list of named things that is found by the key of the name.
#[derive(Debug)]
pub(super) struct Named<N, T> {
    places: HashMap<Key, usize, RandomState>,
    pub(super) items: Vec<(N, T)>,
}

impl<N, T> Default for Named<N, T> {
    fn default() -> Self {
        Self {
            places: HashMap::default(),
            items: Vec::new(),
        }
    }
}

impl<N, T: Default> Named<N, T> {
    /// Returns the place of a name, which is made where it is new.
    pub(super) fn place(&mut self, key: Key, name: impl FnOnce() -> N) -> usize {
        *self.places.entry(key).or_insert_with(|| {
            self.items.push((name(), T::default()));
            self.items.len() - 1
        })
    }

    pub(super) fn has(&self, key: Key) -> bool {
        self.places.contains_key(&key)
    }

    /// Returns the place of a name that is not new.
    pub(super) fn find(&self, key: Key) -> Option<usize> {
        self.places.get(&key).copied()
    }

    pub(super) fn at(&mut self, place: Option<usize>) -> Option<&mut T> {
        self.item(place?).map(|(_, item)| item)
    }

    pub(super) fn item(&mut self, place: usize) -> Option<&mut (N, T)> {
        self.items.get_mut(place)
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
        let mut seen = HashSet::new();
        for n in 0..300 {
            let one = keys.of(&n.to_string());
            assert!(seen.insert(one));
            for m in 0..300 {
                assert!(seen.insert(one.with(keys.of(&m.to_string()))), "{n} {m}");
            }
        }
    }
}
