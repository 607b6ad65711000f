//! Enclosure: what every program is started in, where this process judges for a shield.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Makes the command line by which a program is started.
pub type Starts = Box<dyn Fn(&Enclosed<'_>) -> Vec<String> + Send + Sync>;

/// What programs are started in.
pub struct Enclosure {
    /// How a program is started.
    pub start: Starts,
    /// Where the folders are made that a program is given.
    pub folders: PathBuf,
    /// Where such a program sees them; nothing else that is started sees them there.
    pub seen_in: PathBuf,
}

impl fmt::Debug for Enclosure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Enclosure")
            .field("folders", &self.folders)
            .field("seen_in", &self.seen_in)
            .finish_non_exhaustive()
    }
}

/// A program that is to be enclosed.
#[derive(Clone, Copy, Debug)]
pub struct Enclosed<'a> {
    /// Its name and arguments.
    pub argv: &'a [String],
    /// Its working directory.
    pub dir: Option<&'a Path>,
    /// The folder that it is given: where it lies, and where it is seen.
    pub folder: Option<(&'a Path, &'a Path)>,
}

static ENCLOSURE: OnceLock<Enclosure> = OnceLock::new();

/// Starts every program of this process from now on as `enclosure` says, for as long as the process lives: what judges for a
/// shield runs code that the shielded agent may have written.
///
/// Returns whether this is the first enclosure; no second one is taken.
pub fn enclose(enclosure: Enclosure) -> bool {
    ENCLOSURE.set(enclosure).is_ok()
}

/// Returns what programs are started in; none where they are started as they are.
pub(super) fn enclosure() -> Option<&'static Enclosure> {
    ENCLOSURE.get()
}
