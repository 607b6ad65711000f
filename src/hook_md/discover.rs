//! Discovery: which hooks there are, reading no more of them than their front matter.

use std::fs;
use std::io;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::str::Utf8Error;
use std::sync::Arc;

use rayon::iter::{IntoParallelIterator as _, ParallelIterator as _};

use super::cache::{Cache, Reading};
use super::listing::{Found, list};
use super::{BrokenHook, FrontMatter, Hook, Hooks, Origin, parse};
use crate::diagnostic::SourceMap;
use crate::stamp::Stamp;

/// How much of a `HOOK.md` is read: front matter is far smaller.
const MAX_FRONT_MATTER: u64 = 64 << 10;

/// From how many files on it pays to read them on several threads.
const MANY: usize = 64;

/// One directory with hook folders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The directory.
    pub dir: PathBuf,
    /// Whose it is.
    pub origin: Origin,
    /// Whether only its hooks that are locked run by themselves; the others are there for whoever binds them.
    pub only_locked: bool,
}

impl Place {
    const fn new(dir: PathBuf, origin: Origin) -> Self {
        let only_locked = false;
        Self {
            dir,
            origin,
            only_locked,
        }
    }
}

/// Where hooks are looked for, in the order in which they run.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// The directories.
    pub dirs: Vec<Place>,
    /// Where readings are kept between processes: the user's cache directory.
    pub cache_dir: Option<PathBuf>,
}

impl Places {
    /// Makes the usual places: the user's own directory, then the project's.
    pub fn new(user_hooks: Option<&Path>, root: &Path) -> Self {
        let user = user_hooks.map(|dir| Place::new(dir.to_owned(), Origin::User));
        let project = Place::new(root.join(".agents/hooks"), Origin::Project);
        Self {
            dirs: user.into_iter().chain(std::iter::once(project)).collect(),
            ..Self::default()
        }
    }

    /// Adds, before all others, the hooks of the signed bundle in force.
    #[must_use]
    pub fn bundled(mut self, dir: PathBuf) -> Self {
        self.dirs.insert(0, Place::new(dir, Origin::Bundle));
        self
    }

    /// Leaves only what a project cannot switch off: the user's own hooks that are locked.
    #[must_use]
    pub fn locked(mut self) -> Self {
        self.dirs.retain(|place| !place.origin.is_of_project());
        let places = self.dirs.iter_mut();
        places.for_each(|place| place.only_locked = place.origin != Origin::Bundle);
        self
    }

    /// Adds a directory that settings name; `of_project` says whether those are the project's.
    #[must_use]
    pub fn further(self, dir: PathBuf, of_project: bool) -> Self {
        if of_project {
            self.named(dir, Origin::FurtherOfProject)
        } else {
            self.named(dir, Origin::Further)
        }
    }

    /// Adds a directory that the settings of a layer name.
    #[must_use]
    pub fn named(mut self, dir: PathBuf, origin: Origin) -> Self {
        self.dirs.push(Place::new(dir, origin));
        self
    }

    /// Adds a directory that an earlier layer names and a later one does not: what is locked in it stays, and so does what
    /// a locked binding runs.
    #[must_use]
    pub fn held(mut self, dir: PathBuf, origin: Origin) -> Self {
        self.dirs.push(Place {
            only_locked: true,
            ..Place::new(dir, origin)
        });
        self
    }

    /// Sets where readings are kept between processes.
    #[must_use]
    pub fn cached_in(mut self, dir: Option<PathBuf>) -> Self {
        self.cache_dir = dir;
        self
    }
}

/// Finds the hooks of all places and settles which of equal names counts.
pub fn discover(places: &Places) -> Hooks {
    let mut hooks = Hooks::default();
    for place in &places.dirs {
        let listed = list(&place.dir);
        if let Ok(found) = &listed {
            hooks.seen(found.iter().map(|found| (found.file.clone(), found.stamp)));
        }
        // What the machine's owner wrote is not taken from a place that the user can write to. Beside a bundle only who puts it
        // in force can write.
        let cache = match place.origin {
            Origin::Bundle => place.dir.ancestors().nth(2),
            origin if origin.layer().is_of_machine() => None,
            _ => places.cache_dir.as_deref(),
        };
        for (folder, reading) in read_place(place, listed, cache) {
            let dir = place.dir.join(&folder);
            match reading {
                Reading::Broken { .. } if place.only_locked => {}
                Reading::Valid(front) => {
                    let hook = Hook {
                        front,
                        dir,
                        origin: place.origin,
                    };
                    if place.only_locked && !hook.is_locked() {
                        hooks.set_aside(Arc::new(hook));
                    } else {
                        hooks.add(hook);
                    }
                }
                Reading::Broken {
                    trigger,
                    is_meant,
                    faults,
                } => hooks.add_broken(BrokenHook {
                    name: folder,
                    dir,
                    origin: place.origin,
                    trigger,
                    is_meant,
                    faults,
                }),
            }
        }
    }
    hooks
}

/// Whether the hooks of all places are still those that were found.
pub fn is_current(hooks: &Hooks, places: &Places) -> bool {
    let listed = places.dirs.iter().filter_map(|place| list(&place.dir).ok());
    let now = listed.flatten().map(|found| (found.file, found.stamp));
    now.eq(hooks.all_seen().iter().cloned())
}

fn read_place(
    place: &Place,
    listed: io::Result<Vec<Found>>,
    cache_dir: Option<&Path>,
) -> Vec<(String, Reading)> {
    let found = match listed {
        Ok(found) => found,
        Err(error) => {
            let fault = format!("{}: cannot be read: {error}", place.dir.display());
            let broken = Reading::Broken {
                trigger: None,
                is_meant: true,
                faults: Arc::new([fault]),
            };
            return vec![(String::new(), broken)];
        }
    };
    let (found, faulty): (Vec<_>, Vec<_>) =
        found.into_iter().partition(|found| found.fault.is_none());
    let faulty = faulty.into_iter().filter_map(|found| {
        let reading = found.fault?.reading(&found.file);
        Some((found.folder, reading))
    });
    if found.is_empty() {
        return faulty.collect();
    }
    let mut cache = Cache::load(cache_dir, &place.dir);
    let known: Vec<Option<Reading>> = found
        .iter()
        .map(|f| cache.take(&f.folder, f.stamp))
        .collect();
    let missing = known.iter().filter(|reading| reading.is_none()).count();
    let complete = |(found, known): (Found, Option<Reading>)| {
        let reading = known.unwrap_or_else(|| read(&found));
        (found, reading)
    };
    let pairs = found.into_iter().zip(known).collect::<Vec<_>>();
    let readings: Vec<(Found, Reading)> = if missing < MANY {
        pairs.into_iter().map(complete).collect()
    } else {
        pairs.into_par_iter().map(complete).collect()
    };
    if missing > 0 {
        let entries = readings.iter();
        let entries: Vec<_> = entries
            .map(|(found, reading)| (found.folder.as_str(), found.stamp, reading))
            .collect();
        cache.store(&place.dir, &entries);
    }
    readings
        .into_iter()
        .map(|(found, reading)| (found.folder, reading))
        .chain(faulty)
        .collect()
}

fn read(found: &Found) -> Reading {
    // With room for all of it and one more byte, the end is found by the second read.
    let size = found.stamp.size().min(MAX_FRONT_MATTER);
    let mut bytes = Vec::with_capacity(usize::try_from(size).map_or(0, |size| size + 1));
    let read = fs::File::open(&found.file)
        .and_then(|file| file.take(MAX_FRONT_MATTER).read_to_end(&mut bytes));
    let shown = found.file.display().to_string();
    let broken = |fault: String| Reading::Broken {
        trigger: None,
        is_meant: true,
        faults: Arc::new([fault]),
    };
    if let Err(error) = read {
        return broken(format!("{shown}: cannot be read: {error}"));
    }
    let (text, error) = readable(&bytes);
    let mut sources = SourceMap::default();
    let file = sources.add(shown.as_str(), "");
    let parsed = parse(text, &found.folder, file);
    // The end may lie inside a letter, where only a part was read.
    let garbled = error.filter(|error| error.error_len().is_some());
    match (parsed.front, garbled) {
        // Behind the front matter stand words for people.
        (Some(front), _) => Reading::Valid(front),
        (None, Some(error)) => {
            let at = error.valid_up_to();
            broken(format!("{shown}: not UTF-8 text, from byte {at} on"))
        }
        (None, None) => Reading::Broken {
            trigger: parsed.trigger,
            is_meant: true,
            faults: parsed
                .diagnostics
                .iter()
                .filter(|fault| fault.is_error())
                .map(|fault| fault.one_line(&sources))
                .collect(),
        },
    }
}

/// Returns a file as far as it is text, and what is behind that: where it is beyond the front matter, it harms nothing.
pub fn readable(bytes: &[u8]) -> (&str, Option<Utf8Error>) {
    match std::str::from_utf8(bytes) {
        Ok(text) => (text, None),
        Err(error) => {
            let valid = bytes.get(..error.valid_up_to()).unwrap_or_default();
            (std::str::from_utf8(valid).unwrap_or_default(), Some(error))
        }
    }
}

/// Reads the front matter of the hook in a folder; none where there is no valid one.
pub(super) fn front_of(dir: &Path, name: &str) -> Option<FrontMatter> {
    let file = super::hook_file(dir)?;
    let stamp = Stamp::at(&file)?;
    let found = Found {
        folder: name.to_owned(),
        file,
        stamp,
        fault: None,
    };
    match read(&found) {
        Reading::Valid(front) => Some(front),
        Reading::Broken { .. } => None,
    }
}
