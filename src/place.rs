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
            Base::Variable { default, .. } => format!("~/{}", joined(default, self.path)),
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
        self.all(place).next().map(|(dir, name)| {
            if name.is_empty() {
                dir.to_owned()
            } else {
                dir.join(&*name)
            }
        })
    }

    /// Returns every directory below which a place lies, with its path from there on: where its variable leads, and
    /// where it lies for whoever has that variable not set.
    pub fn all(&self, place: &Place) -> impl Iterator<Item = (&Path, Cow<'static, str>)> {
        let path = Cow::Borrowed(place.path);
        let (moved, usual) = match place.base {
            Base::Project => (None, Some((self.project.as_path(), path))),
            Base::Home => (None, self.home.as_deref().map(|home| (home, path))),
            Base::Machine if self.machine.as_os_str().is_empty() => {
                (None, Some((Path::new("/"), path)))
            }
            Base::Machine => {
                let below = Cow::Borrowed(place.path.trim_start_matches('/'));
                (None, Some((self.machine.as_path(), below)))
            }
            Base::Variable { name, default } => {
                let moved = self.moved.iter().find(|(moved, _)| *moved == name);
                let usual = self.home.as_deref();
                (
                    moved.map(|(_, dir)| (dir.as_path(), path)),
                    usual.map(|home| (home, joined(default, place.path))),
                )
            }
        };
        moved.into_iter().chain(usual)
    }
}

fn joined(dir: &'static str, path: &'static str) -> Cow<'static, str> {
    match (dir, path) {
        ("", path) => Cow::Borrowed(path),
        (dir, "") => Cow::Borrowed(dir),
        (dir, path) => Cow::Owned(format!("{dir}/{path}")),
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
