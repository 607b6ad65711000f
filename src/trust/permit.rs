//! Permit: leave for one binding to run its commands, and whether what it was given for stayed as it was.

use std::path::{Path, PathBuf};

use super::NotTrusted;
use crate::stamp::Stamp;

/// Leave for one binding to run its commands.
///
/// A command runs where it stands, for its scripts find the project from the place where they lie. So what it was
/// allowed for is looked at again when it has ended: had a file been another meanwhile, if only for a moment, what the
/// command said counts for nothing.
#[derive(Clone, Debug, Default)]
pub struct Permit {
    files: Vec<(PathBuf, Option<Stamp>)>,
}

impl Permit {
    /// Notes files of a project as they are, before they are looked at.
    pub(super) fn of(root: &Path, paths: &[String]) -> Self {
        let files = paths.iter().map(|path| root.join(path));
        Self {
            files: files.map(|file| (file.clone(), Stamp::at(&file))).collect(),
        }
    }

    /// Whether every file is still as it was, and was so all the time.
    ///
    /// # Errors
    /// One is not.
    pub fn still_holds(&self) -> Result<(), NotTrusted> {
        let mut files = self.files.iter();
        match files.find(|(file, then)| Stamp::at(file) != *then) {
            None => Ok(()),
            Some((file, _)) => Err(NotTrusted {
                what: format!("`{}`", file.display()),
                why: "it was changed while a command that needs it ran".to_owned(),
            }),
        }
    }
}
