//! Reviewed: the layers and scripts of a project as somebody else has reviewed them, such as those of the branch that a change goes to.

use std::collections::BTreeMap;
use std::path::PathBuf;

/// The texts of a project's layers, of the files that they extend, and of its scripts, by their places.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reviewed {
    pub(super) texts: BTreeMap<PathBuf, String>,
    pub(super) scripts: BTreeMap<PathBuf, String>,
}

impl Reviewed {
    /// Whether there is no layer to hold anybody to.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// Returns the files that another state has differently, not at all, or in addition.
    pub fn differing<'s>(&'s self, other: &'s Self) -> impl Iterator<Item = &'s PathBuf> {
        let between = |one: &'s BTreeMap<PathBuf, String>, two: &'s BTreeMap<PathBuf, String>| {
            let changed = one
                .iter()
                .filter(|(path, text)| two.get(*path) != Some(*text));
            let new = two.keys().filter(|path| !one.contains_key(*path));
            changed.map(|(path, _)| path).chain(new)
        };
        between(&self.texts, &other.texts).chain(between(&self.scripts, &other.scripts))
    }
}
