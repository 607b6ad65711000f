//! MarkSpec: one mark of the merged layers, as written, and what asks for it.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{BindingSpec, LayerSource, Node, Provenance, Value};
use crate::diagnostic::{Code, Diagnostic, SourceMap, Span};
use crate::event::Trigger;
use crate::session::Scope;

/// How many marks may be in force.
pub const MOST_MARKS: usize = 64;

/// The largest number that a mark with a window may be compared with.
pub const MOST_IN_WINDOW: u64 = 1024;

/// How many times a mark with a window keeps where a script or an expression asks for it.
const RING_OF_SCRIPTS: u64 = 64;

/// What stands before the name of a mark where a condition asks for it.
const PREFIX: &str = "marks.";

/// What sets a mark back to 0.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MarkEnd {
    /// The triggers of the events.
    pub on: Vec<Trigger>,
    /// What must hold of them.
    pub when: Option<Node>,
}

/// One mark after merging. What no layer gives is none.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MarkSpec {
    /// Its name.
    pub name: String,
    /// The triggers of the events that count.
    pub on: Vec<Trigger>,
    /// What must hold of them.
    pub when: Option<Node>,
    /// What sets it back to 0.
    pub until: Option<Vec<MarkEnd>>,
    /// How long an event counts.
    pub within: Option<Duration>,
    /// The fact by which it is counted for each value.
    pub by: Option<String>,
    /// The fact that is added in the place of 1.
    pub add: Option<String>,
    /// Whose events are counted together.
    pub per: Option<Scope>,
    /// The place where it is locked.
    #[serde(skip)]
    pub locked: Option<Span>,
    /// The layer that named it first.
    pub layer: LayerSource,
    /// Where it stands, in the layer that touched it last.
    pub span: Span,
    /// Where each key that was given came from.
    pub provenance: Vec<Provenance>,
    /// The largest number that anything in force compares it with; none where nothing asks for it.
    pub asked: Option<u64>,
}

impl MarkSpec {
    /// Returns whose events are counted together.
    pub fn scope(&self) -> Scope {
        self.per.unwrap_or_default()
    }

    /// Whether events of a trigger count or set it back.
    pub fn is_fed_at(&self, trigger: Trigger) -> bool {
        let ends = self.until.iter().flatten().flat_map(|end| &end.on);
        self.on.iter().chain(ends).any(|on| covers(*on, trigger))
    }

    /// Whether it asks for a fact: in a condition, or by its name alone.
    pub(super) fn names(&self, fact: &str) -> bool {
        let ends = self.until.iter().flatten();
        let mut whens = self
            .when
            .iter()
            .chain(ends.filter_map(|end| end.when.as_ref()));
        let mut facts = self.by.iter().chain(&self.add);
        whens.any(|when| when.names(fact)) || facts.any(|name| name == fact)
    }

    /// Returns what it says, wherever it stands.
    pub fn meaning(&self) -> serde_json::Value {
        let json = |node: &Option<Node>| node.as_ref().map(Node::to_json);
        let until: Vec<_> = self
            .until
            .iter()
            .flatten()
            .map(|end| (end.on.clone(), json(&end.when)))
            .collect();
        serde_json::json!([
            self.on,
            json(&self.when),
            until,
            self.within.map(|within| within.as_millis().to_string()),
            self.by,
            self.add,
            self.scope(),
        ])
    }

    /// Lays what a later layer says over it.
    pub(super) fn merge(&mut self, over: Self) {
        self.span = over.span;
        if !over.on.is_empty() {
            self.on = over.on;
        }
        self.when = over.when.or(self.when.take());
        self.until = over.until.or(self.until.take());
        self.within = over.within.or(self.within);
        self.by = over.by.or(self.by.take());
        self.add = over.add.or(self.add.take());
        self.per = over.per.or(self.per);
        self.locked = over.locked.or(self.locked);
        self.provenance.extend(over.provenance);
    }

    /// Returns what is wrong with it as a whole.
    fn fault(&self) -> Option<Diagnostic> {
        if self.on.is_empty() {
            let message = format!("the mark `{}` counts no event: `on` is missing", self.name);
            let fault = Diagnostic::error(Code::MissingKey, message, self.span);
            return Some(fault.help("add `on: post-tool-use`, or another trigger"));
        }
        if self.add.is_some() && self.within.is_some() {
            let message = format!("the mark `{}` has both `add` and `within`", self.name);
            let fault = Diagnostic::error(Code::BadValue, message, self.span);
            return Some(
                fault.help("remove one of them: a window counts events, it adds nothing up"),
            );
        }
        None
    }
}

/// Whether `on` means events of a trigger: hosts disagree on which event a failing command is.
pub fn covers(on: Trigger, trigger: Trigger) -> bool {
    on == trigger || (on == Trigger::PostToolUse && trigger == Trigger::PostToolUseFailure)
}

/// One place where a condition asks for a mark.
#[derive(Clone, Debug)]
pub struct MarkAsked {
    /// The name.
    pub name: String,
    /// The largest number that it is compared with there.
    pub most: u64,
    /// The place.
    pub span: Span,
}

/// Returns every mark that the conditions of a binding ask for.
pub fn marks_asked(spec: &BindingSpec) -> Vec<MarkAsked> {
    let mut asked = Vec::new();
    for node in spec.group_when.iter().chain(&spec.when) {
        walk(node, &mut asked);
    }
    asked
}

/// Returns every mark that a `when` asks for.
pub(super) fn walk(node: &Node, asked: &mut Vec<MarkAsked>) {
    match &node.value {
        Value::Seq(items) => items.iter().for_each(|item| walk(item, asked)),
        Value::Map(entries) => {
            for (key, value) in entries {
                if let Some(name) = key.name.strip_prefix(PREFIX) {
                    asked.push(MarkAsked {
                        name: name.to_owned(),
                        most: largest(value),
                        span: key.span,
                    });
                } else if key.name == "expr" {
                    let text = value.as_str().unwrap_or_default();
                    let most = largest_in(text).max(RING_OF_SCRIPTS);
                    asked.extend(in_text(text).map(|name| MarkAsked {
                        name: name.to_owned(),
                        most,
                        span: value.span,
                    }));
                } else if matches!(key.name.as_str(), "any" | "all" | "not") {
                    walk(value, asked);
                }
            }
        }
        _ => {}
    }
}

/// Returns the names of marks that a script or an expression names.
fn in_text(text: &str) -> impl Iterator<Item = &str> {
    let end = |rest: &str| {
        let is_of_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        rest.find(|c| !is_of_name(c)).unwrap_or(rest.len())
    };
    let names = [PREFIX, "mark(\""].into_iter().flat_map(move |before| {
        text.match_indices(before)
            .filter_map(move |(at, before)| text.get(at + before.len()..))
    });
    names
        .filter_map(move |rest| rest.get(..end(rest)))
        .filter(|name| !name.is_empty())
}

/// Whether a script may ask for a mark: by its name, or by one that it puts together.
pub fn may_ask(text: &str, name: &str) -> bool {
    let behind = |before: &'static str| {
        let found = text.match_indices(before);
        found.filter_map(move |(at, _)| text.get(at + before.len()..))
    };
    let is_taken_whole = behind(".marks").any(|rest| !rest.starts_with('.'));
    let is_put_together = behind("mark(").any(|rest| !rest.starts_with('"'));
    is_taken_whole
        || is_put_together
        || text.contains("\"marks\"")
        || in_text(text).any(|known| known == name)
}

/// Returns the largest number that a comparison names.
fn largest(node: &Node) -> u64 {
    match &node.value {
        Value::Int(number) => u64::try_from(*number).unwrap_or(0),
        Value::Float(number) => whole(*number),
        Value::Str(text) => {
            let number = text.trim_start_matches(['=', '!', '<', '>', ' ']);
            number.trim().parse().map_or(RING_OF_SCRIPTS, whole)
        }
        Value::Seq(items) => items.iter().map(largest).max().unwrap_or(0),
        _ => 0,
    }
}

/// Returns the largest number that an expression names: any may be the one with which it compares a mark.
fn largest_in(text: &str) -> u64 {
    let numbers = text.split(|c: char| !c.is_ascii_digit() && c != '.' && c != '_');
    let numbers = numbers.filter_map(|number| number.replace('_', "").parse().ok());
    numbers.map(whole).max().unwrap_or(0)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "such a cast stays within the type, and what is below 0 is 0"
)]
fn whole(number: f64) -> u64 {
    number.ceil() as u64
}

/// Notes of each mark what asks for it; returns what is wrong with the marks and with what asks for them.
pub(super) fn settle<'a>(
    marks: &mut BTreeMap<String, MarkSpec>,
    bindings: impl Iterator<Item = &'a BindingSpec>,
) -> Vec<Diagnostic> {
    let mut faults: Vec<Diagnostic> = marks.values().filter_map(MarkSpec::fault).collect();
    for mark in marks.values_mut() {
        mark.asked = None;
    }
    for spec in bindings {
        for asked in marks_asked(spec) {
            let Some(mark) = marks.get_mut(&asked.name) else {
                let message = format!("no layer declares the mark `{}`", asked.name);
                let fault = Diagnostic::error(Code::UnknownFact, message, asked.span)
                    .did_you_mean(&asked.name, marks.keys().map(String::as_str))
                    .help("declare it under `marks:`");
                faults.push(fault);
                continue;
            };
            if mark.within.is_some() && asked.most > MOST_IN_WINDOW {
                let message = format!(
                    "the mark `{}` has `within`, and cannot be compared with more than {MOST_IN_WINDOW}",
                    asked.name
                );
                faults.push(Diagnostic::error(Code::Limit, message, asked.span));
            }
            if spec.enabled {
                mark.asked = mark.asked.max(Some(asked.most));
            }
        }
    }
    let in_force = marks.values().filter(|mark| mark.asked.is_some());
    if let Some(over) = in_force.clone().nth(MOST_MARKS) {
        let message = format!("more than {MOST_MARKS} marks are in force");
        faults.push(Diagnostic::error(Code::Limit, message, over.span));
    }
    faults
}

/// Says that a layer changes a mark that is locked.
pub(super) fn is_locked(mark: &MarkSpec, lock: Span, by: LayerSource, at: Span) -> Diagnostic {
    let message = format!(
        "the {by} layer changes the mark `{}`, which the {} layer locks",
        mark.name, mark.layer
    );
    Diagnostic::error(Code::Locked, message, at)
        .saying("changed here")
        .related(lock, "locked here")
        .help("remove it here, or give a mark of your own another name")
}

/// Returns the changes that layers make to marks for which the script of a locked binding of an earlier layer may ask.
pub(super) fn changes_of_locked(
    text: &str,
    spec: &BindingSpec,
    marks: &BTreeMap<String, MarkSpec>,
    sources: &SourceMap,
) -> Vec<Diagnostic> {
    let asked = marks.values().filter(|mark| may_ask(text, &mark.name));
    let changes = asked.filter_map(|mark| {
        let floor = mark.layer.max(spec.layer);
        let file = |given: &Provenance| sources.name(given.span.file);
        let (later, before): (Vec<_>, Vec<_>) = mark
            .provenance
            .iter()
            .partition(|given| given.layer > floor);
        // The same pack named by two layers says the same twice.
        let is_known = |given: &Provenance| before.iter().any(|known| file(known) == file(given));
        let change = later.into_iter().find(|given| !is_known(given))?;
        let lock = spec.span_of("locked");
        Some(is_locked(mark, lock, change.layer, change.span))
    });
    changes.collect()
}

/// Has every mark counted for which a script may ask.
pub(super) fn ask_by(text: &str, marks: &mut BTreeMap<String, MarkSpec>) {
    let asked = marks.values_mut().filter(|mark| may_ask(text, &mark.name));
    for mark in asked {
        mark.asked = mark.asked.max(Some(RING_OF_SCRIPTS));
    }
}
