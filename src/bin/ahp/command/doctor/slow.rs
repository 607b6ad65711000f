//! Slow: a hook that starts a script of node or python, which takes far longer to start than `ahp` takes to judge.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use ahp::config::Environment;
use ahp::install::Installer;
use ahp::process::find_program;

use crate::command::install;

/// What runs such scripts; a shell starts as fast as the program.
const INTERPRETERS: &[&str] = &["node", "python", "bun", "deno", "ruby", "perl"];

/// The longest first line of a script that is read, in bytes.
const MOST: u64 = 256;

/// Says that what a hook calls, by a name or by a path, is such a script; none where it is not.
pub(super) fn told(
    program: &str,
    installer: &Installer,
    environment: &Environment,
) -> Option<String> {
    let path = environment.get("PATH").map(AsRef::as_ref);
    let found = if program.contains('/') {
        PathBuf::from(program)
    } else {
        find_program(program, path)?
    };
    let interpreter = interpreter(&found)?;
    Some(format!(
        "`{}` is a script of {interpreter}, which starts many times slower than the program itself; {}",
        found.display(),
        install::by_path(installer)
    ))
}

/// Returns what runs a script, of those that start slowly.
fn interpreter(script: &Path) -> Option<&'static str> {
    let mut begin = Vec::new();
    let file = File::open(script).ok()?;
    file.take(MOST).read_to_end(&mut begin).ok()?;
    let begin = String::from_utf8_lossy(&begin);
    let words = begin.strip_prefix("#!")?.lines().next()?;
    let mut names = words
        .split_whitespace()
        .filter_map(|word| word.rsplit('/').next());
    // `env` and its options stand before it.
    let name = names.find(|name| *name != "env" && !name.starts_with('-'))?;
    INTERPRETERS
        .iter()
        .copied()
        .find(|known| name.starts_with(known))
}
