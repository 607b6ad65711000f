//! What an expression gives as a string: its literal parts, and where a value comes in that is none.

use tree_sitter::Node;

use super::call::Call;
use super::{MAX_DEPTH, Walk, last_named, line_of, named_children};
use crate::words::words;

/// Stands in the text for a part that is not literal.
pub(super) const HOLE: char = '\u{1}';
/// How much of a literal text is kept; a statement shows what it is in its first lines.
const MAX_TEXT: usize = 4 << 10;

/// What an expression gives as a string.
#[derive(Clone, Debug, Default)]
pub(super) struct StringValue {
    /// Its literal parts.
    pub(super) text: String,
    /// The line on which a part comes in that is not literal; none where every part is.
    pub(super) dynamic: Option<u32>,
}

impl StringValue {
    pub(super) fn literal(text: &str) -> Self {
        Self {
            text: text
                .get(..text.floor_char_boundary(MAX_TEXT))
                .unwrap_or_default()
                .to_owned(),
            dynamic: None,
        }
    }

    pub(super) fn unknown(node: Node<'_>) -> Self {
        Self {
            text: HOLE.to_string(),
            dynamic: Some(line_of(node)),
        }
    }

    /// Joins two parts.
    pub(super) fn then(mut self, other: &Self) -> Self {
        if self.text.len() < MAX_TEXT {
            self.text.push_str(&other.text);
        }
        self.dynamic = self.dynamic.or(other.dynamic);
        self
    }

    pub(super) fn safe(mut self) -> Self {
        self.dynamic = None;
        self
    }
}

pub(super) fn is_constant(name: &str) -> bool {
    let last = name.rsplit(['.', ':', '>']).next().unwrap_or(name);
    last.len() > 1
        && last.chars().any(|c| c.is_ascii_uppercase())
        && !last.chars().any(|c| c.is_ascii_lowercase())
}

/// Whether every verb of a printf format takes a number.
pub(super) fn formats_numbers_only(format: &str) -> bool {
    let mut rest = format;
    let mut verbs = 0;
    while let Some((_, after)) = rest.split_once('%') {
        if let Some(next) = after.strip_prefix('%') {
            rest = next;
            continue;
        }
        let verb = after.trim_start_matches(|c: char| c.is_ascii_digit() || "+-#. ".contains(c));
        if !verb.starts_with(['d', 'i', 'u', 'f']) {
            return false;
        }
        verbs += 1;
        rest = verb;
    }
    verbs > 0
}

impl Walk<'_> {
    /// Returns what an expression gives.
    pub(super) fn value(&self, node: Node<'_>, depth: u32) -> StringValue {
        if depth > MAX_DEPTH {
            return StringValue::unknown(node);
        }
        let field = |name: &str| {
            node.child_by_field_name(name)
                .map(|n| self.value(n, depth + 1))
        };
        match node.kind() {
            kind if words!("string-nodes").contains(&kind) => self.string(node, depth),
            kind if words!("constant-nodes").contains(&kind) => {
                StringValue::literal(self.text(node))
            }
            "identifier" | "variable_name" | "name" => self.variable(node),
            "binary_expression" | "binary_operator" => self.binary(node, depth),
            kind if words!("wrapping-nodes").contains(&kind) => {
                if kind == "cast_expression"
                    && node.child_by_field_name("type").is_some_and(|t| {
                        matches!(
                            self.text(t),
                            "int" | "float" | "long" | "Integer" | "Long" | "integer"
                        )
                    })
                {
                    return StringValue::literal("0");
                }
                let inner = node.child_by_field_name("value").or_else(|| {
                    // A type stands last in TypeScript's `x as T`, the value last elsewhere.
                    match node.kind() {
                        "as_expression" | "satisfies_expression" => node.named_child(0),
                        _ => last_named(node),
                    }
                });
                inner.map_or_else(
                    || StringValue::unknown(node),
                    |inner| self.value(inner, depth + 1),
                )
            }
            "conditional_expression" | "ternary_expression" => {
                let parts = match (
                    field("consequence").or_else(|| field("body")),
                    field("alternative"),
                ) {
                    (Some(a), Some(b)) => Some((a, b)),
                    // Python: `a if condition else b`.
                    _ => match named_children(node).as_slice() {
                        [a, _, b] => Some((self.value(*a, depth + 1), self.value(*b, depth + 1))),
                        _ => None,
                    },
                };
                parts.map_or_else(|| StringValue::unknown(node), |(a, b)| a.then(&b))
            }
            kind if words!("list-nodes").contains(&kind) => named_children(node)
                .into_iter()
                .filter(|child| !child.kind().ends_with("_type"))
                .fold(StringValue::default(), |sum, child| {
                    sum.then(&self.value(child, depth + 1))
                }),
            "generator_expression" | "list_comprehension" => {
                field("body").unwrap_or_else(|| StringValue::unknown(node))
            }
            "arrow_function" => match node.child_by_field_name("body") {
                Some(body) if body.kind() != "statement_block" => self.value(body, depth + 1),
                _ => StringValue::unknown(node),
            },
            "macro_invocation" => self.formatted_by_macro(node),
            "member_access_expression" if self.text(node).starts_with("$wpdb->") => {
                StringValue::literal("wp")
            }
            _ => match Call::of(node, self.source) {
                Some(call) => self.called(&call, depth),
                None if is_constant(self.text(node)) => StringValue::literal(self.text(node)),
                None => StringValue::unknown(node),
            },
        }
    }

    fn variable(&self, node: Node<'_>) -> StringValue {
        let name = self.text(node);
        match self.known(name) {
            Some(value) => value.clone(),
            None if is_constant(name) => StringValue::literal(name),
            None => StringValue::unknown(node),
        }
    }

    /// A string with what is put into it.
    pub(super) fn string(&self, node: Node<'_>, depth: u32) -> StringValue {
        let children = named_children(node);
        let mut value = StringValue::default();
        let mut has_content = false;
        for child in &children {
            let part = match child.kind() {
                kind if words!("string-content-nodes").contains(&kind) => {
                    StringValue::literal(self.text(*child))
                }
                "escape_sequence" => StringValue::literal(" "),
                "string_start"
                | "string_end"
                | "heredoc_start"
                | "heredoc_end"
                | "escape_interpolation" => continue,
                "interpolation" | "template_substitution" => {
                    let is_number = child
                        .child_by_field_name("format_specifier")
                        .is_some_and(|f| self.text(f).ends_with('d'));
                    let inner = child
                        .child_by_field_name("expression")
                        .or_else(|| child.named_child(0));
                    let part = inner.map_or_else(
                        || StringValue::unknown(*child),
                        |inner| self.value(inner, depth + 1),
                    );
                    if is_number { part.safe() } else { part }
                }
                _ => self.value(*child, depth + 1),
            };
            has_content = true;
            value = value.then(&part);
        }
        if has_content {
            return value;
        }
        // Grammars that do not name the content of a string.
        let text = self.text(node);
        let text = text.trim_start_matches(|c: char| c.is_ascii_alphabetic() || c == '#');
        StringValue::literal(text.trim_matches(|c: char| "\"'`#".contains(c)))
    }

    fn binary(&self, node: Node<'_>, depth: u32) -> StringValue {
        let (Some(left), Some(right)) = (
            node.child_by_field_name("left"),
            node.child_by_field_name("right"),
        ) else {
            return StringValue::unknown(node);
        };
        let operator = node
            .child_by_field_name("operator")
            .map_or("", |operator| self.text(operator));
        match operator {
            "+" | "." => self
                .value(left, depth + 1)
                .then(&self.value(right, depth + 1)),
            // `"?, " * n` repeats; of numbers nothing comes in.
            "*" | "-" | "/" => self.value(left, depth + 1).safe(),
            "%" => {
                let format = self.value(left, depth + 1);
                let is_format = format.text.contains('%');
                let values = self.value(right, depth + 1);
                let numbers = formats_numbers_only(&format.text);
                if is_format && !numbers {
                    StringValue {
                        dynamic: format.dynamic.or(values.dynamic),
                        ..format
                    }
                } else {
                    format
                }
            }
            "||" | "??" | "?:" | "or" => self
                .value(left, depth + 1)
                .then(&self.value(right, depth + 1)),
            _ => StringValue::unknown(node).safe(),
        }
    }
}
