//! Applied: the files that were changed, as far as that went.

use std::path::PathBuf;

use ahp::install::Change;

/// The files that were changed, and why those after them were not.
#[derive(Debug, Default)]
pub(super) struct Applied {
    pub(super) changed: Vec<PathBuf>,
    pub(super) error: Option<String>,
}

impl Applied {
    pub(super) fn all(changes: &[Change]) -> Self {
        Self {
            changed: files(changes),
            error: None,
        }
    }

    /// Whether the first change failed already.
    pub(super) const fn is_nothing(&self) -> bool {
        self.changed.is_empty() && self.error.is_some()
    }
}

pub(super) fn apply(changes: &[Change]) -> Applied {
    let mut applied = Applied::default();
    for change in changes {
        let path = change.path();
        match change.apply() {
            Ok(()) if applied.changed.iter().any(|file| file == path) => {}
            Ok(()) => applied.changed.push(path.to_owned()),
            Err(error) => {
                applied.error = Some(format!("cannot write `{}`: {error}", path.display()));
                break;
            }
        }
    }
    applied
}

/// Returns the files that are changed, each once, in the order in which that happens.
fn files(changes: &[Change]) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = Vec::new();
    for change in changes {
        if files.iter().all(|file| file != change.path()) {
            files.push(change.path().to_owned());
        }
    }
    files
}
