//! Change: what differs between what was trusted and what is there.

use std::collections::BTreeMap;
use std::fmt;

use super::FileState;

/// One file that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The file, relative to the project.
    pub path: String,
    /// How it differs.
    pub kind: ChangeKind,
    /// Its content when it was trusted.
    pub before: Option<Vec<u8>>,
    /// Its content now.
    pub after: Option<Vec<u8>>,
}

/// How a file differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// It is new.
    Added,
    /// It has another content.
    Modified,
    /// It has become executable, or is not any more.
    Mode,
    /// It is gone.
    Removed,
}

impl Change {
    /// Returns the difference as a unified diff; one line for what is not text.
    pub fn diff(&self) -> String {
        let text = |bytes: &Option<Vec<u8>>| match bytes {
            None => Some(String::new()),
            Some(bytes) => String::from_utf8(bytes.clone())
                .ok()
                .filter(|text| !text.contains('\0')),
        };
        match (text(&self.before), text(&self.after)) {
            (Some(before), Some(after)) => {
                let mut options = diffy::DiffOptions::new();
                options
                    .set_original_filename(format!("a/{}", self.path))
                    .set_modified_filename(format!("b/{}", self.path));
                options.create_patch(&before, &after).to_string()
            }
            _ => format!("Binary file {} differs\n", self.path),
        }
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = &self.path;
        match self.kind {
            ChangeKind::Added => write!(f, "`{path}` is new"),
            ChangeKind::Modified => write!(f, "`{path}` has changed"),
            ChangeKind::Mode => write!(f, "the execute permission of `{path}` has changed"),
            ChangeKind::Removed => write!(f, "`{path}` is gone"),
        }
    }
}

/// Compares two states of files; sorted by path.
pub(super) fn between<'a>(
    before: impl Iterator<Item = (&'a String, &'a FileState)>,
    after: impl Iterator<Item = (&'a String, &'a FileState)>,
) -> Vec<Change> {
    let before: BTreeMap<_, _> = before.collect();
    let after: BTreeMap<_, _> = after.collect();
    let change = |path: &str, kind| Change {
        path: path.to_owned(),
        kind,
        before: None,
        after: None,
    };
    let mut changes: Vec<Change> = before
        .keys()
        .filter(|path| !after.contains_key(*path))
        .map(|path| change(path, ChangeKind::Removed))
        .collect();
    for (path, now) in after {
        match before.get(path) {
            None => changes.push(change(path, ChangeKind::Added)),
            Some(then) if then.sha256 != now.sha256 => {
                changes.push(change(path, ChangeKind::Modified));
            }
            Some(then) if then.executable != now.executable => {
                changes.push(change(path, ChangeKind::Mode));
            }
            Some(_) => {}
        }
    }
    changes.sort_by(|a, b| a.path.cmp(&b.path));
    changes
}
