//! Container: which directories of this machine a container sees, so that what a command does to them is judged as done here.

use std::path::{Path, PathBuf};

use super::path::without_dots;
use super::{Invocation, Word, lexical};
use crate::program::{self, Fact};

/// How the options are called that bind a directory, and the one that says where the command starts.
const BINDS: &[&str] = &["-v", "--volume", "--mount"];
const STARTS_IN: &[&str] = &["-w", "--workdir"];

/// What a container was given of this machine.
#[derive(Clone, Debug)]
pub(super) struct Container {
    /// Directories as they are called inside, each with the one of this machine that it is.
    mounts: Vec<(PathBuf, PathBuf)>,
    /// Where the command starts, as it is called inside; none where the image says it.
    pub(super) starts_in: Option<PathBuf>,
}

impl Container {
    /// Returns what a program gives the container that it starts; none where that is nothing of this machine.
    ///
    /// Its own words end where the command begins that runs inside.
    pub(super) fn of(starter: &Invocation, own: &[Word]) -> Option<Self> {
        let here = starter.work_dir.as_deref()?;
        if !program::find(&starter.program).is(Fact::Mounts) {
            return None;
        }
        let binds = values(own, BINDS);
        let mounts: Vec<_> = binds.filter_map(|bind| mount(bind, here)).collect();
        let starts_in = values(own, STARTS_IN).next();
        (!mounts.is_empty()).then(|| Self {
            mounts,
            starts_in: starts_in.map(|dir| without_dots(Path::new(dir))),
        })
    }

    /// Returns a command that runs inside, with the paths that it has on this machine; none where it is about none of them.
    pub(super) fn placed(&self, inside: &Invocation) -> Option<Invocation> {
        let dir = inside.work_dir.as_deref();
        let here = dir.and_then(|dir| self.outside(dir));
        let names = |word: &Word| {
            let is_absolute = paths(&word.text).any(|path| self.outside(Path::new(path)).is_some());
            is_absolute || here.as_deref().is_some_and(|dir| names_below(dir, word))
        };
        let targets = inside.redirects.iter().map(|redirect| &redirect.target);
        // git is about the repository in which it stands, whatever its words.
        let is_about = (inside.program == "git" && here.is_some())
            || inside.arguments.iter().chain(targets).any(names);
        if !is_about {
            return None;
        }
        let mut placed = inside.clone();
        let targets = placed.redirects.iter_mut().map(|r| &mut r.target);
        for word in placed.arguments.iter_mut().chain(targets) {
            self.rename(word);
        }
        placed.work_dir = here;
        placed.remote = false;
        Some(placed)
    }

    /// Returns the place on this machine of a path inside.
    fn outside(&self, path: &Path) -> Option<PathBuf> {
        let path = without_dots(path);
        let longest = self.mounts.iter().filter(|(to, _)| path.starts_with(to));
        let (to, from) = longest.max_by_key(|(to, _)| to.as_os_str().len())?;
        let rest = path.strip_prefix(to).ok()?;
        Some(if rest.as_os_str().is_empty() {
            from.clone()
        } else {
            from.join(rest)
        })
    }

    /// Writes a word's paths as this machine calls them; those of the container alone are marked as such.
    fn rename(&self, word: &mut Word) {
        let Some(path) = paths(&word.text).last() else {
            return;
        };
        let before = word.text.strip_suffix(path).unwrap_or_default();
        let renamed = match self.outside(Path::new(path)) {
            Some(outside) => format!("{before}{}", outside.display()),
            None => format!("{before}container:{path}"),
        };
        word.text = renamed;
    }
}

/// Returns the absolute path that a word is, or that is attached to its option or name.
fn paths(text: &str) -> impl Iterator<Item = &str> {
    let attached = text.split_once('=').map(|(_, value)| value);
    let path = std::iter::once(text).chain(attached);
    path.filter(|path| path.starts_with('/'))
}

/// Whether a word surely or by its looks names something below a directory.
fn names_below(dir: &Path, word: &Word) -> bool {
    let text = word.text.as_str();
    if text.is_empty() || text.starts_with('/') || word.is_option() {
        return false;
    }
    word.glob || text.starts_with('.') || dir.join(text).symlink_metadata().is_ok()
}

/// Returns the values of options.
fn values<'a>(arguments: &'a [Word], names: &'a [&str]) -> impl Iterator<Item = &'a str> {
    arguments.iter().enumerate().filter_map(move |(at, word)| {
        let text = word.text.as_str();
        if names.contains(&text) {
            return arguments.get(at + 1).map(|next| next.text.as_str());
        }
        let name = names.iter().find(|name| text.starts_with(**name))?;
        let rest = text.get(name.len()..)?;
        // `--volume=…`, and `-v…` with its value attached.
        match rest.strip_prefix('=') {
            Some(value) => Some(value),
            None => (!name.starts_with("--")).then_some(rest),
        }
    })
}

/// Reads `FROM:TO[:OPTIONS]` or `type=bind,source=FROM,target=TO`: the place inside, and the one of this machine.
fn mount(bind: &str, here: &Path) -> Option<(PathBuf, PathBuf)> {
    let (from, to) = if bind.contains("type=bind") {
        let key = |names: &[&str]| {
            let mut parts = bind.split(',').filter_map(|part| part.split_once('='));
            parts.find_map(|(key, value)| names.contains(&key).then_some(value))
        };
        let from = key(&["source", "src"])?;
        (from, key(&["target", "dst", "destination"])?)
    } else {
        let (from, rest) = bind.split_once(':')?;
        (from, rest.split_once(':').map_or(rest, |(to, _)| to))
    };
    // What begins otherwise is the name of a volume.
    let is_path = from.starts_with(['/', '.', '~']);
    let from = lexical(from, here, None);
    (is_path && to.starts_with('/')).then(|| (without_dots(Path::new(to)), from))
}
