//! Found: what a command would do to what is guarded, and what does it.

use std::path::PathBuf;

/// What a command would do, as the end of "would …", and the file that it is about.
pub(super) type Found = (String, Option<PathBuf>);

/// Makes the finding of a command that names no file.
pub(super) fn act(what: &str) -> Found {
    (what.to_owned(), None)
}

/// Makes the finding of a command that is about a file, which stands in what it would do as `{}`.
pub(super) fn on(what: &str, hit: PathBuf) -> Found {
    let shown = format!("`{}`", hit.display());
    (what.replace("{}", &shown), Some(hit))
}

/// What would be changed, and by what.
#[derive(Debug)]
pub(super) struct Attempt {
    /// The tool or command.
    pub(super) by: String,
    /// What it would do, as the end of "would …".
    pub(super) what: String,
    /// The file that it is about.
    pub(super) path: Option<PathBuf>,
}

impl Attempt {
    /// Says who makes it.
    pub(super) fn of(by: impl Into<String>, (what, path): Found) -> Self {
        Self {
            by: by.into(),
            what,
            path,
        }
    }
}
