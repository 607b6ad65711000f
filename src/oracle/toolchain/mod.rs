//! Toolchain: the project's own test runners and linters: found, run within an oracle's time, and read.

pub(super) mod linter;
pub(super) mod test_run;
pub(super) mod xml;

use std::path::Path;
use std::time::{Duration, Instant};

use super::{HookContext, OracleError};
use crate::process::{Exit, Finished, Program};

/// Runs a program in the project's root, within the oracle's time; `name` is how it is called in errors.
///
/// # Errors
/// It could not be started, or did not end in time.
pub(super) fn run(
    context: &HookContext,
    program: Program,
    name: &str,
) -> Result<Finished, OracleError> {
    let finished = context
        .held(program)
        .deadline(in_time(context))
        .run()
        .map_err(|e| OracleError::failed(e.to_string()))?;
    if finished.exit == Exit::TimedOut {
        return Err(OracleError::TimedOut(format!(
            "{name} had not ended after {:.1} s and was stopped; give the binding a longer `timeout`",
            finished.duration.as_secs_f64()
        )));
    }
    Ok(finished)
}

/// Returns when a program must have ended, so that it is stopped and reported before the oracle's own time is up.
pub(super) fn in_time(context: &HookContext) -> Option<Instant> {
    let margin = (context.remaining()? / 10).min(Duration::from_millis(300));
    context.deadline.and_then(|at| at.checked_sub(margin))
}

/// Makes a path of a report relative to the project, where it lies in it.
pub(super) fn relative(root: &Path, path: &str) -> String {
    let path = path.strip_prefix("file://").unwrap_or(path);
    let path = path.strip_prefix("./").unwrap_or(path);
    Path::new(path)
        .strip_prefix(root)
        .ok()
        .and_then(Path::to_str)
        .unwrap_or(path)
        .to_owned()
}
