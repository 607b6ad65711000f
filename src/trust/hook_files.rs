//! The files with command hooks that a name means: one file, a folder of them, or those of a pattern.

use std::fs;
use std::path::{Path, PathBuf};

use crate::glob::glob;

/// The places at which hosts look for command hooks in a project.
const USUAL: &[&str] = &[
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".github/hooks",
];

/// The places at which they look for a person's own.
const USUAL_AT_HOME: &[&str] = &[".claude/settings.json", ".copilot/hooks"];

/// Returns the files that a path means: every `.json` file of a folder, those that the pattern in its last name fits, or
/// the file itself, whether it is there or not. Sorted by name.
pub fn hook_files_of(path: &Path) -> Vec<PathBuf> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let (dir, pattern) = if path.is_dir() {
        (path, "*.json")
    } else if name.contains(['*', '?']) {
        (path.parent().unwrap_or(path), &*name)
    } else {
        return vec![path.to_owned()];
    };
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries
        .filter(|entry| glob(pattern, &entry.file_name().to_string_lossy()))
        .map(|entry| entry.path())
        .filter(|path| path.is_file())
        .collect();
    files.sort_unstable();
    files
}

/// Returns the files that a binding means by `file`; of what lies at home only those that are there.
pub fn bound_hook_files(file: &str, root: &Path, home: Option<&Path>) -> Vec<PathBuf> {
    match (file.strip_prefix("~/"), home) {
        (Some(_), None) => Vec::new(),
        (Some(rest), Some(home)) => {
            let mut files = hook_files_of(&home.join(rest));
            files.retain(|path| path.exists());
            files
        }
        (None, _) => hook_files_of(&root.join(file)),
    }
}

/// Returns the files with command hooks that the hosts of a project would find.
pub fn usual_hook_files(root: &Path) -> Vec<PathBuf> {
    there(root, USUAL)
}

/// Returns the files with command hooks that hosts would find in a person's home.
pub fn usual_hook_files_at_home(home: &Path) -> Vec<PathBuf> {
    there(home, USUAL_AT_HOME)
}

fn there(dir: &Path, names: &[&str]) -> Vec<PathBuf> {
    let files = names.iter().flat_map(|name| hook_files_of(&dir.join(name)));
    files.filter(|path| path.is_file()).collect()
}
