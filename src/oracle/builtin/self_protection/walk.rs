//! Walks: programs that change what another finds in a folder that holds what is guarded.

use std::path::PathBuf;
use std::sync::Arc;

use super::guarded::Guarded;
use super::mention::path_of;
use crate::pattern::Pattern;
use crate::shell::Effect;
use crate::shell::Invocation;
use crate::shell::PathEffect;
use crate::shell::anywhere_below;
use crate::shell::found_by_find;

/// Returns what is guarded and among the files that some invocations list, unless a filter keeps it out.
pub(super) fn listed(guarded: &Guarded<'_>, made_by: &[Arc<Invocation>]) -> Option<PathBuf> {
    let (lister, filters) = made_by.split_first()?;
    if matches!(lister.program.as_str(), "find" | "gfind") && !leaves_out(lister) {
        return found_by_find(lister).into_iter().find_map(|word| {
            let word = anywhere_below(word);
            let path = path_of(guarded, lister, &word.text);
            let hit = guarded.hit(&taken(path, true))?;
            let name = hit.to_string_lossy();
            (!filters.iter().any(|filter| keeps_out(filter, &name))).then_some(hit)
        });
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
    if !lists_hidden(fd) || has_filter(fd) {
        return None;
    }
    let mut operands = fd.own_operands(fd.known());
    let pattern = Pattern::new(&operands.next()?.text).ok()?;
    let root = operands.next().map_or(".", |word| word.text.as_str());
    let hit = guarded.hit(&taken(path_of(guarded, fd, root), false))?;
    pattern.is_match(&hit.to_string_lossy()).then_some(hit)
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
fn lists_hidden(lister: &Invocation) -> bool {
    let has = |letters: &[char]| letters.iter().any(|letter| lister.has_short(*letter));
    match lister.program.as_str() {
        "ls" => has(&['a', 'A']),
        "find" | "gfind" => true,
        "grep" | "egrep" | "fgrep" => has(&['r', 'R']) || lister.has_long("--recursive"),
        "rg" | "fd" | "fdfind" | "ag" => has(&['u', 'H', '.']) || lister.has_long("--hidden"),
        "tree" | "du" => has(&['a']),
        "git" => lister
            .subcommand()
            .is_some_and(|word| matches!(word.text.as_str(), "ls-files" | "grep")),
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
    let is_git = lister.program == "git"
        && lister.operands().count()
            > 1 + usize::from(lister.subcommand().is_some_and(|w| w.text == "grep"));
    is_git
        || lister.arguments.iter().any(|word| {
            let name = word.text.split('=').next().unwrap_or_default();
            let is_pattern = matches!(lister.program.as_str(), "grep" | "egrep" | "fgrep")
                && matches!(name, "-e" | "-t" | "-g");
            !is_pattern && options.contains(&name)
        })
}

/// Whether a program in the pipe does not let a name through.
fn keeps_out(filter: &Invocation, name: &str) -> bool {
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
