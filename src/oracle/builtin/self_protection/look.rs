//! Look: what the file system says of the guarded places, kept from event to event for as long as it holds.

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::disk::{Disk, Watched};
use super::{binary, front_matter};
use crate::guard::{GuardedDir, Guards, OfGit, Places, of_agents};
use crate::shell::real;
use crate::trust::scripts_of;

/// What was last seen.
#[derive(Debug, Default)]
pub(super) struct LastLook {
    pub(super) look: Last<Look>,
    pub(super) links: Last<Links>,
    pub(super) far_links: Last<Links>,
    pub(super) carriers: Last<Carriers>,
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

/// One thing that was last seen.
#[derive(Debug)]
pub(super) struct Last<T>(Mutex<Option<Arc<Seen<T>>>>);

impl<T> Default for Last<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> Last<T> {
    /// Returns it as it was last seen, or looks anew where something has changed since.
    pub(super) fn get(
        &self,
        grounds: &Grounds,
        look: impl FnOnce(&mut Watched) -> T,
    ) -> Arc<Seen<T>> {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &*last {
            Some(seen) if seen.grounds == *grounds && seen.watched.holds() => seen.clone(),
            _ => {
                let mut watched = Watched::default();
                let seen = Seen {
                    what: look(&mut watched),
                    grounds: grounds.clone(),
                    watched,
                };
                last.insert(Arc::new(seen)).clone()
            }
        }
    }
}

/// What was seen, and what it depends on.
#[derive(Debug)]
pub(super) struct Seen<T> {
    what: T,
    grounds: Grounds,
    watched: Watched,
}

impl<T> Deref for Seen<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.what
    }
}

/// The guarded places that only the disk tells, and where the project and the home really lie.
#[derive(Debug)]
pub(super) struct Look {
    /// What is guarded besides what the guards know.
    pub(super) places: Places,
    /// Where our own program lies.
    pub(super) own: Vec<PathBuf>,
    /// Where files of words for an agent lie, which may carry hooks.
    pub(super) ways: Places,
    /// The root, the home directory, and those that variables name.
    dirs: Vec<Dir>,
    /// How many of them are the root and the home directory.
    grounds: usize,
    /// What of git decides over hooks here.
    pub(super) of_git: OfGit,
}

/// A directory, and where it really lies.
#[derive(Debug)]
pub(super) struct Dir {
    pub(super) path: PathBuf,
    pub(super) real: PathBuf,
    /// Whether that is where its path says.
    pub(super) is_real: bool,
}

/// Where links are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// On the ways to guarded places, and in the project.
    Project,
    /// In every guarded folder, too.
    Machine,
}

/// What guarded places lead to through links.
#[derive(Debug)]
pub(super) struct Links {
    pub(super) targets: Places,
    /// The files of words for an agent that links lead to.
    pub(super) words: Vec<PathBuf>,
}

/// The files of words for an agent that carry hooks.
#[derive(Debug)]
pub(super) struct Carriers(pub(super) Places);

impl Look {
    pub(super) fn new(grounds: &Grounds, watched: &mut Watched) -> Self {
        let roots = grounds.guards.roots();
        let own_grounds = std::iter::once(&roots.project).chain(&roots.home);
        let moved = roots.moved.iter().map(|(_, dir)| dir);
        let dirs: Vec<Dir> = own_grounds
            .clone()
            .chain(moved)
            .map(|path| Dir::new(path))
            .collect();
        for dir in &dirs {
            watched.add(&dir.path);
        }
        // By its other name it is the same directory.
        let elsewhere = dirs.iter().filter(|dir| !dir.is_real).flat_map(|dir| {
            let same = grounds.guards.places().dirs();
            same.filter(|known| known.dir == dir.path)
                .map(|known| GuardedDir {
                    dir: dir.real.clone(),
                    names: known.names.clone(),
                })
        });
        let of_git = grounds.guards.of_git();
        for path in &of_git.read {
            watched.add(path);
        }
        let own = binary::own_files();
        let further = grounds.further.iter().map(|path| GuardedDir::whole(path));
        Self {
            places: elsewhere
                .chain(further)
                .chain(of_git.guarded())
                .chain(own.iter().filter_map(|path| GuardedDir::file(path)))
                .collect(),
            own,
            ways: front_matter::ways(roots),
            grounds: own_grounds.count(),
            dirs,
            of_git,
        }
    }

    /// Returns the deepest directory above a path of which it is known where it really lies, and the rest of the path.
    pub(super) fn above<'a>(&self, path: &'a Path) -> Option<(&Dir, &'a Path)> {
        self.dirs
            .iter()
            .filter(|dir| path.is_absolute() == dir.path.is_absolute())
            .filter_map(|dir| Some((dir, path.strip_prefix(&dir.path).ok()?)))
            .max_by_key(|(dir, _)| dir.path.as_os_str().len())
    }

    /// Returns the project and the home directory.
    fn grounds(&self) -> impl Iterator<Item = &Dir> {
        self.dirs.iter().take(self.grounds)
    }

    /// Whether a path lies below the project or the home directory, by either of their names.
    pub(super) fn is_in_grounds(&self, path: &Path) -> bool {
        self.grounds().any(|dir| dir.holds(path))
    }

    /// Whether a folder is for many programs: the project, the home, what is above them, and what every tool fills.
    pub(super) fn is_shared(&self, path: &Path) -> bool {
        let mut dirs = self.grounds().flat_map(|dir| [&dir.path, &dir.real]);
        dirs.any(|dir| dir.starts_with(path) || SHARED.iter().any(|name| dir.join(name) == path))
    }

    /// Whether a path lies in the project or in the home directory, by either of their names.
    pub(super) fn is_ours(&self, path: &Path) -> bool {
        let mut dirs = self.dirs.iter();
        dirs.any(|dir| dir.path.as_os_str().len() > 1 && dir.holds(path))
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

    /// Whether a path lies in it, by either of its names.
    fn holds(&self, path: &Path) -> bool {
        path.starts_with(&self.path) || path.starts_with(&self.real)
    }
}

impl Links {
    /// Follows every link that lies on the way to a guarded place. Those among what lies in guarded folders, and the scripts that
    /// what runs names, are found in the project alone, or, where `reach` says so, wherever they are.
    pub(super) fn new(grounds: &Grounds, look: &Look, reach: Reach, watched: &mut Watched) -> Self {
        let guards = &grounds.guards;
        let roots = guards.roots();
        let policy = guards.further().map(|guarded| &guarded.dir);
        for path in grounds.further.iter().chain(policy) {
            let above = path.ancestors().skip(1);
            let of_project = above
                .clone()
                .take_while(|dir| dir.starts_with(&roots.project));
            above
                .take(1)
                .chain(of_project)
                .for_each(|dir| watched.add(dir));
        }
        let mut disk = Disk::new(watched);
        let candidates = front_matter::candidates(roots, &mut disk);
        let linked: Vec<_> = candidates
            .into_iter()
            .filter(|file| file.is_linked)
            .collect();
        for file in &linked {
            disk.watched.add(&file.path);
        }
        let carrying = linked.iter().filter(|file| file.carries_hooks());
        let carriers: Places = carrying
            .filter_map(|file| GuardedDir::file(&file.path))
            .collect();
        let is_wide = reach == Reach::Machine;
        let places = guards.places().iter().chain(look.places.iter());
        for place in places.chain(carriers.iter()) {
            let (dir, names) = place.way();
            disk.follow(dir, &names.collect::<Vec<_>>(), is_wide);
        }
        let folders = GuardedDir::all(roots, of_agents());
        for guarded in folders.filter(|guarded| is_wide || guarded.dir == roots.project) {
            for name in &guarded.names {
                let names: Vec<_> = name.names().collect();
                for folder in disk.follow(&guarded.dir, &names, is_wide) {
                    if disk.is_dir(&folder) {
                        disk.enter(&folder);
                    }
                }
            }
        }
        let running = guards.running();
        let mut scripts = running.programs.clone();
        for dir in &running.hooks {
            scripts.extend(disk.enter(dir));
        }
        let mut targets: Vec<GuardedDir> = Vec::new();
        if is_wide {
            for script in &scripts {
                watched.add(script);
                let named = scripts_of(script, roots);
                targets.extend(named.iter().map(|path| GuardedDir::whole(path)));
            }
        }
        let links = watched.links.iter();
        targets.extend(links.map(|(_, target)| GuardedDir::whole(target)));
        Self {
            targets: targets.into_iter().collect(),
            words: linked.iter().map(|file| real(&file.path)).collect(),
        }
    }
}

impl Carriers {
    pub(super) fn new(grounds: &Grounds, watched: &mut Watched) -> Self {
        let roots = grounds.guards.roots();
        let candidates = front_matter::candidates(roots, &mut Disk::new(watched));
        let files = candidates.iter().filter(|file| {
            watched.add(&file.path);
            file.carries_hooks()
        });
        let files = files.filter_map(|file| GuardedDir::file(&file.path));
        Self(files.collect())
    }
}
