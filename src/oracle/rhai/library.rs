//! Library: a script's name to the script, in the project, in the user's folder, among those that come along.

use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;

use super::bundled::BUNDLED;
use super::error::ScriptError;
use super::script::MAX_SOURCE;
use super::script::Script;
use crate::diagnostic::SourceMap;
use crate::oracle::folded_name;
use crate::stamp::Stamp;

/// Where script oracles are looked for.
#[derive(Clone, Debug, Default)]
pub struct Library {
    root: PathBuf,
    directories: Vec<PathBuf>,
    /// The files that were read, as they were then; those that a copy of it reads are its own too.
    read: Arc<Mutex<Seen>>,
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
            read: Arc::default(),
        }
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
        let found = self.all().into_iter();
        found
            .into_iter()
            .find(|found| folded_name(&found.name) == folded)
    }

    /// Reads and compiles a script.
    ///
    /// # Errors
    /// It cannot be read or does not compile.
    pub fn load(&self, found: &Found) -> Result<Arc<Script>, ScriptError> {
        let script = if let Some(path) = &found.path {
            let shown = SourceMap::display_name(path, &self.root);
            self.seen().push((path.clone(), Stamp::at(path)));
            let source = read(path)
                .map_err(|e| ScriptError::of_file(&shown, format!("cannot be read: {e}")))?;
            Script::compile(&found.name, &shown, &source)?
        } else {
            let bundled = BUNDLED.iter().find(|bundled| bundled.name == found.name);
            let source = bundled.map_or("", |bundled| bundled.source);
            Script::compile(&found.name, &format!("ahp:{}.rhai", found.name), source)?
        };
        Ok(Arc::new(script))
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
