//! Paths, and read-only access to the files of the project.

use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use rhai::{Dynamic, Engine, EvalAltResult};

use crate::oracle::rhai::guard;
use crate::oracle::rhai::limits::{Fallible, MAX_TEXT, failure};
use crate::oracle::rhai::list::List;
use crate::workspace::{GitError, Workspace};

pub(super) fn register(engine: &mut Engine) {
    engine.register_fn("file_name", |path: &str| lossy(Path::new(path).file_name()));
    engine.register_fn("stem", |path: &str| lossy(Path::new(path).file_stem()));
    engine.register_fn("extension", |path: &str| lossy(Path::new(path).extension()));
    engine.register_fn("parent", |path: &str| {
        lossy(Path::new(path).parent().map(Path::as_os_str))
    });
    engine.register_fn("join_path", |a: &str, b: &str| joined(a, b));
    engine.register_fn("is_under", |path: &str, directories: Dynamic| {
        let directories = crate::oracle::rhai::list::texts(&directories)?;
        Ok::<_, Box<EvalAltResult>>(
            directories
                .iter()
                .any(|directory| Path::new(path).starts_with(directory.trim_end_matches('/'))),
        )
    });
    engine.register_fn("read_file", |path: &str| read_file(path));
    engine.register_fn("read_before", |path: &str| read_before(path));
    engine.register_fn("file_exists", |path: &str| {
        workspace().map(|workspace| workspace.exists(path))
    });
    engine.register_fn("list_files", |glob: &str| {
        let files = workspace()?.list(glob);
        Ok::<_, Box<EvalAltResult>>(files.into_iter().collect::<List>())
    });
}

fn lossy(part: Option<&std::ffi::OsStr>) -> String {
    part.map(|part| part.to_string_lossy().into_owned())
        .unwrap_or_default()
}

fn joined(a: &str, b: &str) -> String {
    let mut path = PathBuf::new();
    for part in Path::new(a).join(b).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir
                if matches!(path.components().next_back(), Some(Component::Normal(_))) =>
            {
                path.pop();
            }
            other => path.push(other),
        }
    }
    path.to_string_lossy().into_owned()
}

fn workspace() -> Fallible<Arc<dyn Workspace>> {
    guard::facts()
        .map(|facts| facts.workspace().clone())
        .ok_or_else(|| failure("there is no project here"))
}

fn read_file(path: &str) -> Fallible<Dynamic> {
    // The size is only known when the file has been read; the workspace bounds what it reads.
    match workspace()?.read(path) {
        Ok(bytes) => text(path, &bytes),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Dynamic::UNIT),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Err(failure(format!(
            "`{path}` cannot be read: a script reads only inside the project"
        ))),
        Err(error) => Err(failure(format!("`{path}` cannot be read: {error}"))),
    }
}

fn read_before(path: &str) -> Fallible<Dynamic> {
    let facts = guard::facts().ok_or_else(|| failure("there is no project here"))?;
    match facts.workspace().before(facts.change_scope(), path) {
        Ok(Some(bytes)) => text(path, &bytes),
        Ok(None) | Err(GitError::NoRepository(_)) => Ok(Dynamic::UNIT),
        Err(error) => Err(failure(error.to_string())),
    }
}

fn text(path: &str, bytes: &[u8]) -> Fallible<Dynamic> {
    if bytes.len() > MAX_TEXT {
        return Err(failure(format!(
            "`{path}` has {} bytes; a script reads at most {MAX_TEXT}",
            bytes.len()
        )));
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(text.into()),
        Err(_) => Err(failure(format!("`{path}` is not UTF-8 text"))),
    }
}
