//! Replaced runners: what the change puts in the place of a runner, or of a part of one.

use std::collections::BTreeSet;
use std::path::Path;

use super::{TestGate, settings};
use crate::oracle::added::text_of;
use crate::oracle::toolchain::test_run::{CODE, Replaced, holds_tests};
use crate::oracle::wording::listed;
use crate::oracle::{HookContext, toolchain};
use crate::process::Exit;
use crate::signal::Signal;
use crate::workspace::{ChangeScope, Tree, git};

impl TestGate {
    /// Returns a block where something stands in the place of a runner that neither the policy nor the commit that the change is
    /// measured against names; `runners` are those that ran.
    pub(super) fn unapproved(
        &self,
        shown: &BTreeSet<Replaced>,
        runners: &BTreeSet<String>,
        context: &HookContext,
    ) -> Option<Signal> {
        let is_free = |file: &str| self.own_runners.match_path(file);
        let mut found = BTreeSet::new();
        for replaced in shown {
            let is_of_policy = self.command.as_ref().is_some_and(|command| {
                command.contains(&replaced.what) && command.contains(name(&replaced.file))
            });
            if !is_of_policy && !is_free(&replaced.file) && !was_there(replaced, context) {
                found.insert(format!("`{}` by {}", replaced.what, replaced.file));
            }
        }
        for file in settings::files(runners, context) {
            let Some(now) = context
                .workspace()
                .read(&file)
                .ok()
                .filter(|_| !is_free(&file))
            else {
                continue;
            };
            let new = settings::read(&file, &now);
            if new.is_empty() {
                continue;
            }
            let before = before(&file, context).unwrap_or_default();
            for said in new.difference(&settings::read(&file, &before)) {
                found.insert(if said.starts_with(settings::WHOLE) {
                    file.clone()
                } else {
                    format!("`{said}` in {file}")
                });
            }
        }
        if found.is_empty() {
            return None;
        }
        let found: Vec<&str> = found.iter().map(String::as_str).collect();
        let reason = format!(
            "the change puts something of its own in the place of the test runner, or of a part of it: {}",
            listed(&found, 20)
        );
        let signal = Signal::block("test-runner-replaced", reason)
            .steps([
                "let the runner that was there before run the tests",
                "or ask a person to look at it, and to name its file in `own_runners` in the configuration of TestGate",
            ])
            .about_each("test-runner-replaced", found);
        Some(signal)
    }

    /// Returns a block where files of tests were written while the tests ran, so that nothing tells what was tested.
    pub(super) fn rewritten(
        &self,
        before: &Tree,
        after: &Tree,
        context: &HookContext,
    ) -> Option<Signal> {
        let read = |file: &str| Some(text_of(&context.workspace().read(file).ok()?));
        let is_meant =
            |file: &&str| !self.own_runners.match_path(file) && holds_tests(file, || read(file));
        let files = before.rewritten_by(after).into_iter();
        let files: Vec<&str> = files.filter(is_meant).collect();
        if files.is_empty() {
            return None;
        }
        let reason = format!(
            "files of tests were written while the tests ran, so that nothing tells which tests those were: {}",
            listed(&files, 20)
        );
        let signal = Signal::block("tests-rewritten", reason)
            .steps([
                "let nothing that runs with the tests write them, such as a `pretest` script",
                "or ask a person to look at it, and to name the files in `own_runners` in the configuration of TestGate",
            ])
            .files(files.clone())
            .about_each("tests-rewritten", files);
        Some(signal)
    }
}

impl TestGate {
    /// Returns a block where tests ran that stand in a copy of the tree, or in no project at all, in the place of those that
    /// are here.
    pub(super) fn elsewhere(
        &self,
        places: &BTreeSet<String>,
        tree: &Tree,
        context: &HookContext,
    ) -> Option<Signal> {
        let is_here = |place: &str| !Path::new(place).is_absolute();
        let is_copied = |place: &&str| {
            let original = tree.copied_by(place).filter(|_| !tree.holds(place));
            // What ran here too is not replaced.
            original.is_some_and(|original| !places.contains(original))
        };
        let is_free = |place: &str| self.own_runners.match_path(place);
        let is_any_here = places.iter().any(|place| is_here(place));
        let is_foreign = |place: &&str| !is_any_here || is_copied(place) && !is_free(place);
        let files = places.iter().map(String::as_str);
        let files: Vec<&str> = files.filter(is_foreign).collect();
        if files.is_empty() {
            return None;
        }
        let reason = format!(
            "tests ran that are not those of this tree: {}",
            listed(&files, 20)
        );
        let signal = Signal::block("tests-of-another-tree", reason)
            .steps([
                format!("run the tests as they stand in {}", context.root().display()),
                "or ask a person to look at it, and to name in `own_runners` in the configuration of TestGate what is built of this tree and ignored by git".to_owned(),
            ])
            .files(files.clone())
            .about_each("tests-of-another-tree", files);
        Some(signal)
    }

    /// Returns a block where code changed while the tests ran, so that they ran on neither tree.
    pub(super) fn changed(&self, before: &Tree, after: &Tree, made: &[String]) -> Option<Signal> {
        let is_code = |file: &str| {
            CODE.iter()
                .any(|ending| Path::new(file).extension() == Some(ending.as_ref()))
        };
        let mut files = before.changed_by(after);
        files.retain(|file| {
            let is_made = made.iter().any(|made| made == file);
            is_code(file) && !is_made && !self.own_runners.match_path(file)
        });
        if files.is_empty() {
            return None;
        }
        let reason = format!(
            "code changed while the tests ran, so that nothing tells which of it they tested: {}",
            listed(&files, 20)
        );
        let signal = Signal::block("code-changed-meanwhile", reason)
            .steps([
                "run the tests again, and change nothing until they have ended",
                "or, if the run itself writes these files, ask a person to name them in `own_runners` in the configuration of TestGate",
            ])
            .files(files.clone())
            .about_each("code-changed-meanwhile", files);
        Some(signal)
    }
}

/// Returns what a file held before the change; none where it was not there, or that cannot be told.
pub(super) fn before(file: &str, context: &HookContext) -> Option<Vec<u8>> {
    let found = context.workspace().before(ChangeScope::Branch, file);
    found.ok().flatten().map(|content| content.to_vec())
}

fn name(file: &str) -> &str {
    Path::new(file)
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or(file)
}

/// Whether a file replaced the same already before the change: it is the same file, it says so itself, or another file names both.
fn was_there(replaced: &Replaced, context: &HookContext) -> bool {
    let Some(before) = before(&replaced.file, context) else {
        return false;
    };
    // `Runnable.prototype.run` is what the file does itself.
    if replaced.what.contains('.') {
        let now = context.workspace().read(&replaced.file);
        return now.is_ok_and(|now| *now == *before)
            || String::from_utf8_lossy(&before).contains(&replaced.what);
    }
    let Ok(Some(base)) = context.facts.changes().map(|changes| changes.base.clone()) else {
        return false;
    };
    // `jest's testRunner`, `exec`: a setting, which stands in another file beside the name. Node needs no extension.
    let word = replaced.what.rsplit(' ').next().unwrap_or_default();
    let name = name(&replaced.file);
    let stem = name
        .rsplit_once('.')
        .filter(|(_, end)| SCRIPTS.contains(end));
    let stem = stem.map_or(name, |(stem, _)| stem);
    let arguments = [
        "grep",
        "--no-textconv",
        "-l",
        "-w",
        "-F",
        "--all-match",
        "-e",
        word,
        "-e",
        stem,
        &base,
        "--",
    ];
    let grep = git(context.root(), &arguments);
    toolchain::run(context, grep, "git grep").is_ok_and(|found| found.exit == Exit::Code(0))
}

const SCRIPTS: &[&str] = &["js", "mjs", "cjs", "ts", "mts", "cts", "jsx", "tsx"];
