//! Values: where the arguments of a call were found.

use std::collections::BTreeSet;

use super::act::Acts;
use super::wanted::{Wanted, named_words, wanted};
use super::{CUT, SEEN, TOLD, act, alike, form, invocations, named, outward, owner, words};
use crate::event::ToolKind;
use crate::fact::Facts;
use crate::session::{Origin, Origins};

/// Returns the words of a call's values, as they are kept where a person has agreed to them.
pub fn argument_words(facts: &Facts) -> Vec<String> {
    let values = wanted(facts, None);
    // Who lets a page be read has not said that its host is to be believed.
    let is_read = facts.tool().is_some_and(outward::is_fetch);
    let kept = |value: &Wanted| {
        if is_read {
            value.words.clone()
        } else {
            words::kept(&value.words)
        }
    };
    values.iter().flat_map(kept).collect()
}

/// Returns where the values of a call come from; none where that cannot be told.
pub fn come_from(facts: &Facts, origins: Option<&Origins>, acts: &Acts) -> Option<Vec<String>> {
    let mut found: BTreeSet<&str> = BTreeSet::new();
    let is_file = facts
        .tool()
        .is_some_and(|tool| matches!(tool.kind, ToolKind::Write | ToolKind::Edit));
    let is_spoken_to = origins.is_some_and(|origins| {
        origins.has(Origin::Text, TOLD) && !act::is_plainly_asked(facts, origins, acts)
    });
    let values = wanted(facts, origins);
    let mut is_own = values.iter().any(|value| !value.only_told)
        || values.is_empty() && origins.is_some_and(|origins| act::notes(facts, origins));
    for value in values {
        // In a file that a person can read before it is run, addresses alone are somebody's will.
        let is_site = |word: &String| words::is_place(word) || owner::site(word).is_some();
        let counts = !is_file || value.words.iter().any(is_site);
        if counts && origins.is_some_and(|origins| is_told(&value, origins)) {
            found.extend(["untrusted", "untrusted-instruction"]);
        }
        if value.only_told {
            continue;
        }
        // An address to which something was added takes it to whoever told it, also out of a file.
        if origins.is_some_and(|origins| carries(&value, origins)) {
            found.extend(["untrusted", "untrusted-instruction"]);
        }
        if origins.is_some_and(|origins| form::is_other_account(&value.words, origins)) {
            found.extend(["lookalike"]);
        }
        let words: &[&str] = match origins.and_then(|origins| origin(&value, origins)) {
            Some(Origin::Prompt) => &["prompt"],
            Some(Origin::Project) => &["project"],
            Some(Origin::Record) => &["untrusted", "untrusted-record"],
            Some(Origin::Text) => &["untrusted", "untrusted-text"],
            None => &["unknown"],
        };
        is_own &= value.is_noted || matches!(words, ["prompt" | "project"]);
        found.extend(words);
    }
    if origins.is_some_and(|origins| {
        named_words(facts)
            .iter()
            .any(|word| alike::is_alike(word, origins))
    }) {
        found.extend(["lookalike"]);
    }
    // Where a passage spoke to an agent, what it wants may be said in other words.
    let may_go_out = facts.tool().is_some_and(|tool| match tool.kind {
        ToolKind::Shell => invocations(facts).any(outward::sends),
        ToolKind::Mcp | ToolKind::Fetch => true,
        _ => false,
    });
    if is_spoken_to && may_go_out && !is_own {
        found.extend(["untrusted", "untrusted-instruction"]);
    }
    if found.contains("unknown") && origins.is_some_and(is_doubtful) {
        return None;
    }
    Some(found.into_iter().map(str::to_owned).collect())
}

/// Tells which arguments of a call stood in what somebody else wrote, and which tools gave that back: never the text.
pub fn told_by_others(facts: &Facts, origins: &Origins) -> Vec<String> {
    let mut told = Vec::new();
    let (mut theirs, mut fields) = (Vec::new(), Vec::new());
    for value in wanted(facts, Some(origins)) {
        let from = if is_told(&value, origins) {
            Some(Origin::Text)
        } else {
            origin(&value, origins).filter(|_| !value.only_told)
        };
        match from {
            Some(Origin::Text) => theirs.push(value),
            Some(Origin::Record) => fields.push(value),
            _ => {}
        }
    }
    // A field is the reason only where no text is.
    if theirs.is_empty() {
        theirs = fields;
    }
    for value in theirs {
        let mut tools = origins.tools_with(&value.words);
        if let [word] = &*value.words
            && tools.is_empty()
        {
            for target in words::targets(word) {
                tools.extend(origins.tools_with(&[target.to_owned()]));
            }
        }
        tools.dedup();
        let tools: Vec<String> = tools
            .iter()
            .take(3)
            .map(|tool| format!("`{tool}`"))
            .collect();
        let text = if tools.is_empty() {
            value.argument
        } else {
            format!(
                "{}, from a result of {}",
                value.argument,
                tools.join(" or ")
            )
        };
        if !told.contains(&text) {
            told.push(text);
        }
    }
    told
}

/// Whether what is not found may have been in a text that was not read whole, or of which the result never came.
fn is_doubtful(origins: &Origins) -> bool {
    origins.is_full()
        || origins.has(Origin::Text, CUT)
        || origins.awaits(false)
        // What a person was asked about she may have refused; where no result comes at all, nobody knows.
        || origins.awaits(true) && !origins.has(Origin::Text, SEEN)
}

/// Whether a value stood in a passage that speaks to an agent, and in nothing that is the person's or the project's own.
fn is_told(value: &Wanted, origins: &Origins) -> bool {
    let parts = value.parts();
    let told: Vec<String> = parts.iter().map(|part| words::told(part)).collect();
    let has_target = || {
        value.by_target
            && value.words.iter().any(|word| {
                let mut targets = words::targets(word);
                targets.any(|target| {
                    origins.has(Origin::Text, &words::told(target))
                        && !origins.has(Origin::Prompt, target)
                })
            })
    };
    (has_all(&told, Origin::Text, origins) || has_target())
        && !has_all(&parts, Origin::Prompt, origins)
        && !has_all(&parts, Origin::Project, origins)
}

/// Whether a value is an address with something added to it that stood nowhere, at a host that only somebody else told.
fn carries(value: &Wanted, origins: &Origins) -> bool {
    let [word] = &*value.words else {
        return false;
    };
    let has_any = |word: &str| Origin::ALL.iter().any(|origin| origins.has(*origin, word));
    let query = word.split_once('?').map_or("", |(_, query)| query);
    let host = words::targets(word).last().unwrap_or_default();
    let is_own = |host| {
        let own = [Origin::Prompt, Origin::Project];
        own.iter().any(|origin| origins.has(*origin, host))
    };
    let mut hosts = std::iter::once(host).chain(owner::domains_above(host));
    query.contains('=')
        && value.by_target
        && !has_any(word)
        && origins.has(Origin::Text, host)
        && !hosts.any(is_own)
        && !is_at_typed_name(word, origins)
}

/// Whether an address is at a host that the person typed, or belongs to somebody whom she named.
fn is_at_typed_name(word: &str, origins: &Origins) -> bool {
    let mail = word.rsplit_once('@').filter(|_| !word.contains('/'));
    let is_typed = |part: &str| part.len() > 2 && origins.has(Origin::Prompt, part);
    if let Some((name, host)) = mail
        && origins.has(Origin::Record, &form::house(host))
        && (is_typed(name) || name.split(['.', '-', '_']).any(is_typed))
    {
        return true;
    }
    let is_theirs = |(_, host): (&str, &str)| {
        origins.has(Origin::Prompt, &format!("//{host}"))
            || owner::label(host).is_some_and(|label| named::is_typed(label, origins))
    };
    mail.is_some_and(is_theirs)
        || owner::owner(word).is_some_and(|owner| named::is_typed(owner, origins))
}

/// Whether a mail address or an account stood in a text alone, where fields have told others: what the books say goes before
/// what a letter says. An address at the host of one of them, or of somebody whom the person named, may be theirs.
fn is_against_fields(value: &[String], origins: &Origins) -> bool {
    match form::form(value) {
        Some(form::Form::Mail(host)) => {
            let is_typed = owner::label(host).is_some_and(|label| named::is_typed(label, origins));
            let has = |word: &str| origins.has(Origin::Record, word);
            has(form::MAIL) && !has(&form::at_host(host)) && !is_typed
        }
        Some(form::Form::Account) => {
            let has = |word: &str| origins.has(Origin::Record, word);
            has(form::ACCOUNT) && !has(&form::account(value))
        }
        None => false,
    }
}

/// Returns the first origin in which all of a value was found.
fn origin(value: &Wanted, origins: &Origins) -> Option<Origin> {
    let (whole, parts) = (words::whole(&value.words), value.parts());
    // Whatever the path: who typed the name of a site, or has it in the project, means those who keep it.
    if let [word] = &*value.words
        && let Some(site) = owner::site(word)
        && !origins.has(Origin::Prompt, word)
    {
        for origin in [Origin::Prompt, Origin::Project] {
            if origins.has(origin, &site) {
                return Some(origin);
            }
        }
    }
    if let [word] = &*value.words
        && value.by_owner
        && !origins.has(Origin::Prompt, word)
        && is_at_typed_name(word, origins)
    {
        return Some(Origin::Prompt);
    }
    // What a program calls a thing by words that were typed: `hide_spam`.
    if let [word] = &*value.words
        && word.contains('_')
        && word.chars().all(|c| c == '_' || c.is_alphabetic())
        && word
            .split('_')
            .all(|part| origins.has(Origin::Prompt, part))
    {
        return Some(Origin::Prompt);
    }
    let joined = words::joined(&value.words);
    let named: Vec<String> = parts.iter().map(|part| words::named(part)).collect();
    // A scheme or a version makes no other thing of an address.
    let plain = match &*value.words {
        [word] => words::plain(word),
        _ => None,
    };
    let may_be_named = !is_against_fields(&value.words, origins);
    for origin in Origin::ALL {
        let mut others = joined.iter().chain(&plain);
        let is_there = match origin {
            Origin::Record => {
                origins.has(origin, &whole)
                    || may_be_named && has_all(&named, origin, origins)
                    || others.any(|word| {
                        origins.has(origin, &words::whole(std::slice::from_ref(word)))
                            || may_be_named && origins.has(origin, &words::named(word))
                    })
            }
            _ => has_all(&parts, origin, origins) || others.any(|word| origins.has(origin, word)),
        };
        if is_there {
            let is_field = origin == Origin::Text
                && (value.is_noted
                    || is_own_handle(value, origins)
                    || may_be_named && is_at_counterpart(value, origins));
            return Some(if is_field { Origin::Record } else { origin });
        }
    }
    for word in value.words.iter().filter(|_| value.by_target) {
        let host = words::targets(word).last().unwrap_or(word);
        let host = Some(host).filter(|host| owner::is_host(host) || word.contains("://"));
        let above = host.into_iter().flat_map(owner::domains_above);
        for target in words::targets(word).chain(above) {
            for origin in Origin::ALL {
                // Somebody has an address there by a whole field: this is another one of the same house.
                let is_there = origins.has(origin, target)
                    || origin == Origin::Record
                        && form::form(&value.words).is_some()
                        && origins.has(origin, &words::whole(&[target.to_owned()]))
                    || may_be_named
                        && origin == Origin::Record
                        && origins.has(origin, &words::named(target));
                if is_there {
                    return Some(origin);
                }
            }
        }
    }
    None
}

/// Whether a mail address is at the house of somebody who stood in a field where the agent looked for what the person meant:
/// there she could be written to as well.
fn is_at_counterpart(value: &Wanted, origins: &Origins) -> bool {
    let house = match &*value.words {
        [word] => form::counterpart(word),
        _ => None,
    };
    house.is_some_and(|house| origins.has(Origin::Record, &house))
}

/// Whether all that gave back a name is the server that is given it.
fn is_own_handle(value: &Wanted, origins: &Origins) -> bool {
    let tools = origins.tools_with(&value.words);
    let is_own = |server: &String| tools.iter().all(|tool| tool.starts_with(server.as_str()));
    !tools.is_empty() && value.handle_of.as_ref().is_some_and(is_own)
}

fn has_all(parts: &[String], origin: Origin, origins: &Origins) -> bool {
    parts.iter().all(|part| origins.has(origin, part))
}
