//! Files: which of them hold secrets, by their names and the directories that they lie in.

use super::table::entries;
use super::table::row_count;
use super::table::rows;
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
    let (dir, name) = path.rsplit_once('/').unwrap_or(("", path));
    let is_below = |parent: &str| dir.split('/').any(|part| part == parent);
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
    let bound = ROWS
        .iter()
        .find(|[_, names, below]| *below != "-" && *names == name);
    if let Some([_, _, below]) = bound {
        return below.split('|').any(is_below);
    }
    let is_glob = name.contains(['*', '?']) && name.len() > 2 && !name.starts_with('*');
    SECRET
        .iter()
        .any(|p| glob(p, name) || (is_glob && glob(name, p)))
}
