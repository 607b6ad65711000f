//! Naming: programs that are given what is guarded, and are not known to only read it.

use std::path::{Path, PathBuf};

use super::found::{Found, act, on};
use super::given::Inner;
use super::judged::Judged;
use super::named::{named, only_list};
use super::{brought, filled, given, rights, unseen, walk};
use crate::program::{self, Fact};
use crate::search::Deed;
use crate::shell::{Invocation, Word};
use crate::words::words;

/// Finds what a program would do to the guarded files that it is given.
pub(super) fn find(invocation: &Judged<'_>) -> Option<Found> {
    if invocation.remote || only_sees(invocation) {
        return None;
    }
    if invocation.emulated {
        return brought::find(invocation);
    }
    let reads = invocation.leaves_files();
    links(invocation)
        .or_else(|| lays_over(invocation))
        .or_else(|| rights::shuts(invocation))
        .or_else(|| brought::find(invocation))
        .or_else(|| filled::find(invocation))
        .or_else(|| by_search(invocation))
        .or_else(|| by_finding(invocation, reads))
        .or_else(|| unseen::find(invocation))
        .or_else(|| unseen::by_code(invocation))
        .or_else(|| given::find(invocation, reads))
}

/// Whether a program runs in a container that is given folders of this machine to read alone, and no other way to it.
fn only_sees(invocation: &Judged<'_>) -> bool {
    let mut around = invocation
        .wrappers
        .iter()
        .filter(|name| program::find(name).is(Fact::Mounts))
        .peekable();
    let is_read_only = |bind: Word| {
        let options = bind.text.split(':').nth(2).unwrap_or(&bind.text);
        let mut options = options.split(',');
        options.any(|one| matches!(one, "ro" | "readonly" | "ro=true" | "readonly=true"))
            && !bind.text.contains("sock")
    };
    around.peek().is_some()
        && around.all(|name| {
            let mut starters = invocation.all().filter(|i| i.program == *name);
            starters.all(|starter| {
                let mut binds = starter.values_of(&["-v", "--volume", "--mount"]).peekable();
                let opens = |word: &Word| {
                    words!("container-openings")
                        .iter()
                        .any(|o| word.text.starts_with(o))
                };
                binds.peek().is_some()
                    && binds.all(is_read_only)
                    && !starter.arguments.iter().any(opens)
            })
        })
}

/// Variables that hold a program which shows files to a person.
const OPENING: &[&str] = &["BROWSER", "EDITOR", "GIT_EDITOR", "PAGER", "VISUAL"];

/// Whether a program that is known only when it runs is given what is guarded, or what holds it, as one that deletes would be:
/// `$X -rf .`.
pub(super) fn is_blind(invocation: &Judged<'_>) -> bool {
    let name = invocation.path.text.strip_prefix('$').unwrap_or_default();
    let name = name.trim_start_matches('{').trim_end_matches('}');
    if invocation.remote
        || !invocation.program.is_empty()
        || name.is_empty()
        || OPENING.contains(&name)
    {
        return false;
    }
    let words = invocation.arguments.iter();
    let (options, operands): (Vec<&Word>, Vec<&Word>) = words
        .filter(|word| word.text != "--")
        .partition(|word| word.is_option());
    let of_deletion = |word: &Word| {
        let letters = word.text.trim_start_matches('-');
        matches!(letters, "recursive" | "force")
            || letters.chars().all(|letter| "rRfvid".contains(letter))
    };
    let has = |letters: &[char], name: &str| {
        let mut options = options.iter();
        options.any(|word| match word.text.strip_prefix("--") {
            Some(long) => long == name,
            None => word.text.contains(letters),
        })
    };
    has(&['r', 'R'], "recursive")
        && has(&['f'], "force")
        && options.iter().all(|word| of_deletion(word))
        && operands
            .iter()
            .any(|word| is_held(invocation, &word.text, word.glob))
}

/// Whether a word names what is guarded, or a folder that holds it.
fn is_held(invocation: &Judged<'_>, text: &str, inexact: bool) -> bool {
    let effect = walk::taken(invocation.path_of(text), inexact);
    invocation.guarded.hit(&effect).is_some()
}

/// A second name for a guarded file, or for what holds it, would be a way round.
fn links(invocation: &Judged<'_>) -> Option<Found> {
    let makes_names = match invocation.program.as_str() {
        "ln" | "link" | "symlink" | "mklink" => true,
        "cp" => {
            invocation.has_short('l')
                || invocation.has_short('s')
                || invocation.has_long("--link")
                || invocation.has_long("--symbolic-link")
        }
        _ => false,
    };
    if !makes_names {
        return None;
    }
    let operands: Vec<&Word> = invocation.operands().collect();
    let names_target = invocation.has_short('t') || invocation.has_long("--target-directory");
    // The folder in which the links are made gets no other name.
    let sources = match operands.split_last() {
        Some((_, sources)) if !sources.is_empty() && !names_target => sources,
        _ => &operands[..],
    };
    let hit = operands
        .iter()
        .find_map(|word| invocation.covers(&word.text))
        .or_else(|| {
            let mut sources = sources.iter();
            sources.find_map(|word| holds(invocation, word))
        })?;
    Some(on("make another name for {}", hit))
}

/// Returns the project where a word names it or a folder above it.
fn holds(invocation: &Judged<'_>, word: &Word) -> Option<PathBuf> {
    let path = invocation.path_of(&word.text);
    (path.is_absolute() && !word.glob && invocation.guarded.root().starts_with(&path))
        .then_some(path)
}

/// Programs that let a folder show other files, or show them at another place.
const MOUNTING: &[&str] = words!("mounting-programs");

/// A mount over a guarded folder.
fn lays_over(invocation: &Judged<'_>) -> Option<Found> {
    let lies_over = |word: &Word| {
        let is_filled = |dir: &Path| invocation.guarded.filled(dir).is_some();
        invocation.covers(&word.text).is_some()
            || holds(invocation, word).is_some()
            || is_filled(&invocation.path_of(&word.text))
    };
    let program = invocation.program.as_str();
    let mounts = MOUNTING.contains(&program)
        || program == "rclone" && invocation.has_word(&["mount", "mount2", "cmount", "nfsmount"]);
    (mounts && invocation.operands().any(lies_over)).then(|| act("hide a guarded directory"))
}

/// A search whose finds, at any depth, are given to what changes them.
fn by_search(invocation: &Judged<'_>) -> Option<Found> {
    let program = invocation.program.as_str();
    // What it prints for others to change is judged with the filters on the way.
    let through = walk::started_through(program)?;
    let deletes = through == walk::OF_FIND && invocation.has_word(&["-delete"]);
    if !deletes && !changes_through(invocation, through) {
        return None;
    }
    let hit = if program.starts_with("fd") {
        walk::found_by_fd(invocation, &|_| true)
    } else {
        walk::found_by(invocation, Deed::Acts, &|_| true)
    }?;
    Some(on("change {}, which it finds", hit))
}

/// Whether something that came through one of these programs changes what it is given.
fn changes_through(invocation: &Judged<'_>, programs: &[&str]) -> bool {
    let through = invocation.all().filter(|inner| inner.through(programs));
    let mut through = through.map(|inner| invocation.other(inner));
    through.any(|i| {
        let changes = !i.leaves_files() || overwrites(&i);
        changes && !i.emulated && !i.known().is(Fact::Fixes)
    })
}

/// Whether a program copies what is the same each time over each of what a search finds: `cp X {}`, not `cp {} {}.orig`.
fn overwrites(copy: &Judged<'_>) -> bool {
    let is_found = |word: &&Word| word.each || word.dynamic || word.glob;
    let operands: Vec<&Word> = copy.operands().collect();
    let Some((last, sources)) = operands.split_last() else {
        return false;
    };
    let into = copy.value_of(&["-t", "--target-directory"]);
    let is_target = match &into {
        Some(into) => is_found(&into),
        None => is_found(last) && !sources.iter().any(is_found),
    };
    copy.known().is(Fact::ToLast) && is_target
}

/// Whether a program unpacks what it reads into the directory where it stands.
fn unpacks_here(invocation: &Invocation) -> bool {
    let first = invocation.arguments.first().map_or("", |w| w.text.as_str());
    let elsewhere = invocation.value_of(&["-C", "--directory", "-D"]).is_some();
    let extracts = match invocation.program.as_str() {
        "tar" | "gtar" | "bsdtar" => {
            first.trim_start_matches('-').contains('x') || invocation.has_long("--extract")
        }
        "cpio" => invocation.has_short('i') || invocation.has_long("--extract"),
        _ => false,
    };
    extracts && !elsewhere
}

/// Returns the words that name what a program writes to and that another makes: the target of a redirection or of a copy.
///
/// Of a word that begins with a folder in which nothing guarded lies, the rest does not matter.
fn written_by_loop<'a>(invocation: &'a Judged<'_>) -> Vec<&'a Word> {
    let redirects = invocation.redirects.iter();
    let targets = redirects.filter(|r| r.writes()).map(|r| &r.target);
    let copied = invocation.known().is(Fact::ToLast).then(|| {
        let to = invocation.value_of(&["-t", "--target-directory"]).is_none();
        to.then(|| invocation.operands().last()).flatten()
    });
    let words = targets.chain(copied.flatten());
    let may_be_guarded = |word: &&Word| {
        let fixed = word.text.split_once(['$', '`', '{']);
        let folder = fixed.and_then(|(fixed, _)| fixed.rsplit_once('/'));
        folder.is_none_or(|(folder, _)| is_held(invocation, &format!("{folder}/"), false))
    };
    words
        .filter(|word| (word.dynamic || word.each) && !word.made_by.is_empty())
        .filter(may_be_guarded)
        .collect()
}

/// A program that changes what another finds in a guarded folder.
fn by_finding(invocation: &Judged<'_>, reads: bool) -> Option<Found> {
    let unpacks = unpacks_here(invocation);
    let written = written_by_loop(invocation);
    let is_given = !reads && !matches!(invocation.program.as_str(), "xargs" | "gxargs");
    if !unpacks && !is_given && written.is_empty() {
        return None;
    }
    let inner = Inner::of(invocation);
    // What a search runs by itself is judged with the search.
    let by_itself = invocation.through(&["find", "fd"]);
    let mut given: Vec<_> = invocation
        .arguments
        .iter()
        .filter(|word| is_given && (word.dynamic || (word.each && !by_itself)))
        .filter(|word| !inner.takes(word))
        .chain(written)
        .map(|word| word.made_by.clone())
        .collect();
    let is_parallel = invocation.program == "parallel";
    if unpacks || (is_parallel && changes_through(invocation, &["parallel"])) {
        given.push(invocation.fed_by.clone());
    }
    let is_fixer = invocation.known().is(Fact::Fixes);
    let mut finders = given.iter().map(|range| invocation.makers(range));
    let hit = finders.find_map(|finders| {
        let named = finders.iter().find_map(|one| {
            let finder = invocation.other(one);
            let mut operands = finder.operands();
            // What a formatter finds by itself it may change; what somebody names for it, it may not.
            if is_fixer || !only_list(std::slice::from_ref(one)) {
                return operands.find_map(|word| finder.covers(&word.text));
            }
            named(&finder)
        });
        named.or_else(|| (!is_fixer).then(|| walk::listed(invocation, finders))?)
    })?;
    Some(on("change what lies in {}", hit))
}
