//! Walks the syntax tree of a source: a string that is built flows into a query.

mod call;
mod called;
mod value;

use tree_sitter::{Node, Parser};

use self::call::Call;
use self::value::StringValue;
use super::{Injection, Language};
use crate::words::words;

/// How deep a tree is followed; deeper nesting is generated.
const MAX_DEPTH: u32 = 600;

fn grammar(language: Language) -> tree_sitter::Language {
    match language {
        Language::Python => tree_sitter_python::LANGUAGE.into(),
        Language::JavaScript => tree_sitter_javascript::LANGUAGE.into(),
        Language::TypeScript => tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
        Language::Tsx => tree_sitter_typescript::LANGUAGE_TSX.into(),
        Language::Go => tree_sitter_go::LANGUAGE.into(),
        Language::Java => tree_sitter_java::LANGUAGE.into(),
        Language::Rust => tree_sitter_rust::LANGUAGE.into(),
        Language::Php => tree_sitter_php::LANGUAGE_PHP.into(),
    }
}

/// Finds the injections in a source; none where it cannot be parsed at all.
pub(super) fn scan(language: Language, source: &str) -> Vec<Injection> {
    let mut parser = Parser::new();
    if parser.set_language(&grammar(language)).is_err() {
        return Vec::new();
    }
    let is_fragment = language == Language::Php && !source.contains("<?");
    let opened;
    let source = if is_fragment {
        // A part of a PHP file is PHP too, though nothing says so.
        opened = format!("<?php {source}");
        &opened
    } else {
        source
    };
    let Some(tree) = parser.parse(source, None) else {
        return Vec::new();
    };
    let mut walk = Walk {
        source,
        variables: Vec::new(),
        found: Vec::new(),
    };
    walk.visit(tree.root_node(), 0);
    walk.found.sort_by_key(|found| (found.line, found.built));
    walk.found.dedup_by_key(|found| found.line);
    walk.found
}

/// What is known while a tree is walked in the order of its text.
struct Walk<'s> {
    source: &'s str,
    /// What variables hold, the latest last; those of a function go when it ends.
    variables: Vec<(String, StringValue)>,
    found: Vec<Injection>,
}

/// The line on which a node begins, from 1.
fn line_of(node: Node<'_>) -> u32 {
    u32::try_from(node.start_position().row).map_or(u32::MAX, |row| row.saturating_add(1))
}

fn named_children(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor)
        .filter(|child| !child.is_extra())
        .collect()
}

fn last_named(node: Node<'_>) -> Option<Node<'_>> {
    named_children(node).pop()
}

impl<'s> Walk<'s> {
    fn text(&self, node: Node<'_>) -> &'s str {
        self.source.get(node.byte_range()).unwrap_or_default()
    }

    fn visit(&mut self, node: Node<'_>, depth: u32) {
        if depth > MAX_DEPTH {
            return;
        }
        let is_function = words!("function-nodes").contains(&node.kind());
        let known = self.variables.len();
        for child in named_children(node) {
            self.visit(child, depth + 1);
        }
        match node.kind() {
            "assignment"
            | "assignment_expression"
            | "assignment_statement"
            | "short_var_declaration" => {
                self.assign_each(node, depth);
            }
            "augmented_assignment"
            | "augmented_assignment_expression"
            | "compound_assignment_expr" => {
                self.extend(node, depth);
            }
            "variable_declarator" | "var_spec" | "const_spec" => {
                self.assign(
                    node.child_by_field_name("name"),
                    node.child_by_field_name("value"),
                    depth,
                );
            }
            "const_item" | "static_item" => {
                self.assign(
                    node.child_by_field_name("name"),
                    node.child_by_field_name("value"),
                    depth,
                );
            }
            "let_declaration" => {
                self.assign(
                    node.child_by_field_name("pattern"),
                    node.child_by_field_name("value"),
                    depth,
                );
            }
            "macro_invocation" => self.write_macro(node, depth),
            _ => {
                if let Some(call) = Call::of(node, self.source) {
                    self.call(&call, depth);
                }
            }
        }
        if is_function {
            self.variables.truncate(known);
        }
    }

    fn set(&mut self, name: &str, value: StringValue) {
        self.variables.push((name.to_owned(), value));
    }

    fn known(&self, name: &str) -> Option<&StringValue> {
        self.variables
            .iter()
            .rev()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value)
    }

    fn assign(&mut self, name: Option<Node<'_>>, value: Option<Node<'_>>, depth: u32) {
        let (Some(mut name), Some(mut value)) = (name, value) else {
            return;
        };
        // `let mut sql`; `sql string = "…"` of Go gives a list of one value.
        if name.kind() == "mut_pattern"
            && let Some(inner) = last_named(name)
        {
            name = inner;
        }
        if value.kind() == "expression_list"
            && let Some(first) = value.named_child(0)
        {
            value = first;
        }
        let value = self.value(value, depth);
        self.set(self.text(name), value);
    }

    /// Assigns `a, b = x, y` one by one, and `a = x` alike.
    fn assign_each(&mut self, node: Node<'_>, depth: u32) {
        let (Some(left), Some(right)) = (
            node.child_by_field_name("left"),
            node.child_by_field_name("right"),
        ) else {
            return;
        };
        let is_list = |node: Node<'_>| matches!(node.kind(), "expression_list" | "pattern_list");
        let extends = node
            .child_by_field_name("operator")
            .is_some_and(|operator| !matches!(self.text(operator), "=" | ":="));
        if extends {
            self.extend(node, depth);
        } else if is_list(left) && is_list(right) {
            for (name, value) in named_children(left).into_iter().zip(named_children(right)) {
                self.assign(Some(name), Some(value), depth);
            }
        } else {
            let name = if is_list(left) {
                left.named_child(0)
            } else {
                Some(left)
            };
            self.assign(name, Some(right), depth);
        }
    }

    /// `sql += …`, `$sql .= …`.
    fn extend(&mut self, node: Node<'_>, depth: u32) {
        let (Some(left), Some(right)) = (
            node.child_by_field_name("left"),
            node.child_by_field_name("right"),
        ) else {
            return;
        };
        let first = |node: Node<'_>| self.text(node).to_owned();
        let name = first(left);
        let added = match right.kind() {
            "expression_list" => right.named_child(0).map(|n| self.value(n, depth)),
            _ => Some(self.value(right, depth)),
        };
        if let Some(added) = added {
            let before = self.known(&name).cloned().unwrap_or_default();
            self.set(&name, before.then(&added));
        }
    }

    /// `write!(sql, "… {}", x)` adds to its first argument.
    fn write_macro(&mut self, node: Node<'_>, depth: u32) {
        let name = node.child_by_field_name("macro").map(|m| self.text(m));
        if !matches!(name, Some("write" | "writeln")) {
            return;
        }
        let tokens = named_children(node)
            .into_iter()
            .find(|n| n.kind() == "token_tree");
        let target = tokens.and_then(|tokens| {
            named_children(tokens)
                .into_iter()
                .find(|token| token.kind() == "identifier")
        });
        if let Some(target) = target {
            let name = self.text(target).to_owned();
            let added = self.value(node, depth);
            let before = self.known(&name).cloned().unwrap_or_default();
            self.set(&name, before.then(&added));
        }
    }

    fn call(&mut self, call: &Call<'_>, depth: u32) {
        if call.appends() {
            // `sb.append(a).append(b)` changes the variable at its root.
            let mut root = call.receiver;
            while let Some(inner) = root.and_then(|node| Call::of(node, self.source)) {
                root = inner.receiver;
            }
            if let Some(root) =
                root.filter(|root| matches!(root.kind(), "identifier" | "variable_name"))
            {
                let name = self.text(root).to_owned();
                let mut value = self.known(&name).cloned().unwrap_or_default();
                for argument in &call.arguments {
                    value = value.then(&self.value(*argument, depth));
                }
                self.set(&name, value);
            }
        }
        if !call.runs_queries() {
            return;
        }
        let built = call.arguments.iter().take(4).find_map(|argument| {
            let value = self.value(*argument, depth);
            let is_sql = call.takes_parts_of_sql() || call::is_sql(&value.text);
            value
                .dynamic
                .filter(|_| is_sql && !value.text.trim().is_empty())
        });
        if let Some(built) = built {
            let last = u32::try_from(call.node.end_position().row)
                .map_or(u32::MAX, |row| row.saturating_add(1));
            self.found.push(Injection {
                line: line_of(call.node),
                last_line: last,
                built,
            });
        }
    }
}
