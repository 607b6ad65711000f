//! Walks: programs that change what another finds in a folder that holds what is guarded.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::expression::{Deed, Expression, printed, roots};
use super::filter::{keeps_out, lists};
use super::guarded::Guarded;
use super::mention::{covers, path_of};
use super::pathspec;
use crate::shell::{Analysis, Effect, Invocation, PathEffect, Word, glob_of, hidden_name, lexical};

/// Returns through what the programs came that a search of files starts; none of a program that is no such search.
pub(super) fn started_through(program: &str) -> Option<&'static [&'static str]> {
    Some(match program {
        "bfs" | "find" | "gfind" => &["find", "gfind"],
        "fd" | "fdfind" => &["fd", "fdfind"],
        _ => return None,
    })
}

/// Returns what is guarded and among the files that some invocations list, unless a filter keeps it out.
pub(super) fn listed(guarded: &Guarded<'_>, made_by: &[Arc<Invocation>]) -> Option<PathBuf> {
    made_by.iter().enumerate().find_map(|(at, lister)| {
        let filters = made_by.get(at + 1..).unwrap_or_default();
        let passes = |name: &str| !filters.iter().any(|filter| keeps_out(filter, name));
        listed_by(guarded, lister, &passes)
    })
}

fn listed_by(
    guarded: &Guarded<'_>,
    lister: &Invocation,
    passes: &dyn Fn(&str) -> bool,
) -> Option<PathBuf> {
    match lister.program.as_str() {
        "bfs" | "find" | "gfind" => return found_by(guarded, lister, Deed::Prints, passes),
        "fd" | "fdfind" => return found_by_fd(guarded, lister, passes),
        "locate" | "plocate" | "mlocate" | "mdfind" => {
            return lister.operands().find_map(|word| {
                let anywhere = format!(
                    "/**/*{}*",
                    word.text.trim_matches(['/', '*']).to_lowercase()
                );
                let hit = guarded.hit(&taken(PathBuf::from(anywhere), true));
                hit.filter(|hit| passes(&hit.to_string_lossy()))
            });
        }
        _ => {}
    }
    if !lists_hidden(lister) {
        return None;
    }
    let is_search = matches!(
        lister.program.as_str(),
        "grep" | "rg" | "ag" | "egrep" | "fgrep"
    );
    let names_dirs = !is_search
        && (lister.program != "git"
            || lister
                .subcommand()
                .is_some_and(|word| matches!(word.text.as_str(), "status" | "clean")));
    let is_flat = matches!(
        lister.program.as_str(),
        "ls" | "dir" | "vdir" | "eza" | "exa" | "lsd"
    );
    let roots = sent_to(lister);
    let is_bare = roots.is_empty();
    let here = Word::plain(".");
    let roots = if is_bare { vec![&here] } else { roots };
    roots.into_iter().find_map(|root| {
        let dir = path_of(guarded, lister, &root.text);
        if let Some(hit) = at_root(guarded, &dir, &root.text) {
            return passes(&root.text).then_some(hit);
        }
        let mut below = guarded.below(&dir).into_iter();
        below.find_map(|way| {
            let path = dir.join(&way);
            let is_dir = path.is_dir();
            let is_named = (names_dirs || !is_dir) && !(is_flat && way.iter().count() > 1);
            // A search tells of what it was sent into by that name; others may leave it out.
            let is_git = lister.program == "git";
            let whole = printed(&root.text, &way);
            let passes_whole = !(is_git || is_search && is_bare) && passes(&whole);
            let passes_bare = (is_bare || !is_search) && passes(&way.to_string_lossy());
            let is_let_through = if is_git {
                pathspec::lists(lister, &way)
            } else {
                lists(lister, &way, &path)
            };
            let is_listed = is_named && is_let_through;
            (is_listed && (passes_whole || passes_bare)).then_some(path)
        })
    })
}

/// Returns what is guarded and holds the folder that a program is sent into; of a pattern, also what lies there.
fn at_root(guarded: &Guarded<'_>, dir: &Path, root: &str) -> Option<PathBuf> {
    if root.contains(['*', '?', '[']) {
        return guarded.hit(&taken(dir.to_owned(), true));
    }
    guarded.covers_word(dir)
}

/// Returns where a program is sent that lists what lies there, as it is written.
fn sent_to(lister: &Invocation) -> Vec<&Word> {
    let known = lister.known();
    match lister.program.as_str() {
        // What git lists is of the whole project, and narrowed by its paths.
        "git" => Vec::new(),
        // The first operand of a search is a pattern.
        "grep" | "rg" | "ag" | "egrep" | "fgrep" => {
            let is_given = lister.has_short('e')
                || lister.has_short('f')
                || ["--regexp", "--file", "--files"]
                    .iter()
                    .any(|name| lister.has_long(name));
            let own = lister.own_operands(known);
            own.skip(usize::from(!is_given)).collect()
        }
        _ => lister.own_operands(known).collect(),
    }
}

/// Returns the words by which a program that others are fed by names files itself.
pub(super) fn named_by(finder: &Invocation) -> Vec<Word> {
    match finder.program.as_str() {
        "bfs" | "find" | "gfind" => roots(finder),
        // Where it is sent it is judged with what it finds.
        "fd" | "fdfind" => Vec::new(),
        "grep" | "rg" | "ag" | "egrep" | "fgrep" => sent_to(finder).into_iter().cloned().collect(),
        _ => finder.operands().cloned().collect(),
    }
}

/// Whether programs print the names of files that they come upon, and no words of their own.
pub(super) fn only_list(programs: &[Arc<Invocation>]) -> bool {
    let has = |one: &Invocation, names: &[&str]| {
        let mut words = one.arguments.iter();
        words.any(|word| names.iter().any(|name| word.text.starts_with(name)))
    };
    let is_listing = |one: &Invocation| match one.program.as_str() {
        "bfs" | "find" | "gfind" => !has(one, &["-printf", "-exec", "-ok", "-ls", "-fprint"]),
        "fd" | "fdfind" => !has(one, &["-x", "-X", "--exec", "--format"]),
        "grep" | "egrep" | "fgrep" | "rg" => {
            let names = has(one, &["--files"]) || one.has_short('l');
            let is_filter = one.own_operands(one.known()).count() == 1;
            let says_more = has(one, &["-o", "--only-matching", "--replace", "--label"])
                || ['o', 'r', 'R'].iter().any(|letter| one.has_short(*letter));
            names || (is_filter && !says_more)
        }
        "git" => {
            let command = one.subcommand().map_or("", |word| word.text.as_str());
            let names = match command {
                "ls-files" => true,
                "grep" => one.has_short('l') || one.has_long("--files-with-matches"),
                "diff" => one.has_long("--name-only"),
                _ => false,
            };
            names
                && !has(
                    one,
                    &["--format", "--pretty", "--line-prefix", "--src-prefix"],
                )
        }
        "head" | "sort" | "tail" | "uniq" => one.operands().next().is_none(),
        _ => false,
    };
    !programs.is_empty() && programs.iter().all(|one| is_listing(one))
}

/// Returns what is guarded and comes to what a `find` does with what it finds.
pub(super) fn found_by(
    guarded: &Guarded<'_>,
    find: &Invocation,
    deed: Deed,
    passes: &dyn Fn(&str) -> bool,
) -> Option<PathBuf> {
    let expression = Expression::of(find, deed);
    roots(find).into_iter().find_map(|root| {
        let dir = path_of(guarded, find, &root.text);
        if let Some(hit) = at_root(guarded, &dir, &root.text) {
            return passes(&printed(&root.text, Path::new("x"))).then_some(hit);
        }
        let mut below = guarded.below(&dir).into_iter();
        let way = below.find(|way| {
            expression.reaches(&root, &dir, way) && passes(&printed(&root.text, way))
        })?;
        Some(dir.join(way))
    })
}

/// Returns what is guarded and found by an `fd` that looks into hidden folders as well.
pub(super) fn found_by_fd(
    guarded: &Guarded<'_>,
    fd: &Invocation,
    passes: &dyn Fn(&str) -> bool,
) -> Option<PathBuf> {
    let is_exec =
        |word: &&Word| matches!(word.text.as_str(), "-x" | "-X" | "--exec" | "--exec-batch");
    let command = fd.arguments.iter().skip_while(|word| !is_exec(word)).nth(1);
    let is_own = |word: &&Word| !command.is_some_and(|command| std::ptr::eq(*word, command));
    let mut operands = fd.own_operands(fd.known()).take_while(is_own);
    let pattern = operands.next().map_or("", |word| word.text.as_str());
    let roots: Vec<&str> = operands.map(|word| word.text.as_str()).collect();
    // Where it is sent it goes, whatever the name begins with.
    let named = roots.iter().find_map(|root| covers(guarded, fd, root));
    if named.is_some() || !lists_hidden(fd) {
        return named.filter(|hit| passes(&hit.to_string_lossy()));
    }
    let roots = if roots.is_empty() { vec!["."] } else { roots };
    let values = |names: [&'static str; 2]| {
        let pairs = fd.arguments.windows(2);
        pairs.filter_map(move |pair| match pair {
            [name, value] if names.contains(&name.text.as_str()) => Some(value.text.as_str()),
            _ => None,
        })
    };
    let mut names: Vec<String> = values(["-e", "--extension"])
        .map(|extension| format!("*.{}", extension.trim_start_matches('.').to_lowercase()))
        .collect();
    if names.is_empty() {
        names.push(if fd.has_short('g') || fd.has_long("--glob") {
            pattern.to_lowercase()
        } else {
            glob_of(&pattern.to_lowercase())
        });
    }
    let is_whole = fd.has_short('p') || fd.has_long("--full-path");
    let is_found = |way: &Path| {
        let name = way.file_name().unwrap_or_default().to_string_lossy();
        let name = name.to_lowercase();
        let fits = |glob: &String| {
            is_whole || glob.is_empty() || fast_glob::glob_match(glob.as_str(), name.as_str())
        };
        let is_left_out = values(["-E", "--exclude"]).any(|out| {
            let out = out.trim_matches('/');
            way.iter()
                .any(|part| fast_glob::glob_match(out, &*part.to_string_lossy()))
        });
        names.iter().any(fits) && !is_left_out
    };
    roots.into_iter().find_map(|root| {
        let dir = path_of(guarded, fd, root);
        let mut below = guarded.below(&dir).into_iter();
        let way = below.find(|way| {
            let names = [printed(root, way), way.to_string_lossy().into_owned()];
            is_found(way) && names.iter().any(|name| passes(name))
        })?;
        Some(dir.join(way))
    })
}

/// Returns what is guarded and would be met by code that changes what it finds.
pub(super) fn by_code(guarded: &Guarded<'_>, analysis: &Analysis) -> Option<PathBuf> {
    analysis.walks.iter().find_map(|(walk, dir)| {
        let dir = dir.as_deref().unwrap_or_else(|| Path::new(""));
        let root = lexical(walk.root.as_deref().unwrap_or("."), dir, guarded.home());
        let met = |name: &str| {
            let deep = walk.goes_down.then(|| format!("**/{name}"));
            // Code sees what begins with a dot as any other name.
            let names = deep
                .into_iter()
                .chain([name.to_owned()])
                .chain(hidden_name(name));
            names.into_iter().find_map(|name| {
                let below = name.contains("**") || !walk.files_only;
                guarded.hit(&PathEffect {
                    recursive: below,
                    ..taken(root.join(name), true)
                })
            })
        };
        let leaves_out_ours = |name: &String| fast_glob::glob_match(name.as_str(), ".ahp");
        if walk.left_out.iter().any(leaves_out_ours) {
            // What else is guarded there may be met all the same.
            let is_left_out = |part: &OsStr| {
                let part = part.to_string_lossy();
                let mut out = walk.left_out.iter();
                out.any(|name| fast_glob::glob_match(name.as_str(), &*part))
            };
            let is_met = |way: &PathBuf| {
                let name = way.file_name().unwrap_or_default().to_string_lossy();
                let is_near = walk.goes_down || way.iter().count() == 1;
                let is_picked = |glob: &String| fast_glob::glob_match(glob.as_str(), &*name);
                is_near
                    && !way.iter().any(is_left_out)
                    && (walk.picked.is_empty() || walk.picked.iter().any(is_picked))
            };
            let way = guarded.below(&root).into_iter().find(is_met)?;
            return Some(root.join(way));
        }
        if walk.picked.is_empty() {
            return met("*");
        }
        walk.picked.iter().find_map(|name| met(name))
    })
}

/// Says that a path and all below it is taken away.
pub(super) fn taken(path: PathBuf, inexact: bool) -> PathEffect {
    PathEffect {
        path,
        effect: Effect::Delete,
        program: String::new(),
        recursive: true,
        inexact,
    }
}

/// Whether a program lists files of folders that begin with a dot.
pub(super) fn lists_hidden(lister: &Invocation) -> bool {
    let has = |letters: &[char]| letters.iter().any(|letter| lister.has_short(*letter));
    match lister.program.as_str() {
        "ls" | "dir" | "vdir" => {
            has(&['a', 'A', 'f']) || lister.has_long("--all") || lister.has_long("--almost-all")
        }
        "eza" | "exa" | "lsd" => {
            has(&['a', 'A']) || lister.has_long("--all") || lister.has_long("--almost-all")
        }
        "bfs" | "find" | "gfind" => true,
        "grep" | "egrep" | "fgrep" => has(&['r', 'R']) || lister.has_long("--recursive"),
        "rg" | "fd" | "fdfind" | "ag" => has(&['u', 'H', '.']) || lister.has_long("--hidden"),
        "tree" | "du" => has(&['a']),
        "git" => lister
            .subcommand()
            .is_some_and(|word| prints_names(lister, &word.text)),
        _ => false,
    }
}

/// Whether a command of git prints names of files.
fn prints_names(git: &Invocation, command: &str) -> bool {
    let has = |names: &[&str]| names.iter().any(|name| git.has_long(name));
    match command {
        "ls-files" | "ls-tree" | "grep" | "status" | "diff-tree" | "diff-index" | "diff-files" => {
            true
        }
        "diff" | "log" | "show" | "stash" | "whatchanged" => has(&[
            "--name-only",
            "--name-status",
            "--numstat",
            "--stat",
            "--raw",
        ]),
        "rev-list" => has(&["--objects"]),
        "clean" => git.has_short('n') || has(&["--dry-run"]),
        _ => false,
    }
}
