//! Service: what code asks of a service by a library of it, told by the names of its calls.

use super::Digest;
use crate::words::{holds_any, words};

/// Returns what code does at a service: `deletes`, `grants`, `pays`, `sends`.
pub(super) fn effects(digest: &Digest<'_>) -> Vec<&'static str> {
    let mut effects = Vec::new();
    for text in digest.texts().filter(|text| uses_service(text)) {
        for call in calls(text) {
            effects.extend(effect(call, text));
        }
    }
    effects
}

/// Whether code loads a library of a service, and goes neither to this machine nor to what stands in for the service.
fn uses_service(text: &str) -> bool {
    const LOADS: &[&str] = &["import", "require", "from", "use "];
    let is_for_tests = holds_any(text, words!("stand-ins"));
    !is_for_tests
        && text.split(['\n', ';']).any(|line| {
            holds_any(line, LOADS)
                && words!("service-libraries").iter().any(|name| {
                    line.match_indices(name)
                        .any(|(at, _)| is_whole(line, at, at + name.len()))
                })
        })
}

/// Whether a name in a line is no part of a longer one; what is below it (`google.cloud.storage`) is of the same library.
fn is_whole(line: &str, start: usize, end: usize) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let before = line.get(..start).and_then(|rest| rest.chars().last());
    let after = line.get(end..).and_then(|rest| rest.chars().next());
    let ends_open = line.get(..end).is_some_and(|name| name.ends_with('/'));
    !before.is_some_and(is_part) && (ends_open || !after.is_some_and(is_part))
}

/// One call: the name that is called, the one that it is called of, and what it is given first.
#[derive(Clone, Copy)]
struct Call<'a> {
    of: &'a str,
    name: &'a str,
    has_arguments: bool,
}

/// Returns the calls of methods in code, `of.name(…`, of the commands that are made for a client, `new NameCommand(…`, and of
/// functions whose name alone tells that they send.
fn calls(text: &str) -> impl Iterator<Item = Call<'_>> {
    text.match_indices('(').filter_map(|(at, _)| {
        let before = text.get(..at)?;
        let (of, name) = last_name(before);
        let of = match of.strip_suffix('.') {
            Some(of) => last_name(of.trim_end_matches([')', '(', '?'])).1,
            None if name.ends_with("Command") || sends(&parts(name).concat()) => "",
            None => return None,
        };
        let after = text.get(at + 1..).unwrap_or_default();
        Some(Call {
            of,
            name: name.strip_suffix("Command").unwrap_or(name),
            has_arguments: !after.trim_start().starts_with(')'),
        })
    })
}

/// Parts the name off with which a text ends.
fn last_name(text: &str) -> (&str, &str) {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let at = text.trim_end_matches(is_part).len();
    text.split_at_checked(at).unwrap_or((text, ""))
}

fn effect(call: Call<'_>, text: &str) -> Option<&'static str> {
    let parts = parts(call.name);
    let whole = parts.concat();
    let owner_and_name = format!("{}.{whole}", call.of.to_lowercase().replace('_', ""));
    if words!("granting-calls").contains(&whole.as_str()) {
        return Some("grants");
    }
    if words!("paying-calls").contains(&owner_and_name.as_str()) {
        return Some("pays");
    }
    if sends(&owner_and_name) || sends(&whole) {
        return Some("sends");
    }
    let verbs = words!("deleting-verbs");
    let deletes = match parts.as_slice() {
        [] => false,
        [verb] => {
            verbs.contains(&verb.as_str()) && !(verb == "delete" && is_collection(call, text))
        }
        [verb, _, ..] if words!("asking-verbs").contains(&verb.as_str()) => false,
        [first, second, ..] => [first, second].iter().any(|verb| {
            verbs.contains(&verb.as_str()) || words!("ending-verbs").contains(&verb.as_str())
        }),
    };
    deletes.then_some("deletes")
}

/// Whether what a call is of is made as a collection of JavaScript, which has `delete(key)` too.
fn is_collection(call: Call<'_>, text: &str) -> bool {
    let kinds = [
        "Map",
        "Set",
        "WeakMap",
        "WeakSet",
        "URLSearchParams",
        "Headers",
        "FormData",
    ];
    let mut made = text.match_indices(call.of).filter_map(|(at, name)| {
        let behind = text.get(at + name.len()..)?.trim_start();
        behind.strip_prefix('=')?.trim_start().strip_prefix("new ")
    });
    // So has a server, for what it does when somebody asks it to delete.
    matches!(call.of, "app" | "router")
        || call.has_arguments
            && !call.of.is_empty()
            && made.any(|made| kinds.iter().any(|kind| made.trim_start().starts_with(kind)))
}

/// Whether a call of this name, in lower case and without underscores, sends messages to people.
fn sends(name: &str) -> bool {
    words!("sending-calls").contains(&name)
}

/// Returns the words of a name in lower case: `delete_bucket` and `DeleteBucket` alike.
fn parts(name: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    let mut was_lower = false;
    for c in name.chars() {
        let starts = c == '_' || (c.is_uppercase() && was_lower);
        if starts || parts.is_empty() {
            parts.push(String::new());
        }
        if c != '_'
            && let Some(last) = parts.last_mut()
        {
            last.extend(c.to_lowercase());
        }
        was_lower = c.is_lowercase() || c.is_ascii_digit();
    }
    parts.retain(|part| !part.is_empty());
    parts
}
