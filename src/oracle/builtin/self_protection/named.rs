//! Named: what a program that prints names of files is given by name. Only what it finds by itself is a matter of its filters.

use std::path::PathBuf;
use std::sync::Arc;

use super::judged::Judged;
use super::listing;
use crate::search::{Options, STARTS, own_words, searches};
use crate::shell::{Invocation, Word};
use crate::words::words;

/// Tests of `find` that say what its finds are called or like.
const TESTS: &[&str] = words!("find-names");

/// Options of a search that say which files it lists, or what is looked for in them.
const FILTERS: &[&str] = words!("search-filters");

/// Whether programs print the names of files that they come upon, in one pipe.
pub(super) fn only_list(programs: &[Arc<Invocation>]) -> bool {
    let is_listing = |one: &Arc<Invocation>| match one.program.as_str() {
        "bfs" | "fd" | "fdfind" | "find" | "gfind" | "head" | "sort" | "tail" | "uniq" => true,
        "git" => one
            .subcommand()
            .is_some_and(|word| matches!(word.text.as_str(), "diff" | "grep" | "ls-files")),
        program => searches(program),
    };
    !programs.is_empty() && programs.iter().all(is_listing)
}

/// Returns what is guarded and named by a program that prints names of files, in any word but those that only say which of
/// its finds are meant.
pub(super) fn named(lister: &Judged<'_>) -> Option<PathBuf> {
    let in_word = |text: &str| {
        if text.contains(char::is_whitespace) {
            return lister.in_text(text);
        }
        lister.in_word(text, text.starts_with('-'))
    };
    let in_words = match lister.program.as_str() {
        "bfs" | "find" | "gfind" => of_find(lister).find_map(|word| in_word(&word.text)),
        "git" => listing::named(lister).into_iter().find_map(in_word),
        _ => of_search(lister).into_iter().find_map(in_word),
    };
    let opened = lister.redirects.iter().filter(|redirect| redirect.reads());
    in_words
        .or_else(|| lister.in_text(lister.stdin.text()?))
        .or_else(|| {
            opened
                .map(|redirect| &redirect.target.text)
                .find_map(|text| in_word(text))
        })
}

/// Returns the words of a `find` without those of its tests, and of the programs that it starts.
pub(super) fn of_find(find: &Invocation) -> impl Iterator<Item = &Word> {
    let mut before = "";
    let mut is_command = false;
    find.arguments.iter().filter(move |word| {
        let text = word.text.as_str();
        let was = std::mem::replace(&mut before, text);
        if is_command {
            is_command = text != ";" && text != "+";
            return false;
        }
        is_command = STARTS.contains(&text);
        !TESTS.contains(&was)
    })
}

/// Returns the texts that a search is given, without its patterns.
fn of_search(search: &Invocation) -> Vec<&str> {
    let options = Options::among(search, own_words(search));
    let is_fd = matches!(search.program.as_str(), "fd" | "fdfind");
    let is_search = is_fd || searches(&search.program);
    // A line that it lets through in a pipe it prints; of a file it prints no more than the name.
    let only_looks = is_fd || options.has(words!("grep-name-options"));
    let pattern = options.patterns().into_iter().next();
    let given = options.given.iter().filter(|given| {
        let is_filter = is_search && FILTERS.contains(&given.name.as_str());
        let is_pattern = is_search && given.name.is_empty() && given.value == pattern;
        let is_text = matches!(given.name.as_str(), "-e" | "--regexp") && !is_fd;
        !(is_filter && (only_looks || !is_text) || is_pattern && only_looks)
    });
    given
        .filter_map(|given| given.value)
        .map(|(text, _)| text)
        .collect()
}
