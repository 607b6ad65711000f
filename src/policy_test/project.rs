//! The made-up project of a test as a workspace.

use std::path::Path;

use super::setup::{Git, Project};
use crate::workspace::{Change, ChangedFile, Changes, KnownGit, MemoryWorkspace};

pub(super) fn workspace(project: &Project, root: &Path, issues: &Path) -> MemoryWorkspace {
    let issues = issues.to_string_lossy();
    let mut workspace = MemoryWorkspace::new(root).with_issues_folder(issues.clone());
    for (path, text) in &project.files {
        workspace = workspace.with_file(path, text.as_str());
    }
    if let Some(issue) = &project.issue {
        let name = project.issue_id().unwrap_or("ISSUE-0000");
        workspace = workspace.with_file(format!("{issues}/{name}.md"), issue.as_str());
    }
    for (path, text) in &project.before {
        workspace = workspace.with_before(path, text.as_str());
    }
    if let Some(staged) = &project.staged {
        workspace = workspace.with_staged(staged);
    }
    let changes = changes(project);
    if !changes.is_empty() || project.git.is_some() {
        let git = project.git.clone().unwrap_or_default();
        workspace = workspace
            .with_git(state(git, !changes.is_empty()))
            .with_changes(Changes::of(changes, None));
    }
    workspace.with_test_figures(project.tests)
}

fn state(git: Git, changed: bool) -> KnownGit {
    KnownGit {
        branch: git.branch,
        default_branch: git.default_branch,
        dirty: git.dirty || changed,
        ahead: git.ahead,
        ..KnownGit::default()
    }
}

fn changes(project: &Project) -> Vec<ChangedFile> {
    let file = |path: &str, change: Change, old_path: Option<&str>| {
        let text = project.files.get(path).map_or("", String::as_str);
        let count = u32::try_from(text.lines().count()).unwrap_or(u32::MAX);
        let (added, removed) = match (project.lines.get(path), change) {
            (Some(lines), _) => (lines.added, lines.removed),
            (None, Change::Added) => (count, 0),
            (None, Change::Modified) => (1, 0),
            (None, Change::Deleted | Change::Renamed) => (0, 0),
        };
        ChangedFile {
            path: path.to_owned(),
            old_path: old_path.map(str::to_owned),
            change,
            added_lines: Some(added),
            removed_lines: Some(removed),
        }
    };
    let modified = project
        .changed
        .iter()
        .map(|p| file(p, Change::Modified, None));
    let added = project.added.iter().map(|p| file(p, Change::Added, None));
    let deleted = project
        .deleted
        .iter()
        .map(|p| file(p, Change::Deleted, None));
    let renamed = project
        .renamed
        .iter()
        .map(|(new, old)| file(new, Change::Renamed, Some(old)));
    modified
        .chain(added)
        .chain(deleted)
        .chain(renamed)
        .collect()
}
