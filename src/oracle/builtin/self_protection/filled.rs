//! Filled: a folder into which a program puts what nobody has named: the members of an archive, what another machine has.

use std::path::{Path, PathBuf};

use super::found::{Found, on};
use super::guarded::Guarded;
use super::judged::Judged;
use super::mention;
use crate::program::{Fact, Program};
use crate::shell::Word;
use crate::words::{holds_any, words};

/// Finds a program that unpacks or fetches what would lie at a guarded place, as the table of programs tells it.
pub(super) fn find(invocation: &Judged<'_>) -> Option<Found> {
    let own = invocation.own();
    if own.is(Fact::Language) {
        return by_code(invocation);
    }
    let mut known = invocation.of_subcommand().into_iter().chain([own]);
    known.find_map(|known| unpacked(invocation, known).or_else(|| fetched(invocation, known)))
}

/// Says that a folder is filled, where something guarded is, or could come to lie, there.
pub(super) fn filled(guarded: &Guarded<'_>, dir: &Path) -> Option<Found> {
    Some(on("bring what may stand for {}", guarded.filled(dir)?))
}

/// Calls of code that put a link to a folder somewhere, or unpack an archive, in lower case.
const CALLS: &[&str] = words!("calls-that-unpack");

/// Code that puts a folder as a whole where something guarded would lie in it.
fn by_code(invocation: &Judged<'_>) -> Option<Found> {
    let texts = invocation.texts().chain(invocation.stdin.text());
    let mut texts = texts.filter(|text| holds_any(&text.to_lowercase(), CALLS));
    texts.find_map(|text| {
        mention::part_of(text, |part| {
            filled(invocation.guarded, &invocation.path_of(part))
        })
    })
}

fn unpacked(invocation: &Judged<'_>, known: Program) -> Option<Found> {
    // A patch that can be read names its files.
    if !invocation.unpacks(known) || invocation.stdin.text().is_some() {
        return None;
    }
    let into = |dir: &str| filled(invocation.guarded, &invocation.path_of(dir));
    let dirs = invocation.folders(known, Fact::Unpacks);
    // What of it is wanted, or where it goes, may be named besides.
    let members = |dir: &Word| {
        let dir = dir.text.clone();
        let mut operands = invocation.operands();
        operands.find_map(|word| {
            let fixed = word.text.split(['*', '?', '[']).next()?;
            let is_apart = fixed.starts_with(['/', '~']);
            let path = if is_apart {
                fixed.to_owned()
            } else {
                format!("{dir}/{fixed}")
            };
            (!fixed.is_empty()).then(|| into(&path))?
        })
    };
    dirs.iter()
        .find_map(|dir| into(&dir.text))
        .or_else(|| dirs.iter().find_map(members))
}

fn fetched(invocation: &Judged<'_>, known: Program) -> Option<Found> {
    let is_to_last = known.lists(Fact::Fetches, "last");
    if !known.is(Fact::Fetches) || (!is_to_last && invocation.only_reads()) {
        return None;
    }
    let mut operands: Vec<&Word> = invocation.own_operands(invocation.own()).collect();
    let last = if is_to_last {
        Some(operands.pop()?.clone())
    } else {
        None
    };
    let is_unnamed = invocation.brings_unnamed(known);
    let sources: Vec<&Word> = operands
        .into_iter()
        .filter(|word| word.dynamic || word.text.contains([':', '.']))
        .filter(|word| !is_to_last || word.text.contains(':'))
        .collect();
    let dirs = last.map_or_else(
        || invocation.folders(known, Fact::Fetches),
        |last| vec![last],
    );
    dirs.iter().find_map(|Word { text: dir, .. }| {
        let target = invocation.path_of(dir);
        // Where no folder is, the file or folder itself gets this name.
        let is_folder = !is_to_last || dir.ends_with('/') || target.is_dir();
        let lies = |source: &&Word| -> PathBuf {
            let name = last_name(source).filter(|_| is_folder && !is_unnamed);
            name.map_or_else(|| target.clone(), |name| target.join(name))
        };
        sources
            .iter()
            .find_map(|source| filled(invocation.guarded, &lies(source)))
    })
}

/// Returns the name that a file from elsewhere keeps, where its address says one.
fn last_name(address: &Word) -> Option<&str> {
    let path = address.text.split(['?', '#']).next()?;
    let name = path.rsplit(['/', ':']).next()?;
    let is_told = !matches!(name, "" | "." | "..") && !name.contains(['*', '$', '`', '{', '[']);
    is_told.then_some(name)
}
