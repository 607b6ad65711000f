//! Tells fresh reports from stale ones.

use std::fs;
use std::path::Path;
use std::time::SystemTime;

use crate::oracle::HookContext;
use crate::words::words;

/// Files that reports and coverage figures are commonly written to, where the configuration names none.
pub(super) const USUAL_COVERAGE: &[&str] = words!("usual-coverage");

/// Returns the files of the project that were written after a report was, sorted, without those that runs write (`made`).
///
/// A deleted file is as new as the directory that it lay in.
pub(super) fn newer_sources(
    context: &HookContext,
    report: SystemTime,
    made: &[String],
) -> Vec<String> {
    let root = context.root();
    let written = |path: &Path| fs::metadata(path).ok()?.modified().ok();
    let mut files = context.workspace().list("**/*");
    let deleted = context
        .facts
        .changes()
        .map(|changes| changes.deleted.clone());
    files.extend(deleted.unwrap_or_default());
    files.sort_unstable();
    files.dedup();
    let issues = context.workspace().issues_dir();
    files.retain(|file| {
        let time = root.join(file).ancestors().find_map(written);
        time.is_some_and(|time| time > report)
            && !made.contains(file)
            && !file.starts_with(".ahp/")
            && !Path::new(file).starts_with(issues)
    });
    files
}
