//! Values: which arguments of a call are looked for, and where they were found.

use std::collections::BTreeSet;

use serde_json::Value;

use super::found::leaves;
use super::{CUT, SEEN, form, invocations, outward, words};
use crate::event::ToolKind;
use crate::fact::Facts;
use crate::session::{Origin, Origins};

/// Words of formats, languages and currencies: whoever gives one says nothing that could be somebody else's will.
const USUAL: &[&str] = &[
    "asc", "chf", "de", "desc", "en", "eur", "false", "fr", "gbp", "html", "jpy", "json",
    "markdown", "md", "no", "none", "null", "text", "true", "usd", "utf-8", "yes",
];

/// One value of a call: words that must all have stood together.
struct Wanted {
    /// What it is called: a field of the input, or the program that it is given to.
    argument: String,
    words: Vec<String>,
    /// Whether what it points to counts where it has stood nowhere itself: an address that carries something along.
    by_target: bool,
}

impl Wanted {
    /// Returns what must be found in a text for it to come from there.
    fn parts(&self) -> Vec<String> {
        if self.words.len() > 1 {
            self.words.windows(2).map(words::pair).collect()
        } else {
            self.words.clone()
        }
    }
}

/// Returns the values of a call: of a command line those of its outward programs alone.
fn wanted(facts: &Facts, origins: Option<&Origins>) -> Vec<Wanted> {
    let mut values = Vec::new();
    let Some(tool) = facts.tool() else {
        return values;
    };
    let is_line = tool.kind == ToolKind::Shell;
    let is_fetch = outward::is_fetch(tool);
    let by_target = |word: &str| !is_fetch || word.contains(['?', '#']);
    let mut add = |argument: &str, text: &str, is_whole: bool| {
        let found = words::words(text);
        let argument = argument.to_owned();
        // A day or an hour names nobody and nothing.
        if form::is_date(&found) {
            return;
        }
        let is_several = found.len() > 1 && is_whole;
        if is_several {
            values.push(Wanted {
                argument: argument.clone(),
                words: found.clone(),
                by_target: false,
            });
        }
        // The agent may put an address into words of its own.
        let is_whole = is_whole && !is_several;
        // `name=address` is two words, but not within an address.
        let pieces = |word: &String| match word.split_once('=') {
            Some((name, rest)) if is_line && !name.contains("://") && words::points(rest) => {
                vec![name.to_owned(), rest.to_owned()]
            }
            _ => vec![word.clone()],
        };
        let wanted = found
            .iter()
            .flat_map(pieces)
            .filter(|word| is_whole || words::points(word))
            .filter(|word| !USUAL.contains(&&**word))
            // A file of this machine says what is sent, not where it goes.
            .filter(|word| !is_line || !word.starts_with('/'));
        values.extend(wanted.map(|word| Wanted {
            argument: argument.clone(),
            by_target: by_target(&word),
            words: vec![word],
        }));
    };
    if is_line {
        let mut goes_out = false;
        for invocation in invocations(facts).filter(|invocation| outward::sends(invocation)) {
            goes_out = true;
            let program = format!("an argument of `{}`", invocation.program);
            let arguments = outward::told(invocation);
            for text in arguments.chain(outward::sockets(invocation)) {
                add(&program, text, false);
            }
            if let Some(name) = outward::named_in_path(invocation) {
                add(&program, name, true);
            }
            for remote in outward::git_remotes(invocation, facts)
                .into_iter()
                .flatten()
            {
                if outward::is_new_remote(&remote, facts, origins) {
                    add(&program, &remote, false);
                }
            }
        }
        // What is decoded may be a command that goes anywhere.
        for invocation in invocations(facts) {
            let program = format!("an argument of `{}`", invocation.program);
            for word in &invocation.arguments {
                for encoded in words::words(&word.text)
                    .iter()
                    .filter(|word| words::is_encoded(word))
                {
                    add(&program, encoded, true);
                }
                if invocation.program == "echo" && word.text.len() >= 12 && !word.text.contains(' ')
                {
                    add(&program, &word.text, true);
                }
            }
        }
        // What one program of a line notes, such as a source of packages, another one opens.
        let line = tool.command.as_deref().unwrap_or_default();
        if goes_out || outward::is_code_with_address(facts) {
            let addresses = line.split([
                ' ', '\t', '\n', '\'', '"', '`', '(', ')', ',', ';', '<', '>', '|',
            ]);
            addresses
                .filter(|word| outward::is_address(word))
                .for_each(|word| add("an address of the line", word, false));
        }
    } else if let Some(call) = &facts.event().tool {
        // What an edit takes away comes from the file.
        let is_edit = tool.kind == ToolKind::Edit;
        for_each_field(&call.input, "the input", &mut |field, leaf| {
            if !(is_edit && field.starts_with("`old")) {
                // A phrase in what is said is judged like a longer text there: by where its words point.
                let is_phrase =
                    tool.kind == ToolKind::Mcp && form::is_said(field) && form::is_prose(leaf);
                add(field, leaf, words::is_value(leaf) && !is_phrase);
            }
        });
    }
    values
}

/// Calls with every leaf and the name of the field that it stands in.
fn for_each_field(value: &Value, field: &str, give: &mut dyn FnMut(&str, &str)) {
    match value {
        Value::Array(items) => items
            .iter()
            .for_each(|item| for_each_field(item, field, give)),
        Value::Object(fields) => fields
            .iter()
            .for_each(|(name, value)| for_each_field(value, &format!("`{name}`"), give)),
        leaf => leaves(leaf, &mut |leaf| give(field, leaf)),
    }
}

/// Returns the words of a call's values, as they are kept where a person has agreed to them.
pub fn argument_words(facts: &Facts) -> Vec<String> {
    let values = wanted(facts, None);
    values
        .iter()
        .flat_map(|value| words::kept(&value.words))
        .collect()
}

/// Returns where the values of a call come from; none where that cannot be told.
pub fn come_from(facts: &Facts, origins: Option<&Origins>) -> Option<Vec<String>> {
    let mut found: BTreeSet<&str> = BTreeSet::new();
    for value in wanted(facts, origins) {
        match origins.map(|origins| origin(&value, origins)) {
            Some(Some(Origin::Prompt)) => found.extend(["prompt"]),
            Some(Some(Origin::Project)) => found.extend(["project"]),
            Some(Some(Origin::Record)) => found.extend(["untrusted", "untrusted-record"]),
            Some(Some(Origin::Text)) => found.extend(["untrusted", "untrusted-text"]),
            Some(None) | None => found.extend(["unknown"]),
        }
    }
    if found.contains("unknown") && origins.is_some_and(is_doubtful) {
        return None;
    }
    Some(found.into_iter().map(str::to_owned).collect())
}

/// Tells which arguments of a call stood in what somebody else wrote, and which tools gave that back: never the text.
pub fn told_by_others(facts: &Facts, origins: &Origins) -> Vec<String> {
    let mut told = Vec::new();
    for value in wanted(facts, Some(origins)) {
        if !matches!(origin(&value, origins), Some(Origin::Record | Origin::Text)) {
            continue;
        }
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

/// Returns the first origin in which all of a value was found.
fn origin(value: &Wanted, origins: &Origins) -> Option<Origin> {
    let (whole, parts) = (words::whole(&value.words), value.parts());
    // Whatever the path: who typed the name of a site, or has it in the project, means those who keep it.
    if let [word] = &*value.words
        && let Some(site) = words::site(word)
        && !origins.has(Origin::Prompt, word)
    {
        for origin in [Origin::Prompt, Origin::Project] {
            if origins.has(origin, &site) {
                return Some(origin);
            }
        }
    }
    let joined = words::joined(&value.words);
    for origin in Origin::ALL {
        let is_there = match origin {
            Origin::Record => origins.has(origin, &whole),
            _ => {
                has_all(&parts, origin, origins)
                    || joined
                        .as_ref()
                        .is_some_and(|word| origins.has(origin, word))
            }
        };
        if is_there {
            return Some(origin);
        }
    }
    if let [word] = &*value.words
        && let Some(plain) = words::plain(word)
    {
        for origin in Origin::ALL {
            let is_there = match origin {
                Origin::Record => origins.has(origin, &words::whole(std::slice::from_ref(&plain))),
                _ => origins.has(origin, &plain),
            };
            if is_there {
                return Some(origin);
            }
        }
    }
    for word in value.words.iter().filter(|_| value.by_target) {
        let host = words::targets(word).last().unwrap_or(word);
        let host = Some(host).filter(|host| words::is_host(host) || word.contains("://"));
        let above = host.into_iter().flat_map(words::domains_above);
        for target in words::targets(word).chain(above) {
            for origin in Origin::ALL {
                if origins.has(origin, target) {
                    return Some(origin);
                }
            }
        }
    }
    None
}

fn has_all(parts: &[String], origin: Origin, origins: &Origins) -> bool {
    parts.iter().all(|part| origins.has(origin, part))
}
