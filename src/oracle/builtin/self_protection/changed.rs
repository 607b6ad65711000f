//! Changed: what is guarded among the files that a command of git deletes, puts away or replaces.

use std::path::{Path, PathBuf};

use super::judged::Judged;
use super::listing::{Listing, parts};
use super::pathspec::Spec;
use crate::shell::Word;

/// Returns what is guarded and a command of git would delete, put away or replace, by the patterns and signs in the paths that
/// it is given. Plain paths are told by what the command does to files.
pub(super) fn find(git: &Judged<'_>) -> Option<PathBuf> {
    let (_, command, mut rest) = parts(git);
    match command {
        "clean" | "rm" if only_shows(rest) => return None,
        "clean" | "rm" | "checkout" | "restore" => {}
        "stash" => match rest.split_first()? {
            (first, behind) if first.text == "push" => rest = behind,
            (first, _) if first.text.starts_with('-') => {}
            _ => return None,
        },
        _ => return None,
    }
    let dashes = rest.iter().position(|word| word.text == "--");
    let operands = match dashes {
        Some(at) => rest.get(at + 1..).unwrap_or_default(),
        None => rest,
    };
    let reads = git.has_long("--pathspec-from-file");
    let given = git.stdin.text().filter(|_| reads).into_iter();
    let lines: Vec<Word> = given.flat_map(str::lines).map(Word::plain).collect();
    let mut is_message = false;
    let is_told = |word: &&Word| {
        let was_message = std::mem::replace(&mut is_message, takes_message(command, word));
        dashes.is_some() || !word.is_option() && !was_message
    };
    let words: Vec<&Word> = operands.iter().filter(is_told).chain(&lines).collect();
    // What brings all of a state back is told as that of `git checkout STATE -- .` is.
    let is_all =
        |text: &str| matches!(command, "checkout" | "restore") && matches!(text, ":/" | ":(top)");
    let has_signs = |word: &&Word| {
        !is_all(&word.text) && (word.text.starts_with(':') || word.text.contains(['*', '?', '[']))
    };
    if lines.is_empty() && !words.iter().any(has_signs) {
        return None;
    }
    let from_elsewhere = match command {
        "clean" => true,
        "checkout" => {
            let before = rest.get(..dashes.unwrap_or(rest.len())).unwrap_or_default();
            // Behind a colon may stand a search for a state.
            let is_pattern = |word: &Word| {
                has_signs(&word) && !word.text.starts_with(':') && !is_state(command, word)
            };
            let is_whole = |word: &Word| dashes.is_none() && (word.text == "." || is_pattern(word));
            before
                .iter()
                .any(|word| !word.is_option() && !is_whole(word))
        }
        "restore" => git.has_short('s') || rest.iter().any(|word| word.text.starts_with("--so")),
        _ => false,
    };
    // What is brought back from what git keeps of it now, or put away, is judged as where all of it is.
    let is_whole = match command {
        "checkout" | "restore" => !from_elsewhere,
        "stash" => {
            let mut letters = ['a', 'u'].iter();
            let is_more =
                |word: &Word| word.text.starts_with("--a") || word.text.starts_with("--i");
            !letters.any(|letter| git.has_short(*letter)) && !rest.iter().any(is_more)
        }
        _ => false,
    };
    let is_of_whole = |word: &Word| is_whole && word.text.starts_with('*');
    let mut listing = Listing::of(git, false);
    let here = listing.here.clone();
    let prefix = here.strip_prefix(&listing.top).unwrap_or(Path::new(""));
    let is_path = |word: &&&Word| dashes.is_some() || !lines.is_empty() || !is_state(command, word);
    let specs: Vec<Spec> = words
        .iter()
        .filter(is_path)
        .filter(|word| !is_of_whole(word))
        .map(|word| Spec::of(word, prefix))
        .collect();
    // Narrowed to nothing here, it would list all.
    if specs.iter().all(|spec| spec.is_out)
        && (specs.is_empty() || words.iter().any(|word| is_of_whole(word)))
    {
        return None;
    }
    listing.specs = Some(specs);
    // What another state holds may be untracked now.
    listing.lists_tracked = !from_elsewhere;
    let top = listing.top.clone();
    git.guarded.below(&top).find_map(|way| {
        let is_listed = listing.lists(&way);
        is_listed.then(|| git.guarded.covers_word(&top.join(&way)))?
    })
}

/// Whether `git clean` or `git rm` is told to only show what it would do, before any option that takes a value.
fn only_shows(rest: &[Word]) -> bool {
    let is_plain = |text: &str| {
        let letters = text.strip_prefix('-').unwrap_or_default();
        text == "--dry-run" || !letters.is_empty() && letters.chars().all(|c| "dfnqrxX".contains(c))
    };
    let mut options = rest.iter().take_while(|word| is_plain(&word.text));
    let is_taken_back = rest.iter().any(|word| word.text.starts_with("--no"));
    !is_taken_back && options.any(|word| word.text == "--dry-run" || word.text.contains('n'))
}

/// Whether the word behind this one is a message of `git stash`.
fn takes_message(command: &str, word: &Word) -> bool {
    let letters = word.text.strip_prefix('-').unwrap_or_default();
    let by_letter = !letters.starts_with('-') && letters.find('m') == letters.len().checked_sub(1);
    command == "stash" && (word.text == "--message" || !letters.is_empty() && by_letter)
}

/// Whether a word of `git checkout` names a state of the files by a search: no name of a state holds the signs of a pattern
/// otherwise.
fn is_state(command: &str, word: &Word) -> bool {
    let before = word.text.split(['*', '?', '[']).next().unwrap_or_default();
    command == "checkout" && (before.contains("^{") || before.contains("@{"))
}
