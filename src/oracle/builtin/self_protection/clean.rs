//! Clean: whether `git clean` leaves all that is guarded, because git tracks it, ignores it, or is told to leave it out.

use std::path::{Path, PathBuf};

use super::guarded::Guarded;
use super::walk;
use crate::shell::{Analysis, Invocation, Redirect, Word};

/// Whether all that a line deletes by git is what `git clean` takes away, and git says that nothing guarded is among that.
/// Where it cannot say so, nothing is left.
pub(super) fn spares(guarded: &Guarded<'_>, analysis: &Analysis) -> bool {
    let mut all = analysis.invocations.iter();
    let mut assignments = analysis.assignments.iter();
    let is_plain = analysis.doubts.is_empty()
        && !assignments.any(|(name, _)| name.starts_with("GIT_"))
        && all.all(|invocation| leaves_rules(guarded.root(), invocation));
    if !is_plain {
        return false;
    }
    let Ok(found) = guarded.workspace.uncommitted() else {
        return false;
    };
    // Who goes back to other rules of what git ignores may have it take more away.
    let is_rule = |path: &Path| path.ends_with(".gitignore");
    if found.changed.iter().any(|path| is_rule(path)) {
        return false;
    }
    // What is only staged, and no commit holds, is untracked behind a reset.
    let mut all = analysis.invocations.iter();
    let resets = all.any(|i| command(i) == Some("reset"));
    let is_guarded = |path: &PathBuf| goes(guarded, path);
    if resets && found.changed.iter().any(is_guarded) {
        return false;
    }
    let mut cleans = analysis.invocations.iter().filter(|i| cleans(i));
    cleans.all(|clean| {
        let only_ignored = clean.has_short('X');
        let untracked = found.untracked.iter().filter(|_| !only_ignored);
        let ignored = found.ignored.iter();
        let ignored = ignored.filter(|_| only_ignored || clean.has_short('x'));
        let left_out: Vec<_> = clean.values_of(&["-e", "--exclude"]).collect();
        // With `-X` such a pattern names what goes, and `!` takes another one back.
        let adds = |name: &Word| only_ignored || name.dynamic || name.text.starts_with('!');
        let is_option = |word: &Word| ["-e", "--e"].iter().any(|o| word.text.starts_with(o));
        // Behind `--`, what looks like an option is a path to clean.
        let mut behind = clean.arguments.iter().skip(clean.before_dashes().count());
        if left_out.iter().any(adds) || behind.any(is_option) {
            return false;
        }
        let is_left_out = |path: &Path| {
            let inner = path.strip_prefix(guarded.root()).unwrap_or(path);
            let mut ways = left_out.iter().filter_map(|name| plain_way(&name.text));
            ways.any(|way| inner.starts_with(way))
        };
        let mut taken = untracked.chain(ignored).filter(|path| !is_left_out(path));
        !taken.any(|path| goes(guarded, path))
    })
}

/// Whether something guarded goes with a path.
fn goes(guarded: &Guarded<'_>, path: &Path) -> bool {
    guarded.hit(&walk::taken(path.to_owned(), false)).is_some()
}

/// Returns the way that a pattern of git names, where it names one as it is written, and no sign in it has to be read.
fn plain_way(pattern: &str) -> Option<&str> {
    let way = pattern.strip_prefix('/').unwrap_or(pattern);
    let way = way.strip_suffix('/').unwrap_or(way);
    let is_plain = !way.contains(['*', '?', '[', '\\']) && !way.contains(char::is_whitespace);
    let mut parts = way.split('/');
    (is_plain && parts.all(|part| !matches!(part, "" | "." | ".."))).then_some(way)
}

/// Whether an argument only tells `git clean` what to leave; where it goes is told by what it does to files.
pub(super) fn leaves_out(invocation: &Invocation, nth: usize) -> bool {
    let words = &invocation.arguments;
    let is_value = || {
        let option = nth.checked_sub(1).and_then(|before| words.get(before));
        option.is_some_and(|option| matches!(option.text.as_str(), "-e" | "--exclude"))
    };
    let holds_value = |word: &Word| word.text.starts_with("--exclude=");
    cleans(invocation) && (words.get(nth).is_some_and(holds_value) || is_value())
}

pub(super) fn cleans(invocation: &Invocation) -> bool {
    command(invocation) == Some("clean")
}

/// Returns the command of git, where nothing stands before it and nothing leads git elsewhere.
fn command(invocation: &Invocation) -> Option<&str> {
    let is_plain = invocation.program == "git"
        && invocation.environment.is_empty()
        && invocation.wrappers.is_empty()
        && !invocation.remote;
    let first = invocation.arguments.first().filter(|_| is_plain)?;
    Some(&first.text)
}

/// Whether a command leaves the rules by which git ignores files, and what git tracks, as they are.
fn leaves_rules(root: &Path, invocation: &Invocation) -> bool {
    if invocation.redirects.iter().any(Redirect::writes) {
        return false;
    }
    match command(invocation) {
        Some("clean") => invocation.work_dir.as_deref() == Some(root),
        Some("reset" | "checkout" | "restore") => {
            let mut rest = invocation.arguments.iter().skip(1);
            rest.all(|word| matches!(word.text.as_str(), "." | "--" | "--hard" | "-f" | "HEAD"))
        }
        _ => {
            matches!(invocation.program.as_str(), "cd" | "echo" | "true") || invocation.only_reads()
        }
    }
}
