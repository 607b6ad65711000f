//! What git and the disk know of the files and branches that a command names.

use std::path::{Path, PathBuf};

use crate::danger::digest::Digest;
use crate::danger::place::{Place, place};
use crate::danger::testing::says_test_store;
use crate::shell::{Invocation, MADE_DIRECTORY, Redirect, Word, lexical};
use crate::words::words;

/// Programs that make no file which another could then lose.
const MAKES_NOTHING: &[&str] = words!("fileless-programs");

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

/// Whether the branch that is checked out has no commits that the branch it follows elsewhere does not have.
pub(super) fn are_own_commits_held(digest: &Digest<'_>) -> bool {
    let commits = |i: &Invocation| {
        i.program == "git"
            && !matches!(
                git_command(i),
                "fetch" | "status" | "log" | "remote" | "stash"
            )
    };
    if repository(digest).is_none() || digest.earlier().any(commits) {
        return false;
    }
    let ahead = digest.knowledge.ahead();
    if let Some(count) = ahead.filter(|count| *count > 0) {
        let fact = format!("the branch that it follows does not have {count} of its commits");
        digest.note.set(Some(fact));
    }
    ahead == Some(0)
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

pub(super) fn git_command(git: &Invocation) -> &str {
    git.subcommand().map_or("", |word| word.text.as_str())
}

/// Whether nothing that git would overwrite at the words is changed.
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
    if changed != Some(0) {
        return false;
    }
    // Files that git does not know stay, unless the line adds them or another commit may hold the same names.
    if !runs_git(digest, &["add", "stage"], &[]) && !takes_other_commit(digest, words) {
        return true;
    }
    let held = sum(paths
        .iter()
        .map(|path| digest.knowledge.uncommitted(path, false)));
    note(digest, held, "{} of them are in no commit");
    held == Some(0)
}

/// Whether `git restore` or `git checkout` may take files from another commit than the last.
fn takes_other_commit(digest: &Digest<'_>, words: &[&Word]) -> bool {
    let is_tree = |word: &&Word| {
        let is_last = matches!(word.text.as_str(), "HEAD" | "@");
        let is_pattern = word.text.contains(['*', '?', '[']);
        !is_last && !is_pattern && path(digest, word).is_none_or(|path| is_missing(&path))
    };
    let mut before = digest.invocation.before_dashes();
    let has_dashes = digest.has_option("--");
    match git_command(digest.invocation) {
        "checkout" => {
            words.iter().any(is_tree)
                || has_dashes && before.any(|word| words.contains(&word) && word.text != "HEAD")
        }
        _ => digest.has_option("-s") || digest.has_option("--source"),
    }
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

/// Whether there is certainly nothing at a path: the project lies on this disk, and no command of the line makes it.
pub(super) fn is_not_there(digest: &Digest<'_>, word: &Word) -> bool {
    path(digest, word).is_some_and(|path| {
        has_project(digest)
            && is_missing(&path)
            && digest.earlier().all(|i| makes_none(digest, i, &path))
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
    let is_told = |word: &&Word| is_told(word);
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

/// Whether a path lies in a folder that this line makes: by `mktemp`, or a temporary one that an earlier command names and that
/// is not there yet.
pub(super) fn is_in_made_folder(digest: &Digest<'_>, word: &Word) -> bool {
    let Some(path) = path(digest, word) else {
        return false;
    };
    let makes = |i: &Invocation| {
        let is_above = |made: &Word| {
            let made = path_by(i, made, &made.text);
            made.is_some_and(|made| path.starts_with(&made) && is_missing(&made))
        };
        matches!(
            i.program.as_str(),
            "cp" | "git" | "install" | "mkdir" | "rsync" | "unzip"
        ) && i.operands().any(is_above)
    };
    path.starts_with(MADE_DIRECTORY)
        || digest.place(&Word::plain(path.to_string_lossy())) == Place::Temporary
            && digest.earlier().any(makes)
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
    let mut redirects = invocation.redirects.iter();
    MAKES_NOTHING.contains(&invocation.program.as_str()) && !redirects.any(makes_file)
}

fn makes_file(redirect: &Redirect) -> bool {
    redirect.writes() && !redirect.target.text.starts_with("/dev/")
}

/// Whether a command certainly makes nothing at a path or below it; what it writes elsewhere is no matter.
fn makes_none(digest: &Digest<'_>, invocation: &Invocation, path: &Path) -> bool {
    let home = digest.analysis.surroundings.home.as_deref();
    let may_be_there = |redirect: &Redirect| {
        let dir = invocation.work_dir.as_ref();
        let dir = dir.filter(|_| is_told(&redirect.target));
        dir.is_none_or(|dir| lexical(&redirect.target.text, dir, home).starts_with(path))
    };
    let mut files = invocation.redirects.iter().filter(|one| makes_file(one));
    let is_other = MAKES_NOTHING.contains(&invocation.program.as_str())
        || invocation.program == "mkdir" && !makes(digest, invocation, path);
    is_other && !files.any(may_be_there)
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
    let here = Word::plain(".");
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
        || digest.place(&Word::plain(dir.to_string_lossy())) == Place::Temporary
            && is_new(&dir)
            && digest.earlier().any(makes)
}

/// Whether a push goes to a repository among temporary files: by its path, by the name of a remote that this line adds, or to
/// where a scratch repository was cloned from.
pub(super) fn pushes_to_scratch(digest: &Digest<'_>, words: &[&Word]) -> bool {
    let Some(remote) = words.first() else {
        return false;
    };
    let is_path = remote.text.contains('/') && !is_address(&remote.text);
    if is_path && digest.place(remote) == Place::Temporary {
        return true;
    }
    // A repository that is older may have a remote of such a name, which then stays.
    let is_new = is_told(remote) && (is_scratch(digest) || says_test_store(&remote.text));
    let gits = digest.earlier().filter(|i| i.program == "git");
    let is_own = |git: &Invocation, address: &Word| {
        path_by(git, address, &address.text).is_some_and(|at| {
            !is_address(&address.text)
                && digest.place(&Word::plain(at.to_string_lossy())) == Place::Temporary
                && (at.starts_with(MADE_DIRECTORY) || is_missing(&at))
        })
    };
    let named = |git: &Invocation| {
        let operands: Vec<&Word> = git
            .around_subcommand()
            .1
            .iter()
            .filter(|w| !w.is_option())
            .collect();
        match (git_command(git), operands.as_slice()) {
            ("remote", [add, name, address, ..])
                if add.text == "add" && name.text == remote.text && is_new =>
            {
                Some(is_own(git, address))
            }
            ("clone", [source, ..]) if remote.text == "origin" && is_new => {
                Some(is_own(git, source))
            }
            ("remote", _) => Some(false),
            ("config", [name, ..]) if name.text.contains("url") => Some(false),
            _ => None,
        }
    };
    // What else is said of remotes may turn the name round.
    let mut told = gits.filter_map(named).peekable();
    told.peek().is_some() && told.all(|is_own| is_own)
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
    let is_kept = |word: &Word, cat: &Invocation| {
        let at = place(word, cat, &digest.analysis.surroundings);
        matches!(at, Place::Inside | Place::Artifact | Place::Temporary)
    };
    let is_own = |word: &&Word| {
        let makers = digest.makers_of(word);
        let reads = |cat: &Invocation| {
            cat.program == "cat" && cat.operands().all(|file| is_kept(file, cat))
        };
        word.text == "$!" || !makers.is_empty() && makers.iter().all(|cat| reads(cat))
    };
    !words.is_empty() && words.iter().all(is_own)
}

/// Returns the root of the project where a command of git works in its repository, and not in one that lies in it.
pub(super) fn repository(digest: &Digest<'_>) -> Option<PathBuf> {
    let invocation = digest.invocation;
    let mut environment = invocation.environment.iter();
    let is_elsewhere = invocation.remote || environment.any(|(name, _)| name.starts_with("GIT_"));
    let dir = directory(digest).filter(|_| !is_elsewhere)?;
    let root = &digest.analysis.surroundings.project_root;
    let is_inside = !root.as_os_str().is_empty() && dir.starts_with(root);
    let mut inner = dir.ancestors().take_while(|dir| dir != root);
    (is_inside && !inner.any(|dir| dir.join(".git").exists())).then(|| root.clone())
}

/// Returns the directory in which a program works: git goes from where it starts to where each `-C` leads.
fn directory(digest: &Digest<'_>) -> Option<PathBuf> {
    let invocation = digest.invocation;
    let mut dir = invocation.work_dir.clone()?;
    if invocation.program != "git" {
        return Some(dir);
    }
    let home = digest.analysis.surroundings.home.as_deref();
    let mut own = invocation.around_subcommand().0.iter();
    while let Some(word) = own.next() {
        match word.text.as_str() {
            "-C" => {
                let given = own.next().filter(|given| is_told(given))?;
                dir = lexical(&given.text, &dir, home);
            }
            text if ["--git-dir", "--work-tree", "--bare", "core.worktree"]
                .iter()
                .any(|start| text.to_ascii_lowercase().starts_with(start)) =>
            {
                return None;
            }
            _ => {}
        }
    }
    Some(dir)
}

/// Whether a word is known before it runs, and is one.
pub(super) fn is_told(word: &Word) -> bool {
    !word.dynamic && !word.glob && !word.each && word.made_by.is_empty()
}

/// Returns the path that a word means, where it means one and is fully known.
pub(super) fn path(digest: &Digest<'_>, word: &Word) -> Option<PathBuf> {
    let is_known = is_told(word) && !digest.invocation.remote;
    let dir = directory(digest).filter(|_| is_known)?;
    let text = match word.text.as_str() {
        ":/" => return Some(digest.analysis.surroundings.project_root.clone()),
        text if text.starts_with(':') || text.contains(['*', '?', '[']) => return None,
        text => text,
    };
    Some(lexical(
        text,
        &dir,
        digest.analysis.surroundings.home.as_deref(),
    ))
}

/// Returns the path that a text in a word of another command means; none where that is not told, or runs elsewhere.
pub(super) fn path_by(other: &Invocation, word: &Word, text: &str) -> Option<PathBuf> {
    let dir = other.work_dir.as_ref()?;
    (is_told(word) && !other.remote).then(|| lexical(text, dir, None))
}

/// Returns the path that a word means, or the folder below which all lies that a pattern does.
pub(super) fn path_or_folder(digest: &Digest<'_>, word: &Word) -> Option<PathBuf> {
    let Some(at) = word.text.find(['*', '?', '[']) else {
        return path(digest, word);
    };
    let folder = word
        .text
        .get(..at)?
        .rsplit_once('/')
        .map_or(".", |(folder, _)| folder);
    let folder = Word {
        glob: false,
        ..word.with_text(folder)
    };
    (!folder.text.is_empty()).then(|| path(digest, &folder))?
}

pub(super) fn sum(counts: impl Iterator<Item = Option<usize>>) -> Option<usize> {
    counts.sum()
}

/// Keeps a fact that speaks against the command, to be told with the reason.
pub(super) fn note(digest: &Digest<'_>, count: Option<usize>, text: &str) {
    if let Some(count) = count.filter(|count| *count > 0) {
        let files = if count == 1 {
            "1 file".to_owned()
        } else {
            format!("{count} files")
        };
        digest.note.set(Some(text.replace("{}", &files)));
    }
}
