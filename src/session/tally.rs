//! Tally: what one mark has counted so far, from least to most, for each value that it is counted by.

use serde::{Deserialize, Serialize};

use super::Truth;

/// How many values a mark is counted by; of one that had to go only the highest count is kept.
const MOST_KEYS: usize = 256;

/// How a mark counts, as far as counting needs to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Definition {
    /// The digest of its name.
    pub name: u64,
    /// The digest of what it means: another one is another mark.
    pub meaning: u64,
    /// How long an event counts; none: for ever.
    pub window: Option<Window>,
}

/// How long an event counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// In milliseconds.
    pub within: i64,
    /// How many times are kept: one more than the largest number that anything compares the count with.
    pub ring: usize,
}

/// The least and the most that a mark can be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Count {
    /// The least.
    pub least: u64,
    /// The most.
    pub most: u64,
}

impl Count {
    /// What nothing is known of.
    pub const UNKNOWN: Self = Self {
        least: 0,
        most: u64::MAX,
    };
}

/// For which values an event counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Keys {
    /// For these: digests of the values; of a mark that is not counted by anything, 0 alone.
    Of(Vec<u64>),
    /// For all: which one is meant cannot be told, or an end that is meant for all.
    All,
}

/// What one event adds to one mark: it ends first, then hits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contribution {
    /// The digest of the mark's name.
    pub mark: u64,
    /// The digest of what the mark meant.
    pub meaning: u64,
    /// Whether it counts.
    pub hit: Truth,
    /// Whether it sets the mark back to 0.
    pub end: Truth,
    /// For which values it counts.
    pub keys: Keys,
    /// For which values it sets the mark back.
    pub end_keys: Keys,
    /// How much it adds, from least to most.
    pub weight: Count,
}

impl Contribution {
    /// Returns it as of an event of which it is not known whether it happens.
    #[must_use]
    pub fn doubtful(&self) -> Self {
        Self {
            hit: self.hit.min(Truth::Maybe),
            end: self.end.min(Truth::Maybe),
            ..self.clone()
        }
    }

    /// Returns what it is to a mark as it counts now; none where it is another's. What a mark with another meaning was given
    /// may be anything to this one.
    pub(super) fn of(&self, definition: &Definition) -> Option<Self> {
        let is_own = self.mark == definition.name;
        is_own.then(|| {
            if self.meaning == definition.meaning {
                self.clone()
            } else {
                self.doubtful()
            }
        })
    }

    /// Whether it leaves a mark open.
    pub fn is_open(&self) -> bool {
        [self.hit, self.end].contains(&Truth::Maybe)
    }

    /// Whether it changes anything.
    pub fn is_something(&self) -> bool {
        self.hit != Truth::No || self.end != Truth::No
    }
}

/// What is counted for one value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Entry {
    key: u64,
    count: Count,
    /// With a window: the newest times that are certain, oldest first, in milliseconds since 1970 …
    #[serde(with = "runs")]
    certain: Vec<i64>,
    /// … and the newest of all.
    #[serde(with = "runs")]
    possible: Vec<i64>,
}

/// What one mark has counted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Tally {
    pub(super) name: u64,
    meaning: u64,
    /// How many times each value keeps; 0 without a window.
    ring: usize,
    /// What a value that is not listed has at most.
    rest: Entry,
    entries: Vec<Entry>,
}

impl Tally {
    /// Makes the tally of a mark; where what was before is not known, it begins at 0 to as much as there is.
    pub(super) fn new(definition: &Definition, before: u64, now: i64) -> Self {
        let ring = definition.window.map_or(0, |window| window.ring);
        let mut rest = Entry::default();
        rest.raise(before, ring, now);
        Self {
            name: definition.name,
            meaning: definition.meaning,
            ring,
            rest,
            entries: Vec::new(),
        }
    }

    /// Fits what was counted to how the mark counts now.
    pub(super) fn fit(&mut self, definition: &Definition, now: i64) {
        if self.meaning != definition.meaning {
            let entries = self.entries.iter().chain([&self.rest]);
            let before = entries.map(Entry::highest).max().unwrap_or_default();
            *self = Self::new(definition, before, now);
            return;
        }
        let ring = definition.window.map_or(0, |window| window.ring);
        if ring > self.ring {
            // Where the times were too many to keep, those that went count too.
            let (full, entries) = (self.ring, self.entries.iter_mut());
            for entry in entries.chain([&mut self.rest]) {
                if entry.possible.len() >= full
                    && let Some(&oldest) = entry.possible.first()
                {
                    let missing = ring - entry.possible.len();
                    entry
                        .possible
                        .splice(0..0, std::iter::repeat_n(oldest, missing));
                }
            }
        }
        self.ring = ring;
    }

    /// Adds what an event contributes.
    pub(super) fn add(&mut self, given: &Contribution, time: i64) {
        let ring = self.ring;
        match (&given.end_keys, given.end) {
            (_, Truth::No) => {}
            (Keys::All, Truth::Yes) => {
                self.entries.clear();
                self.rest = Entry::default();
            }
            (Keys::All, Truth::Maybe) => self.entries.iter_mut().for_each(Entry::doubt),
            (Keys::Of(keys), end) => {
                for key in keys {
                    match end {
                        Truth::Yes => *self.entry(*key) = Entry::of(*key),
                        _ => self.entry(*key).doubt(),
                    }
                }
            }
        }
        match (&given.keys, given.hit) {
            (_, Truth::No) => {}
            (Keys::Of(keys), hit) => {
                for key in keys {
                    self.entry(*key).hit(hit, given.weight, ring, time);
                }
            }
            (Keys::All, _) => {
                let entries = self.entries.iter_mut().chain([&mut self.rest]);
                entries.for_each(|entry| entry.hit(Truth::Maybe, given.weight, ring, time));
            }
        }
        self.tidy();
    }

    /// Returns what is counted for a value, after what further contributions, each with its time, would make of it.
    pub(super) fn count<'a>(
        &self,
        key: u64,
        within: Option<i64>,
        further: impl Iterator<Item = (&'a Contribution, i64)>,
        now: i64,
    ) -> Count {
        let mut entry = self.find(key).unwrap_or(&self.rest).clone();
        let is_meant = |keys: &Keys| match keys {
            Keys::All => true,
            Keys::Of(keys) => keys.contains(&key),
        };
        for (given, time) in further {
            match given.end {
                Truth::Yes if is_meant(&given.end_keys) => entry = Entry::of(key),
                Truth::Maybe if is_meant(&given.end_keys) => entry.doubt(),
                _ => {}
            }
            let hit = match given.keys {
                // Which one is meant cannot be told.
                Keys::All => given.hit.min(Truth::Maybe),
                Keys::Of(_) => given.hit,
            };
            if hit != Truth::No && is_meant(&given.keys) {
                entry.hit(hit, given.weight, self.ring, time);
            }
        }
        match within {
            None => entry.count,
            Some(within) => {
                let newer = |times: &[i64]| {
                    let inside = times
                        .iter()
                        .filter(|time| now.saturating_sub(**time) < within);
                    inside.count() as u64
                };
                let most = newer(&entry.possible);
                Count {
                    least: newer(&entry.certain),
                    // Of more than are kept the oldest are gone: how many there were nobody can tell.
                    most: if most < self.ring as u64 {
                        most
                    } else {
                        u64::MAX
                    },
                }
            }
        }
    }

    /// Whether a time that counts at one moment does not count at a later one any more.
    pub(super) fn lets_go(&self, within: i64, then: i64, now: i64) -> bool {
        let entries = self.entries.iter().chain([&self.rest]);
        let mut times = entries.flat_map(|entry| &entry.possible);
        times.any(|time| runs_out(*time, within, then, now))
    }

    /// Returns the values that are counted, and one that is not.
    pub(super) fn keys(&self) -> impl Iterator<Item = u64> {
        let listed = self.entries.iter().map(|entry| entry.key);
        listed.chain([u64::MAX])
    }

    /// Gives up the half of what is kept that matters least; what was counted stays possible.
    pub(super) fn shrink(&mut self) {
        if self.entries.len() > 1 {
            self.entries
                .sort_by_key(|entry| std::cmp::Reverse(entry.highest()));
            let kept = self.entries.len() / 2;
            for gone in self.entries.split_off(kept) {
                self.rest.take_over(&gone);
            }
            return;
        }
        for entry in self.entries.iter_mut().chain([&mut self.rest]) {
            let half = entry.possible.len() / 2;
            if let Some(&newest) = half
                .checked_sub(1)
                .and_then(|last| entry.possible.get(last))
            {
                // The same time again and again takes less room, and is no earlier than what it stands for.
                entry
                    .possible
                    .splice(0..half, std::iter::repeat_n(newest, half));
            }
            entry.certain.drain(..entry.certain.len() / 2);
        }
    }

    fn find(&self, key: u64) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    fn entry(&mut self, key: u64) -> &mut Entry {
        let found = self.entries.iter().position(|entry| entry.key == key);
        let place = found.unwrap_or_else(|| {
            let rest = self.rest.clone();
            self.entries.push(Entry { key, ..rest });
            self.entries.len() - 1
        });
        // The place is one of the list, which is not empty.
        self.entries.get_mut(place).unwrap_or(&mut self.rest)
    }

    fn tidy(&mut self) {
        if self.rest.highest() == 0 {
            self.entries.retain(|entry| entry.highest() > 0);
        }
        while self.entries.len() > MOST_KEYS {
            let least = self.entries.iter().enumerate();
            let Some((least, _)) = least.min_by_key(|(_, entry)| entry.highest()) else {
                return;
            };
            let gone = self.entries.swap_remove(least);
            self.rest.take_over(&gone);
        }
    }
}

impl Entry {
    fn of(key: u64) -> Self {
        Self {
            key,
            ..Self::default()
        }
    }

    /// Returns the highest count that it stands for.
    fn highest(&self) -> u64 {
        self.count.most.max(self.possible.len() as u64)
    }

    /// Takes into account that it may have been set back.
    fn doubt(&mut self) {
        self.count.least = 0;
        self.certain.clear();
    }

    fn hit(&mut self, hit: Truth, weight: Count, ring: usize, time: i64) {
        if ring > 0 {
            if hit == Truth::Yes {
                push(&mut self.certain, time, ring);
            }
            push(&mut self.possible, time, ring);
            return;
        }
        if hit == Truth::Yes {
            self.count.least = self.count.least.saturating_add(weight.least);
        }
        self.count.most = self.count.most.saturating_add(weight.most);
    }

    /// Takes into account that it may have been as much as this.
    fn raise(&mut self, most: u64, ring: usize, time: i64) {
        if ring > 0 {
            let times = usize::try_from(most).unwrap_or(usize::MAX).min(ring);
            self.possible = vec![time; times];
        } else {
            self.count.most = self.count.most.max(most);
        }
    }

    /// Stands for another one too from now on.
    fn take_over(&mut self, gone: &Self) {
        self.count.most = self.count.most.max(gone.count.most);
        // The newest of each, so that no count of theirs is higher within any window.
        let length = self.possible.len().max(gone.possible.len());
        let newest = |times: &[i64], nth: usize| {
            let place = (times.len() + nth).checked_sub(length)?;
            times.get(place).copied()
        };
        self.possible = (0..length)
            .filter_map(|nth| newest(&self.possible, nth).max(newest(&gone.possible, nth)))
            .collect();
    }
}

/// Whether a time lies within a window at one moment, and before it at a later one.
pub(super) const fn runs_out(time: i64, within: i64, then: i64, now: i64) -> bool {
    then.saturating_sub(time) < within && now.saturating_sub(time) >= within
}

/// Adds a time, which may lie before others; of too many the oldest goes.
fn push(times: &mut Vec<i64>, time: i64, most: usize) {
    let place = times.partition_point(|known| *known <= time);
    times.insert(place, time);
    let over = times.len().saturating_sub(most);
    times.drain(..over);
}

/// Times in little room: each as its distance from the one before, and how often it stands there.
mod runs {
    use serde::{Deserialize as _, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(
        times: &[i64],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let mut runs: Vec<(i64, u32)> = Vec::new();
        let mut before = 0_i64;
        for &time in times {
            match runs.last_mut() {
                Some((_, often)) if time == before => *often += 1,
                _ => runs.push((time.wrapping_sub(before), 1)),
            }
            before = time;
        }
        serializer.collect_seq(runs)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<i64>, D::Error> {
        let runs = Vec::<(i64, u32)>::deserialize(deserializer)?;
        let mut times = Vec::with_capacity(runs.len());
        let mut time = 0_i64;
        for (distance, often) in runs {
            time = time.wrapping_add(distance);
            times.extend(std::iter::repeat_n(
                time,
                usize::try_from(often).unwrap_or(0),
            ));
        }
        Ok(times)
    }
}
