//! Places: where the files lie that no agent may change, compared with paths by their names alone.

use crate::glob::shell_glob;
use std::borrow::Cow;
use std::fs;
use std::fs::DirEntry;
use std::path::{Component, Path, PathBuf};

/// Where the files lie that no agent may change.
#[derive(Debug, Default)]
pub(super) struct Places(Vec<Base>);

/// A directory, and what is guarded below it; a directory among that means all below it.
#[derive(Debug)]
struct Base {
    dir: PathBuf,
    parts: Vec<String>,
    names: Vec<Cow<'static, str>>,
    /// With which ASCII characters the names begin, in lower case; all where a name is empty.
    begins: u128,
}

/// One guarded place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'a> {
    base: &'a Base,
    name: &'a str,
}

/// The name that stands for the directory itself.
pub(super) const WHOLE: &[Cow<'static, str>] = &[Cow::Borrowed("")];

impl Places {
    /// Adds what is guarded below a directory.
    pub(super) fn add(&mut self, dir: &Path, names: &[Cow<'static, str>]) {
        let begin = |name: &Cow<'_, str>| match name.trim_start_matches('/').as_bytes() {
            [b'*', ..] => u128::MAX,
            [first, ..] if first.is_ascii() => 1 << first.to_ascii_lowercase(),
            _ => u128::MAX,
        };
        self.0.push(Base {
            begins: names.iter().map(begin).fold(0, |all, one| all | one),
            dir: dir.to_owned(),
            parts: components(dir),
            names: names.to_vec(),
        });
    }

    /// Adds one file.
    pub(super) fn add_file(&mut self, path: &Path) {
        if let (Some(dir), Some(name)) = (path.parent(), path.file_name()) {
            self.add(dir, &[Cow::Owned(name.to_string_lossy().into_owned())]);
        }
    }

    /// Returns all places.
    pub(super) fn iter(&self) -> impl Iterator<Item = Place<'_>> {
        self.0.iter().flat_map(Base::places)
    }

    /// Returns the places on whose way a path lies, or that lie on its own, given by its names.
    pub(super) fn along<'a>(
        &'a self,
        parts: &'a [String],
        inexact: bool,
    ) -> impl Iterator<Item = Place<'a>> {
        let fit = move |(part, wanted): (&String, &str)| fits(part, wanted, inexact);
        self.0
            .iter()
            .filter(move |base| parts.iter().zip(base.parts()).all(fit))
            .filter(move |base| inexact || base.may_hold(parts))
            .flat_map(move |base| {
                let below = parts.get(base.parts.len()..).unwrap_or_default();
                // Most are told apart by how the first name below the directory begins.
                let first = below.first().filter(|_| !inexact);
                let may_fit = move |place: &Place<'_>| {
                    let name = place.name.trim_start_matches('/').as_bytes();
                    let begins = |first: &String| {
                        let start = name.get(..first.len());
                        start.is_some_and(|start| start.eq_ignore_ascii_case(first.as_bytes()))
                    };
                    name.is_empty() || place.is_pattern() || first.is_none_or(begins)
                };
                base.places()
                    .filter(may_fit)
                    .filter(move |place| below.iter().zip(place.parts()).all(fit))
            })
    }
}

impl Base {
    fn places(&self) -> impl Iterator<Item = Place<'_>> {
        self.names.iter().map(|name| Place { base: self, name })
    }

    fn parts(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().map(String::as_str)
    }

    /// Whether a name below it can begin as the next part of a path does.
    fn may_hold(&self, parts: &[String]) -> bool {
        let next = parts.get(self.parts.len()).map(String::as_bytes);
        match next {
            Some([first, ..]) if first.is_ascii() => self.begins & (1 << first) != 0,
            _ => true,
        }
    }
}

impl<'a> Place<'a> {
    pub(super) fn path(&self) -> PathBuf {
        if self.name.is_empty() {
            self.base.dir.clone()
        } else {
            self.base.dir.join(self.name)
        }
    }

    /// Returns the directory that the place is known to lie below, and the names from there on.
    pub(super) fn way(&self) -> (&Path, impl Iterator<Item = &str>) {
        (&self.base.dir, self.parts())
    }

    /// Returns how many names its path has.
    pub(super) fn depth(&self) -> usize {
        self.base.parts.len() + self.parts().count()
    }

    /// Returns the names of its path from one on.
    pub(super) fn names_from(&self, first: usize) -> Vec<String> {
        let path = self.path();
        let names = path.components().filter_map(|part| match part {
            Component::Normal(name) => Some(name.to_string_lossy().into_owned()),
            _ => None,
        });
        names.skip(first).collect()
    }

    /// Returns the last name of its path, in lower case.
    pub(super) fn last(&self) -> Option<String> {
        let last = self.parts().last();
        last.or_else(|| self.base.parts().last())
            .map(str::to_ascii_lowercase)
    }

    /// Whether it lies at or below a path, given by its names.
    pub(super) fn is_below(&self, parts: &[String]) -> bool {
        let own = self.base.parts().chain(self.parts());
        self.depth() >= parts.len() && own.zip(parts).all(|(own, part)| fits(part, own, false))
    }

    /// Whether something is there.
    pub(super) fn exists(&self) -> bool {
        !self.found().is_empty()
    }

    /// Returns what is there.
    pub(super) fn found(&self) -> Vec<PathBuf> {
        if !self.is_pattern() {
            let path = self.path();
            return if path.exists() {
                vec![path]
            } else {
                Vec::new()
            };
        }
        let mut found = vec![self.base.dir.clone()];
        for part in self.parts() {
            found = found
                .iter()
                .flat_map(|dir| named_below(dir, part))
                .collect();
        }
        found
    }

    /// Whether its path is a pattern.
    fn is_pattern(&self) -> bool {
        self.name.contains('*')
    }

    fn parts(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.name.split('/').filter(|part| !part.is_empty())
    }
}

/// Returns what lies in a directory on a way that is given by its names; a `*` stands for any name.
pub(super) fn way_in(dir: &Path, names: &[String]) -> Option<PathBuf> {
    let mut found = vec![(dir.to_owned(), PathBuf::new())];
    for name in names {
        let step = |(dir, way): &(PathBuf, PathBuf)| {
            let below = named_below(dir, name).into_iter();
            let below = below.filter_map(|path| {
                let way = way.join(path.file_name()?);
                Some((path, way))
            });
            below.collect::<Vec<_>>()
        };
        found = found.iter().flat_map(step).collect();
    }
    found.into_iter().next().map(|(_, way)| way)
}

/// Returns what lies in a directory and has a name, which may be a pattern.
pub(super) fn named_below(dir: &Path, name: &str) -> Vec<PathBuf> {
    if !name.contains('*') {
        let path = dir.join(name);
        return if path.exists() {
            vec![path]
        } else {
            Vec::new()
        };
    }
    entries_named(dir, name).map(|entry| entry.path()).collect()
}

/// Returns what lies in a directory and has a name like this.
pub(super) fn entries_named(dir: &Path, pattern: &str) -> impl Iterator<Item = DirEntry> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries.filter(move |entry| shell_glob(pattern, &entry.file_name().to_string_lossy()))
}

/// Returns the names of a path in lower case: some file systems do not tell them apart.
pub(super) fn components(path: &Path) -> Vec<String> {
    let mut names = Vec::with_capacity(8);
    names.extend(path.components().filter_map(|component| match component {
        Component::Normal(name) => Some(match name.to_str() {
            Some(name) if name.is_ascii() => name.to_ascii_lowercase(),
            Some(name) => name.to_lowercase(),
            None => name.to_string_lossy().to_lowercase(),
        }),
        _ => None,
    }));
    names
}

/// Whether a name in lower case, or the pattern that stands for it, can be the wanted one.
fn fits(part: &str, wanted: &str, inexact: bool) -> bool {
    if part.eq_ignore_ascii_case(wanted) {
        return true;
    }
    if wanted.contains('*') && shell_glob(&wanted.to_ascii_lowercase(), part) {
        return true;
    }
    if !inexact || !part.contains(['*', '?', '[']) {
        return false;
    }
    // A pattern meets a hidden file only where it starts with a dot itself.
    if wanted.starts_with('.') && !part.starts_with(['.', '[']) {
        return false;
    }
    shell_glob(part, &wanted.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guard;
    use crate::place::Base as PlaceBase;

    #[test]
    fn a_place_is_found_in_any_case() {
        let root = Path::new("/Project");
        let further = Path::new("/Project/Scripts/Gate");
        let mut places = Places::default();
        places.add(further, WHOLE);
        let of_project = guard::known().filter(|place| place.base == PlaceBase::Project);
        let names: Vec<_> = of_project.map(|place| Cow::Borrowed(place.path)).collect();
        places.add(root, &names);
        let found = |path: &Path| {
            let names = components(path);
            places.along(&names, false).next().is_some()
        };
        for place in places.iter() {
            let path = place.path().to_string_lossy().into_owned();
            for path in [path.to_uppercase(), path.to_lowercase(), path + "/below"] {
                assert!(found(Path::new(&path)), "{path}");
            }
        }
        assert!(found(root) && found(Path::new("/PROJECT/scripts")));
        for name in ["src", "test", "écrit", "ﬁ"] {
            assert!(!found(&root.join(name)), "{name}");
        }
    }
}
