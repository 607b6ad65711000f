//! GitDirs: where a repository keeps itself, and what its HEAD and refs say, read from its files.

use std::path::{Path, PathBuf};

use super::kept;
use super::settings::{Setting, settings};

/// The directories of a repository, as seen from one working tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct GitDirs {
    /// The working tree's own directory: HEAD and the index lie here.
    pub(super) own: PathBuf,
    /// The directory that all working trees share: refs and objects lie here.
    pub(super) common: PathBuf,
}

/// What HEAD says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Head {
    /// A branch is checked out.
    Branch(String),
    /// A commit is checked out.
    Detached(String),
    /// The repository keeps its refs elsewhere; only the program can tell.
    Unreadable,
}

impl GitDirs {
    /// Finds the repository that `dir` lies in.
    pub(super) fn find(dir: &Path) -> Option<Self> {
        dir.ancestors().find_map(|dir| Self::at(&dir.join(".git")))
    }

    /// Reads what `.git` is: a directory, or, in linked working trees and submodules, a file that names one.
    fn at(dot_git: &Path) -> Option<Self> {
        let own = if dot_git.is_dir() {
            dot_git.to_owned()
        } else {
            let text = kept(dot_git)?;
            let named = text.strip_prefix("gitdir:")?.trim();
            dot_git.parent()?.join(named)
        };
        if !own.join("HEAD").exists() {
            return None;
        }
        let common = match kept(own.join("commondir")) {
            Some(named) => own.join(named.trim()),
            None => own.clone(),
        };
        Some(Self { own, common })
    }

    /// Reads HEAD.
    pub(super) fn head(&self) -> Head {
        let Some(text) = kept(self.own.join("HEAD")) else {
            return Head::Unreadable;
        };
        let text = text.trim();
        match text.strip_prefix("ref:").map(str::trim) {
            // What a repository with `extensions.refStorage = reftable` writes.
            Some("refs/heads/.invalid") => Head::Unreadable,
            Some(reference) => match reference.strip_prefix("refs/heads/") {
                Some(branch) => Head::Branch(branch.to_owned()),
                None => Head::Unreadable,
            },
            None if is_commit(text) => Head::Detached(text.to_owned()),
            None => Head::Unreadable,
        }
    }

    /// Reads the commit that a ref such as `refs/heads/main` stands for.
    pub(super) fn commit(&self, reference: &str) -> Option<String> {
        if let Some(text) = kept(self.common.join(reference)) {
            let text = text.trim();
            return match text.strip_prefix("ref:") {
                // One step is all that git itself ever writes.
                Some(next) if next.trim() != reference => {
                    let text = kept(self.common.join(next.trim()))?;
                    is_commit(text.trim()).then(|| text.trim().to_owned())
                }
                Some(_) => None,
                None => is_commit(text).then(|| text.to_owned()),
            };
        }
        let packed = kept(self.common.join("packed-refs"))?;
        packed.lines().find_map(|line| {
            let (commit, name) = line.split_once(' ')?;
            (name == reference && is_commit(commit)).then(|| commit.to_owned())
        })
    }

    /// Reads the branch that the remote `origin` calls its own default.
    pub(super) fn origin_default(&self) -> Option<String> {
        let text = kept(self.common.join("refs/remotes/origin/HEAD"))?;
        let branch = text.trim().strip_prefix("ref:")?.trim();
        Some(branch.strip_prefix("refs/remotes/origin/")?.to_owned())
    }

    /// Reads the addresses of the remotes that a project has from its start: `origin` and `upstream`.
    pub(super) fn own_remotes(&self) -> Vec<String> {
        let settings = self.settings();
        let own = settings.iter().filter(|s| is_own(&s.section) && s.is_url());
        own.map(|setting| setting.value.clone()).collect()
    }

    /// Reads the addresses that git goes to where a remote is named, or where none is; none where that cannot be told:
    /// settings rewrite addresses, come from another file, or make git choose among several remotes.
    pub(super) fn addresses_of(&self, remote: Option<&str>) -> Option<Vec<String>> {
        let settings = self.settings();
        let chooses = |s: &Setting| match &*s.key {
            "pushdefault" => s.section == "remote",
            "remote" | "pushremote" => {
                s.section.starts_with("branch ")
                    && !matches!(&*s.value, "." | "origin" | "upstream")
            }
            _ => s.is_url() && s.section.starts_with("remote ") && !is_own(&s.section),
        };
        let hides = |s: &Setting| s.section.starts_with("url ") || s.section.starts_with("include");
        if settings
            .iter()
            .any(|s| hides(s) || remote.is_none() && chooses(s))
        {
            return None;
        }
        let is_meant = |section: &str| match remote {
            Some(name) => section == format!("remote \"{name}\""),
            None => is_own(section),
        };
        let meant = settings
            .iter()
            .filter(|s| is_meant(&s.section) && s.is_url());
        Some(meant.map(|setting| setting.value.clone()).collect())
    }

    /// Reads the repository's own settings.
    fn settings(&self) -> Vec<Setting> {
        settings(&self.common.join("config"))
    }

    /// Whether refs lie in files.
    pub(super) fn has_ref_files(&self) -> bool {
        !self.common.join("reftable").is_dir()
    }
}

fn is_own(section: &str) -> bool {
    matches!(section, "remote \"origin\"" | "remote \"upstream\"")
}

fn is_commit(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|b| b.is_ascii_hexdigit())
}
