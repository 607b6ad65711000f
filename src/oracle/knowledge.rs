//! Knowledge: what the project of an event knows of what a command would lose; git is asked one question at most.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use crate::danger::{Holder, Knowledge};
use crate::fact::Facts;
use crate::shell::{destination, is_loopback, names_destination};
use crate::workspace::{DiskWorkspace, Uncommitted, Workspace as _};

/// Files that name the registries of a project's packages.
const REGISTRY_FILES: &[&str] = &[
    ".npmrc",
    ".yarnrc.yml",
    "pyproject.toml",
    "pip.conf",
    ".cargo/config.toml",
];

/// What is known of an event's project, each asked when a rule first wants it.
#[derive(Debug)]
pub struct ProjectKnowledge<'a> {
    facts: &'a Facts,
    has_asked: Cell<bool>,
    uncommitted: OnceCell<Option<Arc<Uncommitted>>>,
    holders: OnceCell<Option<BTreeMap<String, Holder>>>,
    hosts: OnceCell<Vec<String>>,
    registries: OnceCell<Vec<String>>,
    told: RefCell<Vec<String>>,
}

impl<'a> ProjectKnowledge<'a> {
    /// Makes it; nothing is asked yet.
    pub fn new(facts: &'a Facts) -> Self {
        Self {
            facts,
            has_asked: Cell::new(false),
            uncommitted: OnceCell::new(),
            holders: OnceCell::new(),
            hosts: OnceCell::new(),
            registries: OnceCell::new(),
            told: RefCell::default(),
        }
    }

    /// Returns what was asked, and what was told, one line each.
    pub fn told(&self) -> Vec<String> {
        self.told.borrow().clone()
    }

    /// Whether git may still be asked; it may be once.
    fn may_ask(&self) -> bool {
        !self.has_asked.replace(true)
    }

    fn tell(&self, question: &str, answer: Option<String>) {
        let answer = answer.unwrap_or_else(|| "cannot be told".to_owned());
        let line = format!("{question}: {answer}");
        let mut told = self.told.borrow_mut();
        if !told.contains(&line) {
            told.push(line);
        }
    }

    fn status(&self) -> Option<&Uncommitted> {
        let ask = || {
            let may = self.may_ask();
            may.then(|| self.facts.workspace().uncommitted().ok())
                .flatten()
        };
        self.uncommitted.get_or_init(ask).as_deref()
    }

    /// Whether a path lies in the project's own repository, not in one that lies in it.
    fn is_of_project(&self, path: &Path) -> bool {
        let root = self.facts.project_root();
        path.starts_with(root)
            && path
                .ancestors()
                .take_while(|dir| *dir != root)
                .all(|dir| !dir.join(".git").exists())
    }

    fn count(&self, path: &Path, lists: &[&[std::path::PathBuf]]) -> Option<usize> {
        if !self.is_of_project(path) {
            return None;
        }
        let lies_there =
            |found: &&std::path::PathBuf| found.starts_with(path) || path.starts_with(found);
        Some(
            lists
                .iter()
                .flat_map(|list| list.iter())
                .filter(lies_there)
                .count(),
        )
    }

    fn registries(&self) -> &[String] {
        let read = || {
            let workspace = self.facts.workspace();
            let texts = REGISTRY_FILES
                .iter()
                .filter_map(|file| workspace.text(file));
            let lines: Vec<String> = texts
                .flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>())
                .collect();
            let named = lines.iter().filter(|line| {
                line.contains("registry") || line.contains("index") || line.contains("url")
            });
            let addresses = named.filter_map(|line| {
                let at = line.find("https://")?;
                let end = |c: char| c.is_whitespace() || "\"',".contains(c);
                destination(line.get(at..)?.split(end).next()?)
            });
            addresses.collect()
        };
        self.registries.get_or_init(read)
    }
}

impl Knowledge for ProjectKnowledge<'_> {
    fn changed(&self, path: &Path) -> Option<usize> {
        let found = self
            .status()
            .and_then(|status| self.count(path, &[&status.changed]));
        self.tell(
            &format!("git: changed files at {}", path.display()),
            found.map(|n| n.to_string()),
        );
        found
    }

    fn uncommitted(&self, path: &Path, with_ignored: bool) -> Option<usize> {
        let found = self.status().and_then(|status| {
            let ignored: &[_] = if with_ignored { &status.ignored } else { &[] };
            self.count(path, &[&status.changed, &status.untracked, ignored])
        });
        self.tell(
            &format!("git: files at {} that no commit holds", path.display()),
            found.map(|n| n.to_string()),
        );
        found
    }

    fn uncommitted_in(&self, worktree: &Path) -> Option<usize> {
        let found = if worktree.exists() {
            let other = self
                .may_ask()
                .then(|| DiskWorkspace::new(worktree, self.facts.workspace().issues_dir()));
            let status = other.and_then(|other| other.uncommitted().ok());
            status.map(|status| status.changed.len() + status.untracked.len())
        } else {
            Some(0)
        };
        self.tell(
            &format!("git: files in {} that no commit holds", worktree.display()),
            found.map(|n| n.to_string()),
        );
        found
    }

    fn holder(&self, branch: &str, taken: &dyn Fn() -> BTreeSet<String>) -> Option<Holder> {
        let ask = || {
            let taken = taken();
            let names: Vec<&str> = taken.iter().map(String::as_str).collect();
            let held = || self.facts.workspace().held(&names).ok();
            let held = self.may_ask().then(held).flatten()?;
            let holder = |name: &str| match held.get(name) {
                Some(true) => Holder::Others,
                Some(false) => Holder::Nobody,
                None => Holder::NoBranch,
            };
            let all = names.iter();
            Some(all.map(|name| ((*name).to_owned(), holder(name))).collect())
        };
        let holders = self.holders.get_or_init(ask).as_ref();
        let found = holders.and_then(|holders| holders.get(branch)).copied();
        let said = found.map(|holder| match holder {
            Holder::Others => "yes",
            Holder::Nobody => "no",
            Holder::NoBranch => "there is no such branch",
        });
        self.tell(
            &format!("git: other branches and tags hold all commits of {branch}"),
            said.map(str::to_owned),
        );
        found
    }

    fn ahead(&self) -> Option<usize> {
        let found = self.status().and_then(|status| status.ahead);
        let said = found.map(|count| count.to_string());
        self.tell("git: commits that the branch elsewhere does not have", said);
        found
    }

    fn branch(&self) -> Option<String> {
        let found = self
            .facts
            .git()
            .ok()
            .and_then(|git| git.branch().map(str::to_owned));
        self.tell("git: the branch that is checked out", found.clone());
        found
    }

    fn is_trusted(&self, address: &str, for_packages: bool) -> bool {
        let Some(meant) = destination(address) else {
            return false;
        };
        let hosts = self.hosts.get_or_init(|| {
            let remotes = self.facts.workspace().own_remotes();
            let remotes = remotes.iter().filter_map(|remote| destination(remote));
            self.facts
                .trusted_hosts()
                .iter()
                .cloned()
                .chain(remotes)
                .collect()
        });
        let names = |all: &[String]| all.iter().any(|entry| names_destination(entry, &meant));
        let is_trusted =
            is_loopback(&meant) || names(hosts) || for_packages && names(self.registries());
        self.tell(
            &format!("trusted: {meant}"),
            Some(if is_trusted { "yes" } else { "no" }.to_owned()),
        );
        is_trusted
    }
}
