//! Evidence: what is known of tests, bound to the content of the very tree on which they ran.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};
use rayon::iter::{IntoParallelRefIterator as _, ParallelIterator as _};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::git::Git;
use super::issue_files::is_markdown;
use crate::machine_key::ProjectKey;
use crate::regular_file;
use crate::signal::hex;
use crate::stamp::Stamp;
use crate::words::words;

/// How many runs are remembered.
const KEPT: usize = 64;
/// Directories that hold what tools make of the sources, for projects that do not ignore them.
const MADE_BY_TOOLS: &[&str] = words!("tool-made-folders");

/// SHA-256 over every file of a project that a test could depend on: names, modes and contents.
///
/// Left out is what git ignores, what lies in a directory that a tool marked as its cache, `.ahp/`, and the issues.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TreeDigest(String);

impl fmt::Display for TreeDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// The files of a tree with the digest of each.
///
/// Every file is read. Git's index would tell by size and time which ones are as they were, but it can be told to believe
/// so (`update-index --assume-unchanged`, `--skip-worktree`), and evidence is kept from those who write the files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    files: Vec<(String, [u8; 32])>,
    stamps: Vec<Option<Stamp>>,
}

impl Tree {
    /// Reads the tree below `root`, without the issues below `issues`.
    ///
    /// # Errors
    /// A file that git or the directory names cannot be read.
    pub fn read(root: &Path, issues: &Path) -> io::Result<Self> {
        let mut paths = match listed_by_git(root) {
            Some(paths) => paths,
            None => walked(root, root),
        };
        paths.retain(|path| {
            let is_made = Path::new(path).components().any(|part| {
                part.as_os_str()
                    .to_str()
                    .is_some_and(|name| MADE_BY_TOOLS.contains(&name))
            });
            // Where the issues lie in the root itself, nothing tells them from other files.
            let is_issue = is_markdown(path)
                && !issues.as_os_str().is_empty()
                && Path::new(path).starts_with(issues);
            !is_made && !is_issue
        });
        paths.sort_unstable();
        paths.dedup();
        let read = |path: &String| {
            let (digest, stamp) = digest_of(&root.join(path))?;
            Ok(((path.clone(), digest), stamp))
        };
        let (files, stamps) = paths
            .par_iter()
            .map(read)
            .collect::<io::Result<Vec<_>>>()?
            .into_iter()
            .unzip();
        Ok(Self { files, stamps })
    }

    /// Returns the files of this tree that were written, replaced or removed before `later` was read, be they the same again.
    pub fn rewritten_by(&self, later: &Self) -> Vec<&str> {
        let is_same = |path: &String, stamp: &Option<Stamp>| {
            let at = later.files.binary_search_by(|(known, _)| known.cmp(path));
            at.is_ok_and(|at| later.stamps.get(at) == Some(stamp))
        };
        let files = self.files.iter().zip(&self.stamps);
        let differing = files.filter(|((path, _), stamp)| !is_same(path, stamp));
        differing.map(|((path, _), _)| path.as_str()).collect()
    }

    /// Whether the tree holds a file.
    pub fn holds(&self, path: &str) -> bool {
        let at = self
            .files
            .binary_search_by(|(known, _)| known.as_str().cmp(path));
        at.is_ok()
    }

    /// Returns the file of the tree that a path elsewhere ends with, so that a copy of the tree may have it.
    pub fn copied_by<'p>(&self, path: &'p str) -> Option<&'p str> {
        let ends = path
            .match_indices('/')
            .filter_map(|(at, _)| path.get(at + 1..));
        ends.into_iter().find(|end| self.holds(end))
    }

    /// Returns the files of this tree whose content is another in `later`, or which are not in it.
    pub fn changed_by(&self, later: &Self) -> Vec<&str> {
        let files = self
            .files
            .iter()
            .filter(|file| later.files.binary_search(file).is_err());
        files.map(|(path, _)| path.as_str()).collect()
    }

    /// Returns the digest of the whole, as if `left_out` were not there.
    pub fn digest(&self, left_out: &[String]) -> TreeDigest {
        let mut hash = Sha256::new();
        for (path, digest) in &self.files {
            if !left_out.contains(path) {
                hash.update(path.as_bytes());
                hash.update([0]);
                hash.update(digest);
            }
        }
        TreeDigest(hex(&hash.finalize()))
    }

    /// Returns a file of the tree whose content a file of the project now has, other than itself.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn original_of(&self, root: &Path, path: &str) -> io::Result<Option<&str>> {
        let (digest, _) = digest_of(&root.join(path))?;
        let same = |(known, of): &&(String, [u8; 32])| known != path && *of == digest;
        Ok(self
            .files
            .iter()
            .find(same)
            .map(|(known, _)| known.as_str()))
    }

    /// Whether every file of this tree is in `later` too, unchanged; files may have been added.
    pub fn is_kept_by(&self, later: &Self, left_out: &[String]) -> bool {
        let is_left_out = |path: &str| left_out.iter().any(|left_out| left_out == path);
        self.changed_by(later).into_iter().all(is_left_out)
    }
}

/// Returns tracked and untracked files, without ignored ones; none where git cannot tell.
fn listed_by_git(root: &Path) -> Option<Vec<String>> {
    let listed = Git::new(root)
        .run(&[
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ])
        .ok()?;
    let mut paths = Vec::new();
    for path in listed.split(|b| *b == 0).filter(|p| !p.is_empty()) {
        let path = String::from_utf8(path.to_vec()).ok()?;
        // A submodule, or a repository inside the repository, is listed as one directory.
        let whole = root.join(&path);
        if whole.is_dir() && !whole.is_symlink() {
            paths.extend(walked(root, &whole));
        } else {
            paths.push(path);
        }
    }
    Some(paths)
}

/// Returns the files below `dir`, relative to `root`, by walking.
fn walked(root: &Path, dir: &Path) -> Vec<String> {
    ignore::WalkBuilder::new(dir)
        .hidden(false)
        .require_git(false)
        .filter_entry(|entry| {
            let is_cache = entry.path().join("CACHEDIR.TAG").exists();
            let is_made = entry
                .file_name()
                .to_str()
                .is_some_and(|name| MADE_BY_TOOLS.contains(&name));
            !is_cache && !is_made
        })
        .build()
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_some_and(|kind| !kind.is_dir()))
        .filter_map(|entry| Some(entry.path().strip_prefix(root).ok()?.to_str()?.to_owned()))
        .collect()
}

/// Returns the digest and the state of one file; a link counts by where it points, a deleted file by its absence.
fn digest_of(path: &Path) -> io::Result<([u8; 32], Option<Stamp>)> {
    let mut hash = Sha256::new();
    let meta = match fs::symlink_metadata(path) {
        Ok(meta) => meta,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(([0; 32], None)),
        Err(error) => return Err(error),
    };
    if meta.is_symlink() {
        hash.update(b"link\0");
        hash.update(fs::read_link(path)?.to_string_lossy().as_bytes());
    } else if meta.is_file() {
        let kind: &[u8] = if crate::process::is_executable(path) {
            b"program\0"
        } else {
            b"file\0"
        };
        hash.update(kind);
        io::copy(&mut fs::File::open(path)?, &mut HashWriter(&mut hash))?;
    }
    // Sockets and pipes have no content.
    Ok((hash.finalize().into(), Some(Stamp::of(&meta))))
}

struct HashWriter<'a>(&'a mut Sha256);

impl io::Write for HashWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// One run of tests.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// The tree that was tested.
    pub tree: TreeDigest,
    /// What was run.
    pub command: String,
    /// When it ended.
    pub at: DateTime<Utc>,
    /// Whether the run as a whole passed.
    pub success: bool,
    /// How many tests passed.
    pub passed: u64,
    /// How many failed.
    pub failed: u64,
    /// How many were left out.
    pub skipped: u64,
    /// Covered lines in percent, where they were measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coverage: Option<f64>,
    /// The commit that the tree was based on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<String>,
    /// Which tests it was to run, whatever ran them: a later run of the same must cover what this one did. Empty: those of
    /// the command.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub suite: String,
    /// The names of the tests that passed, as far as they are named; only the last run of a suite keeps them.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub tests: BTreeSet<String>,
    /// The reports that it wrote into the project: nobody's change of it.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub written: BTreeSet<String>,
}

impl Evidence {
    /// Returns what a later run is compared by.
    fn suite(&self) -> &str {
        if self.suite.is_empty() {
            &self.command
        } else {
            &self.suite
        }
    }
}

/// What the last known run of a tree says in numbers; what was not measured is absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TestFigures {
    /// How many tests passed.
    pub passed: Option<u64>,
    /// How many failed.
    pub failed: Option<u64>,
    /// How many there were, those that were left out among them.
    pub total: Option<u64>,
    /// Covered lines in percent, 0 to 100.
    pub coverage: Option<f64>,
}

impl TestFigures {
    /// Returns these figures, and those of `other` where these have none.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            passed: self.passed.or(other.passed),
            failed: self.failed.or(other.failed),
            total: self.total.or(other.total),
            coverage: self.coverage.or(other.coverage),
        }
    }
}

impl From<&Evidence> for TestFigures {
    fn from(run: &Evidence) -> Self {
        Self {
            passed: Some(run.passed),
            failed: Some(run.failed),
            total: Some(run.passed + run.failed + run.skipped),
            coverage: run.coverage,
        }
    }
}

/// The runs that are remembered, in one file.
#[derive(Clone, Debug)]
pub struct EvidenceStore {
    path: PathBuf,
    /// Below this no link is followed.
    base: Option<PathBuf>,
    key: Option<ProjectKey>,
}

/// A run as it is kept.
#[derive(Serialize, Deserialize)]
struct Kept {
    #[serde(flatten)]
    evidence: Evidence,
    /// By what the machine on which the tests ran knows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    mac: Option<String>,
}

/// What the mark of a run says.
const RAN: &str = "ahp test evidence";
/// A longer file is none of ours.
const LONGEST: u64 = 64 << 20;

impl EvidenceStore {
    /// Opens the store of a state directory (`.ahp/`).
    pub fn open(state_dir: &Path) -> Self {
        Self {
            path: state_dir.join("evidence.json"),
            base: state_dir.parent().map(Path::to_owned),
            key: None,
        }
    }

    /// Believes runs of this machine alone: those that it has written with a key.
    #[must_use]
    pub fn keyed(mut self, key: Option<ProjectKey>) -> Self {
        self.key = key;
        self
    }

    /// Returns the runs that are believed, oldest first; a file that is not there or not understood tells of none.
    pub fn load(&self) -> Vec<Evidence> {
        let kept: Vec<Kept> = regular_file::read(self.base.as_deref(), &self.path, LONGEST)
            .ok()
            .and_then(|text| serde_json::from_slice(&text).ok())
            .unwrap_or_default();
        let is_ours = |kept: &Kept| {
            self.key.as_ref().is_none_or(|key| {
                let said = serde_json::to_string(&kept.evidence).unwrap_or_default();
                let mac = kept.mac.as_deref();
                mac.is_some_and(|mac| key.verifies(RAN, &[&said], mac))
            })
        };
        kept.into_iter()
            .filter(is_ours)
            .map(|kept| kept.evidence)
            .collect()
    }

    /// Returns the last run on a tree, of one command or of any.
    pub fn latest(&self, tree: &TreeDigest, command: Option<&str>) -> Option<Evidence> {
        self.load()
            .into_iter()
            .rev()
            .find(|e| e.tree == *tree && command.is_none_or(|command| e.command == command))
    }

    /// Returns the last run of a suite that passed.
    pub fn last_passed(&self, suite: &str) -> Option<Evidence> {
        let all = self.load().into_iter();
        let mut passed = all
            .rev()
            .filter(|known| known.success && known.suite() == suite);
        passed.next()
    }

    /// Remembers a run in the place of an older one of the same command on the same tree.
    ///
    /// The last run of a suite that passed is never forgotten for later ones that failed.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn record(&self, evidence: Evidence) -> io::Result<()> {
        let mut all = self.load();
        let suite = evidence.suite().to_owned();
        if evidence.success {
            let older = all.iter_mut().filter(|old| old.suite() == suite);
            older.for_each(|old| old.tests.clear());
        }
        let last = all
            .iter()
            .rposition(|old| old.success && old.suite() == suite);
        let mut at = 0..;
        all.retain(|old| {
            let is_last = at.next() == last && !evidence.success;
            is_last || old.tree != evidence.tree || old.command != evidence.command
        });
        all.push(evidence);
        let mut surplus = all.len().saturating_sub(KEPT);
        let mut passed: BTreeSet<String> = BTreeSet::new();
        // The last of each suite that passed goes after all others.
        let is_last: Vec<bool> = (all.iter().rev())
            .map(|known| known.success && passed.insert(known.suite().to_owned()))
            .collect();
        let mut is_last = is_last.into_iter().rev();
        all.retain(|_| {
            let goes = !is_last.next().unwrap_or_default() && surplus > 0;
            surplus -= usize::from(goes);
            !goes
        });
        all.drain(..all.len().saturating_sub(KEPT));
        let keep = |evidence| {
            let said = serde_json::to_string(&evidence)?;
            let key = self.key.as_ref();
            let mac = key.and_then(|key| key.mac(RAN, &[&said]));
            Ok(Kept { evidence, mac })
        };
        let all: Vec<Kept> = all.into_iter().map(keep).collect::<io::Result<_>>()?;
        let text = serde_json::to_vec_pretty(&all)?;
        regular_file::replace(self.base.as_deref(), &self.path, &text)
    }
}
