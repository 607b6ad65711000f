//! Guarded: the files that no agent may change.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use foldhash::fast::RandomState;

use super::binary::NAMES;
use super::look::{Carriers, Grounds, LastLook, Links, Look, Reach, Seen};
use super::{binary, front_matter};
use crate::glob::shell_glob;
use crate::guard::{GuardedDir, GuardedPlace, Guards, Places, components};
use crate::place::Roots;
use crate::shell::{Analysis, Effect, PathEffect, is_pattern, lexical, real};
use crate::workspace::Workspace;

/// Names that are ours wherever they lie in the project or home: a nested `.ahp` is a policy of its own.
pub(super) const OURS: &[&[&str]] = &[&[".ahp"], &[".agents", "hooks"]];

/// Files of ours that are told by their name where the directory is not known.
const TELLING: &[&str] = &["hooks.yaml", "hooks.local.yaml", "signals.jsonl"];

/// Files of ours that a search may meet.
const FILES: &[&str] = &["hook.md", "hooks.local.yaml", "hooks.yaml", "signals.jsonl"];

/// Folders to which search paths lead, by their last names: those of packages and of managers of versions too.
pub(super) const SEARCHED: &[&str] = &[".bin", "bin", "shims"];

/// The files that no agent may change.
#[derive(Debug)]
pub(super) struct Guarded<'a> {
    last: &'a LastLook,
    /// Asked where git may tell that what is guarded stays.
    pub(super) workspace: &'a dyn Workspace,
    /// Taken when something would first be changed, which most commands do not.
    look: OnceCell<Arc<Seen<Look>>>,
    /// Taken when something is asked about that a guarded place may lead to.
    links: OnceCell<Arc<Seen<Links>>>,
    /// Taken when that lies outside of the project.
    far_links: OnceCell<Arc<Seen<Links>>>,
    /// Taken when something is asked about that a file with hooks at its head may be.
    carriers: OnceCell<Arc<Seen<Carriers>>>,
    /// What is known of the paths of this event.
    kinds: RefCell<HashMap<OsString, Kind, RandomState>>,
    grounds: Grounds,
    /// What was made of scripts that are judged for more than one thing.
    scripts: RefCell<Vec<(Script, Arc<Analysis>)>>,
}

/// A script: its interpreter, its text, and where it would run.
pub(super) type Script = (String, String, PathBuf);

/// What lies at a path.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    Link,
    Nothing,
    Other,
}

impl<'a> Guarded<'a> {
    pub(super) fn new(
        guards: &Arc<Guards>,
        further: &[String],
        last: &'a LastLook,
        workspace: &'a dyn Workspace,
    ) -> Self {
        let roots = guards.roots();
        let lies = |path: &String| lexical(path, &roots.project, roots.home.as_deref());
        Self {
            last,
            workspace,
            look: OnceCell::new(),
            links: OnceCell::new(),
            far_links: OnceCell::new(),
            carriers: OnceCell::new(),
            kinds: RefCell::default(),
            scripts: RefCell::default(),
            grounds: Grounds {
                further: further.iter().map(lies).collect(),
                guards: guards.clone(),
            },
        }
    }

    pub(super) fn roots(&self) -> &Roots {
        self.grounds.guards.roots()
    }

    pub(super) fn root(&self) -> &Path {
        &self.roots().project
    }

    pub(super) fn home(&self) -> Option<&Path> {
        self.grounds.guards.roots().home.as_deref()
    }

    /// Returns what a script would run, which is found out once.
    pub(super) fn analysed(
        &self,
        script: Script,
        analyse: impl FnOnce(&Script) -> Analysis,
    ) -> Arc<Analysis> {
        let mut scripts = self.scripts.borrow_mut();
        if let Some((_, known)) = scripts.iter().find(|(known, _)| *known == script) {
            return known.clone();
        }
        let found = Arc::new(analyse(&script));
        scripts.push((script, found.clone()));
        found
    }

    /// Returns what no agent may even read.
    pub(super) fn unread(&self) -> impl Iterator<Item = GuardedDir> {
        self.grounds.guards.unread()
    }

    /// Whether git asks `ahp` by hooks of the repository.
    pub(super) fn has_wires(&self) -> bool {
        self.look().of_git.has_wires()
    }

    pub(super) fn look(&self) -> &Look {
        let look = |watched: &mut _| Look::new(&self.grounds, watched);
        self.look
            .get_or_init(|| self.last.look.get(&self.grounds, look))
    }

    /// Returns what guarded places lead to through links, as far as a path may be that.
    pub(super) fn links(&self, path: &Path) -> &Links {
        let is_device = path.parent() == Some(Path::new("/dev"));
        let is_near = path.is_relative() || path.starts_with(self.root()) || is_device;
        let (seen, last, reach) = if is_near {
            (&self.links, &self.last.links, Reach::Project)
        } else {
            (&self.far_links, &self.last.far_links, Reach::Machine)
        };
        let look = |watched: &mut _| Links::new(&self.grounds, self.look(), reach, watched);
        seen.get_or_init(|| last.get(&self.grounds, look))
    }

    /// Returns all places of which one may be what a path names that is given by its names, or lie below it.
    pub(super) fn places(
        &self,
        names: &[String],
        looks_below: bool,
    ) -> impl Iterator<Item = &Places> {
        let look = |watched: &mut _| Carriers::new(&self.grounds, watched);
        let carriers = move || self.last.carriers.get(&self.grounds, look);
        let carriers = front_matter::may_meet(&self.look().ways, names, looks_below)
            .then(|| &self.carriers.get_or_init(carriers).0);
        [self.grounds.guards.places(), &self.look().places]
            .into_iter()
            .chain(carriers)
    }

    /// Whether a file is our own program, by whatever name.
    pub(super) fn is_own(&self, path: &Path) -> bool {
        !matches!(self.kind(path), Kind::Nothing) && binary::is_one(&self.look().own, path)
    }

    /// Returns what is guarded and would be changed by an effect.
    pub(super) fn hit(&self, effect: &PathEffect) -> Option<PathBuf> {
        let takes_all = effect.recursive
            && matches!(
                effect.effect,
                Effect::Delete | Effect::Move | Effect::Rights
            );
        // From elsewhere comes what a folder does not have yet.
        let is_filled = effect.recursive && effect.effect == Effect::Restore;
        // A policy of a part of the project lies in the folder of that part.
        let nested = || {
            let ours = effect.path.join(".ahp");
            let is_there =
                takes_all && !matches!(self.kind(&ours.join("hooks.yaml")), Kind::Nothing);
            (is_there && self.look().is_ours(&ours)).then_some(ours)
        };
        self.found(&effect.path, takes_all, effect.inexact, true)
            .or_else(nested)
            .or_else(|| {
                is_filled
                    .then(|| self.held(&effect.path, effect.inexact))
                    .flatten()
            })
    }

    /// Returns what is guarded and is, or lies at or below, this path.
    pub(super) fn covers(&self, path: &Path) -> Option<PathBuf> {
        self.found(path, false, false, true)
    }

    /// Returns the same for a word that may name a file to its program.
    pub(super) fn covers_word(&self, path: &Path) -> Option<PathBuf> {
        self.found(path, false, false, false)
    }

    /// Returns the same for a pattern that the shell would match against file names.
    pub(super) fn covers_pattern(&self, path: &Path) -> Option<PathBuf> {
        self.found(path, false, true, false)
    }

    fn found(
        &self,
        path: &Path,
        takes_all: bool,
        inexact: bool,
        is_known_to_write: bool,
    ) -> Option<PathBuf> {
        if leads_through_descriptor(path) {
            return Some(path.to_owned());
        }
        let moved = self.moved(path);
        let (path, inexact) = match &moved {
            // What is known now is what it names.
            Some(path) => (path.as_path(), inexact && is_pattern(path, self.root())),
            None => (path, inexact),
        };
        let followed = self.followed(path);
        // Most words of a command line name nothing; such a one lies at most in a directory that a guarded name leads to,
        // and one that leads to the project itself, or above it, guards no more than its name.
        let leads = || {
            is_known_to_write
                || inexact
                || !matches!(self.kind(path), Kind::Nothing)
                || path
                    .parent()
                    .is_none_or(|dir| !is_at_or_below(self.root(), dir))
        };
        let meets = |path: &Path| {
            let names = components(path);
            self.meets(path, &names, takes_all, inexact).or_else(|| {
                let links = leads().then(|| self.links(path))?;
                along(&links.targets, &names, takes_all, inexact)
            })
        };
        meets(path).or_else(|| meets(&followed?))
    }

    /// Returns the path that one means which begins with a variable that moves a place: `$CODEX_HOME/config.toml`.
    fn moved(&self, path: &Path) -> Option<PathBuf> {
        if !path.as_os_str().as_encoded_bytes().contains(&b'$') {
            return None;
        }
        let mut names = path.components();
        let dir = names.find_map(|name| {
            let name = name.as_os_str().to_str()?.strip_prefix('$')?;
            let bare = name
                .strip_prefix('{')
                .and_then(|name| name.strip_suffix('}'));
            let mut moved = self.roots().moved.iter();
            moved.find(|(variable, _)| *variable == bare.unwrap_or(name))
        });
        dir.map(|(_, dir)| dir.join(names.as_path()))
    }

    /// Returns where a path really lies, unless that is where it says.
    pub(super) fn followed(&self, path: &Path) -> Option<PathBuf> {
        let followed = match self.look().above(path) {
            Some((dir, below)) => {
                if self.passes_link(path, &dir.path, below) {
                    real(path)
                } else if dir.is_real {
                    return None;
                } else {
                    dir.real.join(below)
                }
            }
            None => real(path),
        };
        (followed != path).then_some(followed)
    }

    /// Whether there is a link on the way from a directory down to a path.
    fn passes_link(&self, path: &Path, dir: &Path, below: &Path) -> bool {
        let mut names = below.iter();
        if names.next().is_some() && names.next().is_none() {
            return matches!(self.kind(path), Kind::Link);
        }
        let mut path = dir.to_owned();
        for part in below {
            path.push(part);
            match self.kind(&path) {
                Kind::Link => return true,
                Kind::Nothing => return false,
                Kind::Other => {}
            }
        }
        false
    }

    pub(super) fn kind(&self, path: &Path) -> Kind {
        let mut kinds = self.kinds.borrow_mut();
        if let Some(known) = kinds.get(path.as_os_str()) {
            return *known;
        }
        let kind = match fs::symlink_metadata(path) {
            Ok(found) if found.is_symlink() => Kind::Link,
            Ok(_) => Kind::Other,
            Err(_) => Kind::Nothing,
        };
        kinds.insert(path.as_os_str().to_owned(), kind);
        kind
    }

    fn meets(
        &self,
        path: &Path,
        parts: &[String],
        takes_all: bool,
        inexact: bool,
    ) -> Option<PathBuf> {
        if self.is_ours(path, parts) || parts.is_empty() && takes_all && path.has_root() {
            return Some(path.to_owned());
        }
        if let Some(name) = parts.last()
            && TELLING.contains(&name.as_str())
            && (inexact || path.is_relative())
        {
            return Some(path.to_owned());
        }
        // A tool of ours on the search path.
        if let [.., dir, name] = parts
            && NAMES.contains(&name.as_str())
            && SEARCHED.contains(&dir.as_str())
        {
            return Some(path.to_owned());
        }
        // `find` looks at every depth, and into what is hidden.
        if let Some(deep) = parts.iter().position(|part| part == "**") {
            let (above, below) = (parts.get(..deep)?, parts.last()?);
            let named = |name: &str| shell_glob(below.as_str(), name);
            let holds = |place: &GuardedPlace<'_>| {
                let path = place.path();
                place.exists()
                    && (place.last().is_some_and(|name| named(&name))
                        || (path.is_dir()
                            && FILES.iter().any(|f| named(f) && holds_file(&path, f))))
            };
            let targets = self.links(path).targets.iter();
            return self
                .places(above, true)
                .flat_map(Places::iter)
                .chain(targets)
                .find(|place| place.is_below(above) && holds(place))
                .map(|place| place.path());
        }
        let mut places = self.places(parts, takes_all);
        places.find_map(|places| along(places, parts, takes_all, inexact))
    }

    fn is_ours(&self, path: &Path, parts: &[String]) -> bool {
        let names_ours = OURS.iter().any(|names| {
            parts
                .windows(names.len())
                .any(|window| window.iter().zip(*names).all(|(a, b)| a == b))
        });
        names_ours && (path.is_relative() || self.look().is_ours(path))
    }
}

fn is_at_or_below(path: &Path, dir: &Path) -> bool {
    path.as_os_str() == dir.as_os_str() || path.starts_with(dir)
}

/// Returns which of some places is, or lies below or above, a path that is given by its names.
fn along(places: &Places, names: &[String], takes_all: bool, inexact: bool) -> Option<PathBuf> {
    if names.is_empty() {
        return None;
    }
    places
        .along(names, inexact)
        .find(|place| {
            // A pattern meets only what is there; so does what takes all below it away.
            let is_at = names.len() >= place.depth();
            (is_at && !inexact) || ((is_at || takes_all) && place.exists())
        })
        .map(|place| place.path())
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

/// Whether a path goes on behind a folder that the shell has opened, whichever that is: `/dev/fd/3/hooks.yaml`.
fn leads_through_descriptor(path: &Path) -> bool {
    let mut names = path.iter().filter_map(OsStr::to_str).skip(1);
    let is_of_system = matches!(names.next(), Some("dev" | "proc"));
    is_of_system && names.any(|name| name == "fd") && names.nth(1).is_some()
}
