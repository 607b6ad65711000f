//! Folders: what is guarded and lies, or would lie, somewhere below a folder.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::guarded::{Guarded, Kind, OURS};
use crate::guard::{GuardedPlace, Places, components, way_in};

/// How deep a walk is followed into a guarded folder, and how many names of each folder there are looked at.
const ENTRIES_DEEP: usize = 3;
const MOST_ENTRIES: usize = 128;

impl Guarded<'_> {
    /// Returns what is guarded and would be written where a folder as it is now is put at a path.
    pub(super) fn brought(&self, from: &Path, to: &Path) -> Option<PathBuf> {
        let names = components(to);
        let places = self.places(&names, true);
        let mut places = places.flat_map(|places| places.along(&names, false));
        places.find_map(|place| {
            let rest = place.names_from(names.len());
            let way = (!rest.is_empty()).then(|| way_in(from, &rest))??;
            Some(to.join(way))
        })
    }

    /// Returns what is guarded and would be, or could come to lie in, a folder that is filled with what nobody has named.
    pub(super) fn filled(&self, dir: &Path) -> Option<PathBuf> {
        self.covers(dir).or_else(|| self.held(dir, false))
    }

    /// Returns what is guarded and lies, or would lie, somewhere below a folder. Below the project, the home and what is
    /// above them nearly everything would: those may be filled.
    pub(super) fn held(&self, dir: &Path, inexact: bool) -> Option<PathBuf> {
        let below = |dir: &Path| {
            let names = components(dir);
            let of_nested = OURS.iter().find(|ours| {
                let above = ours.split_last().map_or(&[][..], |(_, above)| above);
                let ends = || names.iter().rev().zip(above.iter().rev());
                !above.is_empty() && ends().count() == above.len() && ends().all(|(a, b)| a == b)
            });
            if self.look().is_shared(dir) {
                return None;
            }
            if let Some(ours) = of_nested.filter(|_| self.look().is_ours(dir)) {
                return Some(dir.join(ours.last()?));
            }
            let places = self.places(&names, true);
            let places = places.flat_map(|places| places.along(&names, inexact));
            let targets = self.links(dir).targets.along(&names, inexact);
            let mut below = places
                .chain(targets)
                .filter(|place| place.depth() > names.len());
            // A place that lies apart makes no folder above it a special one.
            let is_near = |place: &GuardedPlace<'_>| {
                dir.starts_with(place.way().0) || self.look().is_in_grounds(dir)
            };
            below.find(is_near).map(|place| place.path())
        };
        below(dir).or_else(|| below(&self.followed(dir)?))
    }

    /// Returns what is guarded, is there and lies in a folder at any depth, and the folders on the way, each by its way from
    /// there.
    pub(super) fn below(&self, dir: &Path) -> impl Iterator<Item = PathBuf> + use<> {
        let mut ways = BTreeSet::new();
        let mut add = |dir: &Path| {
            let names = components(dir);
            let places = self.places(&names, true).flat_map(Places::iter);
            let places = places.chain(self.links(dir).targets.iter());
            let met = places.filter(|place| {
                let (base, mut parts) = place.way();
                let is_below = place.is_below(&names) && place.depth() > names.len();
                // Most of them lie in folders that are not there.
                is_below
                    && parts.next().is_none_or(|first| {
                        first.contains('*')
                            || !matches!(self.kind(&base.join(first)), Kind::Nothing)
                    })
            });
            for path in met.flat_map(|place| place.found()) {
                let way: PathBuf = path.components().skip(names.len() + 1).collect();
                ways.extend(
                    way.ancestors()
                        .filter(|w| !w.as_os_str().is_empty())
                        .map(Path::to_owned),
                );
                add_entries(&path, &way, ENTRIES_DEEP, &mut ways);
            }
        };
        add(dir);
        if let Some(followed) = self.followed(dir) {
            add(&followed);
        }
        ways.into_iter()
    }
}

/// Adds what lies in a folder, not all of very much.
fn add_entries(path: &Path, way: &Path, deep: usize, ways: &mut BTreeSet<PathBuf>) {
    if deep == 0 || !path.is_dir() {
        return;
    }
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    for entry in entries.take(MOST_ENTRIES) {
        let way = way.join(entry.file_name());
        add_entries(&entry.path(), &way, deep - 1, ways);
        ways.insert(way);
    }
}
