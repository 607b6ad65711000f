//! Naming: programs that are given what is guarded, and are not known to only read it.

use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;

use super::code;
use super::guarded::Guarded;
use super::judgement::Found;
use super::judgement::act;
use super::places::guarded_in;
use crate::program;
use crate::program::Fact;
use crate::shell::Analysis;
use crate::shell::Effect;
use crate::shell::Invocation;
use crate::shell::PathEffect;
use crate::shell::Word;
use crate::shell::anywhere_below;
use crate::shell::found_by_find;
use crate::shell::lexical;

/// Finds what a program would do to the guarded files that it is given.
pub(super) fn find(
    guarded: &Guarded<'_>,
    analysis: &Analysis,
    invocation: &Invocation,
) -> Option<Found> {
    if invocation.remote || invocation.emulated {
        return None;
    }
    let reads = only_reads(invocation);
    links(guarded, invocation)
        .or_else(|| lays_over(guarded, invocation))
        .or_else(|| by_search(guarded, analysis, invocation))
        .or_else(|| by_finding(guarded, analysis, invocation, reads))
        .or_else(|| by_given(guarded, analysis, invocation, reads))
}

/// Returns what is guarded and is, or holds, the file that a word names.
pub(super) fn covers(
    guarded: &Guarded<'_>,
    invocation: &Invocation,
    text: &str,
) -> Option<PathBuf> {
    guarded.covers_word(&path_of(guarded, invocation, text))
}

fn path_of(guarded: &Guarded<'_>, invocation: &Invocation, text: &str) -> PathBuf {
    let dir = invocation.work_dir.as_deref();
    lexical(text, dir.unwrap_or_else(|| Path::new("")), guarded.home())
}

/// A second name for a guarded file, or for what holds it, would be a way round.
fn links(guarded: &Guarded<'_>, invocation: &Invocation) -> Option<Found> {
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
    let hit = invocation.operands().find_map(|word| {
        covers(guarded, invocation, &word.text).or_else(|| holds(guarded, invocation, word))
    })?;
    Some((
        format!("make another name for `{}`", hit.display()),
        Some(hit),
    ))
}

/// Returns the project where a word names it or a folder above it.
fn holds(guarded: &Guarded<'_>, invocation: &Invocation, word: &Word) -> Option<PathBuf> {
    let path = path_of(guarded, invocation, &word.text);
    (path.is_absolute() && !word.glob && guarded.root().starts_with(&path)).then_some(path)
}

/// A mount over a guarded folder, or a copy of a folder that brings guarded files along.
fn lays_over(guarded: &Guarded<'_>, invocation: &Invocation) -> Option<Found> {
    match invocation.program.as_str() {
        "mount" | "umount" => {
            let mut operands = invocation.operands();
            operands
                .any(|word| {
                    covers(guarded, invocation, &word.text).is_some()
                        || holds(guarded, invocation, word).is_some()
                })
                .then(|| act("hide a guarded directory"))
        }
        "cp" | "rsync" | "ditto" => {
            let operands: Vec<&Word> = invocation.operands().collect();
            let (last, sources) = operands.split_last()?;
            if path_of(guarded, invocation, &last.text) != guarded.root() {
                return None;
            }
            let brought = sources.iter().find_map(|source| {
                let dir = path_of(guarded, invocation, &source.text);
                guarded_in(&dir).filter(|_| dir != guarded.root())
            })?;
            let hit = guarded.root().join(brought);
            Some((format!("write `{}`", hit.display()), Some(hit)))
        }
        _ => None,
    }
}

/// A search whose finds, at any depth, are given to what changes them.
fn by_search(guarded: &Guarded<'_>, analysis: &Analysis, invocation: &Invocation) -> Option<Found> {
    let program = invocation.program.as_str();
    let through: &[&str] = match program {
        "find" | "gfind" => &["find", "gfind", "xargs", "gxargs", "parallel"],
        "fd" | "fdfind" => &["fd", "fdfind", "xargs", "gxargs", "parallel"],
        _ => return None,
    };
    let is_hidden = |text: &str| text.contains("/.") || text.contains(".ahp");
    let mut words = invocation.arguments.iter().map(|word| word.text.as_str());
    // A search that leaves hidden folders out does not meet what is guarded.
    let leaves_out =
        words.clone().any(|w| matches!(w, "!" | "-not" | "-prune")) && words.any(is_hidden);
    if leaves_out || !changes_through(analysis, through) {
        return None;
    }
    let hit = if program.starts_with("fd") {
        let mut patterns = invocation.operands();
        patterns.find_map(|word| {
            let plain: String = word.text.chars().filter(|c| !"\\^$".contains(*c)).collect();
            covers(guarded, invocation, &plain)
        })
    } else {
        let found = found_by_find(invocation).into_iter();
        found.map(anywhere_below).find_map(|word| {
            guarded.hit(&PathEffect {
                path: path_of(guarded, invocation, &word.text),
                effect: Effect::Delete,
                program: String::new(),
                recursive: true,
                inexact: true,
            })
        })
    }?;
    Some((
        format!("change `{}`, which it finds", hit.display()),
        Some(hit),
    ))
}

/// Whether something that came through one of these programs changes what it is given.
fn changes_through(analysis: &Analysis, programs: &[&str]) -> bool {
    let mut inner = analysis.invocations.iter();
    inner.any(|i| i.through(programs) && !only_reads(i) && !i.emulated)
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

/// A program that changes what another finds in a guarded folder.
fn by_finding(
    guarded: &Guarded<'_>,
    analysis: &Analysis,
    invocation: &Invocation,
    reads: bool,
) -> Option<Found> {
    let unpacks = unpacks_here(invocation);
    if !unpacks && (reads || matches!(invocation.program.as_str(), "xargs" | "gxargs")) {
        return None;
    }
    let mut given: Vec<_> = invocation
        .arguments
        .iter()
        .filter(|word| word.dynamic)
        .map(|word| word.made_by.clone())
        .collect();
    if unpacks || (invocation.program == "parallel" && changes_through(analysis, &["parallel"])) {
        given.push(invocation.fed_by.clone());
    }
    let finders = given
        .into_iter()
        .filter_map(|range| analysis.invocations.get(range));
    let hit = finders.flatten().find_map(|finder| {
        let mut operands = finder.operands();
        operands.find_map(|word| covers(guarded, finder, &word.text))
    })?;
    Some((
        format!("change what lies in `{}`", hit.display()),
        Some(hit),
    ))
}

/// A program that is given a guarded file and may do anything to it.
fn by_given(
    guarded: &Guarded<'_>,
    analysis: &Analysis,
    invocation: &Invocation,
    reads: bool,
) -> Option<Found> {
    let program = invocation.program.as_str();
    let mounts = program::find(program).is(Fact::Mounts);
    // What a wrapper runs is judged by itself.
    let wraps = |i: &Arc<Invocation>| i.wrappers.iter().any(|w| w == program);
    if reads || (!mounts && analysis.invocations.iter().any(wraps)) {
        return None;
    }
    let options = invocation.before_dashes().count();
    // What is replaced in a file may look like a path.
    let known = program::find(program);
    let script = known.is(Fact::PatternFirst).then(|| {
        let own = invocation.own_operands(known).next();
        own.map_or("", |word| word.text.as_str())
    });
    let mut words = invocation.arguments.iter().enumerate();
    let hit = words.find_map(|(nth, word)| {
        let text = word.text.as_str();
        if script == Some(text)
            || text.contains(char::is_whitespace)
            || (mounts && text.ends_with(":ro"))
        {
            return None;
        }
        // An option is no path, but may hold one.
        let is_option = nth <= options && text.starts_with('-');
        let whole = (!is_option)
            .then(|| covers(guarded, invocation, text))
            .flatten();
        whole.or_else(|| {
            let mut parts = text.split(['=', ':', ',']).filter(|part| *part != text);
            parts.find_map(|part| covers(guarded, invocation, part))
        })
    })?;
    Some((
        format!(
            "be given `{}` and is not known to only read it",
            hit.display()
        ),
        Some(hit),
    ))
}

/// Whether a program leaves the files that it is given as they are, but for what its effects tell.
fn only_reads(invocation: &Invocation) -> bool {
    let known = invocation.known();
    let program = invocation.program.as_str();
    known.is(Fact::Agent)
        || known.is(Fact::ByEffect)
        || invocation.only_reads()
        || (code::is_interpreter(program) && code::only_reads(invocation))
}
