//! Runs the tests again whenever a file changes.

use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

use notify::{RecursiveMode, Watcher as _};

use super::{Args, once, places};
use crate::exit_code::Exit;
use crate::output;

/// Editors write a file in several steps; they are over by then.
const QUIET: Duration = Duration::from_millis(100);

/// Runs the tests until the process is ended.
pub(super) fn run(args: &Args) -> Result<Exit, String> {
    let (sender, changes) = mpsc::channel();
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        // Reading the tests is not a change of them.
        if event.is_ok_and(|event| !event.kind.is_access()) {
            sender.send(()).ok();
        }
    })
    .map_err(|error| format!("cannot watch files: {error}"))?;
    let (root, path) = places(args);
    let mut watch = |path: &Path| {
        watcher
            .watch(path, RecursiveMode::Recursive)
            .map_err(|error| format!("cannot watch `{}`: {error}", path.display()))
    };
    watch(&path)?;
    // The tests may lie beside what they test.
    let policy = root.join(".ahp");
    if policy.is_dir() && !path.starts_with(&policy) {
        watch(&policy)?;
    }
    loop {
        if let Err(reason) = once(args) {
            output::error(format!("ahp: {reason}"));
        }
        output::line("— waiting for changes —");
        if changes.recv().is_err() {
            return Ok(Exit::Success);
        }
        while changes.recv_timeout(QUIET).is_ok() {}
    }
}
