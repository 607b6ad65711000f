//! BaseSide: what the commit that a change is measured against has, and what of it the change touches.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::Arc;

use super::git::{CommitTree, Entry};
use super::{ChangeScope, DiskWorkspace, GitError, Workspace as _, issue_files};

/// Folders behind links that lie deeper are not looked at: they lead in a circle.
const MOST_DEEP: usize = 8;

impl DiskWorkspace {
    /// Returns the tree of the newest commit of what the change goes to; none before the first commit.
    ///
    /// # Errors
    /// The base cannot be told, or git fails.
    pub(crate) fn target_tree(&self) -> Result<Option<CommitTree>, GitError> {
        let repository = self.repository()?;
        let target = repository.target()?;
        target.map(|target| repository.tree_of(&target)).transpose()
    }

    /// Returns the files of the whole repository that the newest commit of what the change goes to has differently, by their paths in
    /// the repository.
    ///
    /// # Errors
    /// The base cannot be told, or git fails.
    pub(crate) fn differing_from_target(&self) -> Result<Vec<String>, GitError> {
        let repository = self.repository()?;
        match repository.target()? {
            Some(target) => repository.differing_from(&target),
            None => Ok(Vec::new()),
        }
    }

    /// Returns the contents of objects of the repository that are files, in their order.
    ///
    /// # Errors
    /// Git fails.
    pub(crate) fn contents(&self, objects: &[&str]) -> Result<Vec<Vec<u8>>, GitError> {
        self.repository()?.contents(objects)
    }

    /// Returns the ids of the issues that the change touches, and of the one that the branch is named after where a file holds it,
    /// sorted. Touched is what is added, changed, moved or deleted, also where the way to it is a link; a file counts by the id that
    /// it has, and by the one that it had.
    ///
    /// # Errors
    /// The base cannot be told, or git fails.
    pub fn touched_issues(&self) -> Result<Vec<String>, GitError> {
        let repository = self.repository()?;
        let changes = repository.changes(ChangeScope::Branch)?;
        let mut changed: BTreeSet<String> = changes.untracked.into_iter().collect();
        for file in changes.tracked {
            changed.extend(file.old_path);
            changed.insert(file.path);
        }
        let mut ids = issue_files::ids(self.issues_now(&changed).iter(), &|path| self.read(path));
        if let Some(base) = changes.base
            && self.issues_dir().is_relative()
        {
            let tree = repository.tree_of(&base)?;
            let dir = self.issues_dir().to_string_lossy().into_owned();
            let mut found = BTreeMap::new();
            issues_of(&tree, &dir, &dir, 0, &mut found);
            found.retain(|seen, (real, _)| touches(&changed, seen) || touches(&changed, real));
            let objects: Vec<&str> = found.values().map(|(_, object)| object.as_str()).collect();
            let contents = repository.contents(&objects)?;
            let contents = contents.into_iter().map(Arc::from);
            let then: BTreeMap<String, Arc<[u8]>> = found.into_keys().zip(contents).collect();
            let read = |path: &str| {
                then.get(path)
                    .cloned()
                    .ok_or(io::ErrorKind::NotFound.into())
            };
            ids.extend(issue_files::ids(then.keys(), &read));
        }
        let git = self.git()?;
        let branch = git.branch();
        ids.extend(branch.and_then(|branch| issue_files::issue_of_branch(self, branch)));
        Ok(ids.into_iter().collect())
    }

    /// Returns the files of issues that lie there now and that the change touches.
    fn issues_now(&self, changed: &BTreeSet<String>) -> Vec<String> {
        let root = self.root();
        let dir = root.join(self.issues_dir());
        let real_root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
        let is_touched = |path: &String| {
            let real = root.join(path).canonicalize();
            let real = real.ok().and_then(|real| {
                let inside = real.strip_prefix(&real_root).ok()?;
                Some(inside.to_string_lossy().into_owned())
            });
            touches(changed, path) || real.is_some_and(|real| touches(changed, &real))
        };
        let mut paths = issue_files::walk(&dir, root);
        paths.retain(is_touched);
        // Those of folders that are not walked through count where the change itself names them.
        let is_inside = |path: &&String| root.join(path).starts_with(&dir);
        paths.extend(changed.iter().filter(is_inside).cloned());
        paths
    }
}

/// Whether one of the paths is this one, or something on the way to it.
fn touches(changed: &BTreeSet<String>, path: &str) -> bool {
    let mut outer = std::iter::successors(Some(path), |path| Some(path.rsplit_once('/')?.0));
    outer.any(|path| changed.contains(path))
}

/// Finds the issues of a folder as a commit has it: by the path under which each is seen, where it lies and its object.
fn issues_of(
    tree: &CommitTree,
    seen: &str,
    folder: &str,
    depth: usize,
    found: &mut BTreeMap<String, (String, String)>,
) {
    let Some(real) = tree.resolve(folder).filter(|_| depth < MOST_DEEP) else {
        return;
    };
    for (path, entry) in tree.below(&real) {
        let inside = path.get(real.len()..).unwrap_or_default();
        let seen = format!("{seen}/{}", inside.trim_start_matches('/'));
        let seen = seen.trim_start_matches('/').to_owned();
        match entry {
            Entry::File(object) if issue_files::is_markdown(&seen) => {
                found.insert(seen, (path.clone(), object.clone()));
            }
            Entry::Link(_) => {
                let target = tree.resolve(path);
                let file = target.as_ref().and_then(|target| tree.get(target));
                match (target.as_ref(), file) {
                    (Some(target), Some(Entry::File(object)))
                        if issue_files::is_markdown(&seen) =>
                    {
                        found.insert(seen, (target.clone(), object.clone()));
                    }
                    (Some(target), None) if tree.has_folder(target) && *target != real => {
                        issues_of(tree, &seen, target, depth + 1, found);
                    }
                    _ => {}
                }
            }
            Entry::File(_) | Entry::Submodule => {}
        }
    }
}
