//! Condition: a compiled `when` clause (spec §3.6).

mod by;
mod comparison;
mod compile;
mod words;

pub use self::by::{By, has_by, resolve, variants};
pub use self::comparison::{Comparison, Order, Scalar};

use crate::config::Node;
use crate::diagnostic::Diagnostic;
use crate::event::{McpTool, ToolKind};
use crate::fact::{Fact, FactSource, FactType, FactValue, Facts};
use crate::oracle::rhai::ExprCondition;
use crate::session::Count;

/// A compiled `when`: it holds for an event or it does not.
#[derive(Debug)]
pub struct Condition {
    root: Clause,
}

#[derive(Debug)]
enum Clause {
    All(Vec<Self>),
    Any(Vec<Self>),
    Not(Box<Self>),
    Test(Test),
    /// How often what a mark counts has happened.
    Mark(String, Test),
    Expr(ExprCondition),
}

/// One fact compared with what the user wrote.
#[derive(Debug)]
struct Test {
    fact: Fact,
    comparison: Comparison,
    /// As the user wrote it, for explanations.
    written: String,
}

/// What one comparison came to, for `ahp explain --event`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// How deep it stands below `any`, `all` and `not`.
    pub depth: usize,
    /// The comparison as written.
    pub text: String,
    /// What the event had; none for `any`, `all` and `not`.
    pub found: Option<String>,
    /// Whether it holds.
    pub holds: bool,
}

/// A value that an event must have for a condition to hold, by which bindings are found without asking each.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum IndexKey {
    /// The tool has this exact name.
    ToolName(String),
    /// The tool is of this kind.
    ToolKind(ToolKind),
    /// The fact is this text.
    Text(Fact, String),
}

impl Condition {
    /// Compiles a `when` map; every fault is added to `faults`, and none is returned if there was one.
    pub fn compile(node: &Node, faults: &mut Vec<Diagnostic>) -> Option<Self> {
        let before = faults.len();
        let root = compile::clause(node, faults);
        (faults.len() == before).then_some(Self { root })
    }

    /// Whether it holds for an event. One that cannot be told must not open the door: it counts as held, so that its
    /// binding is asked.
    pub fn holds(&self, facts: &Facts) -> bool {
        self.told(facts).unwrap_or(true)
    }

    /// Whether it holds for an event; none where that cannot be told.
    pub fn told(&self, facts: &Facts) -> Option<bool> {
        self.root.holds(facts)
    }

    /// Tells what each comparison came to, in the order in which they are written.
    pub fn trace(&self, facts: &Facts) -> Vec<Trace> {
        let mut lines = Vec::new();
        self.root.trace(facts, 0, &mut lines);
        lines
    }

    /// Whether it can hold for an event of which one fact is known and nothing else.
    pub fn may_hold(&self, fact: Fact, value: &FactValue<'_>) -> bool {
        self.root.given(fact, value).unwrap_or(true)
    }

    /// Returns every fact that it may ask for.
    pub fn facts(&self) -> Vec<Fact> {
        let mut facts = Vec::new();
        self.root.facts(&mut facts);
        facts.sort_unstable();
        facts.dedup();
        facts
    }

    /// Returns the names of the marks that it may ask for.
    pub fn marks(&self) -> Vec<&str> {
        let mut marks = Vec::new();
        self.root.marks(&mut marks);
        marks
    }

    /// Whether it asks for the tool of a server by a name that says `tool`.
    pub fn names_tool_of_server(&self, tool: &str) -> bool {
        self.root.names_tool_of_server(tool)
    }

    /// Returns values of which an event must have one for a `when` map to hold; none where that cannot be told. Of the
    /// map no more is compiled than that.
    pub fn index_keys(node: &Node) -> Option<Vec<IndexKey>> {
        node.entries().iter().find_map(|(key, value)| {
            let fact = Fact::find(&key.name)?;
            // One element of a list may meet it, so that the whole list is not a key.
            let is_at_hand = fact.source() == FactSource::Event
                && fact.value_type() == FactType::Text
                && compile::is_exact(value);
            if !is_at_hand {
                return None;
            }
            // What is wrong with it is told when it is compiled.
            compile::test(fact, value, &mut Vec::new())?.index_keys()
        })
    }
}

impl Clause {
    /// Whether it holds; none where that cannot be told.
    fn holds(&self, facts: &Facts) -> Option<bool> {
        match self {
            Self::All(clauses) => decided(clauses, false, |clause| clause.holds(facts)),
            Self::Any(clauses) => decided(clauses, true, |clause| clause.holds(facts)),
            Self::Not(clause) => clause.holds(facts).map(|holds| !holds),
            Self::Test(test) => test.holds(facts),
            Self::Mark(name, test) => {
                let Count { least, most } = facts.mark(name).count;
                test.comparison.holds_between(least, most)
            }
            Self::Expr(expr) => expr.holds(facts).ok(),
        }
    }

    /// Whether it holds where one fact is known; none where that depends on others.
    fn given(&self, fact: Fact, value: &FactValue<'_>) -> Option<bool> {
        let given = |clause: &Self| clause.given(fact, value);
        match self {
            Self::All(clauses) => decided(clauses, false, given),
            Self::Any(clauses) => decided(clauses, true, given),
            Self::Not(clause) => given(clause).map(|holds| !holds),
            Self::Test(test) if test.fact == fact => Some(test.comparison.holds(value)),
            Self::Test(_) | Self::Mark(..) | Self::Expr(_) => None,
        }
    }

    fn trace(&self, facts: &Facts, depth: usize, lines: &mut Vec<Trace>) {
        let (name, children): (&str, &[Self]) = match self {
            Self::Test(test) => {
                let found = facts.get(test.fact);
                lines.push(Trace {
                    depth,
                    text: format!("{}: {}", test.fact, test.written),
                    found: Some(match found {
                        FactValue::Absent => "this event does not have it".to_owned(),
                        FactValue::Unknown => "cannot be told, so its binding is asked".to_owned(),
                        found => found.to_json().to_string(),
                    }),
                    holds: test.holds(facts).unwrap_or(true),
                });
                return;
            }
            Self::Mark(name, test) => {
                let found = facts.mark(name);
                lines.push(Trace {
                    depth,
                    text: format!("marks.{name}: {}", test.written),
                    found: Some(found.to_string()),
                    holds: self.holds(facts).unwrap_or(true),
                });
                return;
            }
            Self::Expr(expr) => {
                let result = expr.holds(facts);
                lines.push(Trace {
                    depth,
                    text: format!("expr: {}", expr.source()),
                    holds: *result.as_ref().unwrap_or(&true),
                    found: Some(match result {
                        Ok(_) => expr.found(facts),
                        Err(reason) => {
                            format!("cannot be computed, so it counts as true: {reason}")
                        }
                    }),
                });
                return;
            }
            // The outermost `all` is the map itself.
            Self::All(clauses) if depth == 0 => {
                for clause in clauses {
                    clause.trace(facts, 1, lines);
                }
                return;
            }
            Self::All(clauses) => ("all", clauses),
            Self::Any(clauses) => ("any", clauses),
            Self::Not(clause) => ("not", std::slice::from_ref(clause)),
        };
        lines.push(Trace {
            depth,
            text: name.to_owned(),
            found: None,
            holds: self.holds(facts).unwrap_or(true),
        });
        for child in children {
            child.trace(facts, depth + 1, lines);
        }
    }

    fn names_tool_of_server(&self, tool: &str) -> bool {
        let names = |clause: &Self| clause.names_tool_of_server(tool);
        match self {
            Self::All(clauses) | Self::Any(clauses) => clauses.iter().any(names),
            Self::Test(Test {
                comparison:
                    Comparison::Tool {
                        names,
                        negated: false,
                    },
                ..
            }) => names
                .iter()
                .any(|(name, _)| McpTool::named(name).is_some_and(|named| named.tool == tool)),
            Self::Not(_) | Self::Test(_) | Self::Mark(..) | Self::Expr(_) => false,
        }
    }

    fn marks<'a>(&'a self, into: &mut Vec<&'a str>) {
        match self {
            Self::All(clauses) | Self::Any(clauses) => {
                for clause in clauses {
                    clause.marks(into);
                }
            }
            Self::Not(clause) => clause.marks(into),
            Self::Mark(name, _) => into.push(name),
            Self::Test(_) | Self::Expr(_) => {}
        }
    }

    fn facts(&self, into: &mut Vec<Fact>) {
        match self {
            Self::All(clauses) | Self::Any(clauses) => {
                for clause in clauses {
                    clause.facts(into);
                }
            }
            Self::Not(clause) => clause.facts(into),
            Self::Test(test) | Self::Mark(_, test) => into.push(test.fact),
            Self::Expr(expr) => {
                into.extend(expr.facts().iter().filter_map(|name| Fact::find(name)));
            }
        }
    }
}

/// Returns what clauses come to of which one that holds, or does not, decides.
fn decided(
    clauses: &[Clause],
    deciding: bool,
    holds: impl Fn(&Clause) -> Option<bool>,
) -> Option<bool> {
    let mut is_known = true;
    for clause in clauses {
        match holds(clause) {
            Some(holds) if holds == deciding => return Some(deciding),
            Some(_) => {}
            None => is_known = false,
        }
    }
    is_known.then_some(!deciding)
}

impl Test {
    /// Whether it holds; none where the fact cannot be told.
    fn holds(&self, facts: &Facts) -> Option<bool> {
        match (&self.comparison, facts.get(self.fact)) {
            (_, FactValue::Unknown) => None,
            (_, FactValue::Absent) => Some(false),
            (Comparison::Tool { names, negated }, _) => {
                let is_one = names.iter().any(|(name, kind)| facts.is_tool(name, *kind));
                Some(is_one != *negated)
            }
            (Comparison::Glob(glob), found) => {
                Some(match (glob.strip_prefix("~/"), facts.home()) {
                    (Some(below), Some(home)) => {
                        let glob = home.join(below).to_string_lossy().into_owned();
                        Comparison::Glob(glob).holds(&found)
                    }
                    _ => self.comparison.holds(&found),
                })
            }
            (comparison, found) => Some(comparison.holds(&found)),
        }
    }

    fn index_keys(self) -> Option<Vec<IndexKey>> {
        match &self.comparison {
            // One tool of an MCP server has many names.
            Comparison::Tool { names, .. }
                if names.iter().any(|(name, _)| McpTool::named(name).is_some()) =>
            {
                None
            }
            Comparison::Tool {
                names,
                negated: false,
            } => Some(
                names
                    .iter()
                    .flat_map(|(name, kind)| {
                        let kind = kind.map(IndexKey::ToolKind);
                        std::iter::once(IndexKey::ToolName(name.clone())).chain(kind)
                    })
                    .collect(),
            ),
            Comparison::AnyOf(values) => values
                .iter()
                .map(|value| match value {
                    Scalar::Text(text) => Some(match self.fact {
                        Fact::ToolName => IndexKey::ToolName(text.clone()),
                        fact => IndexKey::Text(fact, text.clone()),
                    }),
                    _ => None,
                })
                .collect(),
            _ => None,
        }
    }
}
