//! Files: which of them hold secrets, by their names and the directories that they lie in.

use super::table::{entries, row_count, rows};
use crate::glob::glob;

const TEXT: &str = include_str!("../../policies/secrets/files.tsv");
const ROWS: [[&str; 3]; row_count(TEXT)] = rows(TEXT);

const FREE: &[&str] = &entries::<{ entries_of("free").1 }>(entries_of("free").0);
const SECRET: &[&str] = &entries::<{ entries_of("secret").1 }>(entries_of("secret").0);
const FOLDERS: &[&str] = &entries::<{ entries_of("folder").1 }>(entries_of("folder").0);
const PUBLIC: &[&str] = &entries::<{ entries_of("public").1 }>(entries_of("public").0);

/// Returns the names of the first row of a kind, and how many they are.
const fn entries_of(kind: &str) -> (&'static str, usize) {
    super::table::cell(&ROWS, kind, 1)
}

/// Whether a path names a file that holds secrets: `.env`, `~/.ssh/id_rsa`, `config/*.pem`.
///
/// Globs are taken as what they may stand for. What only looks like such a file is free: `.env.example`, `id_rsa.pub`.
pub fn is_secret_file(path: &str) -> bool {
    let path = path.trim_matches(['"', '\'', '@']);
    let path = path.strip_prefix("file://").unwrap_or(path);
    if path.is_empty() || path.len() > 512 || path.contains("://") || path.contains('\n') {
        return false;
    }
    if path.contains('\\') {
        return is_secret_file(&path.replace('\\', "/"));
    }
    let (has_class, has_folder) = (path.contains('['), path.contains('/'));
    let plain = has_class.then(|| without_classes(path)).flatten();
    if let Some(plain) = plain.or_else(|| has_folder.then(|| without_return(path)).flatten()) {
        return is_secret_file(&plain);
    }
    let (dir, name) = path.rsplit_once('/').unwrap_or(("", path));
    let is_below = |parent: &str| lies_below(dir, parent);
    if path.starts_with("/proc/") && name == "environ" {
        return true;
    }
    if FOLDERS.iter().any(|folder| is_below(folder)) {
        let only_settings = name == "config" && !is_below(".kube");
        return !name.is_empty() && !only_settings && !PUBLIC.iter().any(|p| glob(p, name));
    }
    if FREE.iter().any(|p| glob(p, name)) {
        return false;
    }
    let bound = ROWS.iter().find(|[_, names, below]| {
        !dir.is_empty()
            && *below != "-"
            && names.split('|').any(|p| glob(p, name))
            && below.split('|').any(is_below)
    });
    if let Some([kind, _, _]) = bound {
        return *kind == "secret";
    }
    let widest = widest_aim(name);
    SECRET
        .iter()
        .any(|p| glob(p, name) || widest.is_some_and(|widest| p.len() <= widest && glob(name, p)))
}

/// Whether a path names a directory all of whose files hold secrets, or one below it: `~/.gnupg`, `~/.mozilla/firefox`.
pub(crate) fn is_secret_folder(path: &str) -> bool {
    let path = path.trim_end_matches('/');
    let name = path.rsplit('/').next().unwrap_or_default();
    FOLDERS.iter().any(|folder| lies_below(path, folder)) && !PUBLIC.iter().any(|p| glob(p, name))
}

/// Returns a path with the classes of one character written out: `.en[v]` is `.env`; none where it has none.
fn without_classes(path: &str) -> Option<String> {
    let mut plain = path.to_owned();
    while let Some(at) = plain.find('[') {
        let mut inner = plain.get(at + 1..)?.chars();
        let (one, end) = (inner.next()?, inner.next()?);
        if end != ']' {
            return None;
        }
        plain.replace_range(at..at + one.len_utf8() + 2, &one.to_string());
    }
    (plain != path).then_some(plain)
}

/// Returns a path without the first folder that it leaves again: `~/.aws/../notes` is `~/notes`; none where it leaves none.
fn without_return(path: &str) -> Option<String> {
    path.match_indices("/../").find_map(|(at, _)| {
        let begins = path.get(..at)?.rfind('/').map_or(0, |slash| slash + 1);
        let folder = path.get(begins..at)?;
        let is_open = matches!(folder, "" | "." | ".." | "~") || folder.contains(['$', '*', '?']);
        let rest = [path.get(..begins)?, path.get(at + 4..)?].concat();
        (!is_open).then_some(rest)
    })
}

/// Whether one of the directories of a path is this one, or several are these: `.config/gcloud`.
fn lies_below(dir: &str, parent: &str) -> bool {
    // Most paths have no directory, or a short one.
    dir.len() >= parent.len()
        && dir.match_indices(parent).any(|(at, _)| {
            let before = dir.get(..at).unwrap_or_default();
            let after = dir.get(at + parent.len()..).unwrap_or_default();
            (before.is_empty() || before.ends_with('/'))
                && (after.is_empty() || after.starts_with('/'))
        })
}

/// Returns how long a name may be at most at which a glob is aimed: `.env*`, `id_*`, not `log*`, which may stand for `logins.json`
/// and for much else. None where it is no glob, or aimed at nothing.
fn widest_aim(pattern: &str) -> Option<usize> {
    let at = pattern.find(['*', '?', '['])?;
    let is_telling =
        at >= 2 && pattern.starts_with('.') || at >= 3 && pattern.starts_with("id_") || at >= 10;
    is_telling.then_some(at * 2)
}
