//! `marks:` of one layer: each mark as written, typed, with its place.

use super::checker::Checker;
use super::unknown_trigger;
use crate::config::{Key, MarkEnd, MarkSpec, Node, Provenance, Value};
use crate::diagnostic::{Code, Diagnostic};
use crate::event::Trigger;
use crate::session::Scope;

/// The keys of a mark.
const KEYS: &[&str] = &[
    "on", "when", "until", "within", "by", "add", "per", "locked",
];

/// The keys of an entry of `until`.
const END_KEYS: &[&str] = &["on", "when"];

/// The longest name.
const MAX_NAME: usize = 64;

/// Reads `marks:`.
pub(super) fn marks(node: &Node, checker: &mut Checker<'_>) -> Vec<MarkSpec> {
    let entries = checker.entries(node, "a map of marks by their names");
    entries
        .iter()
        .filter_map(|(key, value)| mark(key, value, checker))
        .collect()
}

fn mark(key: &Key, node: &Node, checker: &mut Checker<'_>) -> Option<MarkSpec> {
    let name = &key.name;
    let is_of_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    if !name.starts_with(|c: char| c.is_ascii_lowercase())
        || !name.chars().all(is_of_name)
        || name.len() > MAX_NAME
    {
        checker.push(
            Diagnostic::error(
                Code::BadValue,
                format!("`{name}` cannot be the name of a mark"),
                key.span,
            )
            .help("begin with a lower-case letter, and use lower-case letters, digits and `_`"),
        );
        return None;
    }
    if !matches!(node.value, Value::Map(_)) {
        checker.wrong(node, "a mark, `on: TRIGGER` with its keys");
        return None;
    }
    let mut mark = MarkSpec {
        name: name.clone(),
        on: Vec::new(),
        when: None,
        until: None,
        within: None,
        by: None,
        add: None,
        per: None,
        locked: None,
        layer: checker.source,
        span: key.span,
        provenance: Vec::new(),
        asked: None,
    };
    for (key, value) in checker.map(node, "a mark", KEYS) {
        match key.name.as_str() {
            "on" => mark.on = triggers(value, checker),
            "when" => mark.when = when(value, checker),
            "until" => mark.until = Some(ends(value, checker)),
            "within" => mark.within = checker.duration(value),
            "by" => mark.by = checker.text(value, "the name of a fact"),
            "add" => mark.add = checker.text(value, "the name of a fact that is a number"),
            "per" => {
                let words = Scope::ALL.map(|scope| (scope.name(), scope));
                mark.per = checker.choice(value, &words);
            }
            "locked" => mark.locked = checker.boolean(value)?.then_some(value.span),
            _ => continue,
        }
        mark.provenance.push(Provenance {
            key: key.name.clone(),
            layer: checker.source,
            span: value.span,
        });
    }
    Some(mark)
}

fn triggers(node: &Node, checker: &mut Checker<'_>) -> Vec<Trigger> {
    let mut triggers = Vec::new();
    for (name, span) in checker.texts(node, "a trigger") {
        match Trigger::find(&name) {
            Some(trigger) => triggers.push(trigger),
            None => checker.push(unknown_trigger(&name, span)),
        }
    }
    triggers
}

/// Reads the `when` of a mark, which asks for no mark.
fn when(node: &Node, checker: &mut Checker<'_>) -> Option<Node> {
    let mut asked = Vec::new();
    crate::config::mark::walk(node, &mut asked);
    for asked in asked {
        let fault = Diagnostic::error(
            Code::UnknownFact,
            format!("a mark cannot ask for the mark `{}`", asked.name),
            asked.span,
        );
        checker.push(fault.help("ask for both in the `when` of a binding"));
    }
    checker.condition(node)
}

fn ends(node: &Node, checker: &mut Checker<'_>) -> Vec<MarkEnd> {
    let items = match &node.value {
        Value::Seq(items) => items.as_slice(),
        // One alone is a list of one.
        Value::Map(_) => std::slice::from_ref(node),
        _ => {
            checker.wrong(node, "a list of `{on: TRIGGER, when: …}`");
            return Vec::new();
        }
    };
    items
        .iter()
        .filter_map(|item| {
            let mut end = MarkEnd {
                on: Vec::new(),
                when: None,
            };
            let known = checker.diagnostics.len();
            for (key, value) in checker.map(item, "`on: TRIGGER` and `when`", END_KEYS) {
                match key.name.as_str() {
                    "on" => end.on = triggers(value, checker),
                    "when" => end.when = when(value, checker),
                    _ => {}
                }
            }
            if end.on.is_empty() && checker.diagnostics.len() == known {
                let fault =
                    Diagnostic::error(Code::MissingKey, "the key `on` is missing", item.span);
                checker.push(fault.help("add `on: post-tool-use`, or another trigger"));
            }
            (!end.on.is_empty()).then_some(end)
        })
        .collect()
}
