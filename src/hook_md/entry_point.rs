//! The program of a hook: `scripts/run`, `scripts/run.sh` or `scripts/run.py`.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::process::{find_program, is_executable};

/// The program of a hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryPoint {
    /// The script.
    pub script: PathBuf,
    /// The interpreter of a script that has no execute bit.
    pub interpreter: Option<&'static str>,
}

impl EntryPoint {
    /// Returns the words that run it.
    pub fn argv(&self) -> Vec<String> {
        self.interpreter
            .map(ToOwned::to_owned)
            .into_iter()
            .chain(std::iter::once(self.script.to_string_lossy().into_owned()))
            .collect()
    }
}

/// Why a hook has no program that can be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EntryPointError {
    /// There is none of the three.
    #[error(
        "no entry point: expected `scripts/run`, `scripts/run.sh` or `scripts/run.py` in `{0}`"
    )]
    Missing(String),
    /// It is a directory or something else that is not a file.
    #[error("the entry point `{0}` is not a file")]
    NotAFile(String),
    /// `scripts/run` says nothing of its interpreter, so it must be executable itself.
    #[error("the entry point `{0}` has no execute permission; `chmod +x {0}` gives it")]
    NotExecutable(String),
}

/// Whether a script begins with `#!`; what cannot be read is left to the system.
fn names_interpreter(script: &Path) -> bool {
    let mut start = [0; 2];
    let read = File::open(script).and_then(|mut file| file.read_exact(&mut start));
    read.is_err() || start == *b"#!"
}

/// Finds the program of the hook in `dir`.
///
/// # Errors
/// There is none, or it cannot be executed.
pub fn entry_point(dir: &Path) -> Result<EntryPoint, EntryPointError> {
    let scripts = dir.join("scripts");
    for (name, interpreters) in [
        ("run", &[][..]),
        ("run.sh", &["bash", "sh"][..]),
        ("run.py", &["python3"][..]),
    ] {
        let script = scripts.join(name);
        let Ok(meta) = script.metadata() else {
            continue;
        };
        let shown = script.display().to_string();
        if !meta.is_file() {
            return Err(EntryPointError::NotAFile(shown));
        }
        // Whatever says nothing of its interpreter would be run by the shell.
        if is_executable(&script) && (interpreters.is_empty() || names_interpreter(&script)) {
            return Ok(EntryPoint {
                script,
                interpreter: None,
            });
        }
        let path = std::env::var_os("PATH");
        let interpreter = interpreters
            .iter()
            .find(|name| find_program(name, path.as_deref()).is_some())
            .or(interpreters.last());
        return match interpreter {
            Some(&interpreter) => Ok(EntryPoint {
                script,
                interpreter: Some(interpreter),
            }),
            None => Err(EntryPointError::NotExecutable(shown)),
        };
    }
    Err(EntryPointError::Missing(dir.display().to_string()))
}
