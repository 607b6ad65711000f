//! Containment: turns a path that somebody names into one that surely lies inside the project.

use std::io;
use std::path::{Component, Path, PathBuf};

/// Resolves `path`, relative to `root` or absolute, to the real path of something inside the project.
///
/// # Errors
/// [`io::ErrorKind::PermissionDenied`] where it leads out, by `..` or through a link; what the system says where
/// nothing is there.
pub(super) fn resolve(root: &Path, path: &str) -> io::Result<PathBuf> {
    resolve_in(root, &root.canonicalize()?, path)
}

/// Does the same where it is known at which real path the root lies.
pub(super) fn resolve_in(root: &Path, real_root: &Path, path: &str) -> io::Result<PathBuf> {
    let outside = || {
        let message = format!("`{path}` leads out of the project");
        io::Error::new(io::ErrorKind::PermissionDenied, message)
    };
    let joined = lexical(&root.join(path)).ok_or_else(outside)?;
    // A path below the root as it is written, or as it really is.
    if !joined.starts_with(root) && !joined.starts_with(real_root) {
        return Err(outside());
    }
    let real = joined.canonicalize()?;
    if real.starts_with(real_root) {
        Ok(real)
    } else {
        Err(outside())
    }
}

/// Takes `.` and `..` out of a path by its words alone; none where it climbs above its beginning.
fn lexical(path: &Path) -> Option<PathBuf> {
    let mut clean = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                if !clean.pop() {
                    return None;
                }
            }
            other => clean.push(other),
        }
    }
    Some(clean)
}
