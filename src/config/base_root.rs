//! BaseRoot: where the project lies by the tree of what a change goes to. Whoever asks for a review does not choose by which
//! folder it is made.

use std::path::{Path, PathBuf};

use super::{BaseError, Locations};
use crate::workspace::{CommitTree, DiskWorkspace, GitError, TreeEntry};

impl Locations {
    /// Returns the root of the project as the newest commit of what the change goes to has it, where the change has moved it; none
    /// where it has not, and where there was no policy to move away from.
    ///
    /// # Errors
    /// There is no telling which commit that is, or the change has made a repository of its own of a folder.
    pub fn root_of_base(&self) -> Result<Option<PathBuf>, BaseError> {
        let Some(top) = repository_around(&self.work_dir) else {
            return Ok(None);
        };
        self.is_no_new_repository(top)?;
        let Some(tree) = self.tree_of(top)? else {
            return Ok(None);
        };
        let is_user = |dir: &Path| {
            let ahp = dir.join(".ahp");
            let usual = self.home.as_ref().map(|home| home.join(".ahp"));
            [self.user_dir.as_ref(), usual.as_ref()].contains(&Some(&ahp))
        };
        let dirs = self.work_dir.ancestors();
        let dirs = dirs.take_while(|dir| dir.starts_with(top));
        let mut holding = dirs.filter(|dir| !is_user(dir) && has(&tree, top, dir, ".ahp"));
        let nearest = holding.next();
        // The rules of `discovery::project_root`, by what the commit has.
        let found = nearest
            .into_iter()
            .chain(holding)
            .find(|dir| *dir == top || has_layer(&tree, top, dir))
            .or(nearest)
            .unwrap_or(top);
        let has_policy = has_layer(&tree, top, found) || has(&tree, top, found, ".agents/hooks");
        Ok((has_policy && *found != self.project_root).then(|| found.to_owned()))
    }

    /// Looks whether the repository is one that the change has made of a folder of the repository around it.
    fn is_no_new_repository(&self, top: &Path) -> Result<(), BaseError> {
        let Some(outer) = top.parent().and_then(repository_around) else {
            return Ok(());
        };
        let tree = match self.tree_of(outer) {
            Ok(tree) => tree.unwrap_or_default(),
            // A clone that lies in another repository says nothing of it.
            Err(_) if top.join(".git").is_dir() => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        let inside = name_in(outer, top);
        if !tree.has_folder(&inside) {
            return Ok(());
        }
        let told = format!("`{inside}` was a folder of it, and is a repository of its own now");
        Err(BaseError::Fault(told))
    }

    fn tree_of(&self, top: &Path) -> Result<Option<CommitTree>, GitError> {
        let workspace = DiskWorkspace::new(top, Path::new("Issues"));
        workspace.with_base(self.base.clone()).target_tree()
    }
}

fn repository_around(dir: &Path) -> Option<&Path> {
    dir.ancestors().find(|dir| dir.join(".git").exists())
}

fn name_in(top: &Path, path: &Path) -> String {
    let inside = path.strip_prefix(top).unwrap_or(path);
    inside.to_string_lossy().into_owned()
}

/// Whether a directory has a folder of a name, or what may be one.
fn has(tree: &CommitTree, top: &Path, dir: &Path, name: &str) -> bool {
    let path = name_in(top, &dir.join(name));
    let real = tree.resolve(&path);
    real.is_none_or(|real| tree.has_folder(&real) || tree.get(&real) == Some(&TreeEntry::Submodule))
}

/// Whether a layer lies in the `.ahp/` of a directory, or may lie there and cannot be seen.
fn has_layer(tree: &CommitTree, top: &Path, dir: &Path) -> bool {
    let path = name_in(top, &dir.join(".ahp"));
    let Some(real) = tree.resolve(&path) else {
        return true;
    };
    let layers = ["hooks.yaml", "hooks.local.yaml"].iter();
    let mut layers = layers.map(|layer| format!("{real}/{layer}"));
    tree.get(&real) == Some(&TreeEntry::Submodule) || layers.any(|layer| tree.get(&layer).is_some())
}
