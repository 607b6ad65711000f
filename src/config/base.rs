//! The policy of what a change goes to: whoever asks for a review does not loosen what reviews it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::{Locations, Reviewed, approved, load};
use crate::diagnostic::SourceMap;
use crate::workspace::{CommitTree, DiskWorkspace, GitError, TreeEntry};

/// Why it cannot be told what the policy of the base is.
#[derive(Debug, thiserror::Error)]
pub enum BaseError {
    /// Git does not tell the base or its files.
    #[error("the policy of the base cannot be read: {0}")]
    Git(#[from] GitError),
    /// The base has a policy with a fault.
    #[error("the policy of the base has a fault: {0}")]
    Fault(String),
}

impl Reviewed {
    /// Takes the policy of the project as the newest commit of what the change goes to has it.
    ///
    /// # Errors
    /// There is no telling which commit that is, or its policy has a fault.
    pub fn of_base(locations: &Locations) -> Result<Self, BaseError> {
        let root = &locations.project_root;
        let workspace =
            DiskWorkspace::new(root.clone(), Path::new("Issues")).with_base(locations.base.clone());
        let Some(tree) = workspace.target_tree()? else {
            return Ok(Self::default());
        };
        is_plain(&tree)?;
        let files = tree.entries().iter();
        let files = files.filter_map(|(path, entry)| match entry {
            TreeEntry::File(object) if may_belong_to_a_policy(path) => {
                Some((path, object.as_str()))
            }
            _ => None,
        });
        let (paths, objects): (Vec<&String>, Vec<&str>) = files.unzip();
        let mut all = BTreeMap::new();
        // A file that layers extend is asked for by its real name.
        let real = root.canonicalize().unwrap_or_else(|_| root.clone());
        for (path, content) in paths.into_iter().zip(workspace.contents(&objects)?) {
            let text = String::from_utf8(content);
            if text.is_err() && path.starts_with(".ahp/hooks.") {
                return Err(BaseError::Fault(format!("`{path}` is not UTF-8")));
            }
            if let Ok(text) = text {
                all.insert(real.join(path), text.clone());
                all.insert(root.join(path), text);
            }
        }
        let loaded = load::from_approved(locations, &[], &all, SourceMap::default());
        let mut layers = loaded.layers.iter();
        if layers.any(|layer| layer.is_left_out && layer.source.is_of_project()) {
            let faults = loaded.diagnostics.iter().filter(|fault| fault.is_error());
            let faults: Vec<&str> = faults.map(|fault| fault.message.as_str()).collect();
            return Err(BaseError::Fault(faults.join("; ")));
        }
        let read: Vec<PathBuf> = approved::own(&loaded, locations)
            .map(|(path, _)| path.clone())
            .collect();
        let folders = loaded.config.settings.oracles.iter();
        let folders: Vec<PathBuf> = folders.map(|dir| root.join(dir)).collect();
        let is_script = |path: &PathBuf| {
            let dir = path.parent().unwrap_or(root);
            is_named(path, "rhai") && folders.iter().any(|folder| folder == dir)
        };
        let (scripts, mut texts): (BTreeMap<_, _>, BTreeMap<_, _>) =
            all.into_iter().partition(|(path, _)| is_script(path));
        texts.retain(|path, _| read.contains(path));
        Ok(Self { texts, scripts })
    }
}

/// Whether the policy lies in the repository itself, and not behind a link or in another repository.
fn is_plain(tree: &CommitTree) -> Result<(), BaseError> {
    for path in [".ahp", ".ahp/hooks.yaml", ".ahp/hooks.local.yaml"] {
        let what = match tree.get(path) {
            Some(TreeEntry::Link(_)) => "a link",
            Some(TreeEntry::Submodule) => "a submodule",
            Some(TreeEntry::File(_)) | None => continue,
        };
        let told = format!("`{path}` is {what}, so that it cannot be told what it says there");
        return Err(BaseError::Fault(told));
    }
    Ok(())
}

/// Whether a file may be a layer, something that a layer extends, or a script.
fn may_belong_to_a_policy(path: &str) -> bool {
    let endings = ["yaml", "yml", "rhai"];
    path.starts_with(".ahp/") || endings.iter().any(|e| is_named(Path::new(path), e))
}

fn is_named(path: &Path, ending: &str) -> bool {
    path.extension().is_some_and(|e| e == ending)
}
