//! Wanted: which arguments of a call are looked for.

use std::cell::Cell;
use std::collections::HashSet;

use serde_json::Value;

use super::found::named_leaves;
use super::{SPOKEN, TOLD, act, form, invocations, outward, owner, words};
use crate::event::ToolKind;
use crate::fact::Facts;
use crate::program::{self, Fact};
use crate::session::{Origin, Origins};
use crate::shell::is_loopback;

/// Words of formats, languages and currencies: whoever gives one says nothing that could be somebody else's will.
const USUAL: &[&str] = &[
    "asc", "chf", "de", "desc", "en", "eur", "false", "fr", "gbp", "html", "jpy", "json",
    "markdown", "md", "no", "none", "null", "text", "true", "usd", "utf-8", "yes",
];

/// What of a text is looked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Taken {
    /// All of it.
    Whole,
    /// The words that point somewhere.
    Pointing,
    /// Those that name a host, or a person there.
    Places,
}

/// One value of a call: words that must all have stood together.
#[derive(Default)]
pub(super) struct Wanted {
    /// What it is called: a field of the input, or the program that it is given to.
    pub(super) argument: String,
    pub(super) words: Vec<String>,
    /// Whether what it points to counts where it has stood nowhere itself: an address that carries something along.
    pub(super) by_target: bool,
    /// Whether who typed the name of its owner means it: it takes nothing along.
    pub(super) by_owner: bool,
    /// Whether it counts only where a passage that speaks to an agent has it.
    pub(super) only_told: bool,
    /// Whether it is only noted somewhere, and says neither whom nor what something goes to.
    pub(super) is_noted: bool,
    /// How the tools of the server begin whose own name of a thing it is: whoever wrote there, the server gave it the name.
    pub(super) handle_of: Option<String>,
}

impl Wanted {
    /// Returns what must be found in a text for it to come from there.
    pub(super) fn parts(&self) -> Vec<String> {
        if self.words.len() > 1 {
            self.words.windows(2).map(words::pair).collect()
        } else {
            self.words.clone()
        }
    }
}

/// Returns the values of a call: of a command line those of its outward programs alone.
pub(super) fn wanted(facts: &Facts, origins: Option<&Origins>) -> Vec<Wanted> {
    let mut values = Vec::new();
    let Some(tool) = facts.tool() else {
        return values;
    };
    let is_line = tool.kind == ToolKind::Shell;
    let is_file = matches!(tool.kind, ToolKind::Write | ToolKind::Edit);
    let is_pinned = |word: &str| word.contains('/') && owner::is_versioned(word);
    let is_fetch = outward::is_fetch(tool);
    let by_target = |word: &str| !is_fetch || word.contains(['?', '#']);
    let by_owner = Cell::new(!is_line);
    // Who asks to have something sent to somebody whom she names means it.
    let may_send = origins.is_some_and(act::may_send);
    let notes = origins.is_some_and(|origins| act::notes(facts, origins));
    let server = tool
        .mcp_server
        .as_ref()
        .map(|server| format!("mcp__{server}__"));
    // What an edit takes away comes from the file.
    let is_edit = tool.kind == ToolKind::Edit;
    let is_old = |field: &str| is_edit && field.starts_with("`old");
    let mut old = HashSet::new();
    if let Some(call) = facts.event().tool.as_ref().filter(|_| is_edit) {
        for_each_field(&call.input, &mut |field, leaf| {
            if is_old(field) {
                old.extend(words::words(leaf).iter().map(|word| unversioned(word)));
            }
        });
    }
    let mut add = |argument: &str, text: &str, taken: Taken| {
        let found = words::words(text);
        let argument = argument.to_owned();
        // A day or an hour names nobody and nothing.
        if form::is_date(&found) {
            return;
        }
        let is_whole = taken == Taken::Whole;
        let is_several = found.len() > 1 && is_whole;
        if is_several {
            values.push(Wanted {
                argument: argument.clone(),
                words: found.clone(),
                is_noted: notes && !form::directs(&found),
                ..Wanted::default()
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
            .filter(|word| match taken {
                Taken::Whole if is_whole => true,
                Taken::Places => words::is_place(word) && !owner::is_versioned(word),
                _ => words::points(word) || is_file && is_pinned(word),
            })
            // A digit or two stand everywhere, and so does a measure (`20.5`).
            .filter(|word| !form::is_measure(word))
            .filter(|word| !USUAL.contains(&&**word))
            // A new version of what stood there is nobody else's.
            .filter(|word| !old.contains(&unversioned(word)))
            // What lies on this machine nobody else gets.
            .filter(|word| {
                !words::is_place(word) || !is_loopback(words::targets(word).last().unwrap_or(word))
            })
            // A file of this machine says what is sent, not where it goes.
            .filter(|word| !is_line || !form::is_file(word));
        values.extend(wanted.map(|word| Wanted {
            argument: argument.clone(),
            by_target: by_target(&word),
            by_owner: by_owner.get() && !word.contains('?'),
            handle_of: server.clone().filter(|_| form::is_handle(&argument, &word)),
            is_noted: notes && !form::directs(std::slice::from_ref(&word)),
            words: vec![word],
            only_told: false,
        }));
    };
    if is_line {
        let mut goes_out = false;
        for invocation in invocations(facts).filter(|invocation| outward::sends(invocation)) {
            goes_out = true;
            by_owner.set(!outward::carries(invocation) || may_send);
            let program = format!("an argument of `{}`", invocation.program);
            let arguments = outward::told(invocation);
            for text in arguments.chain(outward::sockets(invocation)) {
                add(&program, text, Taken::Pointing);
            }
            if let Some(name) = outward::named_in_path(invocation) {
                add(&program, name, Taken::Whole);
            }
            for remote in outward::git_remotes(invocation, facts)
                .into_iter()
                .flatten()
            {
                if outward::is_new_remote(&remote, facts, origins) {
                    add(&program, &remote, Taken::Pointing);
                }
            }
        }
        by_owner
            .set(may_send || invocations(facts).all(|invocation| !outward::carries(invocation)));
        // What is decoded may be a command that goes anywhere.
        for invocation in invocations(facts) {
            let program = format!("an argument of `{}`", invocation.program);
            for word in &invocation.arguments {
                for encoded in words::words(&word.text)
                    .iter()
                    .filter(|word| words::is_encoded(word))
                {
                    add(&program, encoded, Taken::Whole);
                }
                if invocation.program == "echo" && word.text.len() >= 12 && !word.text.contains(' ')
                {
                    add(&program, &word.text, Taken::Whole);
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
                .for_each(|word| add("an address of the line", word, Taken::Pointing));
        }
        if let Some(origins) = origins.filter(|origins| origins.has(Origin::Text, SPOKEN)) {
            values.extend(changed(line, facts, origins.has(Origin::Text, TOLD)));
        }
    } else if let Some(call) = &facts.event().tool {
        for_each_field(&call.input, &mut |field, leaf| {
            if !is_old(field) {
                // A phrase in what is said is judged like a longer text there: by whom and which hosts it names.
                let is_mcp = tool.kind == ToolKind::Mcp;
                let is_said = is_mcp && form::is_said(field);
                let is_value = words::is_value(leaf) && !(is_said && form::is_prose(leaf));
                let taken = if is_mcp && form::is_label(field) {
                    Taken::Places
                } else if is_value {
                    Taken::Whole
                } else if is_said {
                    Taken::Places
                } else {
                    Taken::Pointing
                };
                add(field, leaf, taken);
            }
        });
    }
    values
}

/// Returns a word without the numbers of a version in it; itself where it has none, or nothing else.
fn unversioned(word: &str) -> String {
    let rest: String = word
        .chars()
        .filter(|c| !c.is_ascii_digit() && *c != '.')
        .collect();
    if rest.len() > 2 {
        rest
    } else {
        word.to_owned()
    }
}

/// Returns the words of a call that name hosts, people at them, or packages: wherever they stand in it.
pub(super) fn named_words(facts: &Facts) -> Vec<String> {
    let mut found = Vec::new();
    let Some(tool) = facts.tool() else {
        return found;
    };
    let mut add = |text: &str| {
        found.extend(
            words::words(text)
                .into_iter()
                .filter(|word| words::is_place(word)),
        );
    };
    if let Some(line) = &tool.command {
        add(line);
    } else if let Some(call) = &facts.event().tool {
        for_each_field(&call.input, &mut |field, leaf| {
            if !field.starts_with("`old") {
                add(leaf);
            }
        });
    }
    for invocation in invocations(facts) {
        let packages = outward::packages(invocation).map(words::words);
        found.extend(packages.flatten());
    }
    found
}

/// How many words of a line stand together where a passage has them, too.
const TOGETHER: usize = 4;

/// Returns what a line gives to programs that do more than look: nobody asks where all of it comes from, but whether a
/// passage that speaks to an agent wants it.
fn changed(line: &str, facts: &Facts, is_by_others: bool) -> Vec<Wanted> {
    let only_told = |argument: &str, words: Vec<String>| Wanted {
        argument: argument.to_owned(),
        words,
        only_told: true,
        ..Wanted::default()
    };
    let mut values = Vec::new();
    let mut looks = true;
    for invocation in invocations(facts) {
        let program = program::find(&invocation.program);
        let only_lists = program.is(Fact::Lists) && !program.is(Fact::Every);
        if program.is(Fact::LooksAt) || only_lists {
            continue;
        }
        looks = false;
        let argument = format!("an argument of `{}`", invocation.program);
        let targets = invocation.redirects.iter().map(|r| &r.target);
        let texts = invocation.arguments.iter().chain(targets);
        let words = texts.flat_map(|text| words::words(&text.text));
        let telling = words.filter(|word| form::tells(word));
        values.extend(telling.map(|word| only_told(&argument, vec![word])));
    }
    for part in line.split([';', '|', '&', '\n']).filter(|_| !looks) {
        let words = words::words(part);
        // Of what somebody else wrote a short line as a whole is enough: `make target`.
        let most = if is_by_others { words.len() } else { TOGETHER };
        let together = words.windows(most.clamp(2, TOGETHER));
        values.extend(together.map(|words| only_told("the line", words.to_vec())));
    }
    values
}

/// Calls with every leaf and the field that it stands in, as it is shown.
fn for_each_field(value: &Value, give: &mut dyn FnMut(&str, &str)) {
    named_leaves(value, "", &mut |field, leaf| match field {
        "" => give("the input", leaf),
        _ => give(&format!("`{field}`"), leaf),
    });
}
