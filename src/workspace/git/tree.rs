//! CommitTree: the files of a project as a commit has them, links and all.

use std::collections::BTreeMap;

use super::Repository;
use crate::workspace::GitError;

/// No way leads through more links: it goes in a circle.
const MOST_LINKS: usize = 40;

/// What a commit has at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    /// A file, by its object.
    File(String),
    /// A link, by where it leads.
    Link(String),
    /// A submodule: what is in it is not of this repository.
    Submodule,
}

/// The files of a project, or of a whole repository, as a commit has them, by their paths.
#[derive(Clone, Debug, Default)]
pub(crate) struct CommitTree {
    entries: BTreeMap<String, Entry>,
}

impl CommitTree {
    /// Returns all entries by their paths; folders are told by what lies in them.
    pub(crate) const fn entries(&self) -> &BTreeMap<String, Entry> {
        &self.entries
    }

    /// Returns what lies at a path, no link followed.
    pub(crate) fn get(&self, path: &str) -> Option<&Entry> {
        self.entries.get(path)
    }

    /// Returns what lies below a folder; below the root where it has no name.
    pub(crate) fn below<'t>(
        &'t self,
        folder: &str,
    ) -> impl Iterator<Item = (&'t String, &'t Entry)> + use<'t> {
        let beginning = if folder.is_empty() {
            String::new()
        } else {
            format!("{folder}/")
        };
        let from = self.entries.range(beginning.clone()..);
        from.take_while(move |(path, _)| path.starts_with(&beginning))
    }

    /// Whether there is a folder at a path, no link followed.
    pub(crate) fn has_folder(&self, path: &str) -> bool {
        self.below(path).next().is_some()
    }

    /// Returns where a path really leads, links followed; none where it leads out of the tree or in a circle. What is there need
    /// not be.
    pub(crate) fn resolve(&self, path: &str) -> Option<String> {
        let mut rest: Vec<String> = path.rsplit('/').map(str::to_owned).collect();
        let mut real: Vec<String> = Vec::new();
        let mut links = 0;
        while let Some(part) = rest.pop() {
            match part.as_str() {
                "" | "." => continue,
                ".." => {
                    real.pop()?;
                    continue;
                }
                _ => real.push(part),
            }
            if let Some(Entry::Link(target)) = self.get(&real.join("/")) {
                links += 1;
                if links > MOST_LINKS || target.starts_with('/') {
                    return None;
                }
                real.pop();
                rest.extend(target.rsplit('/').map(str::to_owned));
            }
        }
        Some(real.join("/"))
    }
}

impl Repository {
    /// Returns the tree of a commit below the project.
    pub(in crate::workspace) fn tree_of(&self, commit: &str) -> Result<CommitTree, GitError> {
        let listed = self.git().run(&["ls-tree", "-r", "-z", commit])?;
        let listed = String::from_utf8_lossy(&listed);
        let mut entries = BTreeMap::new();
        let mut links: Vec<(&str, &str)> = Vec::new();
        for entry in listed.split('\0') {
            let Some((head, path)) = entry.split_once('\t') else {
                continue;
            };
            let mut head = head.split(' ');
            match (head.next(), head.next(), head.next()) {
                (Some("120000"), _, Some(object)) => links.push((object, path)),
                (_, Some("blob"), Some(object)) => {
                    entries.insert(path.to_owned(), Entry::File(object.to_owned()));
                }
                (_, Some("commit"), _) => {
                    entries.insert(path.to_owned(), Entry::Submodule);
                }
                _ => {}
            }
        }
        let objects: Vec<&str> = links.iter().map(|(object, _)| *object).collect();
        for ((_, path), target) in links.iter().zip(self.contents(&objects)?) {
            let target = String::from_utf8_lossy(&target).into_owned();
            entries.insert((*path).to_owned(), Entry::Link(target));
        }
        Ok(CommitTree { entries })
    }

    /// Returns the files of the whole repository that a commit has differently from the working tree, by their paths in it.
    pub(in crate::workspace) fn differing_from(
        &self,
        commit: &str,
    ) -> Result<Vec<String>, GitError> {
        let output = self.git().run(&[
            "diff",
            "--name-only",
            "-z",
            "--no-renames",
            "--no-ext-diff",
            "--no-relative",
            "--ignore-submodules=dirty",
            commit,
            "--",
            ":/",
        ])?;
        Ok(super::diff::paths(&output).collect())
    }

    /// Returns the contents of objects that are files, in their order.
    pub(in crate::workspace) fn contents(&self, blobs: &[&str]) -> Result<Vec<Vec<u8>>, GitError> {
        if blobs.is_empty() {
            return Ok(Vec::new());
        }
        let arguments = ["cat-file", "--batch"];
        let asked = format!("{}\n", blobs.join("\n")).into_bytes();
        let answer = self.git().run_with_input(&arguments, asked)?;
        let mut rest = answer.as_slice();
        let each = blobs.iter().map(|blob| {
            let content = content(blob, &mut rest).ok_or_else(|| GitError::Failed {
                command: arguments.join(" "),
                message: format!("no content of `{blob}`"),
            })?;
            Ok(content.to_vec())
        });
        each.collect()
    }
}

/// Takes the next answer: a line of the object, its type and its size, then the content and the end of a line.
fn content<'a>(blob: &str, rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let end = rest.iter().position(|byte| *byte == b'\n')?;
    let (head, after) = rest.split_at_checked(end)?;
    let mut head = std::str::from_utf8(head).ok()?.split(' ');
    if (head.next(), head.next()) != (Some(blob), Some("blob")) {
        return None;
    }
    let (content, after) = after
        .get(1..)?
        .split_at_checked(head.next()?.parse().ok()?)?;
    *rest = after.get(1..)?;
    Some(content)
}
