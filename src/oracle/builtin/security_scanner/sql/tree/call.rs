//! Calls in eight grammars, and which of them run queries.

use std::sync::OnceLock;

use regex::Regex;
use tree_sitter::Node;

use super::{last_named, named_children};
use crate::words::words;

/// A call, whatever its language writes it as.
pub(super) struct Call<'t> {
    /// The whole.
    pub(super) node: Node<'t>,
    /// What it is called on.
    pub(super) receiver: Option<Node<'t>>,
    /// The last part of the function's name, in lower case.
    pub(super) name: String,
    /// The values of the arguments.
    pub(super) arguments: Vec<Node<'t>>,
    /// Whether it is a template that its tag takes apart: `` sql`… ${id}` ``.
    pub(super) is_tagged: bool,
}

/// Functions that run, prepare or make a query of a text.
const QUERIES: &[&str] = words!("sql-functions");

/// Functions that take a part of a query, so that any text in them is SQL.
const PARTS: &[&str] = words!("sql-part-functions");

impl<'t> Call<'t> {
    pub(super) fn of(node: Node<'t>, source: &str) -> Option<Self> {
        let field = |node: Node<'t>, name: &str| node.child_by_field_name(name);
        let (receiver, name) = match node.kind() {
            "call" | "call_expression" | "function_call_expression" => {
                callee(field(node, "function")?)
            }
            "method_invocation" | "member_call_expression" | "nullsafe_member_call_expression" => {
                (field(node, "object"), field(node, "name")?)
            }
            "scoped_call_expression" => (field(node, "scope"), field(node, "name")?),
            "object_creation_expression" => {
                (None, field(node, "type").or_else(|| node.named_child(0))?)
            }
            "new_expression" => (None, field(node, "constructor")?),
            _ => return None,
        };
        let arguments = field(node, "arguments");
        let is_tagged = arguments.is_some_and(|a| a.kind() == "template_string");
        let arguments = match arguments {
            Some(list) if !is_tagged => named_children(list).into_iter().map(argument).collect(),
            _ => Vec::new(),
        };
        Some(Self {
            node,
            receiver,
            name: source
                .get(name.byte_range())
                .unwrap_or_default()
                .to_lowercase(),
            arguments,
            is_tagged,
        })
    }

    /// Whether it runs or makes a query of a text.
    pub(super) fn runs_queries(&self) -> bool {
        let on_regex = self.receiver.is_some_and(|r| r.kind() == "regex");
        !self.is_tagged && !on_regex && QUERIES.contains(&self.name.as_str())
    }

    /// Whether any text that it is given is SQL.
    pub(super) fn takes_parts_of_sql(&self) -> bool {
        PARTS.contains(&self.name.as_str())
    }

    /// Whether it adds its arguments to what it is called on.
    pub(super) fn appends(&self) -> bool {
        matches!(
            self.name.as_str(),
            "append" | "push" | "push_str" | "writestring" | "add" | "extend" | "appendformat"
        )
    }
}

/// Takes a function apart into what it is called on and its last name.
fn callee(function: Node<'_>) -> (Option<Node<'_>>, Node<'_>) {
    let parts = match function.kind() {
        "attribute" => ("object", "attribute"),
        "member_expression" => ("object", "property"),
        "selector_expression" => ("operand", "field"),
        "field_expression" => ("value", "field"),
        "scoped_identifier" => ("path", "name"),
        // TypeScript's grammar reads `await db.query<T>(…)` as a call of `await db.query`.
        "await_expression" => return function.named_child(0).map_or((None, function), callee),
        "generic_function" => {
            return function
                .child_by_field_name("function")
                .map_or((None, function), callee);
        }
        _ => return (None, function),
    };
    match function.child_by_field_name(parts.1) {
        Some(name) => (function.child_by_field_name(parts.0), name),
        None => (None, function),
    }
}

/// Returns the value of an argument: of `sql=…` in Python, of the wrapper in PHP.
fn argument(node: Node<'_>) -> Node<'_> {
    match node.kind() {
        "keyword_argument" => node.child_by_field_name("value").unwrap_or(node),
        "argument" => last_named(node).unwrap_or(node),
        _ => node,
    }
}

pub(super) fn is_sql(text: &str) -> bool {
    static SQL: OnceLock<Option<Regex>> = OnceLock::new();
    SQL.get_or_init(|| {
        Regex::new(
            r"(?is)^\W*(?:select\s.+\sfrom\s|select\s+\S|insert\s+(?:ignore\s+|or\s+\w+\s+)?into\s|replace\s+into\s|update\s+\S+\s+set\s|delete\s+from\s|(?:drop|create|alter|truncate)\s+(?:\w+\s+)?(?:table|database|index|view|user|role|schema|trigger|procedure|function)\s|merge\s+into\s|with\s+(?:recursive\s+)?\S+\s*(?:\([^)]*\)\s*)?as\s*\(|call\s+\S+\s*\(|exec(?:ute)?\s+\S+\s|grant\s.+\sto\s|use\s+\S+$|explain\s+(?:analyze\s+)?select)|\b(?:union\s+(?:all\s+)?select|insert\s+into|delete\s+from)\s|\bwhere\s+\S+\s*(?:=|<|>|!=|\blike\b|\bin\b|\bis\b|\bbetween\b)|\bfrom\s+\S+\s+where\s|\border\s+by\s",
        )
        .ok()
    })
    .as_ref()
    .is_some_and(|sql| sql.is_match(text))
}
