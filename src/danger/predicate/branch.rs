//! Branches that commands of git take away or move, and whether others hold what was on them.

use std::collections::BTreeSet;

use super::known::{git_command, is_told, repository};
use crate::danger::digest::Digest;
use crate::danger::knowledge::Holder;
use crate::danger::words::words;
use crate::glob::glob;
use crate::shell::{Invocation, Word};

/// Whether other branches or tags hold every commit of the branches that the words name, or there are none to lose: there is
/// no such branch before the line, and the line puts nothing on it that is older.
pub(super) fn is_merged(digest: &Digest<'_>, words: &[&Word]) -> bool {
    let names: Vec<Word> = words.iter().copied().cloned().collect();
    repository(digest).is_some() && loses(digest, &names) == Some(false)
}

/// Whether the command moves a branch away from commits that no other ref may hold. Where that cannot be told, a branch that is
/// checked out anew from its own state elsewhere (`-B x origin/x`) is taken for one that loses nothing.
pub(super) fn orphans(digest: &Digest<'_>, words: &[&Word]) -> bool {
    let moved = taken(digest.invocation);
    let Some(branch) = moved.first() else {
        return false;
    };
    let is_known = repository(digest).is_some() && is_told(branch);
    if let Some(loses) = is_known.then(|| loses(digest, &moved)).flatten() {
        return loses;
    }
    let command = git_command(digest.invocation);
    if !matches!(command, "checkout" | "switch" | "worktree") {
        return true;
    }
    match words.last().filter(|start| start.text != branch.text) {
        Some(start) => !start.text.ends_with(&format!("/{}", branch.text)),
        None => is_known,
    }
}

/// Whether a push takes the branch that is checked out with it, and everybody builds on that one.
pub(super) fn is_current_shared(digest: &Digest<'_>, words: &[&Word]) -> bool {
    let options = ["-o", "--push-option", "--receive-pack", "--exec", "--repo"];
    let values: Vec<Word> = digest.invocation.values_of(&options).collect();
    let mut named = words.iter().filter(|word| !values.contains(word));
    // The first one is the remote.
    named.next();
    let mut sources = named.map(|word| {
        let source = word.text.trim_start_matches('+');
        match source.split_once(':') {
            // Another name at the other end tells by itself.
            Some(_) => "",
            None => source,
        }
    });
    let takes_current = if digest.has_option("--tags") || digest.has_option("--repo") {
        sources.any(|source| matches!(source, "HEAD" | "@"))
    } else {
        let mut sources = sources.peekable();
        sources.peek().is_none() || sources.any(|source| matches!(source, "HEAD" | "@"))
    };
    if !takes_current || repository(digest).is_none() {
        return false;
    }
    let branch = digest.knowledge.branch();
    let is_shared = |branch: &String| {
        words!("shared-branches")
            .iter()
            .any(|one| glob(one, branch))
    };
    let found = branch.filter(is_shared);
    if let Some(branch) = &found {
        digest.note.set(Some(format!("`{branch}` is checked out")));
    }
    found.is_some()
}

/// Whether the command moves a branch of such a name.
pub(super) fn moves(digest: &Digest<'_>, fits: &dyn Fn(&str) -> bool) -> bool {
    taken(digest.invocation).iter().any(|name| fits(&name.text))
}

/// Whether commits of these branches lose their last name by the line; none where that cannot be told.
fn loses(digest: &Digest<'_>, branches: &[Word]) -> Option<bool> {
    let is_one = |branch: &Word| is_told(branch) && !branch.text.contains('*');
    if branches.is_empty() || !branches.iter().all(is_one) {
        return None;
    }
    // Together they may lose what each alone would not.
    let line = digest.analysis.invocations.iter();
    let others: Vec<Word> = line.flat_map(|git| taken(git)).filter(is_told).collect();
    let all = others.iter().chain(branches);
    let all: BTreeSet<&str> = all.map(|branch| branch.text.as_str()).collect();
    let all: Vec<&str> = all.into_iter().collect();
    for branch in branches {
        match digest.knowledge.holder(&branch.text, &all)? {
            Holder::Nobody => {
                let fact = format!("no other branch or tag holds all of `{}`", branch.text);
                digest.note.set(Some(fact));
                return Some(true);
            }
            Holder::NoBranch if !digest.earlier().all(keeps_commits) => return None,
            Holder::NoBranch | Holder::Others => {}
        }
    }
    Some(false)
}

/// Returns the branches that a command of git deletes, or puts elsewhere whatever was on them.
fn taken(git: &Invocation) -> Vec<Word> {
    if git.program != "git" || git.remote {
        return Vec::new();
    }
    let command = git_command(git);
    let words = git.around_subcommand().1;
    // Only an option or a pair of names says that something moves.
    let says = |word: &Word| word.is_option() || word.text.contains(':');
    if command != "update-ref" && !words.iter().any(says) {
        return Vec::new();
    }
    let git = Invocation {
        arguments: words.to_vec(),
        ..Invocation::default()
    };
    let has = |letters: &[char], long: &str| {
        letters.iter().any(|letter| git.has_short(*letter)) || git.has_long(long)
    };
    let forces = has(&['f'], "--force");
    let moves = has(&['m', 'c'], "--move") || git.has_long("--copy");
    let renames = git.has_short('M') || git.has_short('C') || forces && moves;
    let operands = || git.operands().cloned();
    let named = |letter: char| {
        let by_letter = git.value_of_letter(letter, |c| matches!(c, 'b' | 'c'));
        let name = by_letter.or_else(|| git.value_of(&["--force-create"]));
        name.into_iter().collect()
    };
    match command {
        "branch" if git.has_short('D') || forces && has(&['d'], "--delete") => operands().collect(),
        "branch" if renames => operands().last().into_iter().collect(),
        "branch" if forces => operands().take(1).collect(),
        "checkout" | "worktree" => named('B'),
        "switch" => named('C'),
        "fetch" | "pull" => operands()
            .skip(1)
            .filter_map(|spec| {
                let forced = spec.text.strip_prefix('+');
                let text = forced.or_else(|| forces.then_some(spec.text.as_str()))?;
                let target = text.split_once(':')?.1;
                Some(named_as(&spec, local_branch(target)?))
            })
            .collect(),
        "update-ref" if !has(&['d'], "--stdin") => operands()
            .take(1)
            .filter_map(|name| Some(named_as(&name, name.text.strip_prefix("refs/heads/")?)))
            .collect(),
        _ => Vec::new(),
    }
}

fn named_as(word: &Word, part: &str) -> Word {
    Word {
        text: part.to_owned(),
        ..word.clone()
    }
}

/// Returns the branch of this repository that the target of a fetch means.
fn local_branch(target: &str) -> Option<&str> {
    match target.strip_prefix("refs/heads/") {
        Some(branch) => Some(branch),
        None => (!target.is_empty() && !target.starts_with("refs/")).then_some(target),
    }
}

/// Whether a command gives no branch commits or changes that were there before: `git commit --allow-empty` makes a new one.
fn keeps_commits(invocation: &Invocation) -> bool {
    if invocation.program != "git" {
        return true;
    }
    let words = invocation.around_subcommand().1;
    let has = |option: &str| words.iter().any(|word| word.text == option);
    let moves = [
        "-B",
        "-C",
        "-M",
        "-f",
        "-m",
        "--force",
        "--force-create",
        "--hard",
        "--move",
    ];
    match git_command(invocation) {
        "commit" => has("--allow-empty") && !has("-a") && !has("--amend"),
        "branch" | "checkout" | "reset" | "switch" => !moves.into_iter().any(has),
        "worktree" => !has("-B"),
        "describe" | "diff" | "fetch" | "log" | "merge-base" | "push" | "rev-parse" | "show"
        | "stash" | "status" => true,
        _ => false,
    }
}
