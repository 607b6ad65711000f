//! Whether git keeps what a command deletes, empties or overwrites.

use std::path::{Path, PathBuf};

use super::file::is_precious;
use super::known::{
    has_project, is_not_there, note, path, path_by, path_or_folder, repository, sum,
};
use crate::danger::digest::Digest;
use crate::danger::place::Place;
use crate::glob::glob;
use crate::shell::{Invocation, Word, file_name, roots};
use crate::words::words;

/// Whether everything that a deletion names is a single file, is not there, or comes back by `git restore`.
pub(super) fn is_recoverable(digest: &Digest<'_>, words: &[&Word]) -> bool {
    // A link that leads to a folder is one file too: what it leads to stays.
    all_kept(digest, words, false, |path| {
        std::fs::symlink_metadata(path).is_ok_and(|found| !found.is_dir())
    })
}

/// Whether everything that a command empties or finds holds nothing, is not there, or comes back by `git restore`.
pub(super) fn comes_back(digest: &Digest<'_>, words: &[&Word]) -> bool {
    all_kept(digest, words, true, |path| {
        std::fs::symlink_metadata(path).is_ok_and(|found| found.is_file() && found.len() == 0)
    })
}

/// Whether a folder that its name alone says to be made again, as `vendor` and `bin`, holds what git knows, with changes that
/// no commit holds.
pub(super) fn holds_changes(digest: &Digest<'_>, words: &[&Word]) -> bool {
    let changed = |word: &&Word| {
        // All that lies in it, as a search or a pattern of the shell names it.
        let text = word.text.strip_suffix("/*").unwrap_or(&word.text);
        let word = &Word::plain(text);
        let name = file_name(text.trim_end_matches('/'));
        let mut weak = words!("weak-artifacts").iter();
        let is_doubtful = weak.any(|one| glob(one, name)) && digest.place(word) == Place::Artifact;
        let path = path(digest, word).filter(|path| is_doubtful && path.is_dir())?;
        let changed = digest.knowledge.changed(&path);
        note(
            digest,
            changed,
            "git has {} in it with changes that no commit holds",
        );
        changed
    };
    has_project(digest) && words.iter().filter_map(changed).any(|changed| changed > 0)
}

/// Whether all that a search may find comes back so.
pub(super) fn found_comes_back(digest: &Digest<'_>) -> bool {
    let (roots, _) = roots(digest.invocation);
    let roots: Vec<&Word> = roots.iter().collect();
    let mut arguments = digest.invocation.arguments.iter();
    let follows = arguments.any(|word| {
        let letters = word.text.strip_prefix('-').unwrap_or_default();
        let is_cluster = letters.bytes().all(|letter| b"EHLPXdsxf".contains(&letter));
        letters == "follow" || is_cluster && letters.contains('L')
    });
    !roots.is_empty() && !follows && comes_back(digest, &roots)
}

/// Whether each word means what is not precious, what is no loss, what is not there, or what git has as it is. What a link
/// leads to is meant only by a command that follows it.
fn all_kept(
    digest: &Digest<'_>,
    words: &[&Word],
    follows: bool,
    is_no_loss: fn(&Path) -> bool,
) -> bool {
    has_project(digest)
        && words.iter().all(|word| {
            let place = digest.place(word);
            if !is_precious(place) {
                return true;
            }
            let is_glob = word.text.contains(['*', '?', '[']);
            let named = Word {
                glob: false,
                ..(*word).clone()
            };
            let path = if is_glob {
                path_or_folder(digest, &named)
            } else {
                path(digest, word)
            };
            let root = &digest.analysis.surroundings.project_root;
            let Some(path) = path.filter(|path| place == Place::Inside && path != root) else {
                return false;
            };
            if path.symlink_metadata().is_err() {
                return is_not_there(digest, word) || is_output(digest, &path);
            }
            if !climbs_as_read(digest, word, &path) {
                return false;
            }
            if is_glob && may_meet_link(&path, &word.text, follows) {
                return false;
            }
            let follows_last = follows || is_glob || word.text.ends_with(['/', '.']);
            let Some(path) = real(digest, &path, follows_last) else {
                return false;
            };
            if !is_glob && is_no_loss(&path) {
                return true;
            }
            let lost = digest.knowledge.uncommitted(&path, true);
            let fact = if path.is_dir() {
                "git cannot bring back {} in it"
            } else {
                "git cannot bring it back"
            };
            note(digest, lost, fact);
            lost == Some(0)
        })
}

/// Whether an earlier command of the line is told to write to a path where nothing is yet: `--out runs/smoke`.
fn is_output(digest: &Digest<'_>, path: &Path) -> bool {
    let is_it = |i: &Invocation, text: &str, word: &Word| {
        path_by(i, word, text).is_some_and(|named| named == path)
    };
    let names = |option: &str| {
        let name = option.trim_start_matches('-').to_ascii_lowercase();
        let mut parts = name.split(['-', '_', '.', ':']);
        option.starts_with('-') && parts.any(|part| words!("output-options").contains(&part))
    };
    digest.earlier().any(|i| {
        let mut pairs = i.arguments.windows(2);
        let follows = |pair: &[Word]| match pair {
            [option, value] => names(&option.text) && is_it(i, &value.text, value),
            _ => false,
        };
        let is_attached = |word: &Word| {
            let (option, value) = word.text.split_once('=').unwrap_or_default();
            names(option) && is_it(i, value, word)
        };
        let makes = i.program == "mkdir" && i.operands().any(|word| is_it(i, &word.text, word));
        makes || pairs.any(follows) || i.arguments.iter().any(is_attached)
    })
}

/// Returns where a path really lies in the project, past all links; none where that is outside, or is git's own.
fn real(digest: &Digest<'_>, path: &Path, follows_last: bool) -> Option<PathBuf> {
    let root = &digest.analysis.surroundings.project_root;
    let real = if follows_last {
        path.canonicalize().ok()?
    } else {
        let parent = path.parent()?.canonicalize().ok()?;
        parent.join(path.file_name()?)
    };
    let below = real.strip_prefix(root.canonicalize().ok()?).ok()?;
    let found = root.join(below);
    let place = digest.place(&Word::plain(found.to_string_lossy()));
    (found != *root && place == Place::Inside).then_some(found)
}

/// Whether `..` in a word leads where the words say: behind a link it leads out of what the link means.
fn climbs_as_read(digest: &Digest<'_>, word: &Word, path: &Path) -> bool {
    let Some(climb) = word.text.rfind("..").and_then(|at| word.text.get(..at + 2)) else {
        return true;
    };
    let rest = word.text.get(climb.len()..).unwrap_or_default();
    // The path of a pattern is the folder before it.
    let names = rest
        .split('/')
        .take_while(|name| !name.contains(['*', '?', '[']));
    let below = names.filter(|name| !matches!(*name, "" | ".")).count();
    let read = path
        .ancestors()
        .nth(below)
        .and_then(|dir| dir.canonicalize().ok());
    let dir = digest.invocation.work_dir.as_ref();
    let real = dir.and_then(|dir| dir.join(climb).canonicalize().ok());
    read.is_some() && read == real
}

/// Whether a pattern may go through a link that lies in its folder, or the command follow one that it finds.
fn may_meet_link(folder: &Path, pattern: &str, follows: bool) -> bool {
    let behind = pattern
        .find(['*', '?', '['])
        .and_then(|at| pattern.get(at..));
    let deeper = behind.unwrap_or_default().matches('/').count();
    let is_own = |entry: std::io::Result<std::fs::DirEntry>| {
        entry
            .and_then(|entry| entry.file_type())
            .is_ok_and(|kind| !kind.is_symlink())
    };
    let has_links = || !std::fs::read_dir(folder).is_ok_and(|mut entries| entries.all(is_own));
    deeper > 1 || follows && deeper > 0 || (follows || deeper > 0) && has_links()
}

/// Whether git knows of changes in a file that the words name, so that it is no branch which they mean.
pub(super) fn is_changed(digest: &Digest<'_>, words: &[&Word]) -> bool {
    if repository(digest).is_none() {
        return false;
    }
    let paths = words.iter().filter_map(|word| path(digest, word));
    let there: Vec<_> = paths.filter(|path| path.exists()).collect();
    let changed = sum(there.iter().map(|path| digest.knowledge.changed(path)));
    note(
        digest,
        changed,
        "git has {} of them with changes that no commit holds",
    );
    changed.is_some_and(|changed| changed > 0)
}
