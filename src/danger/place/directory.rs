//! Directories: what kind of place an absolute path is, by the directories it lies below.

use std::path::Path;

use super::artifact::is_artifact;
use super::kind::Place;
use crate::shell::Surroundings;
use crate::words::words;

/// Directories of the operating system; what lies in them is its own too.
static SYSTEM: &[&str] = words!("system-dirs");

/// Directories in which everything is temporary.
static TEMPORARY: &[&str] = words!("temporary-dirs");

/// Directories at the root that hold what people keep.
const KEPT: &[&str] = words!("kept-dirs");

/// Whether a directory at the root is known by its name.
pub(super) fn is_known(path: &Path) -> bool {
    let is_it = |dir: &&str| path == Path::new(dir);
    KEPT.iter().chain(SYSTEM).chain(TEMPORARY).any(is_it)
}

/// Tells what kind of place an absolute path is; `all` where everything in it is meant.
pub(super) fn classify(
    path: &Path,
    relative: bool,
    all: bool,
    surroundings: &Surroundings,
) -> Place {
    let text = path.to_string_lossy();
    let text = text.as_ref();
    if text == "/" {
        return Place::Root;
    }
    let root = &surroundings.project_root;
    let has_root = root.as_os_str().len() > 1;
    for dir in TEMPORARY {
        if let Some(rest) = text.strip_prefix(dir)
            && (rest.starts_with('/') || (rest.is_empty() && all))
        {
            // A project may itself lie among temporary files.
            if has_root && root.starts_with(dir) && (path == root || root.starts_with(path)) {
                break;
            }
            // So may a home directory: what is somebody's home is not there to be thrown away.
            let of_home = surroundings.home.as_ref().is_some_and(|home| {
                home.starts_with(dir) && (path.starts_with(home) || home.starts_with(path))
            });
            let of_project = has_root && path.starts_with(root);
            if !of_home && !of_project {
                return Place::Temporary;
            }
        }
    }
    if has_root && path.starts_with(root) {
        let inner = path.strip_prefix(root).unwrap_or(path).to_string_lossy();
        let components: Vec<&str> = inner.split('/').filter(|c| !c.is_empty()).collect();
        return match components.as_slice() {
            [] if all && relative => Place::Project,
            [] => Place::Project,
            // What git leaves behind where it was cut off, and says itself that one may delete.
            [".git", name] if is_left_behind(name) => Place::Artifact,
            [.., ".git"] | [".git", ..] => Place::Repository,
            parts if is_artifact(parts) => Place::Artifact,
            _ => Place::Inside,
        };
    }
    if let Some(home) = &surroundings.home
        && home.as_os_str().len() > 1
    {
        if let Ok(inner) = path.strip_prefix(home) {
            let is_parent = has_root && root.starts_with(path);
            return match in_home(inner, all) {
                Place::Outside if is_parent => Place::Project,
                place => place,
            };
        }
        if home.starts_with(path) {
            return Place::Home;
        }
    }
    if has_root && root.starts_with(path) {
        return Place::Project;
    }
    let is_device = text.starts_with("/dev/")
        && !words!("harmless-devices").contains(&text)
        && !text.starts_with("/dev/fd/")
        && !text.starts_with("/dev/tcp/")
        && !text.starts_with("/dev/udp/");
    if is_device {
        return Place::Device;
    }
    if text == "/dev/null" || text.starts_with("/dev/") && !is_device {
        return Place::Temporary;
    }
    if let Some(inner) = text
        .strip_prefix("/home/")
        .or_else(|| text.strip_prefix("/Users/"))
    {
        let mut parts = inner.splitn(2, '/');
        parts.next();
        return in_home(Path::new(parts.next().unwrap_or_default()), all);
    }
    if KEPT.contains(&text) {
        return Place::System;
    }
    if let Some(inner) = text.strip_prefix("/root") {
        if inner.is_empty() {
            return Place::Home;
        }
        if let Some(inner) = inner.strip_prefix('/') {
            return in_home(Path::new(inner), all);
        }
    }
    if SYSTEM.iter().any(|dir| path.starts_with(dir)) || TEMPORARY.contains(&text) {
        // What package managers and web servers keep can be made again.
        let again = text.starts_with("/var/cache/") || text.starts_with("/var/lib/apt/lists");
        return if again {
            Place::Artifact
        } else {
            Place::System
        };
    }
    let components: Vec<&str> = text.split('/').filter(|c| !c.is_empty()).collect();
    if components.len() > 1 && is_artifact(&components) {
        return Place::Artifact;
    }
    if components.len() == 1 && !relative {
        return Place::System;
    }
    Place::Outside
}

/// Tells what kind of place a path below a home directory is.
pub(super) fn in_home(inner: &Path, all: bool) -> Place {
    let text = inner.to_string_lossy();
    let components: Vec<&str> = text.split('/').filter(|c| !c.is_empty()).collect();
    match components.as_slice() {
        [] => Place::Home,
        [first, _, ..] if words!("cache-dirs").contains(first) => Place::Artifact,
        [".cargo", "registry" | "git", ..] | ["go", "pkg", "mod", ..] => Place::Artifact,
        [".cache" | ".npm", ..] if !all => Place::Artifact,
        ["Library", "Caches", ..] | ["Library", "Developer", "Xcode", "DerivedData", ..] => {
            Place::Artifact
        }
        [".Trash", ..] => Place::Personal,
        // What zsh has compiled of its completions; it is made again at the next start.
        [first] if first.starts_with(".zcompdump") => Place::Artifact,
        [first, ..] if first.starts_with('.') => Place::Personal,
        ["Library", ..] => Place::Personal,
        ["Documents" | "Desktop" | "Downloads" | "Pictures" | "Music" | "Movies" | "Videos"] => {
            Place::Home
        }
        parts if parts.len() > 1 && is_artifact(parts) => Place::Artifact,
        ["tmp" | "temp", ..] => Place::Temporary,
        _ => Place::Outside,
    }
}

fn is_left_behind(name: &str) -> bool {
    matches!(name, "rebase-apply" | "rebase-merge") || name.strip_suffix(".lock").is_some()
}
