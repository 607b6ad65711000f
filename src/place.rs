//! Place: a file or directory that decides over hooks, and where it lies for whoever has which variables set.

use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};

/// Whose settings they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// One person's, for all projects.
    User,
    /// A project's, for everybody who works on it.
    Project,
    /// A project's, for one person: not committed.
    Local,
    /// The machine's, for everybody who works on it: only its administrator changes them.
    System,
}

impl Scope {
    /// Every scope.
    pub const ALL: [Self; 4] = [Self::User, Self::Project, Self::Local, Self::System];

    /// Returns the name as it is written.
    pub const fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
            Self::Local => "local",
            Self::System => "system",
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The directory below which a place lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// The root of the project.
    Project,
    /// The person's home directory.
    Home,
    /// The machine: the path is absolute.
    Machine,
    /// The directory that an environment variable names; where it names none, `default` below the home directory.
    Variable {
        /// The variable.
        name: &'static str,
        /// Below the home directory; empty for that directory itself.
        default: &'static str,
    },
}

/// A file, or a directory with all below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Where it begins.
    pub base: Base,
    /// The path from there on; a name in it may hold `*`, which stands for any characters of that one name.
    pub path: &'static str,
}

impl Place {
    /// Makes a place of the project.
    pub const fn project(path: &'static str) -> Self {
        Self {
            base: Base::Project,
            path,
        }
    }

    /// Makes a place below the home directory that no variable moves.
    pub const fn home(path: &'static str) -> Self {
        Self {
            base: Base::Home,
            path,
        }
    }

    /// Makes a place of the machine; the path is absolute.
    pub const fn machine(path: &'static str) -> Self {
        Self {
            base: Base::Machine,
            path,
        }
    }

    /// Makes a place of the machine that lies elsewhere on macOS.
    pub const fn machine_or_mac(path: &'static str, mac: &'static str) -> Self {
        Self::machine(if cfg!(target_os = "macos") { mac } else { path })
    }

    /// Makes a place below the directory that a variable names, or else below `default` in the home directory.
    pub const fn moved(name: &'static str, default: &'static str, path: &'static str) -> Self {
        Self {
            base: Base::Variable { name, default },
            path,
        }
    }

    /// Makes a place in the directory of the person's configuration.
    pub const fn config(path: &'static str) -> Self {
        Self::moved("XDG_CONFIG_HOME", ".config", path)
    }

    /// Returns the variable that moves it.
    pub const fn variable(&self) -> Option<&'static str> {
        match self.base {
            Base::Variable { name, .. } => Some(name),
            Base::Project | Base::Home | Base::Machine => None,
        }
    }

    /// Returns its path as a person would write it, whatever is set where she works.
    pub fn shown(&self) -> String {
        match self.base {
            Base::Project | Base::Machine => self.path.to_owned(),
            Base::Home => format!("~/{}", self.path),
            Base::Variable { default, .. } => {
                format!("~/{}", Relative::under(default, self.path).joined())
            }
        }
    }
}

/// The directories below which places lie on this machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Roots {
    /// The root of the project.
    pub project: PathBuf,
    /// The person's home directory, where it is known.
    pub home: Option<PathBuf>,
    /// The root of the machine; empty for the real one.
    pub machine: PathBuf,
    /// The variables that are set, each with the absolute directory that it names.
    pub moved: Vec<(&'static str, PathBuf)>,
}

impl Roots {
    /// Makes the roots of a project and a person who has no variable set.
    pub fn new(project: impl Into<PathBuf>, home: Option<PathBuf>) -> Self {
        Self {
            project: project.into(),
            home,
            machine: PathBuf::new(),
            moved: Vec::new(),
        }
    }

    /// Returns where a place lies; none below a home directory that is not known.
    pub fn path(&self, place: &Place) -> Option<PathBuf> {
        // Where a variable is set, what it names comes first.
        let mut lies = self.lies(place);
        lies.find_map(|(dir, path)| Some(path.below(self.dir(dir)?)))
    }

    /// Returns every directory below which a place lies, with its path from there on: where its variable leads, and
    /// where it lies for whoever has that variable not set.
    pub fn all(&self, place: &Place) -> impl Iterator<Item = (&Path, Cow<'static, str>)> {
        let lies = self.lies(place);
        lies.filter_map(|(dir, path)| Some((self.dir(dir)?, path.joined())))
    }

    /// Returns the directories below which some places lie, each with the paths of all of them from there on.
    pub fn grouped<'a>(
        &self,
        places: impl Iterator<Item = &'a Place>,
    ) -> impl Iterator<Item = (&Path, Vec<Relative>)> {
        let mut groups = vec![Vec::new(); MOVED + self.moved.len()];
        for (dir, path) in places.flat_map(|place| self.lies(place)) {
            if let Some(group) = groups.get_mut(dir) {
                group.push(path);
            }
        }
        let groups = groups.into_iter().enumerate();
        groups.filter_map(|(dir, group)| Some((self.dir(dir)?, group)))
    }

    /// Returns by which of the directories a place lies, and its path from there on.
    fn lies(&self, place: &Place) -> impl Iterator<Item = (usize, Relative)> + use<> {
        let (moved, usual, above) = match place.base {
            Base::Project => (None, PROJECT, ""),
            Base::Home => (None, HOME, ""),
            Base::Machine => (None, MACHINE, ""),
            Base::Variable { name, default } => {
                let moved = self.moved.iter().position(|(moved, _)| *moved == name);
                (moved.map(|at| MOVED + at), HOME, default)
            }
        };
        let path = place.path.trim_start_matches('/');
        let moved = moved.map(|dir| (dir, Relative::from(path)));
        let usual = (usual, Relative::under(above, path));
        moved.into_iter().chain([usual])
    }

    fn dir(&self, dir: usize) -> Option<&Path> {
        match dir {
            PROJECT => Some(&self.project),
            HOME => self.home.as_deref(),
            MACHINE if self.machine.as_os_str().is_empty() => Some(Path::new("/")),
            MACHINE => Some(&self.machine),
            _ => self.moved.get(dir - MOVED).map(|(_, dir)| dir.as_path()),
        }
    }
}

/// The numbers of the directories; those that variables name come last.
const PROJECT: usize = 0;
const HOME: usize = 1;
const MACHINE: usize = 2;
const MOVED: usize = 3;

/// A path below a directory, which may be empty, in the two parts that a table has of it: they are put together only where
/// somebody asks for the whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Relative {
    above: &'static str,
    path: Cow<'static, str>,
}

impl<T: Into<Cow<'static, str>>> From<T> for Relative {
    fn from(path: T) -> Self {
        Self {
            above: "",
            path: path.into(),
        }
    }
}

impl Relative {
    const fn under(above: &'static str, path: &'static str) -> Self {
        Self {
            above,
            path: Cow::Borrowed(path),
        }
    }

    /// Returns its names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let names = self.above.split('/').chain(self.path.split('/'));
        names.filter(|name| !name.is_empty())
    }

    /// Returns with which byte the first name begins.
    pub fn first_byte(&self) -> Option<u8> {
        let path = [self.above, &self.path]
            .into_iter()
            .find(|path| !path.is_empty());
        path?.trim_start_matches('/').bytes().next()
    }

    /// Whether it stands for the directory itself.
    pub fn is_empty(&self) -> bool {
        self.above.is_empty() && self.path.is_empty()
    }

    /// Whether a name of it stands for many.
    pub fn is_pattern(&self) -> bool {
        self.path.contains('*')
    }

    /// Returns where it leads from a directory.
    pub fn below(&self, dir: &Path) -> PathBuf {
        if self.is_empty() {
            dir.to_owned()
        } else {
            dir.join(&*self.joined())
        }
    }

    fn joined(&self) -> Cow<'static, str> {
        match (self.above, &self.path) {
            ("", path) => path.clone(),
            (above, path) if path.is_empty() => above.into(),
            (above, path) => format!("{above}/{path}").into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_moves_a_place_and_its_usual_place_stays_known() {
        let place = Place::moved("CODEX_HOME", ".codex", "hooks.json");
        let mut roots = Roots::new("/p", Some("/h".into()));
        assert_eq!(roots.path(&place), Some("/h/.codex/hooks.json".into()));
        roots.moved.push(("CODEX_HOME", "/c".into()));
        assert_eq!(roots.path(&place), Some("/c/hooks.json".into()));
        let all: Vec<_> = roots
            .all(&place)
            .map(|(dir, name)| dir.join(&*name))
            .collect();
        assert_eq!(
            all,
            [
                Path::new("/c/hooks.json"),
                Path::new("/h/.codex/hooks.json")
            ]
        );
        assert_eq!(place.shown(), "~/.codex/hooks.json");
        roots.home = None;
        assert_eq!(roots.path(&Place::home(".x")), None);
        assert_eq!(roots.path(&Place::moved("X", "", ".x")), None);
    }
}
