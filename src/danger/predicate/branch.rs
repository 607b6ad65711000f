//! Branches that commands of git take away or move, and whether others hold what was on them.

use super::known::{git_command, is_told, path, repository};
use crate::danger::digest::Digest;
use crate::danger::knowledge::Holder;
use crate::glob::glob;
use crate::shell::{Invocation, Word};
use crate::words::words;

/// Whether other branches or tags hold every commit of the branches that the words name, or there are none to lose: there is
/// no such branch before the line, and the line puts nothing on it that is older.
pub(super) fn is_merged(digest: &Digest<'_>, words: &[&Word]) -> bool {
    let names: Vec<Word> = words.iter().copied().cloned().collect();
    let is_untouched = |_: &Word| digest.earlier().all(keeps_commits);
    repository(digest).is_some() && loses(digest, &names, &is_untouched) == Some(false)
}

/// Whether the command moves a branch away from commits that no other ref may hold. Where that cannot be told, a branch that is
/// checked out anew from its own state elsewhere (`-B x origin/x`) is taken for one that loses nothing.
pub(super) fn orphans(digest: &Digest<'_>, words: &[&Word]) -> bool {
    let moved = taken(digest.invocation);
    let Some(branch) = moved.first() else {
        return false;
    };
    let is_known = repository(digest).is_some() && is_told(branch);
    let is_new = |branch: &Word| {
        digest.earlier().all(keeps_commits)
            || !digest.earlier().any(|git| may_make(git, &branch.text))
    };
    let told = is_known.then(|| loses(digest, &moved, &is_new)).flatten();
    if let Some(loses) = told {
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
    let on_line = (0..digest.index)
        .rev()
        .find_map(|at| checked_out(digest, at));
    let branch = match on_line {
        Some(CheckedOut::Branch(name)) => Some(name),
        Some(CheckedOut::Unknown) => None,
        None => digest.knowledge.branch(),
    };
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

/// What is checked out by a command: a branch, or what is not told.
enum CheckedOut {
    Branch(String),
    Unknown,
}

/// Returns what a command of the line checks out; none where it leaves the branch as it is.
fn checked_out(digest: &Digest<'_>, at: usize) -> Option<CheckedOut> {
    let all = &digest.analysis.invocations;
    let git = all.get(at)?.as_ref();
    if matches!(git.program.as_str(), "gh" | "glab" | "hub") {
        let mut operands = git.operands().take(3);
        return operands
            .any(|word| matches!(word.text.as_str(), "checkout" | "co"))
            .then_some(CheckedOut::Unknown);
    }
    let command = git_command(git);
    if git.program != "git" || !matches!(command, "checkout" | "switch") {
        return None;
    }
    let here = Digest::new(digest.analysis, at, git, "", digest.knowledge);
    if repository(&here) != repository(digest) {
        return None;
    }
    let git = Invocation {
        program: git.program.clone(),
        arguments: git.around_subcommand().1.to_vec(),
        ..Invocation::default()
    };
    let letters: &[char] = if command == "switch" {
        &['c', 'C']
    } else {
        &['b', 'B']
    };
    let by_letter = |letter: &char| git.value_of_letter(*letter, |c| letters.contains(&c));
    let by_name = |name: &&str| git.value_of_long(name);
    let made = letters.iter().find_map(by_letter);
    let made = made.or_else(|| {
        ["--create", "--force-create", "--orphan"]
            .iter()
            .find_map(by_name)
    });
    let told = |word: Word| match word.text.as_str() {
        "-" => CheckedOut::Unknown,
        name if !is_told(&word) || name.starts_with("@{") => CheckedOut::Unknown,
        name => CheckedOut::Branch(name.to_owned()),
    };
    if let Some(name) = made {
        return Some(told(name));
    }
    if git.has_long("--detach") || git.has_short('d') {
        return Some(CheckedOut::Unknown);
    }
    let mut operands = git.operands();
    let (Some(target), None) = (operands.next(), operands.next()) else {
        return None;
    };
    // What stands behind dashes, or lies there, is a file.
    let is_file = command == "checkout"
        && (git.has_word(&["--"]) || path(&here, target).is_some_and(|path| path.exists()));
    if is_file {
        return None;
    }
    let tracks = git.has_short('t') || git.has_long("--track");
    Some(match target.text.split_once('/') {
        Some((_, branch)) if tracks => told(target.with_text(branch)),
        _ => told(target.clone()),
    })
}

/// Whether the command moves a branch of such a name.
pub(super) fn moves(digest: &Digest<'_>, fits: &dyn Fn(&str) -> bool) -> bool {
    taken(digest.invocation).iter().any(|name| fits(&name.text))
}

/// Whether commits of these branches lose their last name by the line; none where that cannot be told. `is_new` says whether a
/// branch that was not there before the line still has nothing to lose.
fn loses(digest: &Digest<'_>, branches: &[Word], is_new: &dyn Fn(&Word) -> bool) -> Option<bool> {
    let is_one = |branch: &Word| is_told(branch) && !branch.text.contains('*');
    if branches.is_empty() || !branches.iter().all(is_one) {
        return None;
    }
    // Together they may lose what each alone would not.
    let all = || {
        let line = digest.analysis.invocations.iter();
        let others = line.flat_map(|git| taken(git)).filter(is_told);
        others
            .chain(branches.iter().cloned())
            .map(|branch| branch.text)
            .collect()
    };
    for branch in branches {
        match digest.knowledge.holder(&branch.text, &all)? {
            Holder::Nobody => {
                let fact = format!("no other branch or tag holds all of `{}`", branch.text);
                digest.note.set(Some(fact));
                return Some(true);
            }
            Holder::NoBranch if !is_new(branch) => return None,
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
    // The reason for the log is no name.
    let is_reason = |at: usize| {
        let before = at.checked_sub(1).and_then(|before| words.get(before));
        command == "update-ref" && before.is_some_and(|before| before.text == "-m")
    };
    let arguments = words.iter().enumerate();
    let arguments = arguments.filter(|(at, _)| !is_reason(*at));
    let git = Invocation {
        program: git.program.clone(),
        arguments: arguments.map(|(_, word)| word.clone()).collect(),
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
        let name = by_letter.or_else(|| git.value_of_long("--force-create"));
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
                Some(spec.with_text(local_branch(target)?))
            })
            .collect(),
        "update-ref" if !has(&['d'], "--stdin") => operands()
            .take(1)
            .filter_map(|name| Some(name.with_text(name.text.strip_prefix("refs/heads/")?)))
            .collect(),
        _ => Vec::new(),
    }
}

/// Returns the branch of this repository that the target of a fetch means.
fn local_branch(target: &str) -> Option<&str> {
    match target.strip_prefix("refs/heads/") {
        Some(branch) => Some(branch),
        None => (!target.is_empty() && !target.starts_with("refs/")).then_some(target),
    }
}

/// Whether a command may make or move a branch of this name.
fn may_make(git: &Invocation, name: &str) -> bool {
    let names = matches!(
        git_command(git),
        "branch"
            | "checkout"
            | "fetch"
            | "pull"
            | "stash"
            | "switch"
            | "symbolic-ref"
            | "update-ref"
            | "worktree"
    );
    // `-bname`, `main:name` and `refs/heads/name` name it too.
    let may_be =
        |word: &Word| word.text.ends_with(name) || word.text.contains('*') || !is_told(word);
    let has_other = git.program == "git" && git.around_subcommand().1.iter().any(may_be);
    names && has_other
}

/// Whether a command gives no branch commits or changes that were there before: `git commit --allow-empty` makes a new one.
fn keeps_commits(invocation: &Invocation) -> bool {
    if invocation.program != "git" {
        return true;
    }
    let words = invocation.around_subcommand().1;
    let has = |option: &str| words.iter().any(|word| word.text == option);
    let moves = words!("moving-options");
    match git_command(invocation) {
        "commit" => has("--allow-empty") && !has("-a") && !has("--amend"),
        "branch" | "checkout" | "reset" | "switch" => !moves.iter().any(|option| has(option)),
        "worktree" => !has("-B"),
        "describe" | "diff" | "fetch" | "log" | "merge-base" | "push" | "rev-parse" | "show"
        | "stash" | "status" => true,
        _ => false,
    }
}
