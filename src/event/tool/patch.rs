//! Patch: which files an `apply_patch` text touches, and what it writes.

use super::ToolKind;

/// What a patch does.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Patch {
    /// Every file that is added, changed, moved or deleted, in order.
    pub(super) paths: Vec<String>,
    /// The lines that are added.
    pub(super) added: String,
    adds: usize,
    deletes: usize,
    changes: usize,
}

impl Patch {
    /// Reads the text between `*** Begin Patch` and `*** End Patch`, or a unified diff.
    pub(super) fn read(text: &str) -> Option<Self> {
        let mut patch = Self::default();
        for line in text.lines() {
            // Codex takes blanks before the words for nothing.
            let bare = line.trim_start();
            let line = if bare.starts_with("*** ") { bare } else { line };
            if let Some(path) = line.strip_prefix("*** Add File: ") {
                patch.adds += 1;
                patch.touch(path);
            } else if let Some(path) = line.strip_prefix("*** Delete File: ") {
                patch.deletes += 1;
                patch.touch(path);
            } else if let Some(path) = line.strip_prefix("*** Update File: ") {
                patch.changes += 1;
                patch.touch(path);
            } else if let Some(path) = line.strip_prefix("*** Move to: ") {
                patch.touch(path);
            } else if let Some(path) = line.strip_prefix("+++ ").or(line.strip_prefix("--- ")) {
                patch.header(path);
            } else if let Some(added) = line.strip_prefix('+') {
                patch.added.push_str(added);
                patch.added.push('\n');
            }
        }
        (!patch.paths.is_empty()).then_some(patch)
    }

    /// Returns what the patch does where it does one thing only; else it is an edit.
    pub(super) const fn kind(&self) -> ToolKind {
        match (self.adds, self.deletes, self.changes) {
            (1.., 0, 0) => ToolKind::Write,
            (0, 1.., 0) => ToolKind::Delete,
            _ => ToolKind::Edit,
        }
    }

    /// Takes a file header of a unified diff: `a/` and `b/` are git's, a tab starts the time.
    fn header(&mut self, path: &str) {
        let path = path.split('\t').next().unwrap_or(path).trim();
        let bare = path.strip_prefix("a/").or(path.strip_prefix("b/"));
        let bare = bare.unwrap_or(path);
        // Copilot writes `a/dev/null` where a file is new.
        if !matches!(bare, "/dev/null" | "dev/null") {
            self.changes += 1;
            self.touch(bare);
        }
    }

    fn touch(&mut self, path: &str) {
        let path = path.trim();
        if !path.is_empty() && !self.paths.iter().any(|p| p == path) {
            self.paths.push(path.to_owned());
        }
    }
}
