//! Unread: the files of ours that no agent may even read. Who has one of them can say what only this machine, or its person,
//! may say.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use foldhash::fast::RandomState;

use super::guarded::Guarded;
use super::judged::Judged;
use super::spelling;
use crate::config::UNREAD;
use crate::glob::shell_glob;
use crate::guard::{GuardedPlace, Places, components, matches};
use crate::regular_file::are_one;
use crate::shell::is_pattern;

/// The longest file that can be one of them, in bytes: of others, nothing more is asked.
const LONGEST: u64 = 128;

/// The files that no agent may read.
#[derive(Debug)]
pub(super) struct Unread<'a> {
    guarded: &'a Guarded<'a>,
    places: Places,
    /// What was looked at: a command names a path in more than one way.
    looked_at: RefCell<HashMap<PathBuf, Option<Hit>, RandomState>>,
}

/// What a path has to do with them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Hit {
    /// It is one of them, by one of its names.
    File(PathBuf),
    /// It is the folder in which they lie.
    Own(PathBuf),
    /// It is a folder further up, in which other programs keep something too.
    Above(PathBuf),
}

impl Hit {
    pub(super) fn path(self) -> PathBuf {
        match self {
            Self::File(path) | Self::Own(path) | Self::Above(path) => path,
        }
    }

    /// Returns it where whoever is given it could hardly want anything else.
    pub(super) fn told(self) -> Option<Self> {
        (!matches!(self, Self::Above(_))).then_some(self)
    }
}

impl<'a> Unread<'a> {
    pub(super) fn of(guarded: &'a Guarded<'a>) -> Self {
        Self {
            guarded,
            places: guarded.unread().collect(),
            looked_at: RefCell::default(),
        }
    }

    /// Looks at a path: by its words, and by what lies there, whatever it is called.
    pub(super) fn at(&self, path: &Path) -> Option<Hit> {
        if let Some(known) = self.looked_at.borrow().get(path) {
            return known.clone();
        }
        let found = self.look(path);
        let mut looked_at = self.looked_at.borrow_mut();
        looked_at.insert(path.to_owned(), found.clone());
        found
    }

    fn look(&self, path: &Path) -> Option<Hit> {
        let names = components(path);
        let mut along = self.places.along(&names, false);
        if let Some(place) = along.find(|place| place.depth() <= names.len()) {
            return Some(Hit::File(place.path()));
        }
        let found = fs::metadata(path).ok()?;
        if found.is_dir() {
            return self.above(&names).or_else(|| {
                let real = path.canonicalize().ok().filter(|real| real != path)?;
                self.above(&components(&real))
            });
        }
        let is_it = |place: &PathBuf| {
            let place = fs::metadata(place).ok();
            place.is_some_and(|it| are_one(&it, &found))
        };
        let may_be = found.is_file() && found.len() <= LONGEST;
        let mut places = self.places.iter().map(|place| place.path());
        may_be.then(|| places.find(is_it))?.map(Hit::File)
    }

    /// Looks at a folder that is there, by its names. What is not there yet cannot be read.
    fn above(&self, names: &[String]) -> Option<Hit> {
        let mut places = self.places.iter();
        let place = places.find(|place| place.is_below(names) && place.exists())?;
        if place.depth() == names.len() + 1 {
            return Some(Hit::Own(place.path()));
        }
        // Who works in a project that holds the home directory may search it.
        let is_project = components(self.guarded.root()) == names;
        (!is_project).then(|| Hit::Above(place.path()))
    }

    /// Looks at a pattern, which meets only what is there.
    pub(super) fn met(&self, pattern: &Path) -> Option<Hit> {
        let names = components(pattern);
        if names.iter().any(|name| name == "**") {
            let pattern = format!("/{}", names.join("/"));
            let mut places = self.places.iter();
            return places
                .find(|place| {
                    let path = components(&place.path()).join("/");
                    place.exists() && shell_glob(&pattern, &format!("/{path}"))
                })
                .map(|place| Hit::File(place.path()));
        }
        let mut along = self.places.along(&names, true);
        let Some(place) = along.find(GuardedPlace::exists) else {
            // A link may be among what it meets.
            return matches(PathBuf::new(), pattern.iter().filter_map(OsStr::to_str))
                .iter()
                .find_map(|path| self.at(path));
        };
        let path = place.path();
        Some(match place.depth().checked_sub(names.len()) {
            Some(0) | None => Hit::File(path),
            Some(1) => Hit::Own(path),
            Some(_) => Hit::Above(path),
        })
    }

    /// Looks at a part of a word, as a program in some directory would take it.
    pub(super) fn named(&self, invocation: &Judged<'_>, text: &str) -> Option<Hit> {
        if text.is_empty() {
            return None;
        }
        let open = opened(text);
        if open.contains(['*', '?', '[']) {
            let begins_open = open.starts_with('*') && open != text;
            return spelled(&open)
                .filter(|_| begins_open)
                .or_else(|| self.met(&invocation.path_of(&open)));
        }
        let path = invocation.path_of(text);
        if is_pattern(&path, self.guarded.root()) {
            return self.met(&path);
        }
        if path.is_relative() {
            return spelled(text);
        }
        self.at(&path)
    }
}

/// Returns what a text names that holds one of their names, or that of their folder as a whole: code puts paths together.
pub(super) fn spelled(text: &str) -> Option<Hit> {
    let text = spelling::joined(&text.to_lowercase());
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let stands = |name: &str, ends: &dyn Fn(&str) -> bool| {
        text.match_indices(name).any(|(at, _)| {
            let before = text.get(..at).unwrap_or_default();
            let behind = text.get(at + name.len()..).unwrap_or_default();
            !before.ends_with(is_word) && ends(behind)
        })
    };
    let ends = |behind: &str| !behind.starts_with(is_word);
    let found = UNREAD.iter().find(|name| {
        let is_telling = name.contains('.') && stands(name, &ends);
        is_telling || stands(&format!("ahp/{name}"), &ends)
    });
    if let Some(name) = found {
        return Some(Hit::File(Path::new("ahp").join(name)));
    }
    let is_whole = |behind: &str| {
        !behind
            .trim_start_matches(['/', '.'])
            .starts_with(|c: char| is_word(c) || c == '\u{1}')
    };
    stands("state/ahp", &is_whole).then(|| Hit::Own("ahp".into()))
}

/// Returns a word with what is known only when it runs as a pattern that meets anything: `$x`, `${x}`, `$(x)`, `{}`.
fn opened(text: &str) -> String {
    if !text.contains(['$', '`', '{']) {
        return text.to_owned();
    }
    let mut open = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['$', '`', '{']) {
        let (before, from) = rest.split_at(at);
        open.push_str(before);
        let close = match from.as_bytes() {
            [b'$', b'{', ..] | [b'{', ..] => from.find('}'),
            [b'$', b'(', ..] => from.rfind(')'),
            [b'`', ..] => from.rfind('`').filter(|at| *at > 0),
            _ => None,
        };
        open.push('*');
        rest = match close {
            Some(at) => from.get(at + 1..).unwrap_or_default(),
            None => from
                .get(1..)
                .unwrap_or_default()
                .trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_'),
        };
    }
    open.push_str(rest);
    open
}
