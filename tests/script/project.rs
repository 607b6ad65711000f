//! A made-up project that the tests of scripts share.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;

use ahp::event::{Event, Trigger};
use ahp::fact::Facts;
use ahp::workspace::{
    Change, ChangeScope, ChangedFile, Changes, GitError, GitState, Issue, IssueError, KnownGit,
    TestFigures, Workspace,
};

use crate::world::seed;

#[derive(Debug, Default)]
pub(super) struct Project {
    pub(super) files: BTreeMap<&'static str, &'static str>,
    pub(super) changed: Vec<String>,
    pub(super) issue: Option<Issue>,
}

/// The project of the manual's examples.
pub(super) fn example() -> Project {
    Project {
        files: [
            ("README.md", "# Example\n"),
            ("src/api/users.rs", "pub fn users() {}\n"),
            ("src/main.rs", "fn main() {}\n"),
        ]
        .into(),
        changed: ["README.md", "src/api/users.rs", "src/main.rs"]
            .map(str::to_owned)
            .into(),
        issue: Some(Issue {
            id: "FEAT-0123".to_owned(),
            kind: Some("feature".to_owned()),
            title: Some("Users".to_owned()),
            ..Issue::default()
        }),
    }
}

pub(super) fn facts(project: Project, event: Event) -> Arc<Facts> {
    Arc::new(Facts::new(seed(event, Arc::new(project))))
}

pub(super) fn submit() -> Event {
    Event::new(Trigger::PreIssueSubmit).with_issue("FEAT-0123")
}

impl Workspace for Project {
    fn root(&self) -> &Path {
        Path::new("/project")
    }

    fn read(&self, path: &str) -> io::Result<Arc<[u8]>> {
        if path.starts_with('/') || path.contains("..") {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        let text = self.files.get(path).ok_or(io::ErrorKind::NotFound)?;
        Ok(text.as_bytes().into())
    }

    fn exists(&self, path: &str) -> bool {
        self.files.contains_key(path)
    }

    fn list(&self, glob: &str) -> Vec<String> {
        let paths = self.files.keys();
        paths
            .filter(|path| fast_glob::glob_match(glob, path))
            .map(ToString::to_string)
            .collect()
    }

    fn issue(&self, _: &str) -> Result<Option<Arc<Issue>>, IssueError> {
        Ok(self.issue.clone().map(Arc::new))
    }

    fn changes(&self, _: ChangeScope) -> Result<Arc<Changes>, GitError> {
        let files = self.changed.iter().map(|path| ChangedFile {
            path: path.clone(),
            old_path: None,
            change: Change::Modified,
            added_lines: Some(1),
            removed_lines: Some(0),
        });
        Ok(Arc::new(Changes::of(files.collect(), None)))
    }

    fn git(&self) -> Result<Arc<GitState>, GitError> {
        Ok(Arc::new(GitState::from(KnownGit {
            branch: Some("FEAT-0123-users".to_owned()),
            default_branch: Some("main".to_owned()),
            ..KnownGit::default()
        })))
    }

    fn test_figures(&self) -> TestFigures {
        TestFigures::default()
    }

    fn issues_dir(&self) -> &Path {
        Path::new("Issues")
    }

    fn is_on_disk(&self) -> bool {
        false
    }
}
