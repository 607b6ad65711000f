//! Rights: a folder that is shut, so that nobody comes to what is guarded in it.

use super::found::{Found, on};
use super::judged::Judged;
use super::walk;
use crate::shell::Word;

/// A folder above a guarded file that nobody, its owner among them, could go into any more.
pub(super) fn shuts(invocation: &Judged<'_>) -> Option<Found> {
    if invocation.program != "chmod" {
        return None;
    }
    let is_mode = |word: &&Word| !word.text.starts_with("--") && shuts_by(&word.text);
    invocation.arguments.iter().find(is_mode)?;
    let hit = invocation.operands().find_map(|word| {
        let path = invocation.path_of(&word.text);
        let is_dir = path.is_dir();
        is_dir.then(|| invocation.guarded.hit(&walk::taken(path, false)))?
    })?;
    Some(on("change the rights of a folder that holds {}", hit))
}

/// Whether a mode leaves the owner of a folder no right to go into it.
fn shuts_by(mode: &str) -> bool {
    let mut digits = mode.chars().rev();
    if mode.len() >= 3 && mode.chars().all(|c| ('0'..='7').contains(&c)) {
        let of_owner = digits.nth(2).and_then(|digit| digit.to_digit(8));
        return of_owner.is_some_and(|digit| digit & 1 == 0);
    }
    if matches!(mode, "0" | "00") {
        return true;
    }
    mode.split(',').any(|part| {
        let who = part.trim_start_matches(['u', 'a', 'g', 'o']);
        let all = part.len() - who.len();
        let is_owner = all == 0 || part.get(..all).is_some_and(|who| who.contains(['u', 'a']));
        let is_right = |c: char| "rwxXst".contains(c);
        match who.strip_prefix('-') {
            Some(rights) => is_owner && rights.contains('x') && rights.chars().all(is_right),
            None => who.strip_prefix('=').is_some_and(|rights| {
                is_owner && !rights.contains(['x', 'X']) && rights.chars().all(is_right)
            }),
        }
    })
}
