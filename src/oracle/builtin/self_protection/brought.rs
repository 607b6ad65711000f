//! Brought: a whole tree that is put where guarded files would lie in it, though no word names one of them.

use super::filled::filled;
use super::found::Found;
use super::guarded::Guarded;
use super::mention::path_of;
use super::places::named_below;
use crate::shell::{Analysis, Effect, Invocation, PathEffect, Word};

/// Finds a copy, a link or a download of a folder that brings guarded files along.
///
/// Where the folder is there to be looked into, what lies in it decides. Of a link, which can be filled later, and of what is
/// only fetched now, nobody knows that: those may not stand where something guarded would lie in them.
pub(super) fn find(
    guarded: &Guarded<'_>,
    analysis: &Analysis,
    invocation: &Invocation,
) -> Option<Found> {
    let (sources, into, is_known) = trees(invocation)?;
    let target = path_of(guarded, invocation, &into);
    if sources.is_empty() {
        return filled(guarded, &target);
    }
    let is_whole = invocation.has_short('T') || invocation.has_long("--no-target-directory");
    let told = |source: &String| {
        let from = path_of(guarded, invocation, source);
        // `.`, `evil/..` and `evil/.` mean what lies in them, any other name the folder itself; `ditto` always does.
        let bare = source.trim_end_matches('/');
        let means_inside = matches!(bare, "." | "..")
            || bare.ends_with("/.")
            || bare.ends_with("/..")
            || invocation.program == "ditto"
            || (invocation.program == "rsync" && source.ends_with('/'));
        let is_inside = !is_whole && (target.is_dir() || into.ends_with('/') || sources.len() > 1);
        let name = from.file_name().filter(|_| is_inside && !means_inside);
        let to = name.map_or_else(|| target.clone(), |name| target.join(name));
        if from == to || from.is_file() {
            return None;
        }
        if is_known
            && from.is_dir()
            && let Some(hit) = guarded.brought(&from, &to)
        {
            return Some((format!("write `{}`", hit.display()), Some(hit)));
        }
        // What the same line writes into the folder is not there yet.
        let fills = |effect: &PathEffect| {
            effect.effect == Effect::Write && effect.path != from && effect.path.starts_with(&from)
        };
        let is_told = is_known && from.is_dir() && !analysis.writes().iter().any(fills);
        if is_told { None } else { filled(guarded, &to) }
    };
    sources.iter().find_map(|source| {
        let Some((dir, pattern)) = pattern_of(source) else {
            return told(source);
        };
        // What a pattern meets is told by what is there, unless the same line puts it there.
        let from = path_of(guarded, invocation, dir);
        let is_written = |effect: &PathEffect| {
            effect.effect == Effect::Write && effect.path != from && effect.path.starts_with(&from)
        };
        let met = named_below(&from, pattern);
        if met.is_empty() || analysis.writes().iter().any(is_written) {
            return filled(guarded, &target);
        }
        met.iter().find_map(|path| {
            if path.is_dir() {
                return told(&path.to_string_lossy().into_owned());
            }
            let hit = guarded.covers(&target.join(path.file_name()?))?;
            Some((format!("write `{}`", hit.display()), Some(hit)))
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

/// Returns which folders a program puts where, and whether what lies in them stays as it is; no folder where they come from
/// elsewhere.
fn trees(invocation: &Invocation) -> Option<(Vec<String>, String, bool)> {
    let text = |word: &Word| word.text.clone();
    let mut operands: Vec<String> = invocation.operands().map(text).collect();
    let option = |names: &[&str]| invocation.value_of(names).map(|word| word.text);
    let here = || ".".to_owned();
    match invocation.program.as_str() {
        program @ ("cp" | "gcp" | "mv" | "gmv" | "rsync" | "ditto" | "ln" | "link" | "symlink") => {
            let is_link = matches!(program, "ln" | "link" | "symlink");
            let named = option(&["-t", "--target-directory"]);
            operands.retain(|operand| Some(operand) != named.as_ref());
            let into = match named {
                Some(named) => named + "/",
                // With one name alone, the link is made here.
                None if is_link && operands.len() == 1 => here(),
                None => operands.pop()?,
            };
            (!operands.is_empty()).then_some((operands, into, !is_link))
        }
        "git" if operands.first().is_some_and(|command| command == "mv") => {
            let into = operands.pop().filter(|_| operands.len() > 1)?;
            Some((operands.split_off(1), into, true))
        }
        "git" | "gh" => {
            let at = operands
                .iter()
                .position(|operand| operand == "clone" || operand == "add")
                // What is only put into the index stays where it is.
                .filter(|at| *at > 0 || operands.first().is_none_or(|first| first != "add"))?;
            let rest = operands.get(at + 1..).unwrap_or_default();
            let is_fetched = |from: &&String| from.contains(['/', ':']);
            let mut fetched = rest.iter().skip_while(|operand| !is_fetched(operand));
            let address = fetched.next()?;
            let name = address.trim_end_matches('/').rsplit(['/', ':']).next();
            let own = name.map(|name| name.trim_end_matches(".git").to_owned());
            let into = fetched.next().cloned().or(own)?;
            Some((Vec::new(), into, false))
        }
        _ => None,
    }
}
