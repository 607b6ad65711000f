//! Paths, and read-only access to the files of the project.

use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use rhai::{Dynamic, EvalAltResult};

use super::{Function, Group};
use crate::oracle::rhai::guard;
use crate::oracle::rhai::limits::{Fallible, MAX_TEXT, failure};
use crate::oracle::rhai::list::List;
use crate::workspace::{GitError, Workspace};

pub(super) const PATHS: Group = Group {
    title: "Paths",
    doc: "They work on the text of a path and look at no file. Paths of the project are relative to its root, with `/` between their parts.",
    functions: &[
        Function {
            signature: "file_name(path) -> text",
            doc: "The last part.",
            example: r#"file_name("src/api/users.rs") == "users.rs""#,
            register: |engine| {
                engine.register_fn("file_name", |path: &str| lossy(Path::new(path).file_name()));
            },
        },
        Function {
            signature: "stem(path) -> text",
            doc: "The last part without its extension.",
            example: r#"stem("src/api/users.rs") == "users""#,
            register: |engine| {
                engine.register_fn("stem", |path: &str| lossy(Path::new(path).file_stem()));
            },
        },
        Function {
            signature: "extension(path) -> text",
            doc: "What stands after the last dot of the last part; empty where there is none.",
            example: r#"extension("src/api/users.rs") == "rs" && extension("Makefile") == """#,
            register: |engine| {
                engine.register_fn("extension", |path: &str| lossy(Path::new(path).extension()));
            },
        },
        Function {
            signature: "parent(path) -> text",
            doc: "All but the last part; empty where there is no other.",
            example: r#"parent("src/api/users.rs") == "src/api" && parent("a.md") == """#,
            register: |engine| {
                engine.register_fn("parent", |path: &str| {
                    lossy(Path::new(path).parent().map(Path::as_os_str))
                });
            },
        },
        Function {
            signature: "join_path(a, b) -> text",
            doc: "Two paths as one, with `.` and `..` resolved.",
            example: r#"join_path("docs/api", "../users.md") == "docs/users.md""#,
            register: |engine| {
                engine.register_fn("join_path", |a: &str, b: &str| joined(a, b));
            },
        },
        Function {
            signature: "is_under(path, directory) -> bool",
            doc: "Whether a path is a directory or lies below it; also of a list of directories.",
            example: r#"is_under("src/api/users.rs", "src/api") && !is_under("src/apix", ["src/api"])"#,
            register: |engine| {
                engine.register_fn("is_under", |path: &str, directories: Dynamic| {
                    let directories = crate::oracle::rhai::list::texts(&directories)?;
                    Ok::<_, Box<EvalAltResult>>(directories.iter().any(|directory| {
                        Path::new(path).starts_with(directory.trim_end_matches('/'))
                    }))
                });
            },
        },
    ],
};

pub(super) const FILES: Group = Group {
    title: "Files of the project",
    doc: "Reading only, and only inside the project: a path that leads out of it, also through a link, is an error. Files that git ignores are not listed.",
    functions: &[
        Function {
            signature: "read_file(path) -> text or ()",
            doc: "The text of a file; `()` where there is none. A file over 1 MiB or that is not UTF-8 is an error.",
            example: r#"read_file("README.md").matches("Example") && read_file("nothing.md") == ()"#,
            register: |engine| {
                engine.register_fn("read_file", |path: &str| read_file(path));
            },
        },
        Function {
            signature: "read_before(path) -> text or ()",
            doc: "The text of a file as it was before the change; `()` where it was not there. The same errors as `read_file`.",
            example: r#"read_before("README.md") == () || read_before("README.md").len() > 0"#,
            register: |engine| {
                engine.register_fn("read_before", |path: &str| read_before(path));
            },
        },
        Function {
            signature: "file_exists(path) -> bool",
            doc: "Whether a file or directory exists.",
            example: r#"file_exists("src/api/users.rs") && !file_exists("src/api/gone.rs")"#,
            register: |engine| {
                engine.register_fn("file_exists", |path: &str| {
                    workspace().map(|workspace| workspace.exists(path))
                });
            },
        },
        Function {
            signature: "list_files(glob) -> list",
            doc: "The files that match a glob, sorted.",
            example: r#"list_files("src/**/*.rs").len() == 2"#,
            register: |engine| {
                engine.register_fn("list_files", |glob: &str| {
                    let files = workspace()?.list(glob);
                    Ok::<_, Box<EvalAltResult>>(files.into_iter().collect::<List>())
                });
            },
        },
    ],
};

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
