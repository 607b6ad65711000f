//! Reviewed: the policy of a project as somebody else has reviewed it, such as that of the branch that a change goes to.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::glob::glob;
use crate::shell::without_dots;

/// The texts of a project's layers, of the files that they extend, and of its scripts, by their places; and what else of the
/// repository is another there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reviewed {
    pub(super) texts: BTreeMap<PathBuf, String>,
    pub(super) scripts: BTreeMap<PathBuf, String>,
    /// Scripts that a binding names by their path, or that lie behind a link.
    pub(super) bound: BTreeMap<PathBuf, String>,
    /// The `HOOK.md` of each hook of the project by its folder.
    pub(super) hooks: BTreeMap<PathBuf, String>,
    /// The files of the repository that are another now, or gone, or new; without links in the way to them.
    pub(super) differing: BTreeSet<PathBuf>,
    /// The root of the project, and the same without links in the way to it.
    pub(super) root: (PathBuf, PathBuf),
    /// Which folder the change makes the project in its place.
    pub(super) moved_to: Option<PathBuf>,
}

impl Reviewed {
    /// Whether there is nothing to hold anybody to.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty() && self.hooks.is_empty()
    }

    /// Returns the layers, scripts and hooks that are another now, not there any more, or new.
    pub fn changed(&self, now: &Self) -> BTreeSet<PathBuf> {
        let mut changed = BTreeSet::new();
        for (then, now) in [(&self.texts, &now.texts), (&self.scripts, &now.scripts)] {
            let gone = then
                .iter()
                .filter(|(path, text)| now.get(*path) != Some(*text));
            let new = now.keys().filter(|path| !then.contains_key(*path));
            changed.extend(gone.map(|(path, _)| path).chain(new).cloned());
        }
        let bound = self.bound.keys().filter(|path| self.touch(path).is_some());
        let hooks = self.hooks.keys().filter_map(|dir| self.touch(dir));
        changed.extend(bound.cloned());
        changed.extend(hooks);
        changed
    }

    /// Returns a file that is another now: this one, one in this folder, or a link in the way to it. Where the last name of the path is
    /// a pattern, it stands for the files that it fits.
    pub fn touch(&self, path: &Path) -> Option<PathBuf> {
        let name = path.file_name()?.to_string_lossy();
        if name.contains(['*', '?']) {
            let dir = self.really(path.parent()?);
            let fits = |file: &&PathBuf| {
                let own = file.file_name().unwrap_or_default();
                file.parent() == Some(&dir) && glob(&name, &own.to_string_lossy())
            };
            let found = self.differing.iter().find(fits).cloned();
            return found
                .or_else(|| self.touch(path.parent()?))
                .map(|f| self.shown(&f));
        }
        let real = path.canonicalize().ok();
        let places = [Some(self.really(path)), real];
        let found = places.iter().flatten().find_map(|place| {
            let mut outer = place.ancestors();
            let outer = outer.find(|outer| self.differing.contains(*outer));
            let below = || {
                let mut from = self.differing.range(place.clone()..);
                from.next().filter(|file| file.starts_with(place))
            };
            outer.map(Path::to_owned).or_else(|| below().cloned())
        });
        found.map(|file| self.shown(&file))
    }

    /// Returns the folders of the hooks that the project had, with what their `HOOK.md` said.
    pub fn hooks(&self) -> impl Iterator<Item = (&Path, &str)> {
        let hooks = self.hooks.iter();
        hooks.map(|(dir, text)| (dir.as_path(), text.as_str()))
    }

    /// Whether a script speaks as it was reviewed, whatever lies there now.
    pub fn holds_script(&self, path: &Path) -> bool {
        self.scripts.contains_key(path) || self.bound.contains_key(path)
    }

    /// Notes which folder the change makes the project in the place of this one.
    #[must_use]
    pub fn moved_to(mut self, folder: Option<PathBuf>) -> Self {
        self.moved_to = folder;
        self
    }

    /// Returns the folder that the change makes the project in the place of this one.
    pub fn is_moved_to(&self) -> Option<&Path> {
        self.moved_to.as_deref()
    }

    /// Returns a path of the project without links in the way to its root.
    fn really(&self, path: &Path) -> PathBuf {
        let (root, real) = &self.root;
        let plain = without_dots(path);
        match plain.strip_prefix(root) {
            Ok(inside) => real.join(inside),
            Err(_) => plain,
        }
    }

    /// Returns a path below the root as others name it.
    fn shown(&self, path: &Path) -> PathBuf {
        let (root, real) = &self.root;
        match path.strip_prefix(real) {
            Ok(inside) => root.join(inside),
            Err(_) => path.to_owned(),
        }
    }
}
