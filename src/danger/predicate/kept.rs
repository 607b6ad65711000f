//! Whether git keeps what a command deletes, empties or overwrites.

use std::path::Path;

use super::file::is_precious;
use super::known::{has_project, is_not_there, note, path, path_or_folder, repository, sum};
use crate::danger::digest::Digest;
use crate::danger::place::Place;
use crate::shell::{Word, roots};

/// Whether everything that a deletion names is a single file, is not there, or comes back by `git restore`.
pub(super) fn is_recoverable(digest: &Digest<'_>, words: &[&Word]) -> bool {
    all_kept(digest, words, |path| !path.is_dir())
}

/// Whether everything that a command empties or finds holds nothing, is not there, or comes back by `git restore`.
pub(super) fn comes_back(digest: &Digest<'_>, words: &[&Word]) -> bool {
    all_kept(digest, words, |path| {
        std::fs::symlink_metadata(path).is_ok_and(|found| found.is_file() && found.len() == 0)
    })
}

/// Whether all that a search may find comes back so.
pub(super) fn found_comes_back(digest: &Digest<'_>) -> bool {
    let (roots, _) = roots(digest.invocation);
    let roots: Vec<&Word> = roots.iter().collect();
    !roots.is_empty() && comes_back(digest, &roots)
}

/// Whether each word means what is not precious, what is no loss, what is not there, or what git has as it is.
fn all_kept(digest: &Digest<'_>, words: &[&Word], is_no_loss: fn(&Path) -> bool) -> bool {
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
                return is_not_there(digest, word);
            }
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
