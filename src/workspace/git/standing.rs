//! Standing: what a working tree holds that no commit does, and which refs hold a branch; one short question each.

use std::path::{Path, PathBuf};
use std::time::Duration;

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
            "-z",
            "--untracked-files=normal",
            "--ignored=matching",
        ];
        let output = self.git().run_within(&arguments, SHORT)?;
        Ok(Uncommitted::read(&output, top))
    }

    /// Returns a ref other than the branch itself that holds its last commit.
    pub(in crate::workspace) fn holder(&self, branch: &str) -> Result<Option<String>, GitError> {
        let own = format!("refs/heads/{branch}");
        let arguments = [
            "for-each-ref",
            "--count=2",
            "--format=%(refname)",
            "--contains",
            &own,
            "refs/heads",
            "refs/remotes",
            "refs/tags",
        ];
        let output = match self.git().run_within(&arguments, SHORT) {
            Err(GitError::Failed { message, .. }) if message.contains("malformed object name") => {
                return Err(GitError::NoBranch(branch.to_owned()));
            }
            output => output?,
        };
        let text = String::from_utf8_lossy(&output);
        Ok(text.lines().find(|name| *name != own).map(str::to_owned))
    }
}
