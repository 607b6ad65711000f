//! ProcessError: why a program could not be started, said so that it can be fixed.

use std::io;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use super::installed;

/// Why a program could not be run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProcessError {
    /// There is no such program.
    #[error("the program `{program}` was not found")]
    NotFound {
        /// The program as it was named.
        program: String,
    },
    /// There is such a file, but it cannot be executed.
    #[error("`{program}` cannot be executed: {reason}")]
    NotExecutable {
        /// The program as it was named.
        program: String,
        /// What is wrong with it and how to fix it.
        reason: String,
    },
    /// It would run deeper inside of others of its kind than a policy can mean.
    #[error("`{program}` is not started: {why}")]
    TooDeep {
        /// The program as it was named.
        program: String,
        /// How deep, and by what it is told.
        why: String,
    },
    /// The operating system refused.
    #[error("`{program}` could not be run: {source}")]
    Io {
        /// The program as it was named.
        program: String,
        /// What the operating system said.
        source: io::Error,
    },
}

impl ProcessError {
    /// Finds out why `program` could not be started in `dir`; the bare error number does not tell a missing
    /// program from a missing directory or a missing interpreter.
    pub(super) fn diagnose(program: &str, dir: Option<&Path>, source: io::Error) -> Self {
        let program = program.to_owned();
        if let Some(dir) = dir.filter(|dir| !dir.is_dir()) {
            let source = io::Error::new(
                io::ErrorKind::NotFound,
                format!("its working directory `{}` is not there", dir.display()),
            );
            return Self::Io { program, source };
        }
        let path = if program.contains('/') {
            Some(dir.unwrap_or(Path::new("")).join(&program)).filter(|path| path.exists())
        } else {
            installed(&program)
        };
        let Some(path) = path else {
            return match source.kind() {
                io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied => {
                    Self::NotFound { program }
                }
                _ => Self::Io { program, source },
            };
        };
        match what_is_wrong(&path) {
            Some(reason) => Self::NotExecutable { program, reason },
            None => Self::Io { program, source },
        }
    }
}

fn what_is_wrong(path: &Path) -> Option<String> {
    let meta = path.metadata().ok()?;
    if meta.is_dir() {
        return Some("it is a directory".to_owned());
    }
    if meta.permissions().mode() & 0o111 == 0 {
        return Some(format!(
            "it has no execute permission; `chmod +x {}` gives it",
            path.display()
        ));
    }
    let interpreter = interpreter_of(path)?;
    (!Path::new(&interpreter).exists()).then(|| {
        format!("its first line names the interpreter `{interpreter}`, which is not there")
    })
}

/// Returns the interpreter that the `#!` line of a script names.
fn interpreter_of(path: &Path) -> Option<String> {
    let mut start = Vec::new();
    let file = std::fs::File::open(path).ok()?;
    file.take(256).read_to_end(&mut start).ok()?;
    let line = start.strip_prefix(b"#!")?.split(|b| *b == b'\n').next()?;
    let line = String::from_utf8_lossy(line);
    // A carriage return is part of the name for the kernel, and the commonest reason of this fault.
    let name = line.trim_start().split([' ', '\t']).next()?;
    Some(name.replace('\r', "\\r"))
}

/// Whether a file that the kernel does not know how to run is text, which a shell runs all the same.
pub(super) fn is_text(path: &Path) -> bool {
    let mut start = Vec::new();
    std::fs::File::open(path)
        .and_then(|file| file.take(256).read_to_end(&mut start))
        .is_ok_and(|_| !start.is_empty() && !start.contains(&0))
}
