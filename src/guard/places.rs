//! Places: what is guarded below directories, compared with paths by their names alone, and the places that are known
//! without any policy.

use std::borrow::Cow;
use std::fs;
use std::fs::DirEntry;
use std::path::{Component, Path, PathBuf};

use crate::config::OWN_PLACES;
use crate::glob::shell_glob;
use crate::host::HOSTS;
use crate::place::{Place, Relative, Roots};
use crate::shell::is_clean;

/// A directory, and what is guarded below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuardedDir {
    /// The directory.
    pub dir: PathBuf,
    /// Paths from there on, each with all below it; an empty one is the directory itself. A `*` stands for any
    /// characters of one name.
    pub names: Vec<Relative>,
}

impl GuardedDir {
    /// Guards one path below a directory.
    pub fn of(dir: &Path, name: impl Into<Relative>) -> Self {
        Self {
            dir: dir.to_owned(),
            names: vec![name.into()],
        }
    }

    /// Guards a file or directory.
    pub fn whole(path: &Path) -> Self {
        Self::of(path, "")
    }

    /// Guards a file by its name in a directory.
    pub fn file(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_string_lossy().into_owned();
        Some(Self::of(path.parent()?, name))
    }

    /// Guards some places wherever they lie.
    pub fn all(
        roots: &Roots,
        places: impl Iterator<Item = &'static Place>,
    ) -> impl Iterator<Item = Self> {
        let grouped = roots.grouped(places);
        grouped.map(|(dir, names)| Self {
            dir: dir.to_owned(),
            names,
        })
    }

    /// Guards a file and what lies beside it under the same name: locks, archives, parts.
    pub fn with_siblings(path: &Path) -> Option<Self> {
        let (dir, name) = (path.parent()?, path.file_name()?.to_string_lossy());
        let stem = path.file_stem()?.to_string_lossy();
        let names = [
            name.to_string(),
            format!("{name}.*"),
            format!("{stem}-*.{}*", path.extension()?.to_string_lossy()),
        ];
        Some(Self {
            dir: dir.to_owned(),
            names: names.map(Relative::from).to_vec(),
        })
    }
}

/// Returns the places that are known without any policy: our own, and what decides over the hooks of each host.
pub fn known() -> impl Iterator<Item = &'static Place> {
    let of_hosts = HOSTS.iter().flat_map(|host| host.places());
    OWN_PLACES.iter().chain(of_hosts)
}

/// Returns those of them that the hosts of agents load code or hooks from. What git runs may be a link to a file of the project
/// that is worked on like any other.
pub fn of_agents() -> impl Iterator<Item = &'static Place> {
    let hosts = HOSTS.iter().filter(|host| host.name != "git");
    hosts.flat_map(|host| host.places())
}

/// Guarded places, found by the names of a path.
#[derive(Debug, Default)]
pub struct Places(Vec<Base>);

#[derive(Debug)]
struct Base {
    guarded: GuardedDir,
    /// Whether the directory is as its bytes say in any case of letters, and no pattern.
    is_plain: bool,
    /// With which ASCII characters the names begin, in lower case; all where a name is empty.
    begins: u128,
}

/// One guarded place.
#[derive(Clone, Copy, Debug)]
pub struct GuardedPlace<'a> {
    base: &'a Base,
    name: &'a Relative,
}

impl FromIterator<GuardedDir> for Places {
    fn from_iter<T: IntoIterator<Item = GuardedDir>>(dirs: T) -> Self {
        let begin = |name: &Relative| match name.first_byte() {
            Some(first) if first != b'*' && first.is_ascii() => 1 << first.to_ascii_lowercase(),
            _ => u128::MAX,
        };
        let base = |guarded: GuardedDir| Base {
            begins: guarded
                .names
                .iter()
                .map(begin)
                .fold(0, |all, one| all | one),
            is_plain: is_plain(&guarded.dir),
            guarded,
        };
        Self(dirs.into_iter().map(base).collect())
    }
}

impl Places {
    /// Returns the directories below which they lie.
    pub fn dirs(&self) -> impl Iterator<Item = &GuardedDir> {
        self.0.iter().map(|base| &base.guarded)
    }

    /// Returns all places.
    pub fn iter(&self) -> impl Iterator<Item = GuardedPlace<'_>> {
        self.0.iter().flat_map(Base::places)
    }

    /// Returns the places on whose way a path lies, or that lie on its own, given by its names.
    pub fn along<'a>(
        &'a self,
        parts: &'a [String],
        inexact: bool,
    ) -> impl Iterator<Item = GuardedPlace<'a>> {
        let whole = (!inexact).then(|| format!("/{}", parts.join("/")));
        let fit = move |part: &str, wanted: &str| fits(part, wanted, inexact);
        self.0
            .iter()
            .filter(move |base| whole.as_ref().is_none_or(|path| base.may_lie_along(path)))
            .filter(move |base| (parts.iter().zip(base.parts())).all(|(part, own)| fit(part, &own)))
            .flat_map(move |base| {
                let below = parts.get(base.depth()..).unwrap_or_default();
                let may_hold = inexact || base.may_hold(below);
                let places = base.places().filter(move |_| may_hold);
                places.filter(move |place| {
                    let mut names = below.iter().zip(place.name.names());
                    names.all(|(part, own)| fit(part, own))
                })
            })
    }
}

impl Base {
    fn places(&self) -> impl Iterator<Item = GuardedPlace<'_>> {
        let names = self.guarded.names.iter();
        names.map(|name| GuardedPlace { base: self, name })
    }

    /// Returns the names of the directory, in lower case where that is not one of ASCII letters.
    fn parts(&self) -> impl Iterator<Item = Cow<'_, str>> {
        let names = self.guarded.dir.components();
        names.filter_map(|component| match component {
            Component::Normal(name) => Some(match name.to_str() {
                Some(name) if name.is_ascii() => Cow::Borrowed(name),
                _ => name.to_string_lossy().to_lowercase().into(),
            }),
            _ => None,
        })
    }

    fn depth(&self) -> usize {
        self.parts().count()
    }

    /// Whether a path in lower case may lie above, at or below the directory; of most, their bytes tell that they do not.
    fn may_lie_along(&self, path: &str) -> bool {
        let dir = self.guarded.dir.as_os_str().as_encoded_bytes();
        let common = path.len().min(dir.len());
        let same = path.as_bytes().get(..common).zip(dir.get(..common));
        !self.is_plain || same.is_some_and(|(path, dir)| path.eq_ignore_ascii_case(dir))
    }

    /// Whether a name below it can begin as the first of these does.
    fn may_hold(&self, below: &[String]) -> bool {
        match below.first().map(String::as_bytes) {
            Some([first, ..]) if first.is_ascii() => self.begins & (1 << first) != 0,
            _ => true,
        }
    }
}

impl<'a> GuardedPlace<'a> {
    /// Returns its path, which may be a pattern.
    pub fn path(&self) -> PathBuf {
        self.name.below(&self.base.guarded.dir)
    }

    /// Returns the directory that the place is known to lie below, and the names from there on.
    pub fn way(&self) -> (&'a Path, impl Iterator<Item = &'a str> + use<'a>) {
        (&self.base.guarded.dir, self.name.names())
    }

    /// Returns how many names its path has.
    pub fn depth(&self) -> usize {
        self.base.depth() + self.name.names().count()
    }

    /// Returns the names of its path from one on.
    pub fn names_from(&self, first: usize) -> Vec<String> {
        let path = self.path();
        let names = path.components().filter_map(|part| match part {
            Component::Normal(name) => Some(name.to_string_lossy().into_owned()),
            _ => None,
        });
        names.skip(first).collect()
    }

    /// Returns the last name of its path, in lower case.
    pub fn last(&self) -> Option<String> {
        let last = self.name.names().last().map(Cow::Borrowed);
        let last = last.or_else(|| self.base.parts().last());
        last.map(|name| name.to_ascii_lowercase())
    }

    /// Whether it lies at or below a path, given by its names.
    pub fn is_below(&self, parts: &[String]) -> bool {
        let own = self.name.names().map(Cow::Borrowed);
        let mut own = self.base.parts().chain(own);
        parts
            .iter()
            .all(|part| own.next().is_some_and(|own| fits(part, &own, false)))
    }

    /// Whether something is there.
    pub fn exists(&self) -> bool {
        !self.found().is_empty()
    }

    /// Returns what is there.
    pub fn found(&self) -> Vec<PathBuf> {
        if !self.name.is_pattern() {
            let path = self.path();
            return path.exists().then_some(path).into_iter().collect();
        }
        let (dir, names) = self.way();
        matches(dir.to_owned(), names)
    }
}

/// Returns what lies in a directory on a way that is given by its names; a `*` stands for any name.
pub fn way_in(dir: &Path, names: &[String]) -> Option<PathBuf> {
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

/// Returns what is there on a way from a directory, each name of which may be a pattern.
pub fn matches<'a>(dir: PathBuf, names: impl Iterator<Item = &'a str>) -> Vec<PathBuf> {
    names.fold(vec![dir], |found, name| {
        let below = found.iter().flat_map(|dir| named_below(dir, name));
        below.collect()
    })
}

/// Returns what lies in a directory and has a name, which may be a pattern.
pub fn named_below(dir: &Path, name: &str) -> Vec<PathBuf> {
    let path = dir.join(name);
    if path.exists() || !name.contains(['*', '?', '[']) {
        return path.exists().then_some(path).into_iter().collect();
    }
    entries_named(dir, name).map(|entry| entry.path()).collect()
}

/// Returns what lies in a directory and has a name like this.
pub fn entries_named(dir: &Path, pattern: &str) -> impl Iterator<Item = DirEntry> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries.filter(move |entry| shell_glob(pattern, &entry.file_name().to_string_lossy()))
}

/// Returns the names of a path in lower case: some file systems do not tell them apart.
pub fn components(path: &Path) -> Vec<String> {
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

fn is_plain(dir: &Path) -> bool {
    let bytes = dir.as_os_str().as_encoded_bytes();
    bytes.is_ascii() && !bytes.contains(&b'*') && is_clean(dir)
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
    use proptest::prelude::*;

    use super::*;
    use crate::place::Base as PlaceBase;

    #[test]
    fn a_place_is_found_in_any_case() {
        let root = Path::new("/Project");
        let of_project = known().filter(|place| place.base == PlaceBase::Project);
        let places: Places = [
            GuardedDir::whole(Path::new("/Project/Scripts/Gate")),
            GuardedDir {
                dir: root.to_owned(),
                names: of_project.map(|place| place.path.into()).collect(),
            },
        ]
        .into_iter()
        .collect();
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

    proptest! {
        #[test]
        fn what_the_bytes_rule_out_no_name_meets(
            dir in "(/(a|B|é|\\.x|\\*|a\\*|\\.|)){0,4}",
            name in "(b|\\.x|\\*)?(/a)?",
            path in "/?((a|A|b|é|\\.x|ab|\\*)(/|//)?){0,5}",
        ) {
            let guarded = [GuardedDir::of(Path::new(&dir), name)];
            let quick: Places = guarded.clone().into_iter().collect();
            let mut slow: Places = guarded.into_iter().collect();
            for base in &mut slow.0 {
                base.is_plain = false;
                base.begins = u128::MAX;
            }
            let names = components(Path::new(&path));
            let met = |places: &Places| places.along(&names, false).count();
            prop_assert_eq!(met(&quick), met(&slow));
        }
    }
}
