//! The policy of what a change goes to: whoever asks for a review does not loosen what reviews it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::{Locations, Reviewed, Target, approved, load};
use crate::diagnostic::SourceMap;
use crate::shell::without_dots;
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
        let top = real.ancestors().find(|dir| dir.join(".git").exists());
        let top = top.unwrap_or(&real);
        let differing = workspace.differing_from_target()?;
        let differing: BTreeSet<PathBuf> = differing.iter().map(|path| top.join(path)).collect();
        let settings = &loaded.config.settings;
        let script_at = |path: &str| {
            let text = all.get(&root.join(tree.resolve(path)?))?;
            Some((root.join(path), text.clone()))
        };
        let mut scripts = BTreeMap::new();
        for folder in settings.oracles.iter().filter_map(|dir| inside(root, dir)) {
            let Some(real) = tree.resolve(&folder) else {
                continue;
            };
            let files = tree.below(&real).filter_map(|(path, _)| {
                let name = path.get(real.len()..)?.trim_start_matches('/');
                (!name.contains('/') && is_named(Path::new(name), "rhai"))
                    .then(|| format!("{folder}/{name}"))
            });
            scripts.extend(files.filter_map(|path| script_at(path.trim_start_matches('/'))));
        }
        let specs = loaded.config.bindings.values().flatten();
        let named = specs.filter_map(|spec| match &spec.target {
            Target::Oracle(name) => Some(Path::new(name)),
            Target::Hook(_) | Target::Found { .. } => None,
        });
        let by_path = named.filter(|name| is_named(name, "rhai"));
        let by_path = by_path.filter_map(|name| inside(root, name));
        let bound = by_path.filter_map(|path| script_at(&path)).collect();
        let mut hooks = BTreeMap::new();
        if settings.agent_hooks {
            let usual = PathBuf::from(".agents/hooks");
            let dirs = settings.agent_hook_dirs.iter().chain([&usual]);
            for dir in dirs.filter_map(|dir| inside(root, dir)) {
                let found = hooks_of(&tree, &dir, &|path| differing.contains(&real.join(path)))?;
                let objects: Vec<&str> = found.values().copied().collect();
                let texts = workspace.contents(&objects)?.into_iter();
                let texts = texts.map(|text| String::from_utf8_lossy(&text).into_owned());
                hooks.extend(found.keys().map(|folder| root.join(folder)).zip(texts));
            }
        }
        all.retain(|path, _| read.contains(path));
        Ok(Self {
            texts: all,
            scripts,
            bound,
            hooks,
            differing,
            root: (root.clone(), real.clone()),
            moved_to: None,
        })
    }
}

/// Returns a path relative to the root; none where it leads elsewhere.
fn inside(root: &Path, path: &Path) -> Option<String> {
    let path = without_dots(&root.join(path));
    let inside = path.strip_prefix(root).ok()?;
    Some(inside.to_string_lossy().into_owned())
}

/// Returns the objects of the `HOOK.md` files below a folder, by the folder of each hook.
fn hooks_of<'t>(
    tree: &'t CommitTree,
    dir: &str,
    is_changed: &dyn Fn(&str) -> bool,
) -> Result<BTreeMap<String, &'t str>, BaseError> {
    let untold = |path: &str| {
        let told =
            "is a submodule, and at another commit, so that it cannot be told which hooks it had";
        Err(BaseError::Fault(format!("`{path}` {told}")))
    };
    let outer = Path::new(dir).ancestors().map(Path::to_string_lossy);
    for outer in outer {
        if tree.get(&outer) == Some(&TreeEntry::Submodule) && is_changed(&outer) {
            return untold(&outer);
        }
    }
    let mut found = BTreeMap::new();
    let Some(real) = tree.resolve(dir) else {
        return Ok(found);
    };
    // As on the disk, the first of the two names counts.
    let object_in = |folder: &str| {
        let mut names = ["HOOK.md", "hook.md"].iter();
        names.find_map(
            |name| match tree.get(&tree.resolve(&format!("{folder}/{name}"))?) {
                Some(TreeEntry::File(object)) => Some(object.as_str()),
                _ => None,
            },
        )
    };
    for (path, entry) in tree.below(&real) {
        let own = path.get(real.len()..).unwrap_or_default();
        let name = own
            .trim_start_matches('/')
            .split('/')
            .next()
            .unwrap_or_default();
        let folder = format!("{dir}/{name}");
        if *entry == TreeEntry::Submodule && is_changed(path) {
            return untold(path);
        }
        if !found.contains_key(&folder)
            && let Some(object) = object_in(&folder)
        {
            found.insert(folder, object);
        }
    }
    Ok(found)
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
