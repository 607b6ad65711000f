//! `by:` maps: a value that depends on one fact (spec §7).

use super::compile::unknown_fact;
use super::words;
use crate::config::{Key, Node, Value};
use crate::diagnostic::{Code, Diagnostic};
use crate::fact::{Fact, FactType, FactValue, Facts};

/// A map such as `{by: environment, production: 10, default: 30}`.
#[derive(Clone, Copy, Debug)]
pub struct By<'a> {
    fact: Fact,
    node: &'a Node,
}

impl<'a> By<'a> {
    /// Reads a node as a `by:` map; none where it is none.
    ///
    /// # Errors
    /// The fact does not exist, or is not named by a text.
    pub fn read(node: &'a Node) -> Result<Option<Self>, Box<Diagnostic>> {
        let Some(by) = node.get("by") else {
            return Ok(None);
        };
        let Some(name) = by.as_str() else {
            return Err(Box::new(Diagnostic::error(
                Code::WrongType,
                format!("expected the name of a fact, found {}", by.type_name()),
                by.span,
            )));
        };
        match Fact::find(name) {
            Some(fact) => Ok(Some(Self { fact, node })),
            None => Err(Box::new(unknown_fact(name, by.span))),
        }
    }

    /// Notes each case that no event ever has.
    pub fn check_cases(&self, faults: &mut Vec<Diagnostic>) {
        if matches!(self.fact.value_type(), FactType::Text | FactType::List) {
            for (key, _) in self.cases().filter(|(key, _)| key.name != "default") {
                words::text(self.fact, &key.name, key.span, faults);
            }
        }
    }

    /// Returns the fact that it depends on.
    pub const fn fact(&self) -> Fact {
        self.fact
    }

    /// Returns the values that it chooses from, with their keys.
    pub fn cases(&self) -> impl Iterator<Item = &'a (Key, Node)> + Clone + use<'a> {
        self.node.entries().iter().filter(|(k, _)| k.name != "by")
    }

    /// Returns the value for an event: that of the fact's value (of a list: the first case that is in it; of a tool: of
    /// its name, else of its kind), else `default`, else none.
    pub fn choose(&self, facts: &Facts) -> Option<&'a Node> {
        let found = facts.get(self.fact);
        let is_found = |key: &str| match &found {
            FactValue::List(items) => items.iter().any(|item| item == key),
            FactValue::Text(text) => words::is_spelling(self.fact, key, text),
            other => other.as_text().is_some_and(|text| text == key),
        };
        let mut keys = self.cases().filter(|(key, _)| key.name != "default");
        let exact = keys.clone().find(|(key, _)| is_found(&key.name));
        exact
            .or_else(|| {
                let is_tool = |name: &str| facts.is_tool(name, words::kind_named(name));
                keys.find(|(key, _)| self.fact == Fact::Tool && is_tool(&key.name))
            })
            .map(|(_, node)| node)
            .or_else(|| self.node.get("default"))
    }
}

/// Whether a `by:` map stands anywhere in a node.
pub fn has_by(node: &Node) -> bool {
    match &node.value {
        Value::Map(entries) => {
            node.get("by").is_some() || entries.iter().any(|(_, value)| has_by(value))
        }
        Value::Seq(items) => items.iter().any(has_by),
        _ => false,
    }
}

/// Returns the node with every `by:` map replaced by what it chooses; a key for which nothing is chosen is left out.
pub fn resolve(node: &Node, facts: &Facts) -> Node {
    map(node, &mut |by| by.choose(facts).cloned())
}

/// Returns enough variants of the node that every value of every `by:` map stands in one of them.
///
/// # Errors
/// A `by:` names a fact that does not exist.
pub fn variants(node: &Node) -> Result<Vec<Node>, Vec<Diagnostic>> {
    let mut faults = Vec::new();
    let mut most = 1;
    check(node, &mut most, &mut faults);
    if !faults.is_empty() {
        return Err(faults);
    }
    // Variant n takes the nth case of each map, or its last: every case occurs, and their product does not matter,
    // because the cases of one key cannot make the value of another key wrong.
    Ok((0..most)
        .map(|n| {
            map(node, &mut |by| {
                let cases: Vec<_> = by.cases().collect();
                cases
                    .get(n.min(cases.len().saturating_sub(1)))
                    .map(|(_, node)| node.clone())
            })
        })
        .collect())
}

fn check(node: &Node, most: &mut usize, faults: &mut Vec<Diagnostic>) {
    match By::read(node) {
        Ok(Some(by)) => {
            by.check_cases(faults);
            let count = by.cases().count();
            if count == 0 {
                faults.push(
                    Diagnostic::error(
                        Code::MissingKey,
                        "`by` has no values to choose from",
                        node.span,
                    )
                    .help("write `{by: environment, production: 10, default: 30}`"),
                );
            }
            *most = (*most).max(count);
        }
        Ok(None) => {}
        Err(fault) => faults.push(*fault),
    }
    match &node.value {
        Value::Map(entries) => {
            for (_, value) in entries {
                check(value, most, faults);
            }
        }
        Value::Seq(items) => {
            for item in items {
                check(item, most, faults);
            }
        }
        _ => {}
    }
}

fn map(node: &Node, choose: &mut dyn FnMut(By<'_>) -> Option<Node>) -> Node {
    let value = match &node.value {
        Value::Map(entries) => Value::Map(
            entries
                .iter()
                .filter_map(|(key, value)| {
                    let value = match By::read(value) {
                        Ok(Some(by)) => map(&choose(by)?, choose),
                        _ => map(value, choose),
                    };
                    Some((key.clone(), value))
                })
                .collect(),
        ),
        Value::Seq(items) => Value::Seq(items.iter().map(|item| map(item, choose)).collect()),
        other => other.clone(),
    };
    Node::new(value, node.span)
}
