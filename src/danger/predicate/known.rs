//! What git and the disk know of the files and branches that a command names.

use std::path::{Path, PathBuf};

use super::file::is_precious;
use crate::danger::digest::Digest;
use crate::danger::knowledge::Holder;
use crate::danger::place::{Place, place};
use crate::danger::words::words;
use crate::glob::glob;
use crate::shell::{Invocation, MADE_DIRECTORY, Word, lexical};

/// Programs that make no file which another could then lose.
const MAKES_NOTHING: &[&str] = &[
    "cd", "pushd", "popd", "echo", "printf", "true", "test", "[", "ls", "pwd", "export", "set",
    "rm", "sleep",
];

/// Whether the project lies on this disk and nothing earlier on the line makes a file, so that the disk can tell what is there.
fn is_as_on_disk(digest: &Digest<'_>) -> bool {
    has_project(digest) && digest.earlier().all(makes_nothing)
}

/// Whether the project lies on this disk: without one nothing is known of what is in it.
pub(super) fn has_project(digest: &Digest<'_>) -> bool {
    let root = &digest.analysis.surroundings.project_root;
    !root.as_os_str().is_empty() && root.is_dir()
}

/// Whether no tracked file of the repository differs from its last commit. What the line itself tells git to track counts too,
/// and what it brings back is not there yet.
pub(super) fn has_all_committed(digest: &Digest<'_>) -> bool {
    if is_scratch(digest) {
        return true;
    }
    let is_told = |_: &PathBuf| !runs_git(digest, &["stash"], &["pop", "apply"]);
    let Some(root) = repository(digest).filter(is_told) else {
        return false;
    };
    let changed = if runs_git(digest, &["add", "stage"], &[]) {
        digest.knowledge.uncommitted(&root, false)
    } else {
        digest.knowledge.changed(&root)
    };
    note(
        digest,
        changed,
        "git has {} with changes that no commit holds",
    );
    changed == Some(0)
}

/// Whether an earlier command of the line is one of these of git, with one of these words where there are any.
fn runs_git(digest: &Digest<'_>, commands: &[&str], words: &[&str]) -> bool {
    let mut earlier = digest.earlier().filter(|i| i.program == "git");
    earlier.any(|i| {
        let mut operands = i.operands();
        commands.contains(&git_command(i))
            && (words.is_empty() || operands.any(|word| words.contains(&word.text.as_str())))
    })
}

fn git_command(git: &Invocation) -> &str {
    git.subcommand().map_or("", |word| word.text.as_str())
}

/// Whether git knows every file that the words name, and none has changed.
pub(super) fn is_unchanged(digest: &Digest<'_>, words: &[&Word]) -> bool {
    if is_scratch(digest) {
        return true;
    }
    let paths: Option<Vec<PathBuf>> = repository(digest).and_then(|_| {
        let paths = words.iter().map(|word| path_or_folder(digest, word));
        paths.collect()
    });
    let Some(paths) = paths.filter(|paths| !paths.is_empty()) else {
        return false;
    };
    let changed = sum(paths.iter().map(|path| digest.knowledge.changed(path)));
    note(
        digest,
        changed,
        "git has {} of them with changes that no commit holds",
    );
    // A pattern means what git knows of; from a commit of old it may bring back others too.
    let is_of_old = digest.has_option("-s") || digest.has_option("--source");
    let is_pattern = |word: &Word| word.text.contains(['*', '?', '[']);
    let named = words
        .iter()
        .zip(&paths)
        .filter(|(word, _)| is_of_old || !is_pattern(word));
    changed == Some(0)
        && sum(named.map(|(_, path)| digest.knowledge.uncommitted(path, false))) == Some(0)
}

/// Whether there is no file at or below the words, or the directory that the command runs in, which git does not know.
pub(super) fn has_nothing_untracked(digest: &Digest<'_>, words: &[&Word]) -> bool {
    if is_scratch(digest) {
        return true;
    }
    if repository(digest).is_none() {
        return false;
    }
    let here = Word::plain(".");
    let words = if words.is_empty() {
        vec![&here]
    } else {
        words.to_vec()
    };
    let found = words.iter().map(|word| {
        let path = path(digest, word)?;
        Some(digest.knowledge.uncommitted(&path, false)? - digest.knowledge.changed(&path)?)
    });
    let found = sum(found);
    note(digest, found, "git does not know {}");
    found == Some(0)
}

/// Whether other branches or tags hold every commit of the branches that the words name, or there are none to lose: there is
/// no such branch before the line, and the line puts nothing on it that is older.
pub(super) fn is_merged(digest: &Digest<'_>, words: &[&Word]) -> bool {
    repository(digest).is_some()
        && !words.is_empty()
        && words.iter().all(|word| {
            let holder = || digest.knowledge.holder(&word.text);
            !word.dynamic
                && match holder() {
                    Some(Holder::Ref(_)) => true,
                    Some(Holder::NoBranch) => digest.earlier().all(keeps_commits),
                    _ => false,
                }
        })
}

/// Whether a command gives no branch commits or changes that were there before: `git commit --allow-empty` makes a new one.
fn keeps_commits(invocation: &Invocation) -> bool {
    if invocation.program != "git" {
        return true;
    }
    let has = |option: &str| invocation.arguments.iter().any(|word| word.text == option);
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

/// Whether a branch is moved away from commits that no other ref holds. Where that cannot be told, a branch that goes to its
/// own state elsewhere (`-B x origin/x`) is taken for one that loses nothing.
pub(super) fn orphans(digest: &Digest<'_>, words: &[&Word]) -> bool {
    let invocation = digest.invocation;
    let Some(branch) = invocation.value_of(&["-B", "-C", "--force-create"]) else {
        return false;
    };
    let known = repository(digest).filter(|_| !branch.dynamic);
    match known.and_then(|_| digest.knowledge.holder(&branch.text)) {
        Some(holder) => holder == Holder::Nobody,
        None => words.last().is_some_and(|start| {
            start.text != branch.text && !start.text.ends_with(&format!("/{}", branch.text))
        }),
    }
}

/// Whether everything that a deletion names is a single file, is not there, or comes back by `git restore`.
pub(super) fn is_recoverable(digest: &Digest<'_>, words: &[&Word]) -> bool {
    has_project(digest)
        && words.iter().all(|word| {
            let place = digest.place(word);
            if !is_precious(place) {
                return true;
            }
            let Some(path) = path(digest, word).filter(|_| place == Place::Inside) else {
                return false;
            };
            match std::fs::symlink_metadata(&path) {
                Ok(found) if !found.is_dir() => true,
                Ok(_) => {
                    let lost = digest.knowledge.uncommitted(&path, true);
                    note(digest, lost, "git cannot bring back {} in it");
                    lost == Some(0)
                }
                Err(_) => is_not_there(digest, word),
            }
        })
}

/// Whether there is certainly nothing at a path: the project lies on this disk, and no command of the line makes it.
pub(super) fn is_not_there(digest: &Digest<'_>, word: &Word) -> bool {
    path(digest, word).is_some_and(|path| {
        has_project(digest)
            && is_missing(&path)
            && digest
                .earlier()
                .all(|i| makes_nothing(i) || i.program == "mkdir" && !makes(digest, i, &path))
    })
}

/// Whether an earlier command of the line has made what this one deletes: `docker volume create NAME`. But for the verb it must
/// be the same words, so that both mean the same engine or cluster.
pub(super) fn is_made_on_line(digest: &Digest<'_>, words: &[&Word]) -> bool {
    fn others(invocation: &Invocation, verbs: &[&str]) -> Vec<String> {
        let words = invocation.arguments.iter().map(|word| word.text.clone());
        let mut words: Vec<String> = words
            .filter(|word| !verbs.contains(&word.as_str()))
            .collect();
        words.sort();
        words
    }
    let invocation = digest.invocation;
    if !words.is_empty() && words.iter().all(|word| is_made_by_it(digest, word)) {
        return true;
    }
    let others_here = others(invocation, &["rm", "remove", "delete"]);
    let is_told = |word: &&Word| !word.dynamic && !word.glob && word.made_by.is_empty();
    let names = invocation
        .environment
        .iter()
        .chain(&digest.analysis.assignments);
    let leads = |name: &str| name.starts_with("DOCKER") || name.starts_with("KUBE");
    !words.is_empty()
        && words.iter().all(is_told)
        && !names.map(|(name, _)| name.as_str()).any(leads)
        && !digest.earlier().any(|i| {
            i.operands()
                .any(|word| word.text == "use-context" || word.text == "use")
        })
        && digest.earlier().any(|i| {
            let first = &mut i.operands().take(2);
            i.program == invocation.program
                && i.remote == invocation.remote
                && first.any(|word| word.text == "create")
                && others(i, &["create"]) == others_here
        })
}

/// Whether an earlier `createdb` of the line has made the database that `dropdb` drops, with the same words for the server.
pub(super) fn is_created_on_line(digest: &Digest<'_>, words: &[&Word]) -> bool {
    let server = ["-h", "-p", "--host", "--port"];
    let of_server = |i: &Invocation| server.map(|option| i.value_of(&[option]));
    let mut earlier = digest.earlier();
    digest.invocation.program == "dropdb"
        && matches!(words, [name] if !name.dynamic && earlier.any(|i| {
            i.program == "createdb"
                && i.remote == digest.invocation.remote
                && i.operands().any(|made| made == *name)
                && of_server(i) == of_server(digest.invocation)
        }))
}

/// Whether a word is what the same program printed when it made something on this line, or a name that it gave a container:
/// `id=$(docker run -d redis)`.
fn is_made_by_it(digest: &Digest<'_>, word: &Word) -> bool {
    let is_whole = word.text.starts_with("$(") && word.text.ends_with(')');
    let mut earlier = digest.earlier().enumerate();
    earlier.any(|(at, i)| {
        let mut first = i.operands().take(2);
        let makes = first.any(|verb| matches!(verb.text.as_str(), "create" | "run"));
        let is_named = || {
            let name = i.value_of(&["--name"]);
            !word.dynamic && name.is_some_and(|name| name == *word)
        };
        makes
            && i.program == digest.invocation.program
            && i.remote == digest.invocation.remote
            && (is_whole && word.made_by.contains(&at) || is_named())
    })
}

/// Whether a path lies in a folder that `mktemp` makes on this line.
pub(super) fn is_in_made_folder(digest: &Digest<'_>, word: &Word) -> bool {
    path(digest, word).is_some_and(|path| path.starts_with(MADE_DIRECTORY))
}

/// Whether an earlier `mkdir` of the line makes the directory that a word means, or may.
pub(super) fn is_made_before(digest: &Digest<'_>, word: &Word) -> bool {
    let mut makers = digest.earlier().filter(|i| i.program == "mkdir");
    path(digest, word).is_none_or(|path| makers.any(|i| makes(digest, i, &path)))
}

fn makes(digest: &Digest<'_>, mkdir: &Invocation, path: &Path) -> bool {
    let home = digest.analysis.surroundings.home.as_deref();
    mkdir.operands().any(|word| {
        let dir = mkdir
            .work_dir
            .as_ref()
            .filter(|_| !word.dynamic && !word.each);
        dir.is_none_or(|dir| lexical(&word.text, dir, home).starts_with(path))
    })
}

fn makes_nothing(invocation: &Invocation) -> bool {
    MAKES_NOTHING.contains(&invocation.program.as_str())
}

fn is_missing(path: &Path) -> bool {
    let found = std::fs::symlink_metadata(path);
    found.is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
}

/// Whether an earlier `cd` of the line names a directory that is not there, so that what follows may run where it stood.
pub(super) fn has_cd_that_fails(digest: &Digest<'_>) -> bool {
    let mut earlier = digest.earlier();
    is_as_on_disk(digest)
        && earlier.any(|i| {
            let target = i.operands().next().filter(|w| !w.dynamic && !w.glob);
            i.program == "cd"
                && i.work_dir.as_ref().zip(target).is_some_and(|(dir, word)| {
                    let home = digest.analysis.surroundings.home.as_deref();
                    is_missing(&lexical(&word.text, dir, home))
                })
        })
}

/// Whether the working trees that the words name hold nothing that no commit has, are not there, or were made by this line.
pub(super) fn has_clean_worktrees(digest: &Digest<'_>, words: &[&Word]) -> bool {
    let is_made = |word: &&Word| {
        let target = path(digest, word);
        target.is_some()
            && digest.earlier().filter(|i| i.program == "git").any(|i| {
                let operands: Vec<&Word> = i.operands().collect();
                matches!(operands.as_slice(), [tree, add, named, ..]
                    if tree.text == "worktree" && add.text == "add"
                        && i.work_dir == digest.invocation.work_dir
                        && path(digest, named) == target)
            })
    };
    if !words.is_empty() && words.iter().all(is_made) {
        return true;
    }
    repository(digest).is_some()
        && !words.is_empty()
        && words.iter().all(|word| {
            path(digest, word).is_some_and(|path| {
                let lost = digest.knowledge.uncommitted_in(&path);
                note(digest, lost, "git has {} there that no commit holds");
                lost == Some(0)
            })
        })
}

/// Whether git works in a folder that this very line has made, by `mktemp` or as a new repository: nothing in it is older than
/// the line.
pub(super) fn is_scratch(digest: &Digest<'_>) -> bool {
    let given = digest.invocation.value_of(&["-C"]);
    let here = given.unwrap_or_else(|| Word::plain("."));
    let Some(dir) = path(digest, &here) else {
        return false;
    };
    let makes = |git: &Invocation| {
        let last = git.operands().last().filter(|word| !word.dynamic);
        let target = match (git_command(git), last) {
            ("clone", Some(last)) if is_address(&last.text) => {
                let name = last.text.trim_end_matches('/').trim_end_matches(".git");
                name.rsplit(['/', ':']).next().map(Word::plain)
            }
            ("clone", last) => last.cloned(),
            ("init", _) if git.has_short('b') => Some(Word::plain(".")),
            ("init", Some(last)) if last.text != "init" => Some(last.clone()),
            ("init", _) => Some(Word::plain(".")),
            _ => None,
        };
        let start = git.work_dir.as_ref().filter(|_| !git.remote);
        git.program == "git"
            && target.zip(start).is_some_and(|(target, start)| {
                !target.dynamic && dir.starts_with(lexical(&target.text, start, None))
            })
    };
    dir.starts_with(MADE_DIRECTORY)
        || digest.place(&here) == Place::Temporary && is_new(&dir) && digest.earlier().any(makes)
}

fn is_address(text: &str) -> bool {
    text.contains("://") || text.contains('@') && text.contains(':')
}

/// Whether there is no repository in a folder yet.
fn is_new(dir: &Path) -> bool {
    is_missing(&dir.join(".git"))
}

/// Whether words are the numbers of processes that the line has started, or that a file of the project or a temporary one keeps.
pub(super) fn is_own_process(digest: &Digest<'_>, words: &[&Word]) -> bool {
    let all = &digest.analysis.invocations;
    let is_kept = |word: &Word, cat: &Invocation| {
        let at = place(word, cat, &digest.analysis.surroundings);
        matches!(at, Place::Inside | Place::Artifact | Place::Temporary)
    };
    let is_own = |word: &&Word| {
        let makers = all.get(word.made_by.clone()).unwrap_or_default();
        let reads = |cat: &Invocation| {
            cat.program == "cat" && cat.operands().all(|file| is_kept(file, cat))
        };
        word.text == "$!" || !makers.is_empty() && makers.iter().all(|cat| reads(cat))
    };
    !words.is_empty() && words.iter().all(is_own)
}

/// Returns the directory of the repository that a command of git is about, where that is the one it runs in.
fn repository(digest: &Digest<'_>) -> Option<PathBuf> {
    let invocation = digest.invocation;
    let is_elsewhere = invocation.remote
        || ["-C", "--git-dir", "--work-tree"].iter().any(|option| {
            let mut arguments = invocation.arguments.iter();
            arguments.any(|word| word.text.split('=').next() == Some(option))
        })
        || invocation
            .environment
            .iter()
            .any(|(name, _)| name.starts_with("GIT_"));
    let dir = invocation.work_dir.as_ref().filter(|_| !is_elsewhere)?;
    let root = &digest.analysis.surroundings.project_root;
    (!root.as_os_str().is_empty() && dir.starts_with(root)).then(|| root.clone())
}

/// Returns the path that a word means, where it means one and is fully known.
pub(super) fn path(digest: &Digest<'_>, word: &Word) -> Option<PathBuf> {
    let invocation = digest.invocation;
    let is_known =
        !word.dynamic && !word.glob && !word.each && word.made_by.is_empty() && !invocation.remote;
    let dir = invocation.work_dir.as_ref().filter(|_| is_known)?;
    let text = match word.text.as_str() {
        ":/" => return Some(digest.analysis.surroundings.project_root.clone()),
        text if text.starts_with(':') || text.contains(['*', '?', '[']) => return None,
        text => text,
    };
    Some(lexical(
        text,
        dir,
        digest.analysis.surroundings.home.as_deref(),
    ))
}

/// Returns the path that a word means, or the folder below which all lies that a pattern does.
fn path_or_folder(digest: &Digest<'_>, word: &Word) -> Option<PathBuf> {
    let Some(at) = word.text.find(['*', '?', '[']) else {
        return path(digest, word);
    };
    let folder = word
        .text
        .get(..at)?
        .rsplit_once('/')
        .map_or(".", |(folder, _)| folder);
    let folder = Word {
        text: folder.to_owned(),
        glob: false,
        ..word.clone()
    };
    (!folder.text.is_empty()).then(|| path(digest, &folder))?
}

fn sum(counts: impl Iterator<Item = Option<usize>>) -> Option<usize> {
    counts.sum()
}

/// Keeps a fact that speaks against the command, to be told with the reason.
fn note(digest: &Digest<'_>, count: Option<usize>, text: &str) {
    if let Some(count) = count.filter(|count| *count > 0) {
        let files = if count == 1 {
            "1 file".to_owned()
        } else {
            format!("{count} files")
        };
        digest.note.set(Some(text.replace("{}", &files)));
    }
}
