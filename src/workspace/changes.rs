//! Changes: which files a change touches, and by how much.

use std::sync::Arc;

/// What happened to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Change {
    /// It is new, or not tracked yet.
    Added,
    /// Its content or mode differs.
    Modified,
    /// It is gone.
    Deleted,
    /// It was moved, and perhaps changed.
    Renamed,
}

/// One file of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedFile {
    /// The path, relative to the project root, with `/` between its parts.
    pub path: String,
    /// Where it was before, if it was moved.
    pub old_path: Option<String>,
    /// What happened to it.
    pub change: Change,
    /// Lines added; none for a binary file.
    pub added_lines: Option<u32>,
    /// Lines removed; none for a binary file.
    pub removed_lines: Option<u32>,
}

/// The files of a change, sorted by path.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    /// Every file.
    pub files: Vec<ChangedFile>,
    /// Every path.
    pub paths: Vec<String>,
    /// The paths of new files.
    pub added: Vec<String>,
    /// The paths of files that are gone.
    pub deleted: Vec<String>,
    /// Lines added over all text files.
    pub added_lines: u64,
    /// Lines removed over all text files.
    pub removed_lines: u64,
    /// The commit that the change is measured against; none where there is no commit yet.
    pub base: Option<Arc<str>>,
    /// The paths of files that the base has and that git does not compare: it was told not to look at them, or they are no
    /// longer in its index.
    pub(crate) unseen: Vec<String>,
}

impl Changes {
    /// Sums up a list of files.
    pub fn of(mut files: Vec<ChangedFile>, base: Option<Arc<str>>) -> Self {
        files.sort_by(|a, b| a.path.cmp(&b.path));
        let with = |change: Change| {
            files
                .iter()
                .filter(|f| f.change == change)
                .map(|f| f.path.clone())
                .collect::<Vec<_>>()
        };
        Self {
            paths: files.iter().map(|f| f.path.clone()).collect(),
            added: with(Change::Added),
            deleted: with(Change::Deleted),
            added_lines: files
                .iter()
                .filter_map(|f| f.added_lines)
                .map(u64::from)
                .sum(),
            removed_lines: files
                .iter()
                .filter_map(|f| f.removed_lines)
                .map(u64::from)
                .sum(),
            base,
            files,
            unseen: Vec::new(),
        }
    }

    /// Returns both changes as one; what either says of a file that the other has too is told once.
    #[must_use]
    pub fn with(&self, earlier: &Self) -> Self {
        let is_new = |file: &&ChangedFile| !self.paths.contains(&file.path);
        let more = earlier.files.iter().filter(is_new);
        Self::of(
            self.files.iter().chain(more).cloned().collect(),
            self.base.clone(),
        )
    }
}
