//! Files that a command loses by writing: its own input, many in one, a store of data under another's name.

use super::file::{is_data_store, is_file_name, is_precious};
use super::known::{has_project, is_made_before, is_not_there, is_unchanged, path};
use crate::danger::digest::Digest;
use crate::danger::place::Place;
use crate::program::{self, Fact};
use crate::secret::is_secret_file;
use crate::shell::{Invocation, Stdin, Word, file_name};
use crate::words::holds_any;

/// Whether a program reads a file by its operands or as its input.
fn reads(invocation: &Invocation, file: &str) -> bool {
    let program = program::find(&invocation.program);
    let is_same = |word: &Word| word.text.trim_start_matches("./") == file;
    if matches!(&invocation.stdin, Stdin::File(word) if is_same(word)) {
        return true;
    }
    let has_script = ["-e", "-f", "--expression", "--file", "--regexp"]
        .iter()
        .any(|option| invocation.arguments.iter().any(|w| w.text == *option));
    let skip = usize::from(program.is(Fact::PatternFirst) && !has_script);
    let reads_any = program.is(Fact::Shows);
    !program.is(Fact::TakesNames)
        && invocation
            .operands()
            .skip(skip)
            .any(|w| is_same(w) && (reads_any || is_file_name(&w.text)))
}

/// Whether one of these files is read by the command that writes it, or by what feeds that: it is empty by then.
fn is_own_input<'a>(digest: &Digest<'a>, mut files: impl Iterator<Item = &'a Word>) -> bool {
    files.any(|file| {
        let name = file.text.trim_start_matches("./");
        !name.is_empty()
            && is_precious(digest.place(file))
            && (digest.invocation.program != "tee" && reads(digest.invocation, name)
                || digest.feeders().any(|feeder| reads(feeder, name)))
    })
}

/// Whether a redirection empties a file before the command has read it: `sort names > names`.
pub(super) fn empties_own_input(digest: &Digest<'_>) -> bool {
    let empties = |operator: &str| matches!(operator, ">" | ">|" | "&>");
    let redirects = digest.invocation.redirects.iter();
    is_own_input(
        digest,
        redirects
            .filter(|r| empties(&r.operator))
            .map(|r| &r.target),
    )
}

/// Whether `tee` writes the very file that feeds it.
pub(super) fn tees_own_input(digest: &Digest<'_>) -> bool {
    digest.feeders().next().is_some() && is_own_input(digest, digest.invocation.operands())
}

/// Whether a file with changes gets what a commit holds of it: `git show HEAD:names > names`.
pub(super) fn restores_over(digest: &Digest<'_>) -> bool {
    let shown = digest.invocation.arguments.iter();
    let shown: Vec<&str> = shown
        .filter_map(|word| Some(word.text.split_once(':')?.1))
        .collect();
    digest.invocation.redirects.iter().any(|redirect| {
        let target = redirect.target.text.trim_start_matches("./");
        redirect.writes()
            && !redirect.operator.ends_with(">>")
            && shown
                .iter()
                .any(|path| path.trim_start_matches("./") == target)
            && !is_unchanged(digest, &[&redirect.target])
    })
}

/// Whether each of several files in turn is moved to one and the same name.
pub(super) fn gathers_in_one(digest: &Digest<'_>, words: &[&Word]) -> bool {
    let Some((target, sources)) = words.split_last() else {
        return false;
    };
    // What ends in a slash is a directory, or the move fails.
    let is_one = !target.dynamic
        && !target.each
        && !target.text.contains(['*', '?'])
        && !target.text.ends_with('/');
    // Where the disk cannot tell, a name that is not written as that of a directory may be none.
    let may_be_one_file = || {
        !has_project(digest)
            && !target.text.ends_with(['.', '~'])
            && !is_made_before(digest, target)
    };
    is_one
        && sources.iter().any(|w| w.each)
        && (is_file_name(&target.text) || is_not_there(digest, target) || may_be_one_file())
}

/// Whether a file of secrets that holds something already gets another content.
pub(super) fn replaces_secrets(digest: &Digest<'_>, words: &[&Word]) -> bool {
    let is_redirect = digest.invocation.redirects.iter();
    let appends = |word: &Word| {
        let mut same = is_redirect.clone().filter(|r| r.target == *word);
        same.any(|r| r.operator.ends_with(">>"))
    };
    words
        .last()
        .is_some_and(|target| !appends(target) && holds_secrets(digest, target))
}

/// Whether a file of secrets holds something, and lies where nothing makes it again. Where the disk cannot tell, whoever
/// forces it expects that it is there.
pub(super) fn holds_secrets(digest: &Digest<'_>, word: &Word) -> bool {
    is_secret_file(&word.text)
        && is_precious(digest.place(word))
        && match path(digest, word).filter(|_| has_project(digest)) {
            Some(path) => {
                std::fs::metadata(path).is_ok_and(|found| found.is_file() && found.len() > 0)
            }
            None => digest.has_option("-f") || digest.has_option("--force"),
        }
}

/// Whether a store of data that is in use is overwritten with another one.
pub(super) fn replaces_store(digest: &Digest<'_>, words: &[&Word]) -> bool {
    let Some((target, [.., source])) = words.split_last() else {
        return false;
    };
    let is_live = |path: &str| {
        let lower = path.to_ascii_lowercase();
        holds_any(&lower, &["prod", "live"])
    };
    let is_copy = [
        "backup", "bak", "copy", "old", "snapshot", "archive", "dump",
    ]
    .iter()
    .any(|word| target.text.to_ascii_lowercase().contains(word));
    let place = digest.place(target);
    is_data_store(&target.text)
        && !is_copy
        && is_precious(place)
        && (matches!(place, Place::Personal | Place::System)
            || is_live(&target.text) && !is_live(&source.text))
}

/// Whether `tar` is given a file where the archive belongs that it makes: `tar -cf *.sql backup.tar`.
pub(super) fn archives_over_source(digest: &Digest<'_>) -> bool {
    const ARCHIVES: &[&str] = &[
        ".tar", ".tgz", ".tbz", ".txz", ".tzst", ".gz", ".xz", ".bz2", ".zst", ".lz4", ".zip",
    ];
    let is_archive = |word: &Word| holds_any(&word.text, ARCHIVES);
    let arguments = &digest.invocation.arguments;
    let makes = |text: &str| !text.starts_with("--") && text.contains('c') && text.ends_with('f');
    let archive = match arguments.iter().position(|w| makes(&w.text)) {
        Some(at) if at == 0 || arguments.get(at).is_some_and(Word::is_option) => {
            arguments.get(at + 1)
        }
        _ => None,
    };
    let ending = |word: &Word| {
        let name = file_name(&word.text);
        name.rsplit_once('.').map(|(_, ending)| ending.to_owned())
    };
    archive.is_some_and(|archive| {
        // What is packed is of the kind of what is there to be packed: `tar czf a.tex *.tex`.
        let is_one_of_them = || {
            let mut packed = digest.operands.iter();
            let own = ending(archive);
            packed.any(|word| word.text != archive.text && ending(word) == own)
        };
        archive.glob
            || is_file_name(&archive.text)
                && !is_archive(archive)
                && (digest.operands.last().is_some_and(|last| is_archive(last)) || is_one_of_them())
    })
}
