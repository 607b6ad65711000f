//! Places: where the files lie that no agent may change, compared with paths by their names alone.

use std::path::Component;
use std::path::Path;
use std::path::PathBuf;

use super::names::OF_MACHINE;
use super::names::OF_PERSON;
use super::names::OF_PROJECT;

/// Where the files lie that no agent may change.
#[derive(Debug, Default)]
pub(super) struct Places(Vec<Base>);

/// A directory, and what is guarded below it; a directory among that means all below it.
#[derive(Debug)]
struct Base {
    dir: PathBuf,
    parts: Vec<String>,
    names: &'static [&'static str],
    /// With which ASCII characters the names begin, in lower case; all where a name is empty.
    begins: u128,
}

/// One guarded place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'a> {
    base: &'a Base,
    name: &'static str,
}

impl Places {
    /// Returns further ones, those of the machine, of a project and of a person.
    pub(super) fn new<'a>(
        further: impl Iterator<Item = &'a Path>,
        roots: impl Iterator<Item = &'a Path>,
        homes: impl Iterator<Item = &'a Path>,
    ) -> Self {
        let mut places = Self(Vec::new());
        places.add(further);
        places.add_below(std::iter::once(Path::new("/")), OF_MACHINE);
        places.add_below(roots, OF_PROJECT);
        places.add_below(homes, OF_PERSON);
        places
    }

    /// Adds places that are guarded as a whole.
    pub(super) fn add<'a>(&mut self, paths: impl Iterator<Item = &'a Path>) {
        self.add_below(paths, &[""]);
    }

    fn add_below<'a>(
        &mut self,
        dirs: impl Iterator<Item = &'a Path>,
        names: &'static [&'static str],
    ) {
        let begin = |name: &&str| match name.trim_start_matches('/').as_bytes() {
            [first, ..] if first.is_ascii() => 1 << first.to_ascii_lowercase(),
            _ => u128::MAX,
        };
        let begins = names.iter().map(begin).fold(0, |all, one| all | one);
        self.0.extend(dirs.map(|dir| Base {
            dir: dir.to_owned(),
            parts: components(dir),
            names,
            begins,
        }));
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
                    name.is_empty() || first.is_none_or(begins)
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

impl Place<'_> {
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

    /// Returns the last name of its path, in lower case.
    pub(super) fn last(&self) -> Option<String> {
        let last = self.parts().last();
        last.or_else(|| self.base.parts().last())
            .map(str::to_ascii_lowercase)
    }

    /// Whether it lies at or below a path, given by its names.
    pub(super) fn is_below(&self, parts: &[String]) -> bool {
        let own = self.base.parts().chain(self.parts());
        self.depth() >= parts.len()
            && own
                .zip(parts)
                .all(|(own, part)| own.eq_ignore_ascii_case(part))
    }

    fn parts(&self) -> impl Iterator<Item = &str> {
        self.name.split('/').filter(|part| !part.is_empty())
    }
}

/// Returns what a folder holds that would be guarded in a project.
pub(super) fn guarded_in(dir: &Path) -> Option<&'static str> {
    let mut names = OF_PROJECT.iter().copied();
    names.find(|name| dir.join(name).exists())
}

/// Returns the names of a path in lower case: some file systems do not tell them apart.
pub(super) fn components(path: &Path) -> Vec<String> {
    let mut names = Vec::with_capacity(8);
    names.extend(path.components().filter_map(|component| match component {
        Component::Normal(name) => Some(match name.to_str() {
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
    if !inexact || !part.contains(['*', '?', '[']) {
        return false;
    }
    // A pattern meets a hidden file only where it starts with a dot itself.
    if wanted.starts_with('.') && !part.starts_with(['.', '[']) {
        return false;
    }
    fast_glob::glob_match(part, wanted.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_found_in_any_case() {
        let root = Path::new("/Project");
        let further = Path::new("/Project/Scripts/Gate");
        let dirs = || std::iter::once(root);
        let places = Places::new(std::iter::once(further), dirs(), dirs());
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
