//! Walks: programs that change what another finds in a folder that holds what is guarded.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::guarded::Guarded;
use super::judged::Judged;
use super::listing::Listing;
use crate::search;
use crate::search::{
    Deed, Expression, Fd, come_through, is_grep, is_steered, printed, searches, sent_to,
};
use crate::shell::{Analysis, Effect, Invocation, PathEffect, hidden_name, lexical, roots};
use crate::words::words;

/// The names of `find`.
pub(super) const OF_FIND: &[&str] = &["find", "gfind"];

/// Returns through what the programs came that a search of files starts; none of a program that is no such search.
pub(super) fn started_through(program: &str) -> Option<&'static [&'static str]> {
    Some(match program {
        "bfs" | "find" | "gfind" => OF_FIND,
        "fd" | "fdfind" => &["fd", "fdfind"],
        _ => return None,
    })
}

/// Returns what is guarded and among the files that some invocations list, unless a filter keeps it out.
pub(super) fn listed(invocation: &Judged<'_>, made_by: &[Arc<Invocation>]) -> Option<PathBuf> {
    made_by.iter().enumerate().find_map(|(at, lister)| {
        let filters = made_by.get(at + 1..).unwrap_or_default();
        let passes = |name: &str| come_through(invocation.analysis, filters, name);
        listed_by(&invocation.other(lister), &passes)
    })
}

/// Whether a name of a file comes through the filters behind a program that lists it.
type Passes<'a> = &'a dyn Fn(&str) -> bool;

fn listed_by(lister: &Judged<'_>, passes: Passes<'_>) -> Option<PathBuf> {
    match lister.program.as_str() {
        "bfs" | "find" | "gfind" => return found_by(lister, Deed::Prints, passes),
        "fd" | "fdfind" => return found_by_fd(lister, passes),
        "compgen" => return completed(lister, passes),
        "locate" | "plocate" | "mlocate" | "mdfind" => {
            return lister.operands().find_map(|word| {
                let anywhere = format!(
                    "/**/*{}*",
                    word.text.trim_matches(['/', '*']).to_lowercase()
                );
                let hit = lister.guarded.hit(&taken(PathBuf::from(anywhere), true));
                hit.filter(|hit| passes(&hit.to_string_lossy()))
            });
        }
        _ => {}
    }
    if !lists_hidden(lister) {
        return None;
    }
    let is_steered = is_steered(lister.analysis, lister);
    if lister.program == "git" {
        return by_git(lister, is_steered, passes);
    }
    let is_search = searches(&lister.program);
    let is_flat = matches!(
        lister.program.as_str(),
        "ls" | "dir" | "vdir" | "eza" | "exa" | "lsd"
    );
    let roots = sent_to(lister);
    let is_bare = roots.is_empty();
    let roots = if is_bare { vec!["."] } else { roots };
    roots.into_iter().find_map(|root| {
        let dir = lister.path_of(root);
        if let Some(hit) = at_root(lister.guarded, &dir, root) {
            return passes(root).then_some(hit);
        }
        lister.guarded.below(&dir).find_map(|way| {
            let path = dir.join(&way);
            let is_named = !(is_search && path.is_dir() || is_flat && way.iter().count() > 1);
            // A search tells of what it was sent into by that name; others may leave it out.
            let passes_whole = !(is_search && is_bare) && passes(&printed(root, &way));
            let passes_bare = (is_bare || !is_search) && passes(&way.to_string_lossy());
            let is_listed = is_named && (is_steered || search::lists(lister, root, &way, &path));
            (is_listed && (passes_whole || passes_bare)).then_some(path)
        })
    })
}

/// Returns what is guarded and among the names of files by which the shell completes a word: `compgen -f .a`.
fn completed(shell: &Judged<'_>, passes: Passes<'_>) -> Option<PathBuf> {
    let completes = ['f', 'd', 'A', 'o'].iter();
    if !completes.into_iter().any(|letter| shell.has_short(*letter)) {
        return None;
    }
    let words: Vec<&str> = shell.operands().map(|word| word.text.as_str()).collect();
    // One word may be what `-A` is given.
    let word = match words.as_slice() {
        [.., last] if words.len() > 1 || !shell.has_short('A') => *last,
        _ => "",
    };
    let (folder, start) = word.rsplit_once('/').unwrap_or((".", word));
    let dir = shell.path_of(folder);
    shell.guarded.below(&dir).find_map(|way| {
        let name = way.iter().next()?.to_string_lossy().into_owned();
        (name.starts_with(start) && passes(&name)).then(|| dir.join(&way))
    })
}

/// Returns what is guarded and listed by a command of git, by its name from there or from the top of the project.
fn by_git(git: &Judged<'_>, is_steered: bool, passes: Passes<'_>) -> Option<PathBuf> {
    let listing = Listing::of(git, is_steered);
    git.guarded.below(&listing.top).find_map(|way| {
        let path = listing.top.join(&way);
        let is_named = listing.names_folders() || !path.is_dir();
        let from_here = path.strip_prefix(&listing.here).unwrap_or(&way);
        let is_listed = is_named && listing.lists(&way);
        let passes = |name: &Path| passes(&name.to_string_lossy());
        let is_let_through = is_listed && (passes(&way) || passes(from_here));
        is_let_through.then_some(path)
    })
}

/// Returns what is guarded and holds the folder that a program is sent into; of a pattern, also what lies there.
fn at_root(guarded: &Guarded<'_>, dir: &Path, root: &str) -> Option<PathBuf> {
    if root.contains(['*', '?', '[']) {
        return guarded.hit(&taken(dir.to_owned(), true));
    }
    guarded.covers_word(dir)
}

/// Returns what is guarded and comes to what a `find` does with what it finds.
pub(super) fn found_by(find: &Judged<'_>, deed: Deed, passes: Passes<'_>) -> Option<PathBuf> {
    let expression = Expression::of(find, deed);
    let (roots, _) = roots(find);
    roots.into_iter().find_map(|root| {
        let dir = find.path_of(&root.text);
        if let Some(hit) = at_root(find.guarded, &dir, &root.text) {
            return passes(&printed(&root.text, Path::new("x"))).then_some(hit);
        }
        let way = find.guarded.below(&dir).find(|way| {
            expression.reaches(&root, &dir, way) && passes(&printed(&root.text, way))
        })?;
        Some(dir.join(way))
    })
}

pub(super) fn found_by_fd(fd: &Judged<'_>, passes: Passes<'_>) -> Option<PathBuf> {
    let search = Fd::of(fd);
    let at = |root: &str| {
        let base = search.base.map(|base| fd.path_of(base));
        let here = base.or_else(|| fd.work_dir.clone()).unwrap_or_default();
        lexical(root, &here, fd.guarded.home())
    };
    // Where it is sent it goes, whatever the name begins with.
    let named = search.roots.iter().chain(&search.base);
    let named = named.map(|root| at(root));
    let hit = named
        .into_iter()
        .find_map(|dir| fd.guarded.covers_word(&dir));
    if hit.is_some() || !lists_hidden(fd) {
        return hit.filter(|hit| passes(&hit.to_string_lossy()));
    }
    let here = ["."];
    let roots = if search.roots.is_empty() {
        &here[..]
    } else {
        &search.roots
    };
    roots.iter().find_map(|root| {
        let dir = at(root);
        let way = fd.guarded.below(&dir).find(|way| {
            let names = [printed(root, way), way.to_string_lossy().into_owned()];
            search.finds(root, way) && names.iter().any(|name| passes(name))
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
            let way = guarded.below(&root).find(is_met)?;
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
        "ag" => has(&['u']) || lister.has_long("--hidden"),
        "fd" | "fdfind" | "rg" => search::goes_into_hidden(lister),
        program if is_grep(program) => search::goes_into_hidden(lister),
        "tree" | "du" => has(&['a']),
        "git" => lister
            .subcommand()
            .is_some_and(|word| prints_names(lister, &word.text)),
        _ => false,
    }
}

fn prints_names(git: &Invocation, command: &str) -> bool {
    let has = |names: &[&str]| names.iter().any(|name| git.has_long(name));
    match command {
        "ls-files" | "ls-tree" | "grep" | "status" | "diff-tree" | "diff-index" | "diff-files" => {
            true
        }
        "diff" | "log" | "show" | "stash" | "whatchanged" => has(words!("git-name-options")),
        "rev-list" => has(&["--objects"]),
        "clean" => git.has_short('n') || has(&["--dry-run"]),
        _ => false,
    }
}
