//! `by:` maps: a value that depends on one fact (spec §7).

use super::compile::unknown_fact;
use crate::config::Key;
use crate::config::Node;
use crate::config::Value;
use crate::diagnostic::Code;
use crate::diagnostic::Diagnostic;
use crate::fact::Fact;
use crate::fact::Facts;

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

    /// Returns the fact that it depends on.
    pub const fn fact(&self) -> Fact {
        self.fact
    }

    /// Returns the values that it chooses from, with their keys.
    pub fn cases(&self) -> impl Iterator<Item = &'a (Key, Node)> {
        self.node.entries().iter().filter(|(k, _)| k.name != "by")
    }

    /// Returns the value for an event: that of the fact's value, else `default`, else none.
    pub fn choose(&self, facts: &Facts) -> Option<&'a Node> {
        let found = facts.get(self.fact);
        found
            .as_text()
            .filter(|text| text != "by" && text != "default")
            .and_then(|text| self.node.get(&text))
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
