//! Clients of services that no rule knows by name, and what they are told to do.

use crate::danger::digest::Digest;
use crate::program::{self, Fact};
use crate::shell::Word;
use crate::words::words;

/// Whether a program is a client of something, not one that works on text or starts others.
pub(super) fn is_client(digest: &Digest<'_>) -> bool {
    let program = digest.invocation.program.as_str();
    let known = program::find(program);
    // What lies in the project is its own.
    let is_local = digest.invocation.path.text.contains('/');
    !is_local && !program.is_empty() && !known.is(Fact::Shows) && !known.is(Fact::Client)
}

/// Whether something is cleared without a question, or a thing that a service keeps is: `clear --yes`, `servers rm`.
pub(super) fn clears(digest: &Digest<'_>, words: &[&Word]) -> bool {
    let text = |at: usize| words.get(at).map_or("", |w| w.text.as_str());
    let (first, second) = (text(0), text(1));
    let (clears_first, clears_second) = (
        words!("clearing-verbs").contains(&first),
        words!("clearing-verbs").contains(&second),
    );
    if !(clears_first || clears_second || matches!(second, "remove" | "del")) {
        return false;
    }
    let arguments = &digest.invocation.arguments;
    let confirmed = arguments.iter().any(|w| {
        words!("confirming-options").contains(&w.text.split('=').next().unwrap_or_default())
    });
    let is_cache = arguments.iter().any(|w| w.text.contains("cache"));
    let one = first.strip_suffix('s').unwrap_or(first);
    (clears_first || clears_second) && confirmed && !is_cache
        || !clears_first
            && (words!("kept-things").contains(&one) || matches!(first, "indices" | "indexes"))
}
