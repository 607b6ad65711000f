//! Standing: what a working tree holds that no commit does, and which refs hold a branch; one short question each.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::head::Head;
use super::{Repository, diff};
use crate::workspace::GitError;

/// How long such a question may take: an agent waits for it. A repository that needs longer cannot tell.
const SHORT: Duration = Duration::from_secs(2);

/// What a working tree holds that no commit does, as absolute paths; whole directories where nothing in them is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Uncommitted {
    /// Tracked files that differ from the last commit.
    pub changed: Vec<PathBuf>,
    /// Files and directories that git does not know.
    pub untracked: Vec<PathBuf>,
    /// Files and directories that it is told to ignore.
    pub ignored: Vec<PathBuf>,
    /// How many commits of the branch are not on the one that it follows elsewhere; none where it follows none.
    pub ahead: Option<usize>,
}

impl Uncommitted {
    /// Reads what `git status --porcelain -z` printed, for a working tree whose top is here.
    fn read(output: &[u8], top: &Path) -> Self {
        let mut found = Self::default();
        let mut records = diff::paths(output);
        while let Some(record) = records.next() {
            let (Some(code), Some(path)) = (record.get(..2), record.get(3..)) else {
                continue;
            };
            if code == "##" {
                found.ahead = ahead(path);
                continue;
            }
            let path = top.join(path.trim_end_matches('/'));
            match code {
                "??" => found.untracked.push(path),
                "!!" => found.ignored.push(path),
                _ => {
                    found.changed.push(path);
                    // Behind a rename stands where the file was.
                    if code.contains(['R', 'C'])
                        && let Some(old) = records.next()
                    {
                        found.changed.push(top.join(old));
                    }
                }
            }
        }
        found
    }
}

/// Reads the line about the branch: `feat...origin/feat [ahead 1, behind 2]`.
fn ahead(line: &str) -> Option<usize> {
    let (_, followed) = line.split_once("...")?;
    let (_, told) = followed.split_once(" [").unwrap_or_default();
    if told.starts_with("gone") {
        return None;
    }
    let count = told.strip_prefix("ahead ").unwrap_or("0");
    count.split([',', ']']).next()?.parse().ok()
}

impl Repository {
    /// Whether a commit is known to have another one among those that it builds on.
    pub(in crate::workspace) fn builds_on(&self, commit: &str, earlier: &str) -> bool {
        let is_name = |name: &str| !name.is_empty() && name.bytes().all(|b| b.is_ascii_hexdigit());
        let asked = ["merge-base", "--is-ancestor", earlier, commit];
        is_name(commit) && is_name(earlier) && self.git().run_within(&asked, SHORT).is_ok()
    }

    /// Returns what the working tree holds that no commit does.
    pub(in crate::workspace) fn uncommitted(&self, root: &Path) -> Result<Uncommitted, GitError> {
        let nowhere = || GitError::NoRepository(root.display().to_string());
        let top = root.ancestors().find(|dir| dir.join(".git").exists());
        let top = top.ok_or_else(nowhere)?;
        let arguments = [
            "status",
            "--porcelain",
            "--branch",
            "-z",
            "--untracked-files=normal",
            "--ignored=matching",
        ];
        let output = self.git().run_within(&arguments, SHORT)?;
        Ok(Uncommitted::read(&output, top))
    }

    /// Tells of each of these branches that is there whether refs other than all of them hold its last commit.
    pub(in crate::workspace) fn held(
        &self,
        branches: &[&str],
    ) -> Result<BTreeMap<String, bool>, GitError> {
        if self.dirs.head() == Head::Unreadable {
            return Err(GitError::NoRepository("its refs cannot be read".to_owned()));
        }
        let mut tips = BTreeMap::new();
        for branch in branches {
            if let Some(tip) = self.dirs.commit(&format!("refs/heads/{branch}")) {
                tips.insert((*branch).to_owned(), tip);
            }
        }
        let mut arguments = vec!["rev-list".to_owned()];
        // Of one branch that others do not hold, its last commit comes first.
        arguments.extend((tips.len() == 1).then(|| "--max-count=1".to_owned()));
        arguments.extend(tips.values().cloned());
        arguments.push("--not".to_owned());
        arguments.extend(tips.keys().map(|branch| format!("--exclude={branch}")));
        arguments.extend(["--branches", "--remotes", "--tags"].map(str::to_owned));
        let lost = if tips.is_empty() {
            Vec::new()
        } else {
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            self.git().run_within(&arguments, SHORT)?
        };
        let lost = String::from_utf8_lossy(&lost);
        let lost: BTreeSet<&str> = lost.lines().collect();
        let held = tips.into_iter();
        Ok(held
            .map(|(branch, tip)| (branch, !lost.contains(tip.as_str())))
            .collect())
    }
}
