//! MemoryWorkspace: a project that is told, not read: for tests of policies and oracles.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{
    ChangeScope, Changes, Commit, CommitsOf, GitError, GitState, Issue, IssueError, TestFigures,
    Workspace, issue_files,
};

/// A project in memory.
///
/// ```
/// use ahp::workspace::MemoryWorkspace;
/// use ahp::workspace::Workspace as _;
///
/// let workspace = MemoryWorkspace::new("/project")
///     .with_file("Issues/FEAT-0001-login.md", "---\nid: FEAT-0001\n---\n- [x] form\n- [ ] tests\n");
/// let issue = workspace.issue("FEAT-0001").unwrap().unwrap();
/// assert_eq!(issue.progress(), (2, 1));
/// ```
#[derive(Clone, Debug)]
pub struct MemoryWorkspace {
    root: PathBuf,
    issues_folder: String,
    files: BTreeMap<String, Arc<[u8]>>,
    issues: BTreeMap<String, Result<Arc<Issue>, IssueError>>,
    branch_changes: Option<Arc<Changes>>,
    tree_changes: Option<Arc<Changes>>,
    git: Option<Arc<GitState>>,
    commits: Vec<Commit>,
    before: BTreeMap<String, Arc<[u8]>>,
    staged: Option<Vec<String>>,
    git_error: Option<GitError>,
    figures: TestFigures,
}

impl MemoryWorkspace {
    /// Makes an empty project, with no repository.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self {
            root: root.into(),
            issues_folder: "Issues".to_owned(),
            files: BTreeMap::new(),
            issues: BTreeMap::new(),
            branch_changes: None,
            tree_changes: None,
            git: None,
            commits: Vec::new(),
            before: BTreeMap::new(),
            staged: None,
            git_error: None,
            figures: TestFigures::default(),
        }
    }

    /// Sets the folder of the issue files; `Issues` by default.
    #[must_use]
    pub fn with_issues_folder(mut self, folder: impl Into<String>) -> Self {
        self.issues_folder = folder.into();
        self
    }

    /// Adds a file, by its path relative to the root.
    #[must_use]
    pub fn with_file(mut self, path: impl Into<String>, content: impl Into<Vec<u8>>) -> Self {
        self.files.insert(path.into(), content.into().into());
        self
    }

    /// Adds an issue that has no file of its own.
    #[must_use]
    pub fn with_issue(mut self, issue: Issue) -> Self {
        self.issues
            .insert(issue.id.to_ascii_uppercase(), Ok(Arc::new(issue)));
        self
    }

    /// Sets what has changed, in both scopes.
    #[must_use]
    pub fn with_changes(self, changes: Changes) -> Self {
        self.with_changes_of(ChangeScope::Branch, changes.clone())
            .with_changes_of(ChangeScope::WorkingTree, changes)
    }

    /// Sets what has changed in one scope.
    #[must_use]
    pub fn with_changes_of(mut self, scope: ChangeScope, changes: Changes) -> Self {
        let place = match scope {
            ChangeScope::Branch => &mut self.branch_changes,
            ChangeScope::WorkingTree => &mut self.tree_changes,
        };
        *place = Some(Arc::new(changes));
        self
    }

    /// Sets the state of the repository.
    #[must_use]
    pub fn with_git(mut self, state: impl Into<GitState>) -> Self {
        self.git = Some(Arc::new(state.into()));
        self
    }

    /// Sets the commits of the branch, newest first.
    #[must_use]
    pub fn with_commits(mut self, commits: impl IntoIterator<Item = Commit>) -> Self {
        self.commits = commits.into_iter().collect();
        self
    }

    /// Sets what a file held before the change, in both scopes.
    #[must_use]
    pub fn with_before(mut self, path: impl Into<String>, content: impl Into<Vec<u8>>) -> Self {
        self.before.insert(path.into(), content.into().into());
        self
    }

    /// Sets the files whose change is staged; by default all that have changed.
    #[must_use]
    pub fn with_staged<S: Into<String>>(mut self, paths: impl IntoIterator<Item = S>) -> Self {
        self.staged = Some(paths.into_iter().map(Into::into).collect());
        self
    }

    /// Lets every question to git fail.
    #[must_use]
    pub fn with_git_error(mut self, error: GitError) -> Self {
        self.git_error = Some(error);
        self
    }

    /// Sets what is known of tests and coverage.
    #[must_use]
    pub const fn with_test_figures(mut self, figures: TestFigures) -> Self {
        self.figures = figures;
        self
    }

    /// Returns the error of a project that has no repository, or the one that was set.
    fn no_git(&self) -> GitError {
        let root = || GitError::NoRepository(self.root.display().to_string());
        self.git_error.clone().unwrap_or_else(root)
    }

    /// Returns a path relative to the root; none where it leads out.
    fn relative(&self, path: &str) -> Option<String> {
        let path = Path::new(path);
        let path = path.strip_prefix(&self.root).unwrap_or(path);
        let mut parts = Vec::new();
        for component in path.components() {
            match component {
                std::path::Component::Normal(part) => parts.push(part.to_string_lossy()),
                std::path::Component::CurDir => {}
                std::path::Component::ParentDir => {
                    parts.pop()?;
                }
                std::path::Component::RootDir | std::path::Component::Prefix(_) => return None,
            }
        }
        Some(parts.join("/"))
    }
}

impl Workspace for MemoryWorkspace {
    fn root(&self) -> &Path {
        &self.root
    }

    fn read(&self, path: &str) -> io::Result<Arc<[u8]>> {
        let error = |kind, message: &str| io::Error::new(kind, format!("`{path}` {message}"));
        let relative = self
            .relative(path)
            .ok_or_else(|| error(io::ErrorKind::PermissionDenied, "leads out of the project"))?;
        self.files
            .get(&relative)
            .cloned()
            .ok_or_else(|| error(io::ErrorKind::NotFound, "is not there"))
    }

    fn exists(&self, path: &str) -> bool {
        self.relative(path).is_some_and(|path| {
            path.is_empty()
                || self
                    .files
                    .keys()
                    .any(|file| super::disk::is_below(file, &path))
        })
    }

    fn list(&self, glob: &str) -> Vec<String> {
        self.files
            .keys()
            .filter(|path| fast_glob::glob_match(glob, path.as_str()))
            .cloned()
            .collect()
    }

    fn issue(&self, id: &str) -> Result<Option<Arc<Issue>>, IssueError> {
        if let Some(told) = self.issues.get(&id.to_ascii_uppercase()) {
            return told.clone().map(Some);
        }
        let paths: Vec<String> = self
            .files
            .keys()
            .filter(|path| super::disk::is_below(path, &self.issues_folder))
            .filter(|path| issue_files::is_markdown(path))
            .cloned()
            .collect();
        Ok(issue_files::find(id, &paths, &|path| self.read(path))?.map(Arc::new))
    }

    fn changes(&self, scope: ChangeScope) -> Result<Arc<Changes>, GitError> {
        let changes = match scope {
            ChangeScope::Branch => &self.branch_changes,
            ChangeScope::WorkingTree => &self.tree_changes,
        };
        match (changes, &self.git_error) {
            (Some(changes), None) => Ok(changes.clone()),
            (None, None) if self.git.is_some() => Ok(Arc::default()),
            _ => Err(self.no_git()),
        }
    }

    fn git(&self) -> Result<Arc<GitState>, GitError> {
        match (&self.git, &self.git_error) {
            (Some(git), None) => Ok(git.clone()),
            _ => Err(self.no_git()),
        }
    }

    fn commits(&self, _: &CommitsOf, most: usize) -> Result<Vec<Commit>, GitError> {
        match &self.git_error {
            Some(error) => Err(error.clone()),
            None => Ok(self.commits.iter().take(most).cloned().collect()),
        }
    }

    fn before(&self, _: ChangeScope, path: &str) -> Result<Option<Arc<[u8]>>, GitError> {
        Ok(self.before.get(path).cloned())
    }

    fn staged(&self) -> Result<Vec<String>, GitError> {
        match &self.staged {
            Some(staged) => Ok(staged.clone()),
            None => Ok(self.changes(ChangeScope::WorkingTree)?.paths.clone()),
        }
    }

    fn test_figures(&self) -> TestFigures {
        self.figures
    }

    fn issues_dir(&self) -> &Path {
        Path::new(&self.issues_folder)
    }

    fn is_on_disk(&self) -> bool {
        false
    }
}
