//! Guarded: the files that no agent may change.

use std::cell::OnceCell;
use std::cell::RefCell;
use std::collections::HashMap;
use std::fs;
use std::path::Component;
use std::path::Path;
use std::path::PathBuf;

use super::names::OF_MACHINE;
use super::names::OF_PERSON;
use super::names::OF_PROJECT;
use crate::shell::Effect;
use crate::shell::PathEffect;
use crate::shell::lexical;
use crate::shell::real;

/// Names that are ours wherever they lie in the project or home: a nested `.ahp` is a policy of its own.
const OURS: &[&[&str]] = &[&[".ahp"], &[".agents", "hooks"]];

/// Files of ours that are told by their name where the directory is not known.
const TELLING: &[&str] = &["hooks.yaml", "hooks.local.yaml", "signals.jsonl"];

/// Files of ours that a search may meet.
const FILES: &[&str] = &["hook.md", "hooks.local.yaml", "hooks.yaml", "signals.jsonl"];

/// The files that no agent may change.
#[derive(Debug)]
pub(super) struct Guarded {
    more: Vec<PathBuf>,
    pub(super) root: PathBuf,
    pub(super) home: Option<PathBuf>,
    /// Made when something would first be changed, as is what follows.
    places: OnceCell<Vec<Place>>,
    /// What guarded names lead to, which is guarded by its own name too.
    targets: OnceCell<Vec<Named>>,
    /// Where directories lead to: many words of a command line lie in one.
    followed: RefCell<HashMap<PathBuf, PathBuf>>,
}

/// A path with its names.
#[derive(Debug)]
struct Named {
    path: PathBuf,
    names: Vec<String>,
}

/// A directory, and what is guarded below it.
#[derive(Debug)]
struct Place {
    dir: Named,
    guarded: &'static [&'static str],
}

/// What is asked about: a path by its names, and how they are meant.
#[derive(Clone, Copy)]
struct Asked<'a> {
    path: &'a Path,
    names: &'a [String],
    takes_all: bool,
    inexact: bool,
}

impl Named {
    fn new(path: PathBuf) -> Self {
        Self {
            names: components(&path),
            path,
        }
    }
}

impl Guarded {
    pub(super) fn new(root: &Path, home: Option<&Path>, state_dir: &Path, more: &[String]) -> Self {
        let mut others: Vec<PathBuf> = more.iter().map(|p| lexical(p, root, home)).collect();
        others.push(state_dir.to_owned());
        Self {
            more: others,
            root: root.to_owned(),
            home: home.map(Path::to_owned),
            places: OnceCell::new(),
            targets: OnceCell::new(),
            followed: RefCell::default(),
        }
    }

    fn places(&self) -> &[Place] {
        self.places.get_or_init(|| {
            let both = |dir: &Path| {
                let followed = self.follow_dir(dir);
                let differs = followed != dir;
                std::iter::once(dir.to_owned()).chain(differs.then_some(followed))
            };
            let place = |dir: PathBuf, guarded| Place {
                dir: Named::new(dir),
                guarded,
            };
            let mut places: Vec<Place> =
                self.more.iter().map(|p| place(p.clone(), &[""])).collect();
            places.push(place(PathBuf::from("/"), OF_MACHINE));
            places.extend(both(&self.root).map(|root| place(root, OF_PROJECT)));
            let homes = self.home.iter().flat_map(|home| both(home));
            places.extend(homes.map(|home| place(home, OF_PERSON)));
            places
        })
    }

    fn targets(&self) -> &[Named] {
        self.targets.get_or_init(|| {
            let is_there = |path: &Path| fs::symlink_metadata(path).is_ok();
            let mut targets = Vec::new();
            for place in self.places() {
                let mut last = ("", true);
                for name in place.guarded {
                    // Most lie, with others, in a directory that is not there.
                    if let Some((top, _)) = name.split_once('/') {
                        if last.0 != top {
                            last = (top, is_there(&place.dir.path.join(top)));
                        }
                        if !last.1 {
                            continue;
                        }
                    }
                    let path = place.path_of(name);
                    if path.is_symlink() {
                        targets.push(Named::new(real(&path)));
                    }
                }
            }
            targets
        })
    }

    /// Returns every guarded path that is known by its name.
    fn all(&self) -> impl Iterator<Item = Named> {
        self.places()
            .iter()
            .flat_map(|place| place.guarded.iter().map(|name| place.path_of(name)))
            .chain(self.targets().iter().map(|target| target.path.clone()))
            .map(Named::new)
    }

    /// Returns what is guarded and would be changed by an effect.
    pub(super) fn hit(&self, effect: &PathEffect) -> Option<PathBuf> {
        self.found(effect, true)
    }

    fn found(&self, effect: &PathEffect, is_known_to_write: bool) -> Option<PathBuf> {
        let path = &effect.path;
        let takes_all = effect.recursive
            && matches!(
                effect.effect,
                Effect::Delete | Effect::Move | Effect::Rights
            );
        let meets = |path: &Path, leads: bool| {
            let names = components(path);
            let asked = Asked {
                path,
                names: &names,
                takes_all,
                inexact: effect.inexact,
            };
            let by_target = || leads.then(|| self.meets_target(asked)).flatten();
            self.meets(asked).or_else(by_target)
        };
        let found = fs::symlink_metadata(path);
        // Most words of a command line name nothing; such a one lies at most in a directory that a guarded name leads to,
        // and one that leads to the project itself, or above it, guards no more than its name.
        let leads = is_known_to_write
            || effect.inexact
            || found.is_ok()
            || path.parent().is_none_or(|dir| !self.root.starts_with(dir));
        meets(path, leads).or_else(|| {
            let is_link = found.is_ok_and(|meta| meta.is_symlink());
            let followed = match (path.parent(), path.file_name()) {
                (Some(dir), Some(name)) if !is_link && dir != Path::new("") => {
                    self.follow_dir(dir).join(name)
                }
                _ => real(path),
            };
            (followed != *path)
                .then(|| meets(&followed, leads))
                .flatten()
        })
    }

    fn follow_dir(&self, dir: &Path) -> PathBuf {
        if let Some(known) = self.followed.borrow().get(dir) {
            return known.clone();
        }
        let followed = real(dir);
        self.followed
            .borrow_mut()
            .insert(dir.to_owned(), followed.clone());
        followed
    }

    /// Returns what is guarded and is, or lies at or below, this path.
    pub(super) fn covers(&self, path: &Path) -> Option<PathBuf> {
        self.hit(&writing(path))
    }

    /// Returns the same for a word that may name a file to its program.
    pub(super) fn covers_word(&self, path: &Path) -> Option<PathBuf> {
        self.found(&writing(path), false)
    }

    fn meets(&self, asked: Asked<'_>) -> Option<PathBuf> {
        let Asked { path, names, .. } = asked;
        if self.is_ours(path, names) {
            return Some(path.to_owned());
        }
        if let Some(name) = names.last()
            && TELLING.contains(&name.as_str())
            && (asked.inexact || path.is_relative())
        {
            return Some(path.to_owned());
        }
        // A tool of ours on the search path.
        if let [.., dir, name] = names
            && name == "ahp"
            && dir == "bin"
        {
            return Some(path.to_owned());
        }
        // `find` looks at every depth, and into what is hidden.
        if let Some(deep) = names.iter().position(|part| part == "**") {
            let (above, below) = (names.get(..deep)?, names.last()?);
            let named = |name: &str| fast_glob::glob_match(below.as_str(), name);
            let holds = |guarded: &Named| {
                guarded.names.starts_with(above)
                    && guarded.path.exists()
                    && (guarded.names.last().is_some_and(|name| named(name))
                        || (guarded.path.is_dir()
                            && FILES
                                .iter()
                                .any(|f| named(f) && holds_file(&guarded.path, f))))
            };
            return self.all().find(holds).map(|guarded| guarded.path);
        }
        self.places().iter().find_map(|place| place.meets(asked))
    }

    fn meets_target(&self, asked: Asked<'_>) -> Option<PathBuf> {
        let wanted = |target: &Named| {
            asked.meets(target.names.iter().map(String::as_str), || {
                target.path.clone()
            })
        };
        self.targets().iter().find_map(wanted)
    }

    fn is_ours(&self, path: &Path, parts: &[String]) -> bool {
        let names_ours = OURS.iter().any(|names| {
            parts
                .windows(names.len())
                .any(|window| window.iter().zip(*names).all(|(a, b)| a == b))
        });
        let is_below = |dir: &Path| {
            dir.as_os_str().len() > 1 && (path.starts_with(dir) || path.starts_with(real(dir)))
        };
        names_ours
            && (path.is_relative()
                || is_below(&self.root)
                || self.home.as_deref().is_some_and(is_below))
    }
}

impl Place {
    fn path_of(&self, name: &str) -> PathBuf {
        if name.is_empty() {
            return self.dir.path.clone();
        }
        self.dir.path.join(name)
    }

    fn meets(&self, asked: Asked<'_>) -> Option<PathBuf> {
        let dir = &self.dir.names;
        let mut common = asked.names.iter().zip(dir);
        if !common.all(|(name, wanted)| fits(name, wanted, asked.inexact)) {
            return None;
        }
        // Most are told apart by how the first name below the directory begins.
        let first = asked.names.get(dir.len()).filter(|_| !asked.inexact);
        let may_meet = |name: &str| {
            let name = name.trim_start_matches('/');
            let begins = |first: &String| {
                let top = name.as_bytes().get(..first.len());
                top.is_some_and(|top| top.eq_ignore_ascii_case(first.as_bytes()))
            };
            name.is_empty() || first.is_none_or(begins)
        };
        let mut guarded = self.guarded.iter().filter(|name| may_meet(name));
        guarded.find_map(|name| {
            let below = name.split('/').filter(|name| !name.is_empty());
            let wanted = dir.iter().map(String::as_str).chain(below);
            asked.meets(wanted, || self.path_of(name))
        })
    }
}

impl Asked<'_> {
    /// Returns the guarded path of the wanted names where the asked one is it, or lies below or above it.
    fn meets<'w>(
        self,
        mut wanted: impl Iterator<Item = &'w str>,
        guarded: impl Fn() -> PathBuf,
    ) -> Option<PathBuf> {
        let mut names = self.names.iter();
        let is_common = names
            .by_ref()
            .zip(wanted.by_ref())
            .all(|(name, wanted)| fits(name, wanted, self.inexact));
        if !is_common || self.names.is_empty() {
            return None;
        }
        // A pattern meets only what is there; so does what takes all below it away.
        let is_at = wanted.next().is_none();
        let meets = (is_at && !self.inexact) || ((is_at || self.takes_all) && guarded().exists());
        meets.then(guarded)
    }
}

fn writing(path: &Path) -> PathEffect {
    PathEffect {
        path: path.to_owned(),
        effect: Effect::Write,
        program: String::new(),
        recursive: false,
        inexact: false,
    }
}

/// Returns what a folder holds that would be guarded in a project.
pub(super) fn guarded_in(dir: &Path) -> Option<&'static str> {
    let mut names = OF_PROJECT.iter().copied();
    names.find(|name| dir.join(name).exists())
}

/// Whether a guarded folder holds a file of ours: its policy beside it, a hook one folder down.
fn holds_file(dir: &Path, name: &str) -> bool {
    if name != "hook.md" {
        return dir.join(name).exists();
    }
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries
        .take(64)
        .any(|entry| entry.path().join("HOOK.md").exists())
}

/// Returns the names of a path in lower case: some file systems do not tell them apart.
fn components(path: &Path) -> Vec<String> {
    path.components()
        .filter_map(|component| match component {
            Component::Normal(name) => Some(name.to_string_lossy().to_lowercase()),
            _ => None,
        })
        .collect()
}

/// Whether a name, or the pattern that stands for it, can be the wanted one.
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
