//! Finds reports, and tells fresh ones from stale ones.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::SystemTime;

use crate::oracle::HookContext;
use crate::workspace::Change;
use crate::workspace::ChangedFile;

/// How many files a glob may give before it is taken for a mistake.
const MAX_FILES: usize = 20_000;

/// Files that reports and coverage figures are commonly written to, where the configuration names none.
pub(super) const USUAL_COVERAGE: &[&str] = &[
    "lcov.info",
    "coverage.lcov",
    "coverage/lcov.info",
    "target/llvm-cov/lcov.info",
    "coverage.xml",
    "cobertura.xml",
    "coverage/cobertura-coverage.xml",
    "target/tarpaulin/cobertura.xml",
    "coverage.json",
    "coverage/coverage-summary.json",
    "coverage/clover.xml",
    "coverage.out",
    "target/site/jacoco/jacoco.xml",
    "build/reports/jacoco/test/jacocoTestReport.xml",
];

/// Returns the files that paths and globs name, relative to the project, sorted; a path that names nothing is kept.
pub(super) fn expand(root: &Path, patterns: &[String]) -> Vec<String> {
    let mut files = Vec::new();
    for pattern in patterns {
        if !pattern.contains(['*', '?', '[', '{']) {
            files.push(pattern.clone());
            continue;
        }
        // Reports commonly are ignored by git, so that the list of the project's files does not hold them.
        let fixed = pattern
            .split(['*', '?', '[', '{'])
            .next()
            .and_then(|head| head.rsplit_once('/'))
            .map_or("", |(dir, _)| dir);
        let found = ignore::WalkBuilder::new(root.join(fixed))
            .standard_filters(false)
            .filter_entry(|entry| {
                entry.file_name() != ".git" && entry.file_name() != "node_modules"
            })
            .build()
            .filter_map(Result::ok)
            .filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()))
            .filter_map(|entry| Some(entry.path().strip_prefix(root).ok()?.to_str()?.to_owned()))
            .filter(|path| fast_glob::glob_match(pattern, path))
            .take(MAX_FILES);
        files.extend(found);
    }
    files.sort_unstable();
    files.dedup();
    files
}

/// When files were last written; those that are not there are left out.
pub(super) fn times(root: &Path, files: &[String]) -> BTreeMap<String, SystemTime> {
    files
        .iter()
        .filter_map(|file| Some((file.clone(), written(&root.join(file))?)))
        .collect()
}

fn written(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).ok()?.modified().ok()
}

/// Returns the changed source files that were written after a report was, sorted.
///
/// Where git cannot tell what has changed, every file of the project counts. A deleted file is as new as the directory
/// that it lay in.
pub(super) fn newer_sources(
    context: &HookContext,
    report: SystemTime,
    made: &[String],
) -> Vec<String> {
    let root = context.root();
    let candidates: Vec<(String, Option<SystemTime>)> = if let Ok(changes) = context.facts.changes()
    {
        let time_of = |file: &ChangedFile| {
            let path = root.join(&file.path);
            if file.change == Change::Deleted {
                path.ancestors().skip(1).find_map(written)
            } else {
                written(&path)
            }
        };
        let files = changes.files.iter();
        files
            .map(|file| (file.path.clone(), time_of(file)))
            .collect()
    } else {
        let files = context.workspace().list("**/*").into_iter();
        files
            .map(|file| {
                let time = written(&root.join(&file));
                (file, time)
            })
            .collect()
    };
    let issues = context.workspace().issues_dir();
    candidates
        .into_iter()
        .filter(|(file, time)| {
            time.is_some_and(|time| time > report)
                && !made.contains(file)
                && !is_prose(file)
                && !file.starts_with(".ahp/")
                && !Path::new(file).starts_with(issues)
        })
        .map(|(file, _)| file)
        .collect()
}

/// Whether a file only tells something to people, so that no test can depend on it.
fn is_prose(path: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, ext)| {
        ["md", "markdown", "rst", "adoc"].contains(&ext.to_ascii_lowercase().as_str())
    })
}
