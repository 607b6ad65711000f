//! Library: a script's name to the script, in the project, in the user's folder, among those that come along.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::bundled::BUNDLED;
use super::error::ScriptError;
use super::script::{MAX_SOURCE, Script};
use crate::config::{Approved, Locations};
use crate::diagnostic::SourceMap;
use crate::oracle::folded_name;
use crate::stamp::Stamp;

/// Where script oracles are looked for.
#[derive(Clone, Debug, Default)]
pub struct Library {
    root: PathBuf,
    directories: Vec<PathBuf>,
    /// What was approved of the project's scripts, read where one of them is.
    approved: Option<Arc<HeldTo>>,
    /// The files that were read, as they were then; those that a copy of it reads are its own too.
    read: Arc<Mutex<Seen>>,
}

/// What the scripts of a project are held to.
#[derive(Debug)]
struct HeldTo {
    locations: Locations,
    approved: OnceLock<Option<Approved>>,
    /// The scripts that have changed since.
    held: Mutex<BTreeSet<String>>,
}

impl HeldTo {
    fn approved(&self) -> Option<&Approved> {
        let read = || Approved::read(&self.locations);
        self.approved.get_or_init(read).as_ref()
    }

    /// Returns the script that a name meant when it was approved, in whatever way the name is written.
    fn locate(&self, folded: &str) -> Option<Found> {
        let mut paths = self.approved()?.scripts();
        let path = paths.find(|path| folded_name(&stem(path)) == folded)?;
        Some(Found {
            name: stem(path),
            path: Some(path.to_owned()),
        })
    }

    /// Returns the text that was approved of a script, where it is another than the one that lies there.
    fn instead(&self, path: &Path, shown: &str, now: &str) -> Option<String> {
        let text = self.approved()?.held_script(path, now)?;
        self.held().insert(shown.to_owned());
        Some(text.to_owned())
    }

    fn held(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Files, each with the state in which it was read.
type Seen = Vec<(PathBuf, Option<Stamp>)>;

/// A script that is there, whether it compiles or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The name: the file's name without `.rhai`.
    pub name: String,
    /// The file; none for one that the program carries in itself.
    pub path: Option<PathBuf>,
}

impl Library {
    /// Makes the library of a project: `directories` (relative ones stand against `root`) in their order, then the
    /// scripts that the program carries in itself.
    pub fn new(root: &Path, directories: impl IntoIterator<Item = PathBuf>) -> Self {
        Self {
            root: root.to_owned(),
            directories: directories.into_iter().map(|dir| root.join(dir)).collect(),
            approved: None,
            read: Arc::default(),
        }
    }

    /// Holds the scripts of a project to what was approved of them: one that was changed since speaks as it did then.
    #[must_use]
    pub fn held_to_approved(mut self, locations: &Locations) -> Self {
        self.approved = Some(Arc::new(HeldTo {
            locations: locations.clone(),
            approved: OnceLock::new(),
            held: Mutex::default(),
        }));
        self
    }

    /// Returns the scripts that were asked for, and speak as they were approved and not as they lie there.
    pub fn held(&self) -> Vec<String> {
        let approved = self.approved.as_ref();
        approved.map_or_else(Vec::new, |approved| {
            approved.held().iter().cloned().collect()
        })
    }

    /// Returns the directories in which scripts are looked for, in their order.
    pub fn directories(&self) -> impl Iterator<Item = &Path> {
        self.directories.iter().map(PathBuf::as_path)
    }

    /// Finds a script by its name or path; none where there is no such script.
    ///
    /// # Errors
    /// The script cannot be read or does not compile.
    pub fn find(&self, name: &str) -> Result<Option<Arc<Script>>, ScriptError> {
        match self.locate(name) {
            Some(found) => self.load(&found).map(Some),
            None => Ok(None),
        }
    }

    /// Finds the file of a script by its name or path.
    pub fn locate(&self, name: &str) -> Option<Found> {
        if name.contains('/') || has_extension(Path::new(name)) {
            let path = self.root.join(name);
            return path.is_file().then(|| Found {
                name: stem(&path),
                path: Some(path),
            });
        }
        let folded = folded_name(name);
        let held = self.approved.as_deref();
        if let Some(found) = held.and_then(|held| held.locate(&folded)) {
            return Some(found);
        }
        let mut found = self.all().into_iter();
        let is_meant = |found: &Found| folded_name(&found.name) == folded;
        let first = found.find(is_meant)?;
        // What nobody has approved does not take the place of what the program carries in itself.
        let is_new = first
            .path
            .as_ref()
            .is_some_and(|path| path.starts_with(&self.root));
        let held = held.filter(|held| is_new && held.approved().is_some());
        let mut carried = || found.find(|other| other.path.is_none() && is_meant(other));
        match held.and_then(|held| Some((held, carried()?))) {
            Some((held, carried)) => {
                let path = first.path.unwrap_or_default();
                held.held()
                    .insert(SourceMap::display_name(&path, &self.root));
                Some(carried)
            }
            None => Some(first),
        }
    }

    /// Reads and compiles a script.
    ///
    /// # Errors
    /// It cannot be read or does not compile.
    pub fn load(&self, found: &Found) -> Result<Arc<Script>, ScriptError> {
        let script = if let Some(path) = &found.path {
            let shown = SourceMap::display_name(path, &self.root);
            let source = self.source(path, &shown);
            let source =
                source.map_err(|e| ScriptError::of_file(&shown, format!("cannot be read: {e}")))?;
            Script::compile(&found.name, &shown, &source)?
        } else {
            let bundled = BUNDLED.iter().find(|bundled| bundled.name == found.name);
            let source = bundled.map_or("", |bundled| bundled.source);
            Script::compile(&found.name, &format!("ahp:{}.rhai", found.name), source)?
        };
        Ok(Arc::new(script))
    }

    /// Returns the file and the text of a script that does not come along; none where there is none, or it cannot be read.
    pub fn own(&self, name: &str) -> Option<(PathBuf, String)> {
        let path = self.locate(name)?.path?;
        let shown = SourceMap::display_name(&path, &self.root);
        let source = self.source(&path, &shown).ok()?;
        Some((path, source))
    }

    /// Reads a script: as it was approved, where it is held to that.
    fn source(&self, path: &Path, shown: &str) -> std::io::Result<String> {
        self.seen().push((path.to_owned(), Stamp::at(path)));
        let read = read(path);
        let approved = self.approved.as_ref();
        let now = read.as_deref().unwrap_or_default();
        let instead = approved.and_then(|approved| approved.instead(path, shown, now));
        instead.map_or(read, Ok)
    }

    /// Whether every file that was read is still as it was.
    pub(crate) fn is_current(&self) -> bool {
        let is_same = |(path, then): &(PathBuf, Option<Stamp>)| Stamp::at(path) == *then;
        self.seen().iter().all(is_same)
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.read.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns every script that is there, nearest first; where two have one name, the nearer one is meant.
    pub fn all(&self) -> Vec<Found> {
        let mut all = Vec::new();
        for directory in &self.directories {
            let Ok(entries) = fs::read_dir(directory) else {
                continue;
            };
            let mut files: Vec<_> = entries
                .filter_map(|entry| Some(entry.ok()?.path()))
                .filter(|path| has_extension(path) && path.is_file())
                .collect();
            files.sort();
            all.extend(files.into_iter().map(|path| Found {
                name: stem(&path),
                path: Some(path),
            }));
        }
        all.extend(BUNDLED.iter().map(|bundled| Found {
            name: bundled.name.to_owned(),
            path: None,
        }));
        all
    }
}

fn has_extension(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension == "rhai")
}

fn stem(path: &Path) -> String {
    path.file_stem()
        .map(|stem| stem.to_string_lossy().into_owned())
        .unwrap_or_default()
}

fn read(path: &Path) -> std::io::Result<String> {
    let mut source = String::new();
    fs::File::open(path)?
        .take(MAX_SOURCE as u64 + 1)
        .read_to_string(&mut source)?;
    Ok(source)
}
