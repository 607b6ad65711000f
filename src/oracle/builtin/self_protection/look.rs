//! Look: what the file system says of the guarded places, kept from event to event for as long as it holds.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::places::{Place, Places, WHOLE};
use super::{binary, front_matter};
use crate::guard::{GuardedDir, Guards, OfGit};
use crate::shell::real;
use crate::stamp::Stamp;

/// What was last seen.
#[derive(Debug, Default)]
pub(super) struct LastLook {
    look: Mutex<Option<Arc<Look>>>,
    links: Mutex<Option<Arc<Links>>>,
    carriers: Mutex<Option<Arc<Carriers>>>,
}

/// Folders of a person in which any program has its own, besides what is guarded.
const SHARED: &[&str] = &[".cache", ".local", ".local/state", "Documents", "Library"];

/// Where guarded places are looked for.
#[derive(Clone, Debug)]
pub(super) struct Grounds {
    pub(super) guards: Arc<Guards>,
    /// What a binding adds.
    pub(super) further: Vec<PathBuf>,
}

impl PartialEq for Grounds {
    fn eq(&self, other: &Self) -> bool {
        let is_same = Arc::ptr_eq(&self.guards, &other.guards) || self.guards == other.guards;
        is_same && self.further == other.further
    }
}

/// The guarded places, and where the project and the home really lie.
#[derive(Debug)]
pub(super) struct Look {
    grounds: Grounds,
    pub(super) places: Places,
    /// Where our own program lies.
    pub(super) own: Vec<PathBuf>,
    /// Where files of words for an agent lie, which may carry hooks.
    pub(super) ways: Places,
    /// The root, the home directory, and those that variables name.
    dirs: Vec<Dir>,
    /// What of git decides over hooks here.
    pub(super) of_git: OfGit,
    watched: Watched,
}

/// A directory, and where it really lies.
#[derive(Debug)]
pub(super) struct Dir {
    pub(super) path: PathBuf,
    pub(super) real: PathBuf,
    /// Whether that is where its path says.
    pub(super) is_real: bool,
}

/// What guarded places lead to through links.
#[derive(Debug)]
pub(super) struct Links {
    grounds: Grounds,
    pub(super) targets: Places,
    /// The places that were reached through links, each with where that was.
    linked: Vec<(PathBuf, PathBuf)>,
    /// The directories in which a link could come, go or change.
    watched: Watched,
}

/// The files of words for an agent that carry hooks.
#[derive(Debug)]
pub(super) struct Carriers {
    grounds: Grounds,
    pub(super) places: Places,
    watched: Watched,
}

/// Directories as they were.
#[derive(Debug, Default)]
struct Watched(Vec<(PathBuf, Option<Stamp>)>);

impl LastLook {
    /// Returns the places as they were last seen, or anew where something has changed since.
    pub(super) fn look(&self, grounds: &Grounds) -> Arc<Look> {
        let mut last = self.look.lock().unwrap_or_else(PoisonError::into_inner);
        match &*last {
            Some(look) if look.grounds == *grounds && look.watched.holds() => look.clone(),
            _ => last.insert(Arc::new(Look::new(grounds))).clone(),
        }
    }

    /// Returns what they lead to as it was last seen, or anew where something has changed since.
    pub(super) fn links(&self, look: &Look) -> Arc<Links> {
        let mut last = self.links.lock().unwrap_or_else(PoisonError::into_inner);
        match &*last {
            Some(links) if links.grounds == look.grounds && links.hold() => links.clone(),
            _ => last.insert(Arc::new(Links::new(look))).clone(),
        }
    }

    /// Returns the files that carry hooks as they were last seen, or anew where something has changed since.
    pub(super) fn carriers(&self, look: &Look) -> Arc<Carriers> {
        let mut last = self.carriers.lock().unwrap_or_else(PoisonError::into_inner);
        match &*last {
            Some(carriers) if carriers.grounds == look.grounds && carriers.watched.holds() => {
                carriers.clone()
            }
            _ => last.insert(Arc::new(Carriers::new(look))).clone(),
        }
    }
}

impl Look {
    fn new(grounds: &Grounds) -> Self {
        let roots = grounds.guards.roots();
        let moved = roots.moved.iter().map(|(_, dir)| dir);
        let dirs: Vec<Dir> = std::iter::once(&roots.project)
            .chain(&roots.home)
            .chain(moved)
            .map(|path| Dir::new(path))
            .collect();
        let mut watched = Watched::default();
        for dir in &dirs {
            watched.add(&dir.path);
        }
        let mut places = Places::default();
        for GuardedDir { dir, names } in grounds.guards.dirs() {
            places.add(dir, names);
            // By its other name it is the same directory.
            let is_elsewhere = |known: &&Dir| known.path == *dir && !known.is_real;
            if let Some(known) = dirs.iter().find(is_elsewhere) {
                places.add(&known.real, names);
            }
        }
        for path in &grounds.further {
            places.add(path, WHOLE);
        }
        let of_git = grounds.guards.of_git();
        for GuardedDir { dir, names } in &of_git.guarded() {
            places.add(dir, names);
        }
        for path in &of_git.read {
            watched.add(path);
        }
        let own = binary::own_files();
        for path in &own {
            places.add_file(path);
        }
        Self {
            places,
            own,
            ways: front_matter::ways(roots),
            grounds: grounds.clone(),
            dirs,
            of_git,
            watched,
        }
    }

    /// Returns the deepest directory above a path of which it is known where it really lies, and the rest of the path.
    pub(super) fn above<'a>(&self, path: &'a Path) -> Option<(&Dir, &'a Path)> {
        self.dirs
            .iter()
            .filter(|dir| path.is_absolute() == dir.path.is_absolute())
            .filter_map(|dir| Some((dir, below(path, &dir.path)?)))
            .max_by_key(|(dir, _)| dir.path.as_os_str().len())
    }

    /// Returns the project and the home directory.
    fn grounds(&self) -> impl Iterator<Item = &Dir> {
        let roots = self.grounds.guards.roots();
        let is_ground = |dir: &&Dir| {
            dir.path == roots.project || roots.home.as_ref().is_some_and(|home| dir.path == *home)
        };
        self.dirs.iter().filter(is_ground)
    }

    /// Whether a path lies below the project or the home directory, by either of their names.
    pub(super) fn is_in_grounds(&self, path: &Path) -> bool {
        self.grounds()
            .any(|dir| path.starts_with(&dir.path) || path.starts_with(&dir.real))
    }

    /// Whether a folder is for many programs: the project, the home, what is above them, and what every tool fills.
    pub(super) fn is_shared(&self, path: &Path) -> bool {
        self.grounds().any(
            |Dir {
                 path: dir, real, ..
             }| {
                let is_filled = |dir: &Path| SHARED.iter().any(|name| dir.join(name) == path);
                dir.starts_with(path) || real.starts_with(path) || is_filled(dir) || is_filled(real)
            },
        )
    }

    /// Whether a path lies in the project or in the home directory, by either of their names.
    pub(super) fn is_ours(&self, path: &Path) -> bool {
        self.dirs.iter().any(
            |Dir {
                 path: dir, real, ..
             }| {
                dir.as_os_str().len() > 1 && (path.starts_with(dir) || path.starts_with(real))
            },
        )
    }
}

/// Returns the rest of a path below a directory; of most the bytes tell it.
fn below<'a>(path: &'a Path, dir: &Path) -> Option<&'a Path> {
    let bytes = path.as_os_str().as_bytes();
    match bytes.strip_prefix(dir.as_os_str().as_bytes()) {
        Some([b'/', rest @ ..]) if !rest.starts_with(b"/") => {
            Some(Path::new(OsStr::from_bytes(rest)))
        }
        _ => path.strip_prefix(dir).ok(),
    }
}

impl Dir {
    fn new(path: &Path) -> Self {
        let real = real(path);
        Self {
            path: path.to_owned(),
            is_real: real == path,
            real,
        }
    }
}

impl Links {
    fn new(look: &Look) -> Self {
        let root = &look.grounds.guards.roots().project;
        let policy = look.grounds.guards.further().map(|guarded| &guarded.dir);
        let mut disk = Disk::default();
        for path in look.grounds.further.iter().chain(policy) {
            let above = path.ancestors().skip(1);
            let of_project = above.clone().take_while(|dir| dir.starts_with(root));
            above
                .take(1)
                .chain(of_project)
                .for_each(|dir| disk.watched.add(dir));
        }
        let roots = look.grounds.guards.roots();
        let candidates = front_matter::candidates(roots, &mut |dir| disk.watched.add(dir));
        let mut carriers = Places::default();
        for file in candidates.iter().filter(|file| file.is_linked) {
            disk.watched.add(&file.path);
            if file.carries_hooks() {
                carriers.add_file(&file.path);
            }
        }
        let mut linked = Vec::new();
        for place in look.places.iter().chain(carriers.iter()) {
            if disk.is_linked(place) {
                let path = place.path();
                let target = real(&path);
                linked.push((path, target));
            }
        }
        let mut targets = Places::default();
        for (_, target) in &linked {
            targets.add(target, WHOLE);
        }
        Self {
            grounds: look.grounds.clone(),
            targets,
            linked,
            watched: disk.watched,
        }
    }

    fn hold(&self) -> bool {
        self.watched.holds()
            && self
                .linked
                .iter()
                .all(|(path, target)| real(path) == *target)
    }
}

impl Carriers {
    fn new(look: &Look) -> Self {
        let roots = look.grounds.guards.roots();
        let mut watched = Watched::default();
        let mut places = Places::default();
        for file in front_matter::candidates(roots, &mut |dir| watched.add(dir)) {
            watched.add(&file.path);
            if file.carries_hooks() {
                places.add_file(&file.path);
            }
        }
        Self {
            grounds: look.grounds.clone(),
            places,
            watched,
        }
    }
}

impl Watched {
    fn add(&mut self, dir: &Path) {
        if !self.0.iter().any(|(watched, _)| watched == dir) {
            self.0.push((dir.to_owned(), Stamp::at(dir)));
        }
    }

    fn holds(&self) -> bool {
        self.0.iter().all(|(dir, stamp)| Stamp::at(dir) == *stamp)
    }
}

/// What was asked of the disk during one look for links.
#[derive(Debug, Default)]
struct Disk {
    links: HashMap<PathBuf, Option<bool>>,
    watched: Watched,
}

impl Disk {
    /// Whether there is a link on the way to a place from the directory that it is known to lie below.
    fn is_linked(&mut self, place: Place<'_>) -> bool {
        let (dir, names) = place.way();
        let mut path = dir.to_owned();
        let mut is_linked = self.is_link(&path).unwrap_or(false);
        for name in names {
            self.watched.add(&path);
            path.push(name);
            match self.is_link(&path) {
                Some(is_link) => is_linked |= is_link,
                None => break,
            }
        }
        is_linked
    }

    /// Whether a path is a link; none where nothing is there.
    fn is_link(&mut self, path: &Path) -> Option<bool> {
        if let Some(known) = self.links.get(path) {
            return *known;
        }
        let found = fs::symlink_metadata(path).ok().map(|m| m.is_symlink());
        self.links.insert(path.to_owned(), found);
        found
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_rest_of_a_path_is_told_as_by_its_names(
            path in "/?(a|ab|é)?(/(a|ab|b|é|\\.ahp)){0,3}",
            dir in "/?(a|ab|é)?(/(a|ab)){0,2}/?",
        ) {
            let (path, dir) = (Path::new(&path), Path::new(&dir));
            prop_assume!(path.is_absolute() == dir.is_absolute());
            prop_assert_eq!(below(path, dir), path.strip_prefix(dir).ok());
        }
    }
}
