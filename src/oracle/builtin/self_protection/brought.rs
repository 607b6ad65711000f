//! Brought: a whole tree that is put where guarded files would lie in it, though no word names one of them.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::filled::filled;
use super::found::{Found, on};
use super::guarded::Guarded;
use super::judged::Judged;
use super::tree::Form;
use crate::guard::named_below;
use crate::shell::{Analysis, Effect, PathEffect, lexical};

/// Finds a copy, a link or a download of a folder that brings guarded files along.
///
/// Where the folder is there to be looked into, what lies in it decides. Of a link, which can be filled later, and of what is
/// only unpacked or fetched now, nobody knows that: those may not bring what a host would load as code.
pub(super) fn find(invocation: &Judged<'_>) -> Option<Found> {
    let tree = invocation.tree().filter(|_| !invocation.only_tries())?;
    let base = match &tree.works_in {
        Some(dir) => invocation.path_of(dir),
        None => invocation.work_dir.clone().unwrap_or_default(),
    };
    let at = |text: &str| lexical(text, &base, invocation.guarded.home());
    let target = at(&tree.place);
    let writes_at = |name: &OsStr| invocation.guarded.covers(&target.join(name)).map(writes);
    match tree.form {
        Form::Fetches => return filled(invocation.guarded, &target),
        Form::Files => {
            return tree.sources.iter().find_map(|source| {
                let Some((dir, pattern)) = pattern_of(source) else {
                    return writes_at(last_name(source).as_ref());
                };
                let met = named_below(&at(dir), pattern);
                if met.is_empty() || is_filled(invocation.analysis, &at(dir)) {
                    return filled(invocation.guarded, &target);
                }
                met.iter().find_map(|path| writes_at(path.file_name()?))
            });
        }
        Form::Copies | Form::Links => {}
    }
    let is_whole = invocation.has_short('T') || invocation.has_long("--no-target-directory");
    let told = |source: &str| {
        let from = at(source);
        // `.`, `evil/..` and `evil/.` mean what lies in them, any other name the folder itself.
        let bare = source.trim_end_matches('/');
        let means_inside = matches!(bare, "." | "..")
            || bare.ends_with("/.")
            || bare.ends_with("/..")
            || tree.is_inside
            || (tree.is_inside_by_slash && source.ends_with('/'));
        let name = Path::new(last_name(bare)).file_name();
        let inside = name
            .filter(|_| !is_whole && !means_inside)
            .map(|name| target.join(name));
        let is_dir = target.is_dir() || tree.place.ends_with('/') || tree.sources.len() > 1;
        // What is no folder yet may be one by then, or the copy itself.
        let whole = Some(target.clone()).filter(|_| inside.is_none() || !is_dir);
        let mut places = whole.into_iter().chain(inside);
        places.find_map(|to| {
            let (guarded, analysis) = (invocation.guarded, invocation.analysis);
            brings(guarded, analysis, (&from, &to), tree.form == Form::Copies)
        })
    };
    tree.sources.iter().find_map(|source| {
        let Some((dir, pattern)) = pattern_of(source) else {
            return told(source);
        };
        // What a pattern meets is told by what is there, unless the same line puts it there.
        let from = at(dir);
        let met = named_below(&from, pattern);
        if met.is_empty() || is_filled(invocation.analysis, &from) {
            return filled(invocation.guarded, &target);
        }
        met.iter().find_map(|path| {
            if path.is_dir() {
                return told(&path.to_string_lossy());
            }
            writes_at(path.file_name()?)
        })
    })
}

/// Returns the folder and the last name of a word where that name is known only when the command runs.
fn pattern_of(source: &str) -> Option<(&str, &str)> {
    let bare = source.trim_end_matches('/');
    let (dir, name) = bare.rsplit_once('/').unwrap_or((".", bare));
    let is_open = name.contains(['*', '?', '[', '$', '`']) || name == "{}";
    is_open.then_some((if dir.is_empty() { "/" } else { dir }, name))
}

/// Whether the same line writes something into a folder.
fn is_filled(analysis: &Analysis, dir: &Path) -> bool {
    analysis.writes().iter().any(|effect: &PathEffect| {
        effect.effect == Effect::Write && effect.path != dir && effect.path.starts_with(dir)
    })
}

/// Judges a folder, or a file, that is put at a path by something else than a command line.
pub(super) fn put(guarded: &Guarded<'_>, from: &Path, to: &Path) -> Option<Found> {
    let inside = from.file_name().map(|name| to.join(name));
    let mut places = std::iter::once(to.to_owned()).chain(inside);
    places.find_map(|to| brings(guarded, &Analysis::default(), (from, &to), true))
}

/// Judges one folder, or one file, that is put at a path.
fn brings(
    guarded: &Guarded<'_>,
    analysis: &Analysis,
    (from, to): (&Path, &Path),
    is_known: bool,
) -> Option<Found> {
    if from == to {
        return None;
    }
    if from.is_file() {
        return guarded.covers(to).map(writes);
    }
    if is_known
        && from.is_dir()
        && let Some(hit) = guarded.brought(from, to)
    {
        return Some(writes(hit));
    }
    // What the same line writes into the folder is not there yet.
    let is_told = is_known && from.is_dir() && !is_filled(analysis, from);
    if is_told { None } else { filled(guarded, to) }
}

fn writes(hit: PathBuf) -> Found {
    on("write {}", hit)
}

fn last_name(text: &str) -> &str {
    let text = text.split(['?', '#']).next().unwrap_or(text);
    let text = text.trim_end_matches('/');
    text.rsplit(['/', ':']).next().unwrap_or(text)
}
