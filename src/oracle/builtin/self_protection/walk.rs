//! Walks: programs that change what another finds in a folder that holds what is guarded.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::guarded::Guarded;
use super::mention::{covers, path_of};
use crate::pattern::Pattern;
use crate::shell::{
    Analysis, Effect, Invocation, PathEffect, Word, anywhere_below, found_by_find, glob_of,
    hidden_name, lexical,
};

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
    let (lister, filters) = made_by.split_first()?;
    if matches!(lister.program.as_str(), "bfs" | "find" | "gfind") && !leaves_out(lister) {
        return found_by_find(lister).into_iter().find_map(|word| {
            let word = anywhere_below(word);
            let path = path_of(guarded, lister, &word.text);
            let hit = guarded.hit(&taken(path, true))?;
            let name = hit.to_string_lossy();
            (!filters.iter().any(|filter| keeps_out(filter, &name))).then_some(hit)
        });
    }
    let passes = |hit: &PathBuf| {
        let name = hit.to_string_lossy();
        !filters.iter().any(|filter| keeps_out(filter, &name))
    };
    match lister.program.as_str() {
        "fd" | "fdfind" => return found_by_fd(guarded, lister).filter(passes),
        "locate" | "plocate" | "mlocate" | "mdfind" => {
            return lister.operands().find_map(|word| {
                let anywhere = format!(
                    "/**/*{}*",
                    word.text.trim_matches(['/', '*']).to_lowercase()
                );
                guarded
                    .hit(&taken(PathBuf::from(anywhere), true))
                    .filter(passes)
            });
        }
        _ => {}
    }
    if !lists_hidden(lister) || has_filter(lister) {
        return None;
    }
    let here = [".".to_owned()];
    // The first operand of a search is a pattern; what git lists is of the whole project.
    let own = match lister.program.as_str() {
        "grep" | "rg" | "ag" | "egrep" | "fgrep" => 1,
        "git" => usize::MAX,
        _ => 0,
    };
    let operands = lister.operands().skip(own);
    let mut roots: Vec<String> = operands.map(|word| word.text.clone()).collect();
    if roots.is_empty() {
        roots.extend(here);
    }
    roots.iter().find_map(|root| {
        let dir = path_of(guarded, lister, root);
        let hit = guarded.hit(&taken(dir.clone(), false))?;
        let name = hit
            .strip_prefix(&dir)
            .unwrap_or(&hit)
            .to_string_lossy()
            .into_owned();
        let names = [format!("{root}/{name}"), name];
        let is_kept_out = filters
            .iter()
            .any(|filter| names.iter().all(|name| keeps_out(filter, name)));
        (!is_kept_out).then_some(hit)
    })
}

/// Returns what is guarded and found by an `fd` that looks into hidden folders as well.
pub(super) fn found_by_fd(guarded: &Guarded<'_>, fd: &Invocation) -> Option<PathBuf> {
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
        return named;
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
    let is_left_out = |hit: &PathBuf| {
        values(["-E", "--exclude"]).any(|out| hit.iter().any(|part| part == out.trim_matches('/')))
    };
    let found = roots
        .iter()
        .flat_map(|root| names.iter().map(move |name| format!("{root}/**/{name}")));
    found
        .filter_map(|text| guarded.hit(&taken(path_of(guarded, fd, &text), true)))
        .find(|hit| !is_left_out(hit))
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
            return None;
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

/// Whether a `find` goes past what begins with a dot.
pub(super) fn leaves_out(find: &Invocation) -> bool {
    let mut words = find.arguments.iter().map(|word| word.text.as_str());
    let is_hidden = |text: &str| text.contains("/.") || text.contains(".ahp");
    words.clone().any(|w| matches!(w, "!" | "-not" | "-prune")) && words.any(is_hidden)
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

/// Whether the lister itself takes only files of some names.
fn has_filter(lister: &Invocation) -> bool {
    let options = [
        "--include",
        "--exclude-dir",
        "--glob",
        "-g",
        "--type",
        "-t",
        "-e",
        "--extension",
        "-name",
        "-iname",
        "-path",
        "-not",
        "!",
        "-prune",
        "-regex",
    ];
    let is_git = lister.program == "git" && narrows(lister);
    is_git
        || lister.arguments.iter().any(|word| {
            let name = word.text.split('=').next().unwrap_or_default();
            let is_pattern = matches!(lister.program.as_str(), "grep" | "egrep" | "fgrep")
                && matches!(name, "-e" | "-t" | "-g");
            !is_pattern && options.contains(&name)
        })
}

/// Whether a command of git that prints names is given paths, besides what it is to compare.
fn narrows(git: &Invocation) -> bool {
    let command = git.subcommand().map_or("", |word| word.text.as_str());
    let own = match command {
        "ls-files" | "status" | "clean" => 1,
        "grep" | "ls-tree" => 2,
        _ => {
            let dir = git.work_dir.as_deref().unwrap_or_else(|| Path::new(""));
            let is_path = |word: &Word| word.text.contains('*') || dir.join(&word.text).exists();
            return git.before_dashes().count() < git.arguments.len()
                || git.operands().skip(1).any(is_path);
        }
    };
    git.operands().count() > own
}

/// Whether a program in the pipe does not let a name through.
pub(super) fn keeps_out(filter: &Invocation, name: &str) -> bool {
    if !matches!(filter.program.as_str(), "grep" | "egrep" | "rg") {
        return false;
    }
    let pattern = filter
        .value_of(&["-e", "--regexp"])
        .or_else(|| filter.operands().next().cloned());
    let Some(pattern) = pattern.filter(|word| !word.dynamic) else {
        return false;
    };
    let case = if filter.has_short('i') { "(?i)" } else { "" };
    let Ok(pattern) = Pattern::new(&format!("{case}{}", pattern.text.replace("\\|", "|"))) else {
        return false;
    };
    pattern.is_match(name) == filter.has_short('v')
}
