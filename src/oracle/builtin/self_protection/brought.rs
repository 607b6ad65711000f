//! Brought: a whole tree that is put where guarded files would lie in it, though no word names one of them.

use std::path::Path;

use super::found::{Found, act};
use super::guarded::Guarded;
use super::mention::path_of;
use crate::shell::{Analysis, Effect, Invocation, PathEffect, Word};

/// Finds a copy, a link or a download of a folder that brings guarded files along.
///
/// Where the folder is there to be looked into, what lies in it decides. Of a link, which can be filled later, and of what is
/// only unpacked or fetched now, nobody knows that: those may not bring what a host would load as code.
pub(super) fn find(
    guarded: &Guarded<'_>,
    analysis: &Analysis,
    invocation: &Invocation,
) -> Option<Found> {
    let (sources, into, is_known) = trees(invocation)?;
    let target = path_of(guarded, invocation, &into);
    if sources.is_empty() {
        return loads(guarded, &target);
    }
    let is_whole = invocation.has_short('T') || invocation.has_long("--no-target-directory");
    sources.iter().find_map(|source| {
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
        if is_told { None } else { loads(guarded, &to) }
    })
}

fn loads(guarded: &Guarded<'_>, target: &Path) -> Option<Found> {
    guarded
        .loads_code_below(target)
        .then(|| act("bring code into the host that can pass its hooks by"))
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
        "tar" | "gtar" | "bsdtar" => {
            let first = invocation
                .arguments
                .first()
                .map_or("", |word| word.text.as_str());
            let extracts = first.trim_start_matches('-').contains('x')
                || invocation.has_short('x')
                || invocation.has_long("--extract")
                || invocation.has_long("--get");
            let into = option(&["-C", "--directory"]).unwrap_or_else(here);
            extracts.then_some((Vec::new(), into, false))
        }
        "unzip" => Some((Vec::new(), option(&["-d"]).unwrap_or_else(here), false)),
        "7z" | "7za" => Some((Vec::new(), option(&["-o"]).unwrap_or_else(here), false)),
        "git" | "gh" => {
            let at = operands
                .iter()
                .position(|operand| operand == "clone" || operand == "add")?;
            let rest = operands.get(at + 1..).unwrap_or_default();
            let is_fetched = |from: &&String| from.contains(['/', ':']);
            let mut fetched = rest.iter().skip_while(|operand| !is_fetched(operand));
            let address = fetched.next()?;
            let name = address.trim_end_matches('/').rsplit(['/', ':']).next();
            let own = name.map(|name| name.trim_end_matches(".git").to_owned());
            let into = fetched.next().cloned().or(own)?;
            Some((Vec::new(), into, false))
        }
        "degit" | "tiged" | "giget" => {
            let into = operands.get(1).cloned().unwrap_or_else(here);
            Some((Vec::new(), into, false))
        }
        _ => None,
    }
}
