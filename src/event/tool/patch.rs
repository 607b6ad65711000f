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

    /// Returns the text of a patch that does the same with another file; none where it touches several, or is a unified diff.
    pub(super) fn with_path(text: &str, path: &str) -> Option<String> {
        let [_] = Self::read(text)?.paths.as_slice() else {
            return None;
        };
        let heads = ["*** Add File: ", "*** Delete File: ", "*** Update File: "];
        let mut found = false;
        let lines = text.split('\n').map(|line| {
            let head = heads
                .iter()
                .find(|head| line.trim_start().starts_with(*head));
            found |= head.is_some();
            head.map_or_else(|| line.to_owned(), |head| format!("{head}{path}"))
        });
        let lines: Vec<String> = lines.collect();
        (found && !path.contains('\n')).then(|| lines.join("\n"))
    }

    /// Returns the text of a patch that writes something else; none where it does more than add one file.
    pub(super) fn with_content(text: &str, content: &str) -> Option<String> {
        let patch = Self::read(text)?;
        if patch.paths.len() != 1 || patch.kind() != ToolKind::Write {
            return None;
        }
        let is_head = |line: &&str| line.trim_start().starts_with("*** Add File: ");
        let is_end = |line: &&str| line.trim_start().starts_with("*** End Patch");
        let before = text.find("*** Add File: ")?;
        let head = text.get(before..)?.lines().next().filter(is_head)?;
        let rest = text.get(before + head.len()..)?;
        // A line of the file may look like the end.
        let lines = rest.split_inclusive('\n');
        let at: usize = lines.take_while(|line| !is_end(line)).map(str::len).sum();
        let after = rest.get(at..).filter(|after| is_end(after))?;
        let begin = text.get(..before)?;
        let mut written = format!("{begin}{head}\n");
        for line in content.lines() {
            written.extend(["+", line, "\n"]);
        }
        Some(format!("{written}{after}"))
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
