//! Which processes a command ends, by their numbers and the signal.

use super::Digest;
use crate::shell::{Invocation, Word};

/// Whether `pkill` is bound to the children of a process, or to a group or session of one, that is not the system's.
pub(super) fn ends_own(digest: &Digest<'_>) -> bool {
    let invocation = digest.invocation;
    let is_inverse = invocation.has_short('v') || invocation.has_long("--inverse");
    let bound = ["-P", "-g", "-s", "--parent", "--pgroup", "--session"];
    let mut values = bound
        .iter()
        .filter_map(|option| invocation.value_of(&[option]))
        .peekable();
    let is_own = |value: Word| {
        let mut ids = value.text.split(',');
        ids.all(|id| !id.is_empty() && !process_number(id).is_some_and(is_of_all))
    };
    invocation.program == "pkill" && !is_inverse && values.peek().is_some() && values.all(is_own)
}

/// Whether `kill` is given a number that means every process, its own group or the first process.
pub(super) fn ends_all(invocation: &Invocation) -> bool {
    let mut words = invocation.arguments.iter();
    // `kill -1` alone: which of both it means is not the same for all programs.
    let mut has_signal = invocation.arguments.len() == 1;
    let mut is_behind_dashes = false;
    while let Some(word) = words.next() {
        let text = word.text.as_str();
        let is_option = word.is_option() && !is_behind_dashes;
        let number = process_number(text);
        match text {
            "--" => is_behind_dashes = true,
            // Whatever follows is a signal, and a process before it has got its own.
            _ if is_option
                && (["-l", "-L", "--l"]
                    .iter()
                    .any(|list| text.starts_with(list))) =>
            {
                return false;
            }
            "-s" | "-n" | "-q" | "--signal" | "--queue" if is_option => {
                has_signal |= !text.contains('q');
                words.next();
            }
            _ if is_option && text.starts_with("--") => has_signal |= text.starts_with("--s"),
            _ if is_option && (number.is_none() || !has_signal) => has_signal = true,
            _ if number.is_some_and(is_of_all) || is_sum_of_numbers(text) => return true,
            _ => {}
        }
    }
    false
}

/// Whether a word is a sum of the shell in which no name stands, so that it may be any number: `$((~0))`.
fn is_sum_of_numbers(text: &str) -> bool {
    text.starts_with("$((") && !text.contains(char::is_alphabetic)
}

/// Returns the number of a process as C reads it (`strtol`): the digits at its beginning count.
fn process_number(text: &str) -> Option<i64> {
    let text = text.trim_ascii_start();
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let end = digits.find(|c: char| !c.is_ascii_digit());
    let digits = digits.get(..end.unwrap_or(digits.len()))?;
    let size = match digits.parse::<i64>() {
        Ok(size) => size,
        Err(_) if digits.is_empty() => return None,
        Err(_) => i64::MAX,
    };
    Some(if text.starts_with('-') { -size } else { size })
}

/// Whether a number, cut to the 32 bits of a process, is -1, 0 or 1.
fn is_of_all(process: i64) -> bool {
    matches!(process.rem_euclid(1 << 32), 0 | 1 | 0xffff_ffff)
}

/// Whether processes are sent one signal, told first, that ends none of them: 0, which only asks whether they are there.
pub(super) fn sends_no_end(invocation: &Invocation) -> bool {
    let names: &[&str] = match invocation.program.as_str() {
        "kill" => &["-s", "-n", "--signal"],
        "killall" => &["-s", "--signal"],
        _ => &["--signal"],
    };
    let is_harmless = |name: &str| {
        let name = name.to_ascii_uppercase();
        let bare = name.strip_prefix("SIG").unwrap_or(&name);
        matches!(bare, "0" | "CONT" | "WINCH" | "CHLD" | "URG")
    };
    let is_named = |text: &str| names.iter().any(|name| text.starts_with(name));
    // Options of one letter each are at most two in a row.
    let is_bare = |text: &str| {
        let bare = text.strip_prefix('-').unwrap_or_default();
        bare.starts_with(|c: char| c.is_ascii_digit())
            || bare.len() > 2 && bare.bytes().all(|c| c.is_ascii_alphanumeric())
    };
    let mut options = invocation.before_dashes().filter(|word| word.is_option());
    let Some(first) = options.next() else {
        return false;
    };
    // Which of two signals is sent is not the same for all programs.
    let is_only = !options.any(|word| is_named(&word.text) || is_bare(&word.text));
    let signal = if is_named(&first.text) {
        invocation.value_of(names).map(|word| word.text)
    } else {
        first.text.strip_prefix('-').map(str::to_owned)
    };
    is_only && signal.is_some_and(|signal| is_harmless(&signal))
}
