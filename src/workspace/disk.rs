//! DiskWorkspace: the project as it lies on the disk, with git asked when it is needed.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rayon::iter::{IntoParallelIterator as _, ParallelIterator as _};

use super::git::{RawChanges, Repository};
use super::{
    Change, ChangeScope, ChangedFile, Changes, Commit, CommitsOf, Evidence, EvidenceStore,
    GitError, GitState, Issue, IssueError, TestFigures, ToldBase, Tree, Uncommitted, Workspace,
    contained, issue_files,
};
use crate::machine_key::ProjectKey;

/// The largest file that is read whole.
const MAX_FILE: u64 = 256 << 20;

/// How much of files that git does not track is kept when their lines are counted, so that it is not read again.
const MAX_KEPT: u64 = 128 << 20;

/// Git takes a file for binary that holds a zero byte in its beginning.
const BINARY_PROBE: usize = 8000;

/// Fewer files are read faster by one thread than threads are started.
const WORTH_THREADS: usize = 64;

/// A project on the disk, as it is during one event: what was read once is not read again.
#[derive(Debug)]
pub struct DiskWorkspace {
    root: Arc<Path>,
    /// What tells the evidence of this machine from what came with a clone.
    key: Option<ProjectKey>,
    /// Where the root really lies; asked once, for every file that is read asks for it.
    real_root: OnceLock<Result<PathBuf, ReadError>>,
    issues_dir: Arc<Path>,
    /// The folder of the issues relative to the root; none where it is the root itself or lies elsewhere.
    issues_folder: OnceLock<Option<String>>,
    contents: Cache<PathBuf, Result<Arc<[u8]>, ReadError>>,
    /// How many bytes were read to count lines, and kept.
    kept: AtomicU64,
    files: OnceLock<Vec<String>>,
    issue_paths: OnceLock<Vec<String>>,
    issues: Cache<String, Result<Option<Arc<Issue>>, IssueError>>,
    told_base: Arc<ToldBase>,
    /// The index of the commit that git is making; that of the repository where it makes none.
    index: Option<PathBuf>,
    repository: OnceLock<Result<Arc<Repository>, GitError>>,
    uncommitted: OnceLock<Result<Arc<Uncommitted>, GitError>>,
    branch_changes: OnceLock<Result<Arc<Changes>, GitError>>,
    tree_changes: OnceLock<Result<Arc<Changes>, GitError>>,
    evidence: OnceLock<Option<Evidence>>,
}

/// What was found once for a key; different keys do not wait for each other.
type Cache<K, V> = Mutex<HashMap<K, Arc<OnceLock<V>>>>;

/// An error to read a file, kept to be given again.
#[derive(Clone, Debug)]
struct ReadError {
    kind: io::ErrorKind,
    message: String,
}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> Self {
        Self {
            kind: error.kind(),
            message: error.to_string(),
        }
    }
}

impl ReadError {
    fn to_error(&self) -> io::Error {
        io::Error::new(self.kind, self.message.clone())
    }
}

impl DiskWorkspace {
    /// Believes evidence of tests only where this machine wrote it with a key.
    #[must_use]
    pub fn keyed(mut self, key: Option<ProjectKey>) -> Self {
        self.key = key;
        self
    }

    /// Makes the workspace of the project at `root`, whose issues lie below `issues_dir`.
    ///
    /// Both are absolute; an `issues_dir` that is not stands against `root`. Nothing is read yet.
    pub fn new(root: impl Into<Arc<Path>>, issues_dir: impl Into<Arc<Path>>) -> Self {
        let (root, issues_dir) = (root.into(), issues_dir.into());
        Self {
            issues_dir: if issues_dir.is_absolute() {
                issues_dir
            } else {
                root.join(issues_dir).into()
            },
            root,
            key: None,
            real_root: OnceLock::new(),
            issues_folder: OnceLock::new(),
            contents: Cache::default(),
            kept: AtomicU64::new(0),
            files: OnceLock::new(),
            issue_paths: OnceLock::new(),
            issues: Cache::default(),
            told_base: Arc::default(),
            index: None,
            repository: OnceLock::new(),
            uncommitted: OnceLock::new(),
            branch_changes: OnceLock::new(),
            tree_changes: OnceLock::new(),
            evidence: OnceLock::new(),
        }
    }

    /// Returns it with what is told of the commit that changes are measured against.
    #[must_use]
    pub fn with_base(mut self, told: Arc<ToldBase>) -> Self {
        self.told_base = told;
        self
    }

    /// Returns it with the index of the commit that git is making, where git itself names one to its hook.
    #[must_use]
    pub fn committing(mut self, index: Option<PathBuf>) -> Self {
        self.index = index;
        self
    }

    /// Returns the real path of something inside the project.
    fn resolve(&self, path: &str) -> io::Result<PathBuf> {
        let real_root = self
            .real_root
            .get_or_init(|| self.root.canonicalize().map_err(ReadError::from))
            .as_ref()
            .map_err(ReadError::to_error)?;
        contained::resolve_in(&self.root, real_root, path)
    }

    /// Returns why it cannot be told which file is the issue, for each id that several files below the issues directory have.
    pub fn shared_ids(&self) -> Vec<IssueError> {
        issue_files::shared_ids(self.issue_paths(), &|path| self.read(path))
    }

    /// Returns the paths of the files below the issues directory.
    fn issue_paths(&self) -> &[String] {
        self.issue_paths
            .get_or_init(|| issue_files::walk(&self.issues_dir, &self.root))
    }

    fn issues_folder(&self) -> Option<&str> {
        let find = || {
            let folder = self.issues_dir.strip_prefix(&self.root).ok()?;
            let folder = folder.to_string_lossy().trim_matches('/').to_owned();
            (!folder.is_empty() && folder != ".").then_some(folder)
        };
        self.issues_folder.get_or_init(find).as_deref()
    }

    pub(super) fn repository(&self) -> Result<&Arc<Repository>, GitError> {
        self.repository
            .get_or_init(|| Repository::find(&self.root, self.told_base.clone()).map(Arc::new))
            .as_ref()
            .map_err(Clone::clone)
    }

    fn find_changes(&self, scope: ChangeScope) -> Result<Arc<Changes>, GitError> {
        let RawChanges {
            tracked,
            untracked,
            mut unseen,
            base,
        } = self.repository()?.changes(scope)?;
        let mut files: HashMap<String, ChangedFile> = tracked
            .into_iter()
            .filter(|file| self.counts(&file.path, scope))
            .map(|file| (file.path.clone(), file))
            .collect();
        let added = |path: String| {
            self.counts(&path, scope).then(|| ChangedFile {
                added_lines: self.lines(&path),
                removed_lines: Some(0),
                path,
                old_path: None,
                change: Change::Added,
            })
        };
        let new: Vec<ChangedFile> = if untracked.len() < WORTH_THREADS {
            untracked.into_iter().filter_map(added).collect()
        } else {
            untracked.into_par_iter().filter_map(added).collect()
        };
        for mut file in new {
            // Taken out of the index, but still there: it is no longer tracked, and not deleted either.
            if files.contains_key(&file.path) {
                file.change = Change::Modified;
                unseen.push(file.path.clone());
            }
            files.insert(file.path.clone(), file);
        }
        unseen.retain(|path| self.counts(path, scope));
        let changes = Changes::of(files.into_values().collect(), base);
        Ok(Arc::new(Changes { unseen, ..changes }))
    }

    /// Whether a path is part of the work: the issues and AHP's own files are not what an issue's branch changes.
    fn counts(&self, path: &str, scope: ChangeScope) -> bool {
        let of_issues = scope == ChangeScope::Branch
            && issue_files::is_markdown(path)
            && self
                .issues_folder()
                .is_some_and(|folder| is_below(path, folder));
        !is_below(path, ".ahp") && !of_issues
    }

    /// Counts the lines of a file as git does; none where it is binary or no plain file.
    fn lines(&self, path: &str) -> Option<u32> {
        let real = self.resolve(path).ok()?;
        let size = real
            .metadata()
            .ok()
            .filter(std::fs::Metadata::is_file)?
            .len();
        let mut count = LineCount::default();
        if self.keeps(size) {
            count.add(&self.read(path).ok()?);
        } else {
            let mut file = std::fs::File::open(real).ok()?;
            let mut buffer = vec![0; 1 << 16];
            loop {
                match file.read(&mut buffer).ok()? {
                    0 => break,
                    n => count.add(buffer.get(..n)?),
                }
            }
        }
        count.total()
    }

    /// Takes room for a file that is to be kept; gives none where too much is kept already.
    fn keeps(&self, size: u64) -> bool {
        let taken = |kept: u64| kept.checked_add(size).filter(|sum| *sum <= MAX_KEPT);
        self.kept
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, taken)
            .is_ok()
    }

    fn read_new(&self, path: &str) -> io::Result<Arc<[u8]>> {
        let real = self.resolve(path).or_else(|error| {
            // The issues may lie elsewhere, by the settings.
            if self.issues_folder().is_none() && Path::new(path).is_absolute() {
                contained::resolve(&self.issues_dir, path)
            } else {
                Err(error)
            }
        })?;
        // A pipe would be waited for without end.
        let metadata = real.metadata()?;
        if !metadata.is_file() {
            let message = format!("`{path}` is not a file");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        if metadata.len() > MAX_FILE {
            let message = format!("`{path}` is larger than {} MiB", MAX_FILE >> 20);
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
        }
        std::fs::read(real).map(Arc::from)
    }
}

impl Workspace for DiskWorkspace {
    fn root(&self) -> &Path {
        &self.root
    }

    fn read(&self, path: &str) -> io::Result<Arc<[u8]>> {
        let key = self.root.join(path);
        let place = place(&self.contents, key);
        place
            .get_or_init(|| self.read_new(path).map_err(ReadError::from))
            .clone()
            .map_err(|error| error.to_error())
    }

    fn exists(&self, path: &str) -> bool {
        self.resolve(path).is_ok()
    }

    fn list(&self, glob: &str) -> Vec<String> {
        let files = self.files.get_or_init(|| list_files(&self.root));
        files
            .iter()
            .filter(|path| fast_glob::glob_match(glob, path.as_str()))
            .cloned()
            .collect()
    }

    fn issue(&self, id: &str) -> Result<Option<Arc<Issue>>, IssueError> {
        let place = place(&self.issues, id.to_owned());
        let find = || {
            let read = |path: &str| self.read(path);
            Ok(issue_files::find(id, self.issue_paths(), &read)?.map(Arc::new))
        };
        place.get_or_init(find).clone()
    }

    fn changes(&self, scope: ChangeScope) -> Result<Arc<Changes>, GitError> {
        let place = match scope {
            ChangeScope::Branch => &self.branch_changes,
            ChangeScope::WorkingTree => &self.tree_changes,
        };
        place.get_or_init(|| self.find_changes(scope)).clone()
    }

    fn git(&self) -> Result<Arc<GitState>, GitError> {
        let repository = self.repository()?;
        Ok(Arc::new(GitState::of(repository.clone())))
    }

    fn uncommitted(&self) -> Result<Arc<Uncommitted>, GitError> {
        let ask = || Ok(Arc::new(self.repository()?.uncommitted(&self.root)?));
        self.uncommitted.get_or_init(ask).clone()
    }

    fn held(&self, branches: &[&str]) -> Result<BTreeMap<String, bool>, GitError> {
        self.repository()?.held(branches)
    }

    fn own_remotes(&self) -> Vec<String> {
        self.repository()
            .map(|found| found.own_remotes())
            .unwrap_or_default()
    }

    fn addresses_of(&self, remote: Option<&str>) -> Option<Vec<String>> {
        self.repository().ok()?.addresses_of(remote)
    }

    fn commits(&self, of: &CommitsOf, most: usize) -> Result<Vec<Commit>, GitError> {
        self.repository()?.commits(of, most)
    }

    fn changed_by(&self, commits: &[Commit]) -> Result<Arc<Changes>, GitError> {
        let mut files = self.repository()?.changed_by(commits)?;
        files.retain(|file| self.counts(&file.path, ChangeScope::Branch));
        Ok(Arc::new(Changes::of(files, None)))
    }

    fn before(&self, scope: ChangeScope, path: &str) -> Result<Option<Arc<[u8]>>, GitError> {
        let content = self.repository()?.before(scope, path)?;
        Ok(content.map(Arc::from))
    }

    fn staged(&self) -> Result<Vec<String>, GitError> {
        self.repository()?.staged(self.index.as_deref())
    }

    fn builds_on(&self, commit: &str, earlier: &str) -> bool {
        self.repository()
            .is_ok_and(|repository| repository.builds_on(commit, earlier))
    }

    fn test_figures(&self) -> TestFigures {
        let evidence = self.evidence.get_or_init(|| {
            let store = self.evidence(&self.root.join(".ahp"));
            // Without evidence there is no need to look at the tree.
            if store.load().is_empty() {
                return None;
            }
            let tree = Tree::read(&self.root, self.issues_dir()).ok()?;
            store.latest(&tree.digest(&[]), None)
        });
        evidence.as_ref().map(TestFigures::from).unwrap_or_default()
    }

    fn evidence(&self, state_dir: &Path) -> EvidenceStore {
        EvidenceStore::open(state_dir).keyed(self.key.clone())
    }

    fn issues_dir(&self) -> &Path {
        self.issues_dir
            .strip_prefix(&self.root)
            .unwrap_or(&self.issues_dir)
    }

    fn is_on_disk(&self) -> bool {
        true
    }
}

fn place<K: Eq + std::hash::Hash, V>(cache: &Cache<K, V>, key: K) -> Arc<OnceLock<V>> {
    let mut cache = cache.lock().unwrap_or_else(PoisonError::into_inner);
    cache.entry(key).or_default().clone()
}

/// Whether a path is a folder or lies below it.
pub(super) fn is_below(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Lists every file that git does not ignore, sorted; without a repository, ignore files hold all the same.
pub(super) fn list_files(root: &Path) -> Vec<String> {
    let mut files: Vec<String> = ignore::WalkBuilder::new(root)
        .hidden(false)
        .require_git(false)
        .follow_links(false)
        .filter_entry(|entry| entry.file_name() != ".git")
        .build()
        .flatten()
        .filter(|entry| {
            entry
                .file_type()
                .is_some_and(|kind| kind.is_file() || (kind.is_symlink() && entry.path().is_file()))
        })
        .filter_map(|entry| {
            let path = entry.path().strip_prefix(root).ok()?;
            Some(path.to_string_lossy().into_owned())
        })
        .collect();
    files.sort_unstable();
    files
}

/// Counts lines piece by piece.
#[derive(Debug, Default)]
struct LineCount {
    lines: u32,
    seen: usize,
    binary: bool,
    open: bool,
}

impl LineCount {
    fn add(&mut self, bytes: &[u8]) {
        if self.seen < BINARY_PROBE {
            let end = bytes.len().min(BINARY_PROBE - self.seen);
            self.binary |= memchr::memchr(0, bytes.get(..end).unwrap_or_default()).is_some();
        }
        self.seen += bytes.len();
        let count = memchr::memchr_iter(b'\n', bytes).count();
        self.lines = self
            .lines
            .saturating_add(u32::try_from(count).unwrap_or(u32::MAX));
        if let Some(last) = bytes.last() {
            self.open = *last != b'\n';
        }
    }

    fn total(&self) -> Option<u32> {
        (!self.binary).then(|| self.lines.saturating_add(u32::from(self.open)))
    }
}
